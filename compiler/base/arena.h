// SPDX-License-Identifier: MIT
// A bump allocator for rows that live equally long. Memory is stable until Clear; nothing is
// destroyed, so only trivially destructible types live here. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kiln {

class Arena {
 public:
  explicit Arena(size_t block_size = size_t{16} * 1024) : block_size_(block_size) {}

  // Uninitialised memory. Requires: alignment is a power of two, at most 16.
  void* Allocate(size_t size, size_t alignment) {
    const size_t start = (used_ + alignment - 1) & ~(alignment - 1);
    if (blocks_.empty() || start + size > blocks_.back().size) {
      return AllocateInNewBlock(size);
    }
    used_ = start + size;
    bytes_used_ += size;
    return blocks_.back().memory.get() + start;
  }

  template <class T, class... Args>
  requires std::is_trivially_destructible_v<T> T* New(Args&&... args) {
    return ::new (Allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<T> Copy(std::span<const T> rows) {
    if (rows.empty()) {
      return {};
    }
    void* memory = Allocate(rows.size_bytes(), alignof(T));
    std::memcpy(memory, rows.data(), rows.size_bytes());
    return {static_cast<T*>(memory), rows.size()};
  }

  std::string_view Copy(std::string_view text) {
    const std::span<char> copy = Copy(std::span<const char>(text.data(), text.size()));
    return {copy.data(), copy.size()};
  }

  // Forgets everything; keeps one block for reuse.
  void Clear() {
    if (blocks_.size() > 1) {
      blocks_.erase(blocks_.begin(), blocks_.end() - 1);
    }
    used_ = 0;
    bytes_used_ = 0;
  }

  size_t bytes_used() const { return bytes_used_; }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    size_t size = 0;
  };

  void* AllocateInNewBlock(size_t size) {
    const size_t block_size = std::max(size, block_size_);
    // operator new aligns to 16, which is the largest alignment Allocate promises
    blocks_.push_back(
        {.memory = std::unique_ptr<std::byte[]>(new std::byte[block_size]), .size = block_size});
    used_ = size;
    bytes_used_ += size;
    return blocks_.back().memory.get();
  }

  size_t block_size_;
  size_t used_ = 0;  // of the last block
  size_t bytes_used_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace kiln
