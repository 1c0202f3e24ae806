// SPDX-License-Identifier: MIT
// Which overload of an operator or function a call means.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiler/front/wgsl/sema/function.h"

namespace kiln::wgsl::front {

struct Overload {
  std::vector<TypeId> parameters;
  TypeId result;
  // What T is, and how many items a vector of it has: of frexp and modf, whose result is a struct.
  ScalarKind scalar = ScalarKind::kF32;
  uint32_t rows = 1;
  bool gives_parts = false;
};
// Of functions of overloads.def. The one that needs the least conversions; nothing if none fits.
// `all_const`: whether all arguments are known, so that abstract numbers may stay so.
std::optional<Overload> FindOverload(Types& types, Function function,
                                     std::span<const TypeId> arguments, bool all_const);

// Distance of a conversion that needs no words; nothing if there is none. See spec/wgsl 5.2
std::optional<uint32_t> RankOf(ScalarKind from, ScalarKind to);

}  // namespace kiln::wgsl::front
