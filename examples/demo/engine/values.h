// SPDX-License-Identifier: MIT
// Values by tag or name, and buffers filled with them where metadata says. A scene never knows an
// offset, a stride or a binding.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "compiler/artifact/metadata.h"
#include "examples/demo/engine/math.h"

namespace kiln::demo {

class ValueTable {
 public:
  // `name` is a tag ("clip_transform"), "buffer.parameter", or "buffer.tail". Arrays are their
  // items one after another; a later value replaces an earlier one.
  void Set(std::string name, std::span<const float> items);
  void Set(std::string name, std::initializer_list<float> items) {
    Set(std::move(name), std::span(items.begin(), items.size()));
  }
  void Set(std::string name, const Mat4& matrix) { Set(std::move(name), matrix.items); }
  void Set(std::string name, Vec3 xyz, float w) { Set(std::move(name), {xyz.x, xyz.y, xyz.z, w}); }
  void SetUints(std::string name, std::initializer_list<uint32_t> items);

  // Everything of `other` that is not here.
  void AddMissing(const ValueTable& other);

  // Null if there is none.
  const Bytes* Find(std::string_view name) const;

 private:
  std::map<std::string, Bytes, std::less<>> values_;
};

// `size` bytes with every parameter written. Values are found by tag, then as "block.parameter".
// Errors: kNotFound naming a parameter without a value; kInvalidArgument for a value of another
// size.
Result<Bytes> FillBlock(std::string_view block, std::span<const artifact::Parameter> parameters,
                        uint32_t size, const ValueTable& values);

// The whole buffer; a tail of vectors or matrices is found as "buffer.tail" and may have any
// length.
Result<Bytes> FillBuffer(const artifact::Buffer& buffer, const ValueTable& values);

}  // namespace kiln::demo
