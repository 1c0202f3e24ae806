// SPDX-License-Identifier: MIT
#include "compiler/source/module_text.h"

#include <algorithm>
#include <iterator>

namespace kiln {

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
  return FileAt(mark.begin) == FileAt(offset) ? &mark : nullptr;
}

}  // namespace kiln
