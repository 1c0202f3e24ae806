// SPDX-License-Identifier: MIT
#include "compiler/tool/hlsl_inputs.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/files/beneath.h"
#include "compiler/base/language_limits.h"
#include "compiler/source/include_paths.h"

namespace kiln::tool {
namespace {

// Roots are compared as texts when paths are made of them, so each folder has one spelling.
// "lib/" is "lib", "." the folder of the command.
std::string RootOf(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) {
    folder.pop_back();
  }
  return folder == "." ? std::string() : folder;
}

// Not one that a link leads to: links are refused.
bool IsFolder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(std::filesystem::symlink_status(path, ignored));
}

// What one source includes may be as much as a module takes (spec/hlsl 25.2). The front end says so
// as well, but only when everything has been read.
class IncludeCount {
 public:
  static constexpr uint64_t kMostBytes = uint64_t{16} * LanguageLimits{}.source_bytes;

  // False: with this one it is too much.
  bool Add(uint64_t bytes) {
    ++files_;
    bytes_ += bytes;
    return files_ < LanguageLimits{}.include_files && bytes_ <= kMostBytes;
  }

 private:
  uint64_t files_ = 0;
  uint64_t bytes_ = 0;
};

// A file that a source includes, for a probe. What is included is the choice of whoever wrote the
// source, so it must not lead out of the folders that were declared: the folder of the source and
// those of -I. The probe lies below the longest of them by its name, and no link is followed from
// there on. Beside them all is only what ".." of a source that lies elsewhere leads to.
Result<std::string> ReadIncluded(const std::string& path, std::string_view folder_of_source,
                                 std::span<const std::string> include_roots) {
  std::string_view root = path.starts_with('/') ? "/" : "";
  const auto consider = [&](std::string_view folder) {
    const bool below =
        path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
    root = below && folder.size() > root.size() ? folder : root;
  };
  consider(folder_of_source);
  for (const std::string& folder : include_roots) {
    consider(folder);
  }
  const size_t name = root.size() + (root.empty() || root == "/" ? 0 : 1);
  return ReadFileBeneath(std::string(root), path.substr(name), LanguageLimits{}.source_bytes);
}

// The front end says at which include it is too much, if it comes there. But it reads depth first
// and ReadIncludes level by level, so it may miss a file first that was not read, which is there.
Result<void> TooMuch(const SourceFile& source, const driver::SourceInputs& inputs,
                     const std::string& path) {
  const driver::ParsedSource parsed = driver::ParseSource(ir::Language::kHlsl, source, inputs, 0);
  const auto has = [&](Code code) {
    return std::ranges::find(parsed.module.diagnostics, code, &Diagnostic::code) !=
           parsed.module.diagnostics.end();
  };
  if (has(Code::kHlsl1007) && !has(Code::kHlsl1010)) {
    return {};
  }
  return Error{
      .code = ErrorCode::kResourceExhausted,
      .context = fmt::format("includes lead to more than {} files or {} bytes; the last "
                             "one is '{}'",
                             LanguageLimits{}.include_files, IncludeCount::kMostBytes, path),
      .reason = "LIMIT_EXCEEDED"};
}

}  // namespace

Result<driver::SourceInputs> ReadSettings(const HlslArguments& arguments) {
  driver::SourceInputs inputs;
  for (const std::string& text : arguments.settings) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = fmt::format("--hlsl '{}' is not NAME=VALUE", text),
                   .reason = {}};
    }
    KILN_TRY_VOID(hlsl::SetSetting(text.substr(0, equals), text.substr(equals + 1), inputs.hlsl));
  }
  for (const std::string& text : arguments.defines) {
    KILN_TRY(hlsl::Define define, hlsl::ParseDefine(text));
    inputs.hlsl.defines.push_back(std::move(define));
  }
  for (const std::string& folder : arguments.include_roots) {
    inputs.hlsl.include_roots.push_back(RootOf(folder));
  }
  return inputs;
}

// What a file includes is known when it was read. So the front end is asked again and again what it
// probes, with the files of the last time, until that are no new ones: once for each level of
// includes. Its limits bound that.
Result<void> ReadIncludes(std::span<const SourceFile> sources, driver::SourceInputs& inputs) {
  // Shared by all sources: a file that two of them include is read once.
  std::set<std::string> tried;
  for (const SourceFile& source : sources) {
    // The sources themselves may be included by each other; the text that was read already is used.
    if (tried.insert(source.path).second) {
      inputs.files.Add(source);
    }
  }
  for (const SourceFile& source : sources) {
    IncludeCount count;
    for (bool more = true; more;) {
      more = false;
      for (const Probe& probe : driver::ProbesOf(source, inputs)) {
        // A path that was tried is not tried again, whether it was there or not. So each round
        // reads new files, and the loop ends.
        if (probe.present || !tried.insert(probe.path).second) {
          continue;
        }
        Result<std::string> text =
            ReadIncluded(probe.path, FolderOf(source.path), inputs.hlsl.include_roots);
        if (text.ok()) {
          const bool fits = count.Add(text->size());
          inputs.files.Add({probe.path, std::move(text).value()});
          if (!fits) {
            return TooMuch(source, inputs, probe.path);
          }
          more = true;
        } else if (text.error().code != ErrorCode::kNotFound && !IsFolder(probe.path)) {
          // A probe may miss, since several folders are tried; a file that is there and cannot be
          // read is an error.
          return std::move(text).error();
        }
      }
    }
  }
  return {};
}

}  // namespace kiln::tool
