// SPDX-License-Identifier: MIT
// What the rest of kiln needs to know of the files that a module was made of, without the
// stream itself.
#include "compiler/front/hlsl/module/stream_files.h"

#include <utility>

#include "compiler/base/flat_map.h"

namespace kiln::hlsl {

// The root is first and included nowhere. Paths of `#line` are numbered in the order in which
// marks use them, so that equal sources give equal modules.
ir::ModuleFiles FilesOf(const TokenStream& stream) {
  ir::ModuleFiles out;
  for (const ModuleFile& file : stream.files) {
    const bool root = out.files.empty();
    out.files.push_back({.path = file.path,
                         .digest = file.digest,
                         .first = file.first,
                         .included = root ? Span{} : stream.origins.WrittenAt(file.included)});
  }
  out.marks = stream.line_marks;
  FlatMap<uint32_t, uint32_t> rows;  // of paths, by symbol
  for (LineMark& mark : out.marks) {
    if (mark.path != LineMark::kOwnPath) {
      const auto [row, added] =
          rows.Insert(mark.path, static_cast<uint32_t>(out.mark_paths.size()));
      if (added) {
        out.mark_paths.emplace_back(stream.symbols.Text(mark.path));
      }
      mark.path = *row;
    }
  }
  return out;
}

}  // namespace kiln::hlsl
