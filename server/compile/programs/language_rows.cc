// SPDX-License-Identifier: MIT
// Settings, macros and dependencies of sources in HLSL as rows of explain records, and back. Rows
// are for people first: they are cut and spelled so that they can be shown, and the way back says
// no where that lost something.
#include "server/compile/programs/language_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/hash/canonical.h"
#include "compiler/source/macro_path.h"
#include "compiler/source/probe_list.h"

namespace kiln::compile {
namespace {

// Bounds of explain records, in bytes and rows (spec/cache 11.3). Prefixes tell macros and include
// roots from settings, which have no space in their names.
constexpr size_t kMaxText = 1024;
constexpr size_t kMaxDependencies = 128;
constexpr std::string_view kDefine = "define ";
constexpr std::string_view kRoot = "include_root ";
// Of a macro whose choice is that it is not defined; no value has a space.
constexpr std::string_view kUndefined = "not defined";
constexpr std::string_view kOthers = "(other files)";
// The end of a text of which the record has less than there was.
constexpr std::string_view kNotWhole = " (not whole)";

}  // namespace

// Texts of records are canonical: UTF-8 without zeros. Paths and macros are the sender's choice,
// and a cut may split a character, so what is no canonical text is spelled in ASCII.
std::string FitForRecord(std::string_view text) {
  std::string fit(text.substr(0, kMaxText));
  if (!IsCanonicalText(fit)) {
    std::replace_if(
        fit.begin(), fit.end(), [](char c) { return c == '\0' || static_cast<uint8_t>(c) >= 0x80; },
        '?');
  }
  return fit;
}

namespace {

// The same, and what was lost can be seen.
std::string Told(std::string_view text) {
  std::string fit = FitForRecord(text);
  if (fit != text) {
    fit.resize(std::min(fit.size(), kMaxText - kNotWhole.size()));
    fit = FitForRecord(fit) + std::string(kNotWhole);
  }
  return fit;
}

bool IsWhole(std::string_view told) { return !told.ends_with(kNotWhole); }

}  // namespace

// One row for each setting, macro and include root, so that a miss can name the one that changed.
std::vector<cache::NamedText> LanguageRowsOf(const HlslInputs& inputs) {
  std::vector<cache::NamedText> rows;
  for (const hlsl::SettingValue& setting : hlsl::ValuesOf(inputs.settings)) {
    rows.push_back({.name = std::string(setting.name), .value = std::string(setting.value)});
  }
  for (const hlsl::Define& define : inputs.settings.defines) {
    rows.push_back(
        {.name = Told(fmt::format("{}{}", kDefine, define.name)), .value = Told(define.value)});
  }
  for (const hlsl::MacroChoice& macro : inputs.settings.macros) {
    rows.push_back({.name = Told(fmt::format("{}{}", kMacroRow, macro.name)),
                    .value = Told(macro.value.value_or(std::string(kUndefined)))});
  }
  for (size_t i = 0; i < inputs.settings.include_roots.size(); ++i) {
    rows.push_back(
        {.name = fmt::format("{}{}", kRoot, i), .value = Told(inputs.settings.include_roots[i])});
  }
  return rows;
}

// Sorted by path, each once, whatever the order of the sources. Beyond 127 paths one row stands for
// the rest, by a digest of their answers: a change among them is seen, but not which one it was.
std::vector<cache::ExplainDependency> DependencyRowsOf(
    std::span<const std::shared_ptr<const ParsedSource>> parsed) {
  std::map<std::string, std::optional<Digest>> by_path;
  for (const std::shared_ptr<const ParsedSource>& source : parsed) {
    for (const Probe& probe : source->probes) {
      by_path.emplace(Told(probe.path), probe.present ? std::optional(probe.digest) : std::nullopt);
    }
  }
  std::vector<cache::ExplainDependency> rows;
  std::vector<Probe> others;
  for (auto& [path, digest] : by_path) {
    if (rows.size() + 1 < kMaxDependencies || by_path.size() <= kMaxDependencies) {
      rows.push_back({.path = path, .digest = digest});
    } else {
      others.push_back(
          {.path = path, .present = digest.has_value(), .digest = digest.value_or(Digest{})});
    }
  }
  if (!others.empty()) {
    rows.push_back({.path = std::string(kOthers), .digest = DigestOf(EncodeProbes(others))});
  }
  return rows;
}

// The way back, to link a program again for an explanation. Impossible where rows stand for others
// or are not whole; paths that were looked for and not found are left out, and so are not found
// again.
std::optional<HlslInputs> HlslInputsOf(const cache::ExplainInputs& record) {
  HlslInputs inputs;
  for (const auto& [name, value] : record.language) {
    if (!IsWhole(name) || !IsWhole(value)) {
      return std::nullopt;
    }
    if (name.starts_with(kDefine)) {
      inputs.settings.defines.push_back({.name = name.substr(kDefine.size()), .value = value});
    } else if (name.starts_with(kMacroRow)) {
      inputs.settings.macros.push_back(
          {.name = name.substr(kMacroRow.size()),
           .value = value == kUndefined ? std::nullopt : std::optional(value)});
    } else if (name.starts_with(kRoot)) {
      inputs.settings.include_roots.push_back(value);
    } else if (!hlsl::SetSetting(name, value, inputs.settings).ok()) {
      return std::nullopt;
    }
  }
  std::vector<ListedFile> files;
  for (const cache::ExplainDependency& row : record.dependencies) {
    if (row.path == kOthers || !IsWhole(row.path)) {
      return std::nullopt;
    }
    if (row.digest.has_value() && !IsMacroPath(row.path)) {
      files.push_back({.path = row.path, .digest = *row.digest});
    }
  }
  Result<FileList> list = FileList::Of(std::move(files));
  if (!list.ok()) {
    return std::nullopt;
  }
  inputs.list = list->digest();
  inputs.files = std::make_shared<const FileList>(std::move(list).value());
  return inputs;
}

}  // namespace kiln::compile
