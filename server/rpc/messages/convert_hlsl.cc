// SPDX-License-Identifier: MIT
// The part of a program that only sources in HLSL have (spec/daemon 3, spec/hlsl 1.5). All of it is
// part of keys, so equal requests must become equal inputs: macros are sorted, settings are those
// of a table, and a few files become the same list as an uploaded one.
#include "server/rpc/messages/convert_hlsl.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/printable.h"
#include "compiler/base/text/logical_path.h"
#include "compiler/base/threads/stop.h"
#include "server/rpc/messages/convert_request.h"
#include "server/rpc/messages/message_limits.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

template <class Items>
uint64_t Count(const Items& items) {
  return static_cast<uint64_t>(items.size());
}

// One macro, as ParseDefine reads it from a command line. A value is one line: with a line end in
// it, it would be directives.
Result<hlsl::Define> DefineFrom(const v1::Hlsl::Define& define) {
  if (const uint64_t size = define.name().size() + define.value().size(); size > kMaxDefine) {
    return AboveLimit("macro", kMaxDefine, size);
  }
  if (!IsPrintable(define.name()) || !IsPrintable(define.value())) {
    return Malformed("hlsl.defines", "a macro has no control characters");
  }
  const Result<hlsl::Define> parsed = hlsl::ParseDefine(define.name() + "=" + define.value());
  if (!parsed.ok() || parsed->name != define.name()) {
    return Malformed("hlsl.defines",
                     fmt::format("'{}' is not NAME or NAME(PARAMETERS)", define.name()));
  }
  return parsed;
}

// In the order of their names, so that requests that list them otherwise have the same keys.
Result<std::vector<hlsl::Define>> DefinesFrom(const v1::Hlsl& hlsl) {
  if (Count(hlsl.defines()) > kMaxDefines) {
    return AboveLimit("macros of a program", kMaxDefines, Count(hlsl.defines()));
  }
  std::vector<hlsl::Define> defines;
  for (const v1::Hlsl::Define& define : hlsl.defines()) {
    KILN_TRY(hlsl::Define converted, DefineFrom(define));
    defines.push_back(std::move(converted));
  }
  std::ranges::sort(defines, {}, hlsl::MacroNameOf);
  const auto twice = std::ranges::adjacent_find(defines, {}, hlsl::MacroNameOf);
  if (twice != defines.end()) {
    return Malformed("hlsl.defines",
                     fmt::format("'{}' is defined twice", hlsl::MacroNameOf(*twice)));
  }
  return defines;
}

// The text that a #define line and a manifest have for a value of the protocol.
Result<std::string> MacroValueFrom(const v1::OptionValue& value) {
  switch (value.value_case()) {
    case v1::OptionValue::kFlag:
      return std::string(value.flag() ? "true" : "false");
    case v1::OptionValue::kUint:
      return std::to_string(value.uint());
    case v1::OptionValue::kSint:
      return std::to_string(value.sint());
    case v1::OptionValue::kEnum:
      return value.enum_();
    case v1::OptionValue::kFloat:
    case v1::OptionValue::VALUE_NOT_SET:
      break;
  }
  return Malformed("hlsl.macros", "a value of a macro is a flag, a whole number or a word");
}

// Ascending by name. Numbers are checked before lists of that length are made.
Result<std::vector<hlsl::MacroAxis>> MacrosFrom(const v1::Hlsl& hlsl,
                                                std::span<const hlsl::Define> defines) {
  if (Count(hlsl.macros()) > hlsl::kMostMacroAxes) {
    return AboveLimit("macros with values", hlsl::kMostMacroAxes, Count(hlsl.macros()));
  }
  std::vector<hlsl::MacroAxis> macros;
  for (const v1::Hlsl::Macro& macro : hlsl.macros()) {
    if (Count(macro.values()) > hlsl::kMostMacroValues) {
      return AboveLimit("values of a macro", hlsl::kMostMacroValues, Count(macro.values()));
    }
    std::vector<std::string> values;
    for (const v1::OptionValue& value : macro.values()) {
      KILN_TRY(std::string text, MacroValueFrom(value));
      values.push_back(std::move(text));
    }
    Result<hlsl::MacroAxis> axis = hlsl::MakeMacroAxis(macro.name(), std::move(values));
    if (!axis.ok()) {
      return Malformed("hlsl.macros", Printable(axis.error().context));
    }
    if (std::ranges::binary_search(defines, axis->name, {}, hlsl::MacroNameOf)) {
      return Malformed("hlsl.macros", fmt::format("'{}' is defined, too", axis->name));
    }
    macros.push_back(std::move(axis).value());
  }
  std::ranges::sort(macros, {}, &hlsl::MacroAxis::name);
  const auto twice = std::ranges::adjacent_find(macros, {}, &hlsl::MacroAxis::name);
  if (twice != macros.end()) {
    return Malformed("hlsl.macros", fmt::format("'{}' is listed twice", twice->name));
  }
  return macros;
}

// The order is kept: it is that of the search.
Result<std::vector<std::string>> RootsFrom(const v1::Hlsl& hlsl) {
  if (Count(hlsl.include_roots()) > kMaxIncludeRoots) {
    return AboveLimit("include roots", kMaxIncludeRoots, Count(hlsl.include_roots()));
  }
  for (const std::string& root : hlsl.include_roots()) {
    if (!root.empty() && !IsLogicalPath(root)) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context =
                       "hlsl.include_roots: a folder is \"\" or a logical path: printable, "
                       "relative, '/'-separated and without empty, '.' or '..' segments",
                   .reason = "BAD_PATH"};
    }
  }
  return std::vector<std::string>(hlsl.include_roots().begin(), hlsl.include_roots().end());
}

// Sorted and checked by the list itself.
Result<FileList> FilesFrom(const v1::Hlsl& hlsl) {
  if (Count(hlsl.files()) > kMaxIncludedFiles) {
    return AboveLimit("files to include in a message; upload a list of them", kMaxIncludedFiles,
                      Count(hlsl.files()));
  }
  std::vector<ListedFile> files;
  for (const v1::SourceRef& ref : hlsl.files()) {
    CheckStop();
    if (!ref.inline_().empty() || !ref.has_digest()) {
      return Malformed("hlsl.files", "a file to include is uploaded and named by its digest");
    }
    KILN_TRY(const Digest digest, FromProto(ref.digest()));
    files.push_back({.path = ref.path(), .digest = digest});
  }
  return FileList::Of(std::move(files));
}

}  // namespace

// A list by digest is read later, with the sources; only its size is looked at here.
Result<compile::HlslInputs> FromProto(const v1::Hlsl& hlsl) {
  compile::HlslInputs inputs;
  for (const auto& [name, value] : hlsl.settings()) {
    if (const Result<void> set = hlsl::SetSetting(name, value, inputs.settings); !set.ok()) {
      return Malformed("hlsl.settings", Printable(set.error().context));
    }
  }
  KILN_TRY(inputs.settings.defines, DefinesFrom(hlsl));
  KILN_TRY(inputs.macros, MacrosFrom(hlsl, inputs.settings.defines));
  KILN_TRY(inputs.settings.include_roots, RootsFrom(hlsl));
  if (!hlsl.has_file_list()) {
    KILN_TRY(FileList files, FilesFrom(hlsl));
    inputs.list = files.digest();
    inputs.files = std::make_shared<const FileList>(std::move(files));
    return inputs;
  }
  if (!hlsl.files().empty()) {
    return Malformed("hlsl.file_list", "either files or the digest of a list of them");
  }
  KILN_TRY(inputs.list, FromProto(hlsl.file_list()));
  if (inputs.list->size > FileList::kMostText) {
    return AboveLimit("list of files to include", FileList::kMostText, inputs.list->size);
  }
  return inputs;
}

}  // namespace kiln::rpc
