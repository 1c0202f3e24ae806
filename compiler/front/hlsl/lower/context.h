// SPDX-License-Identifier: MIT
// What the parts of lowering share: the checked module, the IR that is built, and the ids of types,
// variables and functions in it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/check/tree.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/token_stream.h"
#include "compiler/ir/builder.h"

namespace kiln::hlsl {

// Everything given outlives it; it does not move.
class LowerContext {
 public:
  LowerContext(const Unit& checked, const TokenStream& token_stream,
               const Settings& module_settings);
  LowerContext(const LowerContext&) = delete;
  LowerContext& operator=(const LowerContext&) = delete;

  const Unit& unit;
  const TokenStream& stream;
  const bool ordered_not_equal;
  const Settings& settings;
  const bool row_major;  // matrices in memory without a word of their own
  ir::Builder builder;

  const Expr& Get(ExprId id) const { return unit.exprs[id.value]; }
  const Type& TypeRow(TypeId id) const { return unit.types[id]; }
  const Type& TypeRowOf(ExprId id) const { return unit.types[Get(id).type]; }

  // Adds an instruction at the place that is lowered now.
  template <class View>
  ir::InstId Emit(const View& view) {
    return Emit(view.To());
  }
  ir::InstId Emit(const ir::Inst& inst) {
    ChargeMemory(kBytesOfInst);
    return builder.AddInst(inst, Spans());
  }
  ir::InstSpans Spans() { return {.main = SpanOf(at)}; }
  ir::SpanId SpanOf(TokenRange range);
  // Memory of one instruction: its row, its spans, its place in a block and a short list.
  static constexpr uint64_t kBytesOfInst = sizeof(ir::Inst) + sizeof(ir::InstSpans) + 32;
  Span WrittenAt(TokenRange range) const;

  // --- common values
  ir::TypeId Vector(ir::Scalar scalar, uint32_t count) {
    return builder.Vector(scalar, static_cast<uint8_t>(count));
  }
  ir::InstId Uint(uint32_t value) { return Repeated(ir::Scalar::kU32, 1, value); }
  // `value` in each of `count` items, as a vector or scalar of that type.
  ir::InstId Repeated(ir::Scalar scalar, uint32_t count, uint64_t bits) {
    return builder.AddRepeated(scalar, count, bits, Spans());
  }

  // The struct of two parts that `frexp` and `modf` give: declared before all functions.
  ir::DeclId TwoParts(ir::Scalar first, ir::Scalar second, uint32_t count) const {
    return *two_parts.Find(KeyOfParts(first, second, count));
  }
  static uint32_t KeyOfParts(ir::Scalar first, ir::Scalar second, uint32_t count) {
    return static_cast<uint32_t>(first) << 16 | static_cast<uint32_t>(second) << 8 | count;
  }
  FlatMap<uint32_t, ir::DeclId> two_parts;

  TokenRange at;  // what is lowered now

  // --- ids, by row of the checked module
  std::vector<ir::TypeId> types;              // of TypeId; invalid until used
  std::vector<ir::DeclId> structs;            // of StructId
  std::vector<bool> in_memory;                // of StructId: blocks or buffers hold it
  std::vector<bool> block_structs;            // of StructId: it is a block
  std::vector<ir::DeclId> globals;            // of GlobalId; a loose one has that of $Globals
  FlatMap<uint32_t, ir::DeclId> item_blocks;  // of an array of buffers, by DeclId: its block
  std::vector<uint32_t> global_member;        // of GlobalId: its number in $Globals
  std::vector<ir::DeclId> functions;          // of FunctionId; invalid until lowered
  std::vector<ir::LocalId> locals;      // of LocalId: storage; invalid: `parameters` has its value
  std::vector<ir::LocalId> parameters;  // of LocalId: the parameter
  uint32_t member_count = 0;            // of the module so far
  FlatMap<uint64_t, ir::ConstId> constant_rows;  // of arrays: TypeId << 32 | first scalar
  FlatMap<uint32_t, uint32_t> cexpr_nodes;       // of CexprId: nodes of its tree

  // --- the function that is lowered
  FunctionId function;
  std::array<ir::InstId, 2> given;      // what kGiven means
  std::vector<ir::LocalId> loop_exits;  // innermost last
  std::vector<ir::LocalId> switch_exits;

 private:
  TokenRange last_range_{1, 0};
  ir::SpanId last_span_;
};

}  // namespace kiln::hlsl
