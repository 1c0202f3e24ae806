// SPDX-License-Identifier: MIT
// The lowering of one segment in progress; private to this folder. The members are spread over
// lower*.cc by topic.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

#include "compiler/base/flat_map.h"
#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/emit/spirv/code_object_writer.h"
#include "compiler/emit/spirv/lowering_scratch.h"
#include "compiler/emit/spirv/place_cache.h"
#include "compiler/ir/specialised.h"

namespace kiln::spirv {

class SegmentLowering {
 public:
  SegmentLowering(const ir::SpecialisedRegion& segment, CodeObjectTable& table);
  CodeObjectId Run();

 private:
  // The root of a place, and what lies behind it.
  struct Root {
    Ref id{};
    spv::StorageClass storage = spv::StorageClass::Function;
    TypeForm form = TypeForm::kPlain;
    bool writable = true;
    SymbolId parameter{};  // image or sampler parameter, else invalid
  };
  struct Place {
    Root root{};
    ir::TypeId type{};
    std::span<const uint32_t> steps{};  // InstIds
    bool in_bounds = true;              // every step is constant
    bool non_uniform = false;           // an image that a variable picks from an array
    uint32_t merged = 0;                // leading steps that are one step into a block
    uint32_t member = 0;                // that step
  };

  // --- lower.cc: names, blocks, dispatch
  void ReserveNames();
  void LowerBlock(ir::BlockId block);
  Ref LowerValueBlock(ir::BlockId block);
  void LowerInst(ir::InstId id, const ir::Inst& inst);
  void LowerStatement(const ir::Inst& inst);
  void MarkLine(ir::InstId id);
  Ref LowerValue(const ir::Inst& inst);
  Ref LowerName(ir::LocalId local, LocalRole role = LocalRole::kName);

  // --- lower_control.cc
  void LowerIf(const ir::IfInst& inst);
  bool LowerBranch(Ref label, ir::BlockId block, Ref merge);
  void LowerLoop(const ir::LoopInst& inst);
  void LowerHole(ir::RegionId segment);
  void LowerReturn(const ir::ReturnInst& inst);
  void LowerDiscard();
  Ref LowerLogical(const ir::LogicalInst& inst);
  Ref LowerSelectBlocks(const ir::SelectBlocksInst& inst);
  Ref Phi(ir::TypeId type, Ref left, Ref left_end, Ref right, Ref right_end);
  Ref CurrentLabel();  // opens a block if the label of the current one is not known
  void StartBlock(Ref label);
  void EndBlock();  // behind an instruction that ends a block
  void Branch(Ref label);
  void BranchTo(Ref condition, Ref yes, Ref no);
  void Select(Ref merge);
  void OpenUnreachable();

  // --- lower_access.cc
  Root RootOf(ir::InstId id);
  Root RootOf(const ir::GlobalRefInst& inst);
  Place PlaceOf(ir::InstId id);
  void MergeSteps(Place& place, ir::TypeId type);
  PlaceCache::Entry& EntryOf(const Place& place);
  Ref PointerTo(const Place& place);
  Ref PointerTo(const Place& place, PlaceCache::Entry& entry);  // Requires: just looked up
  Ref LowerTemp(ir::TypeId type);
  Ref LowerLoad(const ir::LoadInst& inst);
  void LowerStore(const ir::StoreInst& inst);
  Ref LowerCall(const ir::CallInst& inst);
  Ref LowerArgument(ir::InstId id, SymbolId callee, uint32_t index);
  // A value of `type` in one form -> in another.
  Ref Reform(Ref value, ir::TypeId type, TypeForm from, TypeForm to);
  Ref ReformParts(Ref value, ir::TypeId type, TypeForm from, TypeForm to);

  // --- lower_image.cc
  Ref LowerSample(const ir::BuiltinCallInst& inst);
  Ref LowerImage(const ir::BuiltinCallInst& inst);
  struct Handle {
    Ref value{};
    SymbolId type{};
    bool non_uniform = false;
    SymbolId parameter{};  // it is this parameter, else invalid
  };
  Handle LoadHandle(ir::InstId id);
  Ref Indexing(Ref step);
  void MarkNonUniform(Ref id);
  void Decorate(const Handle& image, Ref id);

  // --- lower_memory.cc
  Ref LowerMemory(const ir::BuiltinCallInst& inst);
  Ref LowerAtomic(const ir::BuiltinCallInst& inst);
  Ref LowerArrayLength(const ir::BuiltinCallInst& inst);
  void LowerBarrier(const ir::BuiltinCallInst& inst);

  // --- lower_relaxed.cc
  void MarkRelaxed(Ref id);
  void FollowRelaxed(ir::InstId id, const ir::Inst& inst);
  bool IsRelaxedPlace(ir::InstId place) const;
  bool IsFloat(ir::TypeId type) const;

  // --- lower_expr.cc
  Ref LowerUnary(const ir::UnaryInst& inst);
  Ref LowerBinary(const ir::BinaryInst& inst);
  Ref LowerProduct(const ir::BinaryInst& inst);
  Ref LowerByColumns(const ir::BinaryInst& inst);
  Ref LowerConstruct(const ir::ConstructInst& inst);
  Ref LowerSplat(const ir::SplatInst& inst);
  Ref LowerConvert(const ir::ConvertInst& inst);
  Ref LowerSwizzle(const ir::SwizzleInst& inst);
  Ref LowerSelect(const ir::SelectInst& inst);
  Ref LowerBuiltin(const ir::BuiltinCallInst& inst);
  Ref Extract(SymbolId type, Ref value, uint32_t index);
  Ref Construct(ir::TypeId type, std::span<const Ref> parts);
  Ref Splat(ir::TypeId type, Ref scalar);

  // --- small things
  const ir::Inst& InstOf(ir::InstId id) const { return segment_.insts[id.value]; }
  const ir::Type& TypeOf(ir::InstId id) const { return pool_[InstOf(id).type]; }
  Ref ValueOf(ir::InstId id) const { return values_[id.value]; }
  SymbolId Type(ir::TypeId type) { return globals_.Type(type); }
  Instruction Code(spv::Op op) { return writer_.Op(Part::kCode, op); }
  // A new id that `op` computes from two operands, one operand.
  Ref Compute(spv::Op op, SymbolId type, Ref a, Ref b);
  Ref Compute(spv::Op op, SymbolId type, Ref a);
  bool IsHandle(ir::TypeId type) const;

  const ir::SpecialisedRegion& segment_;
  CodeObjectTable& table_;
  const ir::Pool& pool_;
  Globals& globals_;
  CodeObjectWriter& writer_;
  LoweringScratch& scratch_;  // empty at the beginning
  PlaceCache& cache_;
  std::vector<Ref>& values_;  // by InstId: values, and the variables of temps
  std::vector<Ref>& steps_;   // scratch of EntryOf
  std::vector<Ref>& marked_;
  std::vector<bool>& relaxed_;
  std::vector<Ref>& marked_relaxed_;
  Ref label_{};  // of the current block; invalid: not known
  Ref yielded_{};
  bool terminated_ = false;   // the current block has ended
  bool unreachable_ = false;  // nothing leads to the current block
  uint32_t depth_ = 0;
  SourceLines::Position line_{};  // of the last OpLine in this block
};

}  // namespace kiln::spirv
