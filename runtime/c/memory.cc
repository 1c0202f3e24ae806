// SPDX-License-Identifier: MIT
// The operators new and delete of the shared library, which has its own standard library inside and
// exports neither. In front of each block stands whom it is of:
//
//   | gap, so that what follows is aligned | Block | memory of the caller |
#include "runtime/c/memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace kiln::c {

// Lives until its context is closed and its last block has come back.
struct Memory {
  kiln_allocate_function allocate;
  kiln_release_function release;
  void* user;
  // One for the context and one for each block.
  std::atomic<uint64_t> holders{1};
};

namespace {

struct alignas(16) Block {
  Memory* memory;
  size_t total;  // bytes with what stands in front
};

// The functions are copied first, since the struct that holds them lies in the memory which is
// released.
void Drop(Memory* memory) noexcept {
  // Release, so that what other threads did with their blocks is done before the record goes;
  // acquire, so that the last one sees it.
  if (memory->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const kiln_release_function release = memory->release;
    void* const user = memory->user;
    memory->~Memory();
    release(user, memory, sizeof(Memory), alignof(Memory));
  }
}

// As wide as the alignment, so that the block behind it is aligned as well.
size_t Front(size_t alignment) { return std::max(alignment, sizeof(Block)); }

// Null if there is no memory.
void* Take(size_t size, size_t alignment) noexcept {
  const size_t front = Front(alignment);
  alignment = std::max(alignment, alignof(Block));
  // The sum below may not overflow: a small block for a huge size would be written past its end.
  if (size > SIZE_MAX - front - alignment) {
    return nullptr;
  }
  // The allocator is a property of the thread during a call: operator new has no argument for it.
  // Without one the memory is that of the C library.
  auto* const memory = static_cast<Memory*>(const_cast<void*>(Inherited()));
  // aligned_alloc wants a multiple of the alignment.
  const size_t total = (front + size + alignment - 1) / alignment * alignment;
  void* const base = memory == nullptr ? std::aligned_alloc(alignment, total)
                                       : memory->allocate(memory->user, total, alignment);
  if (base == nullptr) {
    return nullptr;
  }
  if (memory != nullptr) {
    // Each block holds the allocator, because a block may come back after its context was closed.
    // Relaxed is enough: whoever adds a holder is one already.
    memory->holders.fetch_add(1, std::memory_order_relaxed);
  }
  std::byte* const out = static_cast<std::byte*>(base) + front;
  // Directly in front of what the caller gets, so that delete finds it without knowing the gap.
  ::new (out - sizeof(Block)) Block{memory, total};
  return out;
}

void* TakeOrThrow(size_t size, size_t alignment) {
  void* const out = Take(size, alignment);
  if (out == nullptr) {
    throw std::bad_alloc();
  }
  return out;
}

void Give(void* pointer, size_t alignment) noexcept {
  if (pointer == nullptr) {
    return;
  }
  std::byte* const bytes = static_cast<std::byte*>(pointer);
  // The block tells whose it is, so it may be freed on any thread and in any context.
  const Block block = *reinterpret_cast<const Block*>(bytes - sizeof(Block));
  // The gap follows from the alignment alone, and delete gets the same one as new got.
  void* const base = bytes - Front(alignment);
  if (block.memory == nullptr) {
    std::free(base);
    return;
  }
  block.memory->release(block.memory->user, base, block.total, std::max(alignment, alignof(Block)));
  Drop(block.memory);
}

// What operator new promises where no alignment is asked for; delete must know it, because it
// decides how much stands in front.
constexpr size_t kUsual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

size_t Of(std::align_val_t alignment) { return static_cast<size_t>(alignment); }

}  // namespace

Result<Memory*> OpenMemory(const kiln_context_info& info) {
  if (info.allocate == nullptr && info.release == nullptr) {
    return nullptr;
  }
  if (info.allocate == nullptr || info.release == nullptr) {
    return Error{ErrorCode::kInvalidArgument, "allocate and release must both be given", ""};
  }
  // The record itself lies in the memory of the caller, so that the library takes nothing from
  // elsewhere.
  void* const memory = info.allocate(info.memory_user, sizeof(Memory), alignof(Memory));
  if (memory == nullptr) {
    return Error{ErrorCode::kResourceExhausted, "the allocator gives no memory", "OUT_OF_MEMORY"};
  }
  return ::new (memory) Memory{info.allocate, info.release, info.memory_user};
}

void CloseMemory(Memory* memory) noexcept {
  if (memory != nullptr) {
    Drop(memory);
  }
}

}  // namespace kiln::c

using kiln::c::Give;
using kiln::c::kUsual;
using kiln::c::Of;
using kiln::c::Take;
using kiln::c::TakeOrThrow;

// All forms are replaced, also those that the library does not call: mixing one of them with
// another's delete would read a block that is not there.
void* operator new(size_t size) { return TakeOrThrow(size, kUsual); }
void* operator new[](size_t size) { return TakeOrThrow(size, kUsual); }
void* operator new(size_t size, std::align_val_t alignment) {
  return TakeOrThrow(size, Of(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return TakeOrThrow(size, Of(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Take(size, kUsual); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Take(size, kUsual); }
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Take(size, Of(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Take(size, Of(alignment));
}
void operator delete(void* pointer) noexcept { Give(pointer, kUsual); }
void operator delete[](void* pointer) noexcept { Give(pointer, kUsual); }
void operator delete(void* pointer, size_t) noexcept { Give(pointer, kUsual); }
void operator delete[](void* pointer, size_t) noexcept { Give(pointer, kUsual); }
void operator delete(void* pointer, std::align_val_t alignment) noexcept {
  Give(pointer, Of(alignment));
}
void operator delete[](void* pointer, std::align_val_t alignment) noexcept {
  Give(pointer, Of(alignment));
}
void operator delete(void* pointer, size_t, std::align_val_t alignment) noexcept {
  Give(pointer, Of(alignment));
}
void operator delete[](void* pointer, size_t, std::align_val_t alignment) noexcept {
  Give(pointer, Of(alignment));
}
void operator delete(void* pointer, const std::nothrow_t&) noexcept { Give(pointer, kUsual); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { Give(pointer, kUsual); }
void operator delete(void* pointer, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  Give(pointer, Of(alignment));
}
void operator delete[](void* pointer, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  Give(pointer, Of(alignment));
}
