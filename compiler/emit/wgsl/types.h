// SPDX-License-Identifier: MIT
// Specialised types in WGSL, and which parts of a memory type are atomic. A vector or matrix, at
// any depth of a type, is a leaf; leaves are numbered in order of declaration, and an array has
// those of its item. See spec/wgsl 3.4, 3.7, 3.8.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/decls.h"
#include "compiler/ir/types.h"

namespace kiln::wgsl {

// Leaves that some code of the variant uses atomically, ascending.
using AtomicLeaves = std::vector<uint32_t>;

// More leaves than that are not told apart; a type that has them cannot hold atomics.
inline constexpr uint32_t kMaxLeaves = 4096;

std::string_view ScalarText(ir::Scalar scalar);

class Types {
 public:
  // `pool` must outlive it.
  explicit Types(const ir::Pool& pool) : pool_(pool) {}

  const ir::Pool& pool() const { return pool_; }

  // Of a program of typed modules: names are legal ones instead of escaped ones, and structs whose
  // leaves are atomic may keep their names. Set before any text is asked for.
  bool typed = false;
  // Of declarations, locals and structs; of members.
  std::string Name(std::string_view source) const;
  std::string Member(std::string_view source) const;
  // A struct that functions of WGSL give, and that cannot be declared.
  bool IsInbuilt(ir::TypeId type) const;
  // Structs of typed modules that this module has in their atomic form only: they keep their names.
  std::vector<ir::TypeId> atomic_only;

  // As a value: "vec3<f32>", "array<light, 4>". Requires: no handle. Valid until the next call.
  const std::string& Text(ir::TypeId type);
  // In memory, where the leaves of `atomic` that lie in it, counted from `first`, are atomic.
  std::string Memory(ir::TypeId type, std::span<const uint32_t> atomic, uint32_t first = 0);
  // Of an image variable or parameter.
  std::string Texture(ir::TypeId type, ir::ImageAccess access = ir::ImageAccess::kReadOnly) const;

  uint32_t LeavesOf(ir::TypeId type);  // at most kMaxLeaves + 1
  // The first leaf of a member.
  uint32_t LeafOfMember(ir::TypeId structure, uint32_t member);
  // Whether one of the leaves of `type`, counted from `first`, is atomic.
  bool HoldsAtomic(ir::TypeId type, std::span<const uint32_t> atomic, uint32_t first);
  bool HoldsHalf(ir::TypeId type);

  // The structs in `type`, itself included, each before those that hold it, added to `found` unless
  // they are there.
  void AddStructs(ir::TypeId type, std::vector<ir::TypeId>& found) const;

 private:
  std::string MakeText(ir::TypeId type);

  const ir::Pool& pool_;
  std::vector<std::string> texts_;  // by TypeId
  std::vector<uint32_t> leaves_;    // by TypeId; 0: not counted
  std::vector<uint8_t> half_;       // by TypeId; 0: not known, 1: no, 2: yes
};

}  // namespace kiln::wgsl
