// SPDX-License-Identifier: MIT
// Values of a buffer, a tail item or a push constant, found by name or tag and written where
// metadata says: nothing about offsets or strides is known by the writer.
//   ParameterBlock view(buffer.main_parameters);
//   KILN_TRY_VOID(view.Write(view.FindTag("clip_transform"), memory, AsBytes(matrix)));
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/artifact/metadata.h"

namespace kiln::runtime {

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

  // By dotted name.
  Slot Find(std::string_view name) const;
  // The first parameter that carries the tag.
  Slot FindTag(std::string_view tag) const;

  // Requires: a slot of this block.
  const artifact::Parameter& operator[](Slot slot) const { return parameters_[slot.index]; }

  // Bytes of one tightly packed item: components × 4, matrices by columns.
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
};

}  // namespace kiln::runtime
