// SPDX-License-Identifier: MIT
#include "client/cli/pack/artifacts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include <fmt/format.h>

namespace kiln::cli {
namespace {

Error Usage(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "USAGE"};
}

Error NotInPack(std::string text) {
  return {.code = ErrorCode::kNotFound, .context = std::move(text), .reason = "NOT_IN_PACK"};
}

// What a text means for an option; nullopt: nothing.
// The numbers of types are those of the pack's OPTION table. The whole text must be the value: "4x"
// is a mistake and not 4.
std::optional<cache::TypedValue> ValueOf(const pack::Tables& tables, const pack::OptionRow& option,
                                         std::string_view text) {
  const auto number = [&]<class T>(T value) -> std::optional<T> {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
  };
  switch (option.type) {
    case 0:
      return text == "true"    ? std::optional(cache::TypedValue::Flag(true))
             : text == "false" ? std::optional(cache::TypedValue::Flag(false))
                               : std::nullopt;
    case 1: {
      const auto value = number(uint32_t{0});
      return value.has_value() ? std::optional(cache::TypedValue::Uint(*value)) : std::nullopt;
    }
    case 2: {
      const auto value = number(int32_t{0});
      return value.has_value() ? std::optional(cache::TypedValue::Sint(*value)) : std::nullopt;
    }
    case 3: {
      const auto value = number(float{0});
      return value.has_value() ? std::optional(cache::TypedValue::Float(*value)) : std::nullopt;
    }
    default:
      for (uint32_t i = 0; i < option.value_count; ++i) {
        // Names of an enum are found by their text, as the index of a name may be another one in
        // the next pack.
        const std::string_view name = tables.String(option.first_value + i);
        if (name == text) {
          return cache::TypedValue::Text(name);
        }
      }
      return std::nullopt;
  }
}

// default_bits holds each type in 32 bits: a float by its bits, an enum by the index of its name.
cache::TypedValue DefaultOf(const pack::Tables& tables, const pack::OptionRow& option) {
  switch (option.type) {
    case 0:
      return cache::TypedValue::Flag(option.default_bits != 0);
    case 1:
      return cache::TypedValue::Uint(option.default_bits);
    case 2:
      return cache::TypedValue::Sint(std::bit_cast<int32_t>(option.default_bits));
    case 3:
      return cache::TypedValue::Float(std::bit_cast<float>(option.default_bits));
    default:
      return cache::TypedValue::Text(tables.String(option.first_value + option.default_bits));
  }
}

// All options of a program: defaults, then what was said.
// The values stand in the order of the program's options, which is how an artifact is looked up in
// a pack.
Result<std::vector<cache::TypedValue>> ValuesOf(const pack::Tables& tables,
                                                const pack::ProgramRow& program,
                                                const std::vector<std::string>& settings) {
  const auto options = tables.OptionsOf(program);
  std::vector<cache::TypedValue> values;
  for (const pack::OptionRow& option : options) {
    values.push_back(DefaultOf(tables, option));
  }
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    std::string name = setting.substr(0, equals);
    std::string text = equals == std::string::npos ? "true" : setting.substr(equals + 1);
    // Programs have a handful of options, so a linear search does.
    const auto find = [&](std::string_view wanted) {
      return std::find_if(options.begin(), options.end(), [&](const pack::OptionRow& option) {
        return tables.String(option.name) == wanted;
      });
    };
    auto found = find(name);
    // As on every command line (spec/cli 2.2): "no-fog" is false unless an option has that very
    // name.
    if (found == options.end() && equals == std::string::npos && name.starts_with("no-")) {
      name = name.substr(3);
      text = "false";
      found = find(name);
    }
    if (found == options.end()) {
      return Usage(fmt::format("'{}' has no option '{}'", tables.String(program.name), name));
    }
    const std::optional<cache::TypedValue> value = ValueOf(tables, *found, text);
    if (!value.has_value()) {
      return Usage(fmt::format("option '{}' cannot be '{}'", name, text));
    }
    values[static_cast<size_t>(found - options.begin())] = *value;
  }
  return values;
}

Result<PackedArtifact> Read(const pack::Pack& pack, uint32_t row) {
  constexpr std::array<std::string_view, 4> kStages{"", "vertex", "fragment", "compute"};
  const pack::ArtifactRow& found = pack.tables().artifacts[row];
  PackedArtifact artifact;
  artifact.live_key = found.live_key;
  for (uint32_t i = 0; i < found.code_count; ++i) {
    const pack::CodeRow& code = pack.tables().code[found.first_code + i];
    KILN_TRY(cache::Blob blob, pack.GetBlob(code.blob));
    artifact.code.push_back({.stage = code.stage < kStages.size()
                                          ? std::string(kStages[code.stage])
                                          : fmt::format("stage{}", code.stage),
                             .blob = std::move(blob)});
  }
  if (found.metadata != pack::kNone) {
    KILN_TRY(artifact.metadata, pack.GetBlob(found.metadata));
  }
  return artifact;
}

}  // namespace

Result<std::vector<PackedArtifact>> ArtifactsIn(const pack::Pack& pack, const std::string& program,
                                                const std::vector<std::string>& options,
                                                const std::string& target) {
  const pack::Tables& tables = pack.tables();
  const std::optional<uint32_t> found = pack.FindProgram(program);
  if (!found.has_value()) {
    return NotInPack("the pack has no program '" + program + "'");
  }
  const pack::ProgramRow& row = tables.programs[*found];
  KILN_TRY(const std::vector<cache::TypedValue> values, ValuesOf(tables, row, options));
  std::vector<PackedArtifact> artifacts;
  // An entry is the program in one target.
  for (uint32_t entry = row.first_entry; entry < row.first_entry + row.entry_count; ++entry) {
    const std::string_view name = tables.String(tables.entries[entry].target);
    const std::optional<uint32_t> number =
        // A pack need not have the variant in every target, and that is no error while it has it in
        // one.
        target.empty() || target == name ? pack.FindArtifact(entry, values) : std::nullopt;
    if (number.has_value()) {
      KILN_TRY(PackedArtifact artifact, Read(pack, *number));
      artifact.target = std::string(name);
      artifacts.push_back(std::move(artifact));
    }
  }
  if (artifacts.empty()) {
    return NotInPack("the pack has no artifact of '" + program + "' for these options");
  }
  return artifacts;
}

}  // namespace kiln::cli
