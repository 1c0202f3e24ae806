// SPDX-License-Identifier: MIT
// Of the static library: operator new is that of the program, which may replace it as C++ has it.
#include "runtime/c/memory.h"

namespace kiln::c {

struct Memory {};

Result<Memory*> OpenMemory(const kiln_context_info& info) {
  if (info.allocate != nullptr || info.release != nullptr) {
    return Error{ErrorCode::kUnimplemented,
                 "an allocator is for the shared library; linked statically, kiln uses the "
                 "program's operator new",
                 "STATIC"};
  }
  return nullptr;
}

void CloseMemory(Memory*) noexcept {}

}  // namespace kiln::c
