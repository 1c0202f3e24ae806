// SPDX-License-Identifier: MIT
#include "compiler/tool/hlsl_inputs.h"

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
          inputs.files.Add({probe.path, std::move(text).value()});
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
