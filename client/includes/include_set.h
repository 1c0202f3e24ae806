// SPDX-License-Identifier: MIT
// The files that sources in HLSL may include, as a client knows them: what the #include lines lead
// to and what the manifest names, read below one folder and nowhere else. See spec/hlsl 4.2,
// spec/daemon 6.1
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::client {

// A file of that logical path; nothing: there is none. Errors end the search.
using FileReader = std::function<Result<std::optional<Source>>(const std::string& path)>;

// Reads files below a folder. Errors: as ReadFileBeneath, but that a file is not there.
FileReader ReaderBeneath(std::string folder);
// Gives what a set has and was changed, and asks another reader for the rest.
FileReader ReaderOver(std::shared_ptr<const IncludeSet> known, std::span<const Source> changed,
                      std::span<const std::string> removed, FileReader rest);

// A source, and the folders that its includes are looked for in.
struct IncludingSource {
  const Source& source;
  std::span<const std::string> roots;
};

// Follows the lines of all sources, and of what they lead to. `named`: files that are taken in any
// case, as far as they are there: names that macros make are seen by nobody here. Errors: of the
// reader; kResourceExhausted with LIMIT_EXCEEDED.
Result<std::shared_ptr<const IncludeSet>> FollowIncludes(std::span<const IncludingSource> sources,
                                                         std::span<const std::string> named,
                                                         const FileReader& read);

// Everything that the daemon may ask for: the sources, the list of files, the files.
std::vector<Source> UploadsOf(const Program& program);
// Every text that a message may be about.
std::vector<Source> TextsOf(const Program& program);

// Where the includes of programs found nothing; a file that is put there would be included.
std::set<std::string> AbsentOf(std::span<Program* const> programs);

// Gives programs, which have their new sources already, the sets that belong to files that have
// other text now or are gone. Programs that share a set go on sharing one. Returns files that none
// of them had and that are not among the changed: an edit may lead to what was there all the time.
// Errors: as FollowIncludes; then sets are as they were.
Result<std::vector<Source>> ChangeIncluded(std::span<Program* const> programs,
                                           std::span<const Source> changed,
                                           std::span<const std::string> removed,
                                           const FileReader& rest);

}  // namespace kiln::client
