// SPDX-License-Identifier: MIT
#include "compiler/tool/read_sources.h"

#include "compiler/base/files/file.h"

namespace kiln::tool {

// In the order of the command line, which is the order of linking.
Result<std::vector<SourceFile>> ReadSources(std::span<const std::string> paths) {
  std::vector<SourceFile> sources;
  for (const std::string& path : paths) {
    KILN_TRY(std::string text, ReadFile(path));
    sources.emplace_back(path, std::move(text));
  }
  return sources;
}

}  // namespace kiln::tool
