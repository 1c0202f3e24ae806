// SPDX-License-Identifier: MIT
// What the parts of lowering share: the checked module, the IR that is built, and the ids of types,
// variables and functions in it.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/check/tree.h"
#include "compiler/front/wgsl/token.h"
#include "compiler/ir/builder.h"

namespace kiln::wgsl::front {

// Storage: a root and the steps to a part of it.
struct Place {
  ir::InstId root;
  std::vector<ir::InstId> steps;  // u1 or s1 each
  TypeId type;                    // of what the steps lead to
  bool bounded = false;           // one of them is known only when it runs
  bool is_local = false;          // the root is a variable or parameter of the function
  bool is_block = false;          // the root is the block of a buffer: its type is its own
};

// Everything given outlives it; it does not move.
class LowerContext {
 public:
  LowerContext(const Unit& checked, const TokenStream& token_stream);
  LowerContext(const LowerContext&) = delete;
  LowerContext& operator=(const LowerContext&) = delete;

  const Unit& unit;
  const TokenStream& stream;
  Types types;  // those of the unit, and what lowering asks for
  ir::Builder builder;

  const Expr& Get(ExprId id) const { return unit.exprs[id.value]; }
  const Type& TypeRowOf(ExprId id) const { return types[Get(id).type]; }

  // Adds an instruction at the place that is lowered now.
  template <class View>
  ir::InstId Emit(const View& view) {
    return Add(view.To());
  }
  template <class View>
  ir::InstId Emit(const View& view, ir::InstFlag flag) {
    ir::Inst inst = view.To();
    inst.flags = static_cast<uint16_t>(inst.flags | BitOf(flag));
    return Add(inst);
  }
  ir::InstId Add(const ir::Inst& inst) {
    ChargeMemory(kBytesOfInst);
    return builder.AddInst(inst, Spans());
  }
  ir::InstSpans Spans() { return {.main = SpanOf(at)}; }
  ir::SpanId SpanOf(TokenRange range);
  // Memory of one instruction: its row, its spans, its place in a block and a short list.
  static constexpr uint64_t kBytesOfInst = sizeof(ir::Inst) + sizeof(ir::InstSpans) + 32;

  ir::TypeId Vector(ir::Scalar scalar, uint32_t count) {
    return builder.Vector(scalar, static_cast<uint8_t>(count));
  }
  ir::InstId Uint(uint32_t value) { return Repeated(ir::Scalar::kU32, 1, value); }
  // `bits` in each of `count` items, as a vector or scalar of that type.
  ir::InstId Repeated(ir::Scalar scalar, uint32_t count, uint64_t bits) {
    return builder.AddRepeated(scalar, count, bits, Spans());
  }
  template <class Fill>
  ir::BlockId Block(Fill fill) {
    const ir::BlockId block = builder.BeginBlock();
    fill();
    builder.EndBlock();
    return block;
  }
  ir::LocalId AddExit(ir::LocalKind kind) {
    return builder.AddLocal({.type = builder.Void(), .kind = kind}, {});
  }

  TokenRange at;  // what is lowered now

  // --- ids, by row of the checked module
  std::vector<ir::TypeId> type_ids;   // of TypeId; invalid until used
  std::vector<ir::DeclId> structs;    // of StructId
  std::vector<ir::DeclId> globals;    // of GlobalId
  std::vector<bool> is_wrapped;       // of GlobalId: a buffer whose block has it as its only field
  std::vector<ir::DeclId> functions;  // of FunctionId; invalid until lowered
  std::vector<ir::LocalId> locals;    // of LocalId: storage, parameters
  std::vector<ir::InstId> values;     // of LocalId: `let`
  std::vector<Place> pointers;        // of LocalId: `let` of a pointer
  FlatMap<uint64_t, ir::ConstId> array_rows;  // TypeId << 32 | first word, or kNoRow of zeros
  FlatMap<uint32_t, ir::LocalId> kept_steps;  // of ExprId, an index: the variable that keeps it
  bool reads_steps = false;                   // they are read and not computed
  std::vector<FunctionId> entries;            // in order
  uint32_t member_count = 0;                  // of the module so far
  FlatMap<uint32_t, uint32_t> cexpr_nodes;    // of CexprId: nodes of its tree

  // --- the function that is lowered
  std::vector<ir::LocalId> loop_exits;  // innermost last
  std::vector<ir::LocalId> switch_exits;

 private:
  TokenRange last_range_{1, 0};
  ir::SpanId last_span_;
};

}  // namespace kiln::wgsl::front
