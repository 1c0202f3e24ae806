// SPDX-License-Identifier: MIT
// Pushes of files that sources include (spec/daemon 8.3.7): which lists of files change, and which
// programs that concerns.
#include "server/reload/included_files.h"

#include <algorithm>
#include <utility>

#include "compiler/driver/frontends.h"

namespace kiln::reload {

bool MayInclude(const compile::ProgramRequest& program) {
  return std::ranges::any_of(program.sources, [](const compile::Source& source) {
    return driver::LanguageOf(source.path) == ir::Language::kHlsl;
  });
}

// Lists are sorted by path, so both are walked side by side.
std::vector<std::string> DifferingPaths(const FileList& a, const FileList& b) {
  std::vector<std::string> paths;
  auto at_a = a.files().begin();
  auto at_b = b.files().begin();
  while (at_a != a.files().end() || at_b != b.files().end()) {
    const bool only_a =
        at_b == b.files().end() || (at_a != a.files().end() && at_a->path < at_b->path);
    const bool only_b =
        at_a == a.files().end() || (at_b != b.files().end() && at_b->path < at_a->path);
    if (only_a || only_b || at_a->digest != at_b->digest) {
      paths.push_back(only_b ? at_b->path : at_a->path);
    }
    at_a += only_b ? 0 : 1;
    at_b += only_a ? 0 : 1;
  }
  return paths;
}

// Without knowledge of what was asked for, anything may matter.
bool LooksAt(const ProbedPaths& probed, std::span<const std::string> paths) {
  return probed == nullptr || std::ranges::any_of(paths, [&](const std::string& path) {
           return probed->contains(path);
         });
}

// The list as it is after the push. A file that was pushed and removed at once is gone, whatever
// the order in the message.
Result<ListChanges::ListChange> ListChanges::Make(const FileList& before) const {
  std::map<std::string_view, Digest> files;
  for (const ListedFile& file : before.files()) {
    files.emplace(file.path, file.digest);
  }
  for (const compile::Source& source : change_.changed) {
    files[source.path] = source.digest;
  }
  for (const std::string& path : change_.removed) {  // what is gone goes last
    files.erase(path);
  }
  std::vector<ListedFile> rows;
  rows.reserve(files.size());
  for (const auto& [path, digest] : files) {
    rows.push_back({.path = std::string(path), .digest = digest});
  }
  KILN_TRY(FileList list, FileList::Of(std::move(rows)));
  ListChange change{.files = std::make_shared<const FileList>(std::move(list)), .paths = {}};
  change.paths = DifferingPaths(before, *change.files);
  return change;
}

// Programs of one manifest share a list, which is made anew once for all of them.
Result<const ListChanges::ListChange*> ListChanges::Of(
    const std::shared_ptr<const FileList>& before) {
  const FileList none;
  const FileList& list = before != nullptr ? *before : none;
  const auto found = known_.find(list.digest());
  if (found != known_.end()) {
    return &found->second;
  }
  KILN_TRY(ListChange change, Make(list));
  return &known_.emplace(list.digest(), std::move(change)).first->second;
}

}  // namespace kiln::reload
