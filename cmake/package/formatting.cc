// SPDX-License-Identifier: MIT
// The compiled half of fmt inside of the libraries that engines link, which need no libfmt then.
// Numbers are written without the locale, as kiln writes all of them, so that none of it is linked.
#define FMT_STATIC_THOUSANDS_SEPARATOR ','
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// What fmt/format.h declares as instantiated elsewhere.
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                         locale_ref);

}  // namespace detail
FMT_END_NAMESPACE

// See components.cmake: who links an archive of another version is told so by the linker.
#ifdef KILN_VERSION_SYMBOL
extern "C" {
extern const char KILN_VERSION_SYMBOL;
const char KILN_VERSION_SYMBOL = 0;
}
#endif
