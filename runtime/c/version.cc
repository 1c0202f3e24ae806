// SPDX-License-Identifier: MIT
#include "runtime/c/version.h"

#include <fmt/format.h>

namespace kiln::c {
namespace {

constexpr auto kVersion = VersionText(KILN_HEADER_VERSION);
// A version is one number: millions are the major part, thousands the minor one.
constexpr uint32_t kMajor = KILN_HEADER_VERSION / 1'000'000;
constexpr uint32_t kMinor = KILN_HEADER_VERSION / 1'000 % 1'000;

}  // namespace

// Before version 1 every minor version may change structs, so header and library must have the same
// one. From 1 on an older header is good for a newer library.
Result<void> CheckVersion(uint32_t header) {
  const uint32_t minor = header / 1'000 % 1'000;
  const bool fits =
      header / 1'000'000 == kMajor && (kMajor == 0 ? minor == kMinor : minor <= kMinor);
  if (!fits) {
    return Error{
        ErrorCode::kFailedPrecondition,
        fmt::format("the program was compiled with kiln.h of version {}.{}.{}, the library "
                    "is version {}; install the one that fits",
                    header / 1'000'000, minor, header % 1'000, kVersion.data()),
        "VERSION"};
  }
  return {};
}

}  // namespace kiln::c
