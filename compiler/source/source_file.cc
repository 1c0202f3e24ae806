// SPDX-License-Identifier: MIT
// The declared inputs of a request, by logical path.
#include "compiler/source/source_file.h"

#include <utility>

namespace kiln {

const SourceFile& SourceSet::Add(SourceFile file) {
  std::string path = file.path;
  // Behind a pointer: what Find has given stays where it is while more files are added. A path that
  // comes again replaces its file.
  auto owned = std::make_unique<const SourceFile>(std::move(file));
  return *(files_[std::move(path)] = std::move(owned));
}

const SourceFile* SourceSet::Find(std::string_view path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : found->second.get();
}

}  // namespace kiln
