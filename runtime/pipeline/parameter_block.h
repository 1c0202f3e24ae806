// SPDX-License-Identifier: MIT
// Values of a buffer, a tail item or a push constant, found by name or tag and written where
// metadata says: nothing about offsets or strides is known by the writer.
//   ParameterBlock view(buffer.main_parameters);
//   KILN_TRY_VOID(view.Write(view.FindTag("clip_transform"), memory, AsBytes(matrix)));
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/artifact/metadata.h"

namespace kiln::runtime {

// Where a parameter lies, found once and written many times: no look-up, no allocation, one copy
// per column. Default: nothing, which refuses every write.
class ParameterHandle {
 public:
  // Writes item `item` of the block or tail item that starts at memory[0].
  // False, and nothing is written, if the value has another size or anything would lie outside.
  bool Write(std::span<std::byte> memory, std::span<const std::byte> value,
             uint32_t item = 0) const noexcept {
    const uint64_t begin = uint64_t{array_stride_} * item + offset_;
    if (value.size() != item_bytes_ || item >= items_ || begin + span_ > memory.size()) {
      return false;
    }
    for (uint32_t k = 0; k < columns_; ++k) {
      Copy(memory.data() + begin + uint64_t{column_stride_} * k,
           value.data() + size_t{column_bytes_} * k, column_bytes_);
    }
    return true;
  }
  // The same for item `tail` of a runtime tail; `memory` is the whole buffer.
  bool WriteTail(std::span<std::byte> memory, uint32_t tail, std::span<const std::byte> value,
                 uint32_t item = 0) const noexcept {
    const uint64_t begin = uint64_t{tail_stride_} * tail + tail_offset_;
    return begin <= memory.size() && Write(memory.subspan(begin), value, item);
  }

  explicit operator bool() const { return items_ != 0; }
  uint32_t item_bytes() const { return item_bytes_; }  // of a tightly packed value
  uint32_t items() const { return items_; }

 private:
  friend class ParameterBlock;

  // A column is at most 32 bytes: moves of fixed sizes, since calling memcpy takes longer than they
  // do, on some machines ten times.
  static void Copy(std::byte* to, const std::byte* from, size_t size) noexcept {
    for (; size >= 16; size -= 16) {
      Move<16>(to, from);
    }
    if ((size & 8) != 0) {
      Move<8>(to, from);
    }
    if ((size & 4) != 0) {
      Move<4>(to, from);
    }
    if ((size & 2) != 0) {
      Move<2>(to, from);
    }
    if ((size & 1) != 0) {
      Move<1>(to, from);
    }
  }
  template <size_t kBytes>
  static void Move(std::byte*& to, const std::byte*& from) noexcept {
    std::memcpy(to, from, kBytes);
    to += kBytes;
    from += kBytes;
  }

  uint32_t offset_ = 0;
  uint32_t span_ = 0;  // bytes that one item covers
  uint32_t item_bytes_ = 0;
  uint32_t items_ = 0;
  uint32_t array_stride_ = 0;
  uint32_t columns_ = 1;
  uint32_t column_stride_ = 0;
  uint32_t column_bytes_ = 0;
  uint32_t tail_offset_ = 0;
  uint32_t tail_stride_ = 0;
};

// A parameter of one block. Default: none.
struct Slot {
  uint32_t index = ~0U;
  explicit operator bool() const { return index != ~0U; }
};

// Views the parameters, which must outlive it. Const is safe from any thread.
class ParameterBlock {
 public:
  explicit ParameterBlock(std::span<const artifact::Parameter> parameters)
      : parameters_(parameters) {}
  // The main part of a buffer, and one item of its tail; a tail of vectors or matrices has one
  // parameter, without a name.
  static ParameterBlock Main(const artifact::Buffer& buffer) {
    return ParameterBlock(buffer.main_parameters);
  }
  static ParameterBlock Tail(const artifact::Buffer& buffer);

  // By dotted name.
  Slot Find(std::string_view name) const;
  // The first parameter that carries the tag.
  Slot FindTag(std::string_view tag) const;

  // Requires: a slot of this block.
  const artifact::Parameter& operator[](Slot slot) const { return parameters()[slot.index]; }
  std::span<const artifact::Parameter> parameters() const {
    return own_.empty() ? parameters_ : std::span<const artifact::Parameter>(own_);
  }

  // For writing without look-ups. Requires: a slot of this block, or none.
  ParameterHandle Handle(Slot slot) const;
  ParameterHandle Handle(std::string_view name) const { return Handle(Find(name)); }
  ParameterHandle TagHandle(std::string_view tag) const { return Handle(FindTag(tag)); }

  // Bytes of one tightly packed item: components × 4 (× 2 of h1 to h4), matrices by columns.
  // Requires: a slot of this block.
  uint32_t ItemBytes(Slot slot) const;

  // Writes one item. `memory` is the block, or one item of the tail; `value` is tightly packed;
  // `item` counts through arrays, the last dimension fastest.
  // Errors: kInvalidArgument if the slot is empty or the value has another size; kOutOfRange if the
  //         item or its bytes are outside.
  Result<void> Write(Slot slot, std::span<std::byte> memory, std::span<const std::byte> value,
                     uint32_t item = 0) const;

 private:
  std::span<const artifact::Parameter> parameters_;
  std::vector<artifact::Parameter> own_;  // of a tail without members
  uint32_t tail_offset_ = 0;
  uint32_t tail_stride_ = 0;
};

}  // namespace kiln::runtime
