// SPDX-License-Identifier: MIT
#include "compiler/source/module_text.h"

#include <algorithm>
#include <iterator>

namespace kiln {

// Files of a module lie one behind the other in one range of offsets, so one number places
// everything. The last file that begins at or before the offset is the one.
size_t ModuleText::FileAt(uint32_t offset) const {
  const auto behind = std::ranges::upper_bound(files_, offset, {}, &File::first);
  return behind == files_.begin() ? 0 : static_cast<size_t>(behind - files_.begin()) - 1;
}

const LineMark* ModuleText::MarkAt(uint32_t offset) const {
  const auto behind = std::ranges::upper_bound(marks_, offset, {}, &LineMark::begin);
  if (behind == marks_.begin()) {
    return nullptr;
  }
  const LineMark& mark = *std::prev(behind);
  // A mark of `#line` reaches to the end of its file only: an included file does not go on with the
  // numbers of the one around it.
  return FileAt(mark.begin) == FileAt(offset) ? &mark : nullptr;
}

}  // namespace kiln
