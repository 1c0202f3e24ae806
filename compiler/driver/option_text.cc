// SPDX-License-Identifier: MIT
#include "compiler/driver/option_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"

namespace kiln::driver {
namespace {

// Words only: `1` may be a number.
std::optional<uint32_t> ReadFlag(std::string_view text) {
  if (text == "true" || text == "on") {
    return 1;
  }
  if (text == "false" || text == "off") {
    return 0;
  }
  return std::nullopt;
}

// from_chars does not ask the locale, and the whole text must be the number.
template <class T>
std::optional<T> ReadNumber(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// The spellings of RPL's literals, and a suffix that may be left out.
std::optional<uint32_t> ReadUint(std::string_view text) {
  if (text.starts_with("0x")) {
    return ReadNumber<uint32_t>(text.substr(2), 16);
  }
  if (text.starts_with("0b")) {
    return ReadNumber<uint32_t>(text.substr(2), 2);
  }
  // Only decimals may have the suffix: it would be wrong behind a prefix in a source, too.
  if (text.ends_with('u')) {
    text.remove_suffix(1);
  }
  return ReadNumber<uint32_t>(text);
}

// The suffix of RPL's literals may be left out, as for those without a sign.
std::optional<uint32_t> ReadSint(std::string_view text) {
  if (text.ends_with('s')) {
    text.remove_suffix(1);
  }
  const std::optional<int32_t> value = ReadNumber<int32_t>(text);
  return value.has_value() ? std::optional(std::bit_cast<uint32_t>(*value)) : std::nullopt;
}

// A number that is out of range is not an unreadable one: as an infinity it reaches the check of
// options, which says so.
std::optional<uint32_t> ReadFloat(std::string_view text) {
  float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = text.starts_with('-') ? -INFINITY : INFINITY;  // RPL2007
  } else if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return std::bit_cast<uint32_t>(value);
}

// Nothing if the text is no value of that kind.
std::optional<uint32_t> ReadAs(ir::OptionKind kind, std::string_view text) {
  switch (kind) {
    case ir::OptionKind::kFlag:
      return ReadFlag(text);
    case ir::OptionKind::kUint:
      return ReadUint(text);
    case ir::OptionKind::kSint:
      return ReadSint(text);
    case ir::OptionKind::kFloat:
      return ReadFloat(text);
    // Every text may be a value of an enum; whether it is one the check of options says.
    case ir::OptionKind::kEnum:
      return 0;
  }
  return std::nullopt;
}

// Null for a name that no option has.
const ir::Option* Declared(const resolve::Program& program, std::string_view name) {
  const resolve::NameId id = program.FindName(name);
  const ir::OptionId option = id.valid() ? program.Option(id) : ir::OptionId{};
  return option.valid() ? &program.Get(option) : nullptr;
}

}  // namespace

// The declaration decides how a value is read: `1` is a flag of nobody, a number of three kinds and
// a name of an enum. Without one, or if the value does not fit it, the value keeps the kind that it
// looks like, so that the check of options has something to say about it that the author
// recognises.
resolve::OptionSetting ReadOptionValue(std::string_view name, std::string_view value,
                                       const ir::Option* declared) {
  resolve::OptionSetting setting;
  setting.name = name;
  setting.kind = ir::OptionKind::kEnum;
  setting.text = value;
  const auto take = [&](ir::OptionKind kind) {
    const std::optional<uint32_t> bits = ReadAs(kind, value);
    if (bits.has_value()) {
      setting.kind = kind;
      setting.bits = *bits;
    }
    return bits.has_value();
  };
  if (declared != nullptr && take(declared->kind)) {
    return setting;
  }
  // The order in which a value is tried without its declaration: words first, then the narrowest
  // number. Whatever is left is taken for a value of an enum.
  for (const ir::OptionKind kind : {ir::OptionKind::kFlag, ir::OptionKind::kSint,
                                    ir::OptionKind::kUint, ir::OptionKind::kFloat}) {
    if (take(kind)) {
      break;
    }
  }
  return setting;
}

// [global:|instance:]NAME[=VALUE] or no-NAME.
Result<resolve::OptionSetting> ReadOption(const resolve::Program& program, std::string_view text) {
  std::optional<ir::OptionScope> scope;
  for (const auto& [prefix, value] : {std::pair{"global:", ir::OptionScope::kGlobal},
                                      std::pair{"instance:", ir::OptionScope::kInstance}}) {
    if (text.starts_with(prefix)) {
      text.remove_prefix(std::string_view(prefix).size());
      scope = value;
      break;
    }
  }
  const size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  // A name alone switches a flag on, as is usual on command lines.
  std::string_view value = equals == std::string_view::npos ? "true" : text.substr(equals + 1);
  if (name.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "option '" + std::string(text) + "' has no name; write NAME=VALUE",
                 .reason = {}};
  }
  // `no-fog` means fog=false, unless there is an option of this very name.
  if (equals == std::string_view::npos && name.starts_with("no-") &&
      Declared(program, name) == nullptr) {
    name.remove_prefix(3);
    value = "false";
  }
  resolve::OptionSetting setting = ReadOptionValue(name, value, Declared(program, name));
  setting.scope = scope;
  return setting;
}

// What ReadOptionValue reads as the same value again.
std::string ValueText(const resolve::OptionSetting& setting) {
  switch (setting.kind) {
    case ir::OptionKind::kFlag:
      return setting.bits != 0 ? "true" : "false";
    case ir::OptionKind::kUint:
      return fmt::format("{}u", setting.bits);
    case ir::OptionKind::kSint:
      return fmt::format("{}", static_cast<int32_t>(setting.bits));
    case ir::OptionKind::kFloat:
      return fmt::format("{}", std::bit_cast<float>(setting.bits));  // the shortest that reads back
    case ir::OptionKind::kEnum:
      return fmt::format("\"{}\"", setting.text);
  }
  KILN_UNREACHABLE();
}

std::string_view OptionKindText(ir::OptionKind kind) { return ir::NameOf(kind); }

}  // namespace kiln::driver
