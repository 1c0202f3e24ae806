// SPDX-License-Identifier: MIT
// Finds the files that sources in HLSL may include, without a preprocessor: every line that looks
// like an include counts, also in branches that no variant takes. So the set may be too large,
// which costs an upload; files that only a macro names are missing, and the manifest or the daemon
// names them (spec/daemon 3.3).
#include "client/includes/include_set.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client/project/limits.h"
#include "compiler/base/files/beneath.h"
#include "compiler/base/text/logical_path.h"
#include "compiler/source/file_list.h"
#include "compiler/source/include_lines.h"

namespace kiln::client {
namespace {

bool IsHlsl(const Source& source) { return source.path.ends_with(".hlsl"); }

// Places that have been looked at and those that still are to be. What a file leads to depends on
// the roots of who includes it, so a file is followed once for each list of roots.
class Follower {
 public:
  explicit Follower(const FileReader& read) : read_(read) {}

  // A list and no recursion. Each place is looked at once for one source and its roots, so circles
  // end.
  Result<void> Follow(const std::string& path, std::string_view text,
                      std::span<const std::string> roots) {
    KILN_TRY_VOID(Note(path, text, roots));
    while (!waiting_.empty()) {
      const std::string next = std::move(waiting_.back());
      waiting_.pop_back();
      KILN_TRY(const Source* const found, Find(next));
      if (found != nullptr) {
        KILN_TRY_VOID(Note(found->path, found->text, roots));
      }
    }
    seen_.clear();
    return {};
  }

  // Null: no file is there. What was looked for in vain is kept, because a new file of that path
  // changes the set.
  Result<const Source*> Find(const std::string& path) {
    const auto known = files_.find(path);
    if (known != files_.end() || absent_.contains(path) || !IsLogicalPath(path)) {
      return known != files_.end() ? &known->second : nullptr;
    }
    KILN_TRY(std::optional<Source> file, read_(path));
    if (!file.has_value()) {
      if (absent_.size() >= project::kMaxPlaces) {
        return TooManyPlaces(path);
      }
      absent_.insert(path);
      return Result<const Source*>(nullptr);
    }
    bytes_ += file->text.size();
    if (files_.size() >= project::kMaxFiles || bytes_ > project::kMaxSourceSet) {
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = fmt::format("includes lead to more than {} files or {} bytes; the "
                                          "last one is '{}'",
                                          project::kMaxFiles, project::kMaxSourceSet, path),
                   .reason = std::string(project::kLimitReason)};
    }
    return &files_.emplace(path, *std::move(file)).first->second;
  }

  // Sorted by path, as the list is. Moves the files out: the follower is done afterwards.
  Result<std::shared_ptr<const IncludeSet>> Set() {
    auto set = std::make_shared<IncludeSet>();
    std::vector<ListedFile> rows;
    for (auto& [path, file] : files_) {
      rows.push_back({.path = path, .digest = file.digest});
      set->files.push_back(std::move(file));
    }
    set->absent.assign(absent_.begin(), absent_.end());
    KILN_TRY(const FileList list, FileList::Of(std::move(rows)));
    set->list = {
        .path = "(list of files to include)", .digest = list.digest(), .text = list.Text()};
    return std::shared_ptr<const IncludeSet>(std::move(set));
  }

 private:
  // A source of a few mebibytes has lines enough for millions of places without a file.
  static Error TooManyPlaces(const std::string& path) {
    return Error{.code = ErrorCode::kResourceExhausted,
                 .context = fmt::format("includes are to be looked for at more than {} places; the "
                                        "last one is '{}'",
                                        project::kMaxPlaces, path),
                 .reason = std::string(project::kLimitReason)};
  }

  Result<void> Note(const std::string& path, std::string_view text,
                    std::span<const std::string> roots) {
    for (const IncludeLine& line : IncludeLinesOf(text)) {
      for (std::string& place : PlacesOf(line, path, roots)) {
        if (seen_.size() >= project::kMaxPlaces) {
          return TooManyPlaces(place);
        }
        if (seen_.insert(place).second) {
          waiting_.push_back(std::move(place));
        }
      }
    }
    return {};
  }

  const FileReader& read_;
  std::map<std::string, Source> files_;
  std::set<std::string> absent_;
  std::set<std::string> seen_;  // of one source
  std::vector<std::string> waiting_;
  uint64_t bytes_ = 0;
};

}  // namespace

// Sources outside of the project are not there (spec/daemon 11.6).
FileReader ReaderBeneath(std::string folder) {
  return [folder = std::move(folder)](const std::string& path) -> Result<std::optional<Source>> {
    Result<std::string> text = ReadFileBeneath(folder, path, project::kMaxSource);
    if (!text.ok()) {
      return text.error().code == ErrorCode::kNotFound ? Result<std::optional<Source>>(std::nullopt)
                                                       : std::move(text).error();
    }
    const Digest digest = DigestOf(AsBytes(*text));
    return std::optional(Source{.path = path, .digest = digest, .text = std::move(*text)});
  };
}

// What is known goes before the disk: edits that are being pushed, then files that were read
// before, then those that were absent. So an edit costs reading only what it newly leads to.
FileReader ReaderOver(std::shared_ptr<const IncludeSet> known, std::span<const Source> changed,
                      std::span<const std::string> removed, FileReader rest) {
  return [known = std::move(known), changed, removed,
          rest = std::move(rest)](const std::string& path) -> Result<std::optional<Source>> {
    const auto edit = std::ranges::find(changed, path, &Source::path);
    if (edit != changed.end()) {
      return std::optional(*edit);
    }
    if (std::ranges::find(removed, path) != removed.end()) {
      return std::optional<Source>();
    }
    const auto file = std::ranges::lower_bound(known->files, path, {}, &Source::path);
    if (file != known->files.end() && file->path == path) {
      return std::optional(*file);
    }
    return std::ranges::binary_search(known->absent, path) ? std::optional<Source>() : rest(path);
  };
}

// Files that the manifest names are followed with the roots of every source that may include them.
Result<std::shared_ptr<const IncludeSet>> FollowIncludes(std::span<const IncludingSource> sources,
                                                         std::span<const std::string> named,
                                                         const FileReader& read) {
  Follower follower(read);
  for (const std::string& path : named) {
    KILN_TRY_VOID(follower.Find(path));
  }
  for (const IncludingSource& including : sources) {
    if (!IsHlsl(including.source)) {
      continue;
    }
    KILN_TRY_VOID(follower.Follow(including.source.path, including.source.text, including.roots));
    for (const std::string& path : named) {  // they include, too
      KILN_TRY(const Source* const file, follower.Find(path));
      if (file != nullptr) {
        KILN_TRY_VOID(follower.Follow(path, std::string(file->text), including.roots));
      }
    }
  }
  return follower.Set();
}

// Everything that a daemon may ask for: sources, the list and its files.
std::vector<Source> UploadsOf(const Program& program) {
  std::vector<Source> uploads = program.sources;
  if (program.hlsl.has_value() && program.hlsl->files != nullptr) {
    uploads.push_back(program.hlsl->files->list);
    uploads.insert(uploads.end(), program.hlsl->files->files.begin(),
                   program.hlsl->files->files.end());
  }
  return uploads;
}

// What a person may see of the sources: without the list, which is no file of the project.
std::vector<Source> TextsOf(const Program& program) {
  std::vector<Source> texts = program.sources;
  if (program.hlsl.has_value() && program.hlsl->files != nullptr) {
    texts.insert(texts.end(), program.hlsl->files->files.begin(), program.hlsl->files->files.end());
  }
  return texts;
}

// Paths whose appearance would change the set; a watch looks out for them.
std::set<std::string> AbsentOf(std::span<Program* const> programs) {
  std::set<std::string> absent;
  for (const Program* const program : programs) {
    if (program->hlsl.has_value() && program->hlsl->files != nullptr) {
      absent.insert(program->hlsl->files->absent.begin(), program->hlsl->files->absent.end());
    }
  }
  return absent;
}

// All programs that shared a set have the files that any of them may include: one set is one list,
// uploaded once.
Result<std::vector<Source>> ChangeIncluded(std::span<Program* const> programs,
                                           std::span<const Source> changed,
                                           std::span<const std::string> removed,
                                           const FileReader& rest) {
  using SetPtr = std::shared_ptr<const IncludeSet>;
  std::map<SetPtr, std::vector<Program*>> by_set;
  for (Program* const program : programs) {
    if (program->hlsl.has_value() && program->hlsl->files != nullptr) {
      by_set[program->hlsl->files].push_back(program);
    }
  }
  // All sets are followed before the first program gets a new one: a failure leaves everything as
  // it was.
  std::vector<std::pair<SetPtr, const std::vector<Program*>*>> now;
  std::map<std::string, Source> fresh;
  for (const auto& [set, sharing] : by_set) {
    std::vector<IncludingSource> sources;
    for (const Program* const program : sharing) {
      for (const Source& source : program->sources) {
        sources.push_back({.source = source, .roots = program->hlsl->include_roots});
      }
    }
    KILN_TRY(SetPtr followed, FollowIncludes(sources, sharing.front()->hlsl->named,
                                             ReaderOver(set, changed, removed, rest)));
    for (const Source& file : followed->files) {
      const bool known = std::ranges::binary_search(set->files, file.path, {}, &Source::path) ||
                         std::ranges::find(changed, file.path, &Source::path) != changed.end();
      if (!known) {
        fresh.emplace(file.path, file);
      }
    }
    now.emplace_back(std::move(followed), &sharing);
  }
  for (const auto& [set, sharing] : now) {
    for (Program* const program : *sharing) {
      program->hlsl->files = set;
    }
  }
  std::vector<Source> files;
  for (auto& [path, file] : fresh) {
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace kiln::client
