// SPDX-License-Identifier: MIT
// What a change of files means for programs that may include them: their list afterwards, and
// whether a program asked for one of the files. See spec/daemon 8.3, spec/hlsl 4.2
//
// Threads: one at a time.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/source/file_list.h"
#include "server/reload/watched.h"

namespace kiln::reload {

using ProbedPaths = std::shared_ptr<const std::set<std::string, std::less<>>>;

// Whether one of its sources may include files.
bool MayInclude(const compile::ProgramRequest& program);

// Paths that one list has and the other has not, or with another content; ascending.
std::vector<std::string> DifferingPaths(const FileList& a, const FileList& b);

// Whether a program whose sources asked for these looks at one of the paths; null: nobody knows
// what they ask for, so it may.
bool LooksAt(const ProbedPaths& probed, std::span<const std::string> paths);

// What a push makes of lists: every file that it names is in them, and what is gone is not. Whoever
// shares a list before shares one afterwards.
class ListChanges {
 public:
  // The change must outlive the object.
  explicit ListChanges(const PushedChange& change) : change_(change) {}

  struct ListChange {
    std::shared_ptr<const FileList> files;
    std::vector<std::string> paths;  // that differ; none: the list is as before
  };
  // Null is an empty list. Errors: as FileList::Of.
  Result<const ListChange*> Of(const std::shared_ptr<const FileList>& before);

 private:
  Result<ListChange> Make(const FileList& before) const;

  const PushedChange& change_;
  std::map<Digest, ListChange> known_;  // by the list before
};

}  // namespace kiln::reload
