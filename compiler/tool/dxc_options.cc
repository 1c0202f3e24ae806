// SPDX-License-Identifier: MIT
#include "compiler/tool/dxc_options.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::tool {
namespace {

// A flag stands alone, a value is the next word, joined is either, and a prefix has its value at
// its end.
// A pair has two words behind it.
enum class Form : uint8_t { kFlag, kValue, kPair, kJoined, kPrefix };

// Options that mean one thing share a row here, whatever they are called.
enum class Meaning : uint8_t {
  kProfile,
  kEntry,
  kDefine,
  kInclude,
  kOutput,
  kVersion,
  kColumnMajor,
  kRowMajor,
  kSixteenBit,
  kGlLayout,
  kDxLayout,
  kScalarLayout,
  kShift,
  kEnvironment,
  kDebug,
  kRefused,
  kIgnored,
};

// A row of dxc_options.def.
struct Option {
  std::string_view spelling;
  Form form;
  Meaning meaning;
};

// Spellings, forms and meanings are rows of a table; a new option needs no code unless it means
// something new.
constexpr auto kOptions = std::to_array<Option>({
#define KILN_DXC_OPTION(spelling, form, meaning) {spelling, Form::form, Meaning::meaning},
#include "compiler/tool/dxc_options.def"
});

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = {}};
}

// The option that a word is: the longest spelling that it is or begins with.
// The longest spelling, because short ones begin long ones: `-Zi` and `-Z`.
const Option* Find(std::string_view word) {
  const Option* found = nullptr;
  for (const Option& option : kOptions) {
    // An option that has nothing joined to it has to be the word as a whole.
    const bool whole =
        option.form == Form::kFlag || option.form == Form::kValue || option.form == Form::kPair;
    const bool fits = whole ? word == option.spelling : word.starts_with(option.spelling);
    if (fits && (found == nullptr || option.spelling.size() > found->spelling.size())) {
      found = &option;
    }
  }
  return found;
}

// Reads words from the left to the right; a later option overrides an earlier one where only
// one can hold.
class Reader {
 public:
  explicit Reader(std::span<const std::string> words) : words_(words) {}

  Result<DxcRequest> Read() {
    while (at_ < words_.size()) {
      std::string word = words_[at_++];
      // On Windows options begin with a slash, and command lines of both systems are read.
      const bool option = word.starts_with('-') || (word.starts_with('/') && IsOption(word));
      if (!option) {
        KILN_TRY_VOID(File(std::move(word)));
        continue;
      }
      // From here on both spellings are one.
      word[0] = '-';
      KILN_TRY_VOID(One(word));
    }
    // Both are required by DXC as well: a profile has no default that would be right for every
    // shader.
    if (request_.file.empty() || !has_profile_) {
      return Wrong(request_.file.empty() ? "no file is named"
                                         : "no profile is named, write -T ps_6_0 or another");
    }
    return std::move(request_);
  }

 private:
  // A path from the root is no option, even if it begins like one.
  // Slashes begin options on Windows and paths elsewhere, so such a word has to be an option
  // that is known.
  static bool IsOption(const std::string& word) {
    return word.find('/', 1) == std::string::npos && Find("-" + word.substr(1)) != nullptr;
  }

  // One file, as one entry point is compiled.
  Result<void> File(std::string word) {
    if (!request_.file.empty()) {
      return Wrong(fmt::format("a second file is named, '{}'", word));
    }
    request_.file = std::move(word);
    return {};
  }

  // The word is an option or an error: guessing would turn a typing mistake into another module.
  Result<void> One(const std::string& word) {
    const Option* const option = Find(word);
    if (option == nullptr) {
      return Wrong(fmt::format("'{}' is not an option of DXC that kilnc knows", word));
    }
    // Empty for options that stand alone or have their value in the next word.
    std::string value = word.substr(option->spelling.size());
    const bool next =
        option->form == Form::kValue || (option->form == Form::kJoined && value.empty());
    // Refused, since ignoring such an option would make another module than the caller believes.
    if (option->meaning == Meaning::kRefused) {
      return Wrong(fmt::format("'{}' changes what is made, and this build does not obey it",
                               option->spelling));
    }
    if (next && at_ == words_.size()) {
      return Wrong(fmt::format("'{}' needs a value", word));
    }
    if (next) {
      // The next word is taken as it is, even if it begins like an option.
      value = words_[at_++];
    }
    if (option->form == Form::kPair) {
      return Shift(option->spelling);
    }
    return Obey(option->meaning, value);
  }

  // Words become settings of the front end: its own checks say whether a value is one.
  Result<void> Obey(Meaning meaning, const std::string& value) {
    hlsl::Settings& settings = request_.inputs.hlsl;
    switch (meaning) {
      case Meaning::kProfile:
        return Profile(value);
      case Meaning::kEntry:
        request_.entry = value;
        return {};
      case Meaning::kDefine: {
        KILN_TRY(hlsl::Define define, hlsl::ParseDefine(value));
        settings.defines.push_back(std::move(define));
        return {};
      }
      case Meaning::kInclude:
        settings.include_roots.push_back(value);
        return {};
      case Meaning::kOutput:
        request_.output = value;
        return {};
      case Meaning::kVersion:  // earlier ones count as 2018
        return hlsl::SetSetting("version", value == "2016" || value == "2017" ? "2018" : value,
                                settings);
      case Meaning::kColumnMajor:
        return hlsl::SetSetting("matrix_order", "column", settings);
      case Meaning::kRowMajor:
        return hlsl::SetSetting("matrix_order", "row", settings);
      case Meaning::kSixteenBit:
        return hlsl::SetSetting("sixteen_bit", "on", settings);
      case Meaning::kGlLayout:
        return hlsl::SetSetting("layout", "std", settings);
      case Meaning::kDxLayout:
        return hlsl::SetSetting("layout", "dx", settings);
      case Meaning::kScalarLayout:
        return hlsl::SetSetting("layout", "scalar", settings);
      case Meaning::kEnvironment:
        return Environment(value);
      // `-Zi` means names and lines, which is the fullest level here.
      case Meaning::kDebug:
        request_.debug = target::Debug::kFull;
        return {};
      case Meaning::kShift:  // has two values
      case Meaning::kRefused:
      case Meaning::kIgnored:
        return {};
    }
    KILN_UNREACHABLE();
  }

  // "-fvk-t-shift 16 all": what is added to registers of a class, and in which space.
  Result<void> Shift(std::string_view spelling) {
    if (words_.size() - at_ < 2) {
      return Wrong(fmt::format("'{}' needs a number and a space", spelling));
    }
    const std::string amount = words_[at_++];
    const std::string one = words_[at_++] + ":" + amount;
    const std::string name = fmt::format("shift.{}", spelling[5]);
    std::string& list = shifts_[spelling[5]];
    list += (list.empty() ? "" : ",") + one;
    return hlsl::SetSetting(name, list, request_.inputs.hlsl);
  }

  // "ps_6_0": the stage and the shader model.
  Result<void> Profile(std::string_view text) {
    constexpr std::pair<std::string_view, ir::Stage> kStages[] = {{"vs_6_", ir::Stage::kVertex},
                                                                  {"ps_6_", ir::Stage::kFragment},
                                                                  {"cs_6_", ir::Stage::kCompute}};
    for (const auto& [prefix, stage] : kStages) {
      if (text.starts_with(prefix)) {
        has_profile_ = true;
        request_.stage = stage;
        // What stands behind the prefix is checked by the setting itself.
        return hlsl::SetSetting("shader_model", "6." + std::string(text.substr(prefix.size())),
                                request_.inputs.hlsl);
      }
    }
    return Wrong(
        fmt::format("profile '{}' is not vs_6_N, ps_6_N or cs_6_N, which are built", text));
  }

  // The names of environments are DXC's and kilnc's alike.
  Result<void> Environment(std::string_view text) {
    const std::optional<target::Environment> environment = target::ParseEnvironment(text);
    if (!environment.has_value()) {
      return Wrong(fmt::format("target environment '{}' is not vulkan1.0 to vulkan1.4", text));
    }
    request_.environment = *environment;
    return {};
  }

  std::span<const std::string> words_;
  size_t at_ = 0;
  bool has_profile_ = false;
  std::map<char, std::string> shifts_;  // by class: what was said of it so far
  DxcRequest request_;
};

}  // namespace

Result<DxcRequest> ReadDxcOptions(std::span<const std::string> words) {
  return Reader(words).Read();
}

}  // namespace kiln::tool
