// SPDX-License-Identifier: MIT
// Where the memory of the library comes from. In the shared library operator new is the library's
// own (memory.cc) and asks the allocator of the context on whose behalf a thread works; each
// block knows whom to return it to. Linked statically, memory is the program's
// (cmake/package/plain_memory.cc).
#pragma once

#include <kiln/kiln.h>

#include "compiler/base/result.h"
#include "compiler/base/threads/inherited.h"

namespace kiln::c {

struct Memory;

// Null if the caller gives no allocator. Errors: kInvalidArgument for one of two functions;
// kUnimplemented, STATIC; kResourceExhausted if there is no memory at all.
Result<Memory*> OpenMemory(const kiln_context_info& info);
// After this no block is asked of it. The allocator is needed until the last one has been returned.
void CloseMemory(Memory* memory) noexcept;

// Memory that the thread asks for comes from `memory` as long as this lives; null: from malloc.
class MemoryScope {
 public:
  explicit MemoryScope(const Memory* memory) noexcept : outer_(Inherited()) {
    Inherited() = memory;
  }
  ~MemoryScope() { Inherited() = outer_; }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  const void* const outer_;
};

}  // namespace kiln::c
