// SPDX-License-Identifier: MIT
// The lowering of one region in progress: what all functions that lower its parts share. It holds
// the specialised instructions that are read, the code object that is written, the ids that values
// got, and how the current block stands. What is done with them is in free functions, a file for
// each topic (lower_*), which take it as their first argument; it knows none of them. Private to
// this folder; one at a time per table, whose scratch memory it uses.
#pragma once

#include <cstdint>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/emit/spirv/code_object_writer.h"
#include "compiler/emit/spirv/lowering_scratch.h"
#include "compiler/emit/spirv/place_cache.h"
#include "compiler/ir/specialised.h"

namespace kiln::spirv {

class RegionLowering {
 public:
  // For lower_block and lower_control alone.
  struct Jump {
    ir::LocalId exit{};
    LocalRole role{};
    friend bool operator==(const Jump&, const Jump&) = default;
  };
  struct BlockState {
    Ref label{};  // of the current block; invalid: not known
    Ref yielded{};
    bool terminated = false;  // the current block has ended
    uint32_t depth = 0;
    std::vector<Jump> jumps;        // out of the loops and switches around
    uint32_t insertion_points = 0;  // that were reached so far
    uint32_t must_go_on = 0;       // of the blocks around that end where they end, and nowhere else
    SourceLines::Position line{};  // of the last OpLine in this block
  };

  RegionLowering(const ir::SpecialisedRegion& region, CodeObjectTable& table);
  RegionLowering(const RegionLowering&) = delete;
  RegionLowering& operator=(const RegionLowering&) = delete;

  // --- what is read
  const ir::SpecialisedRegion& source() const { return source_; }
  const ir::Pool& pool() const { return pool_; }
  const ir::Inst& InstOf(ir::InstId id) const { return source_.insts[id.value]; }
  const ir::Type& TypeOf(ir::InstId id) const { return pool_[InstOf(id).type]; }
  bool IsHandle(ir::TypeId type) const {
    const ir::TypeKind kind = pool_[type].kind;
    return kind == ir::TypeKind::kSampler || ir::IsImage(kind);
  }

  // --- what is written
  CodeObjectTable& table() const { return table_; }
  Globals& globals() const { return globals_; }
  CodeObjectWriter& writer() const { return writer_; }
  SymbolId Type(ir::TypeId type) { return globals_.Type(type); }
  Instruction Code(spv::Op op) { return writer_.Op(Part::kCode, op); }
  // A new id that `op` computes from two operands, one operand.
  Ref Compute(spv::Op op, SymbolId type, Ref a, Ref b);
  Ref Compute(spv::Op op, SymbolId type, Ref a);
  // No module has room for what was written. Then nothing more is, and nobody assembles it
  // (PrepareFunctions).
  bool IsFull() const { return writer_.word_count() > table_.most_words(); }
  // What a local is called: an own id, or a symbol if another region reserved it.
  Ref LowerName(ir::LocalId local, LocalRole role = LocalRole::kName);

  // --- in between
  LoweringScratch& scratch() const { return scratch_; }
  PlaceCache& cache() const { return scratch_.cache; }
  std::vector<Ref>& values() const { return scratch_.values; }  // and the variables of temps
  Ref ValueOf(ir::InstId id) const { return scratch_.values[id.value]; }
  BlockState& block() { return block_; }

 private:
  const ir::SpecialisedRegion& source_;
  CodeObjectTable& table_;
  const ir::Pool& pool_;
  Globals& globals_;
  CodeObjectWriter& writer_;
  LoweringScratch& scratch_;  // empty at the beginning
  BlockState block_;
};

}  // namespace kiln::spirv
