// SPDX-License-Identifier: MIT
// `kiln fmt` (spec/cli 6.14): formats sources in place, or says with --check which would change. It
// needs no daemon, since format::FormatFile works on the text of one file alone.
#include "client/cli/editor/fmt.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/format/format_file.h"
#include "client/project/limits.h"
#include "client/project/manifest.h"
#include "compiler/base/files/edit_file.h"
#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

struct FmtArguments {
  std::vector<std::string> files;
  bool check = false;
};

// Sources below a folder, in the order of their paths.
Result<std::vector<std::string>> SourcesBelow(const std::string& folder) {
  std::set<std::string> found;
  std::error_code error;
  size_t seen = 0;
  std::filesystem::recursive_directory_iterator at(folder, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() > project::kMaxDepth || ++seen > project::kMaxEntries) {
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = fmt::format("'{}' holds too much to look through: folders more than "
                                          "{} deep, or more than {} files",
                                          folder, project::kMaxDepth, project::kMaxEntries),
                   .reason = std::string(project::kLimitReason)};
    }
    // A link is not followed: what it leads to is formatted where it lies, or is somebody else's.
    if (!at->is_symlink(error) && at->is_regular_file(error) && at->path().extension() == ".rpl") {
      found.insert(at->path().string());
      // A folder that was named by mistake, a home for example, ends here and not in an hour.
      if (found.size() > project::kMaxFiles) {
        return Error{.code = ErrorCode::kResourceExhausted,
                     .context = fmt::format("more than {} sources are below '{}'",
                                            project::kMaxFiles, folder),
                     .reason = std::string(project::kLimitReason)};
      }
    }
  }
  if (error) {
    return FileError(folder, "cannot read", error.value());
  }
  return std::vector<std::string>(found.begin(), found.end());
}

// What the words name: files as they are, folders with all sources below them; without words the
// folder of the nearest manifest.
Result<std::vector<std::string>> FilesOf(const Global& global, const FmtArguments& arguments) {
  std::vector<std::string> words = arguments.files;
  if (words.empty()) {
    KILN_TRY(const std::string manifest, global.manifest.empty()
                                             ? project::OwnManifest(".")
                                             : Result<std::string>(global.manifest));
    const std::filesystem::path folder = std::filesystem::path(manifest).parent_path();
    words.push_back(folder.empty() ? "." : folder.string());
  }
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(word, ignored)) {
      files.push_back(word);
      continue;
    }
    KILN_TRY(std::vector<std::string> below, SourcesBelow(word));
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

struct Outcome {
  uint64_t changed = 0;
  uint64_t wrong = 0;  // files that do not parse
};

// A file is replaced as a whole and only if it would change, so the time stamps of good files stay
// and nothing is built again.
Result<void> FormatOne(const std::string& path, bool check, Outcome& outcome) {
  KILN_TRY(const std::string text, ReadFile(path, project::kMaxSource));
  const Result<std::string> formatted = format::FormatFile(path, text);
  // A file that does not parse is counted and the others are formatted all the same.
  if (!formatted.ok()) {
    ++outcome.wrong;
    Print(stderr, "error: {}\n", Message{formatted.error().context});
    return {};
  }
  if (*formatted == text) {
    return {};
  }
  ++outcome.changed;
  if (check) {
    Print(stderr, "error: '{}' is not formatted\n", path);
    return {};
  }
  return EditFile(path, AsBytes(*formatted));
}

// Both a file that does not parse and, with --check, one that would change end with the code of
// wrong sources (spec/cli 4), which is what a hook before a commit looks at.
Result<int> RunFmt(const Global& global, const FmtArguments& arguments) {
  KILN_TRY(const std::vector<std::string> files, FilesOf(global, arguments));
  Outcome outcome;
  for (const std::string& path : files) {
    KILN_TRY_VOID(FormatOne(path, arguments.check, outcome));
  }
  if (!global.json && !global.quiet && !arguments.check) {
    Print("{} of {} files changed\n", outcome.changed, files.size());
  }
  const bool wrong = outcome.wrong > 0 || (arguments.check && outcome.changed > 0);
  return int{wrong ? kWrongSource : kSuccess};
}

}  // namespace

void AddFmt(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<FmtArguments>();
  CLI::App* verb = AddVerb(
      app, line,
      {"fmt", "Put sources into one style: white space only, comments stay",
       "  kiln fmt\n  kiln fmt shaders/water.rpl shaders/passes\n  kiln fmt --check"},
      [&line, arguments] {
        return RunTimed(line.global, "fmt", [&] { return RunFmt(line.global, *arguments); });
      });
  verb->add_option("files", arguments->files,
                   "Files, or folders with everything below them; default: the project");
  verb->add_flag("--check", arguments->check, "Change nothing; fail if a file would change");
}

}  // namespace kiln::cli
