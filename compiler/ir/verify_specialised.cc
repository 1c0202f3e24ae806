// SPDX-License-Identifier: MIT
// Walks the blocks of a closed segment in order: ids, visibility, block structure. An instruction
// is asked for its meaning (verify_inst.h) behind the blocks it owns and before it becomes visible,
// so the rules there may follow every id without a check.
#include "compiler/ir/verify_specialised.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/operands.h"

namespace kiln::ir {
namespace {

bool IsTerminator(InstKind kind) {
  return kind == InstKind::kYield || kind == InstKind::kBreak || kind == InstKind::kContinue ||
         kind == InstKind::kReturn || kind == InstKind::kDiscard;
}

// How many blocks a kind owns: first = least, second = most.
std::pair<size_t, size_t> BlockCounts(InstKind kind) {
  if (kind == InstKind::kIf) {
    return {1, 2};
  }
  return kind == InstKind::kLoop ? std::pair<size_t, size_t>{3, 3}
                                 : std::pair<size_t, size_t>{2, 2};
}

}  // namespace

RegionVerifier::RegionVerifier(const SpecialisedRegion& segment, const Pool& pool,
                               const Surroundings* surroundings)
    : region_(segment, pool, surroundings),
      insts_(region_),
      visible_(segment.insts.size()),
      placed_(segment.insts.size()),
      owned_(segment.blocks.size()) {}

Result<void> RegionVerifier::Run() {
  for (const SpecialisedLocal& local : region_.segment.locals) {
    region_.Check(local.type.value < region_.pool.type_count(), "type of a local");
    region_.Check(region_.locals.Insert(local.local.value, &local).second,
                  "a local is listed twice");
  }
  region_.Check(region_.segment.body.value < region_.segment.blocks.size(), "body");
  if (region_.ok()) {
    VerifyBlock(region_.segment.body, Ending::kFlows, 1);
  }
  region_.Check(region_.holes == region_.segment.holes.size(), "holes that no instruction is");
  return region_.Finish();
}

bool RegionVerifier::ListInRange(ListId id) {
  const size_t size = region_.segment.extra.size();
  return region_.Check(
      !id.valid() || (id.value < size && region_.segment.extra[id.value] < size - id.value),
      "a list is not inside the table");
}

// Requires: the inst operands of `block`'s owner have been checked.
void RegionVerifier::VerifyBlock(BlockId id, Ending ending, uint32_t depth) {
  if (!region_.Check(id.value < region_.segment.blocks.size() && !owned_[id.value],
                     "a block has two owners") ||
      !region_.Check(depth <= kMaxNesting, "nested too deep")) {
    return;
  }
  owned_[id.value] = true;
  const Block& block = region_.segment.blocks[id.value];
  const size_t size = region_.segment.block_insts.size();
  if (!region_.Check(block.first <= size && block.count <= size - block.first,
                     "range of a block")) {
    return;
  }
  const std::span<const uint32_t> insts = region_.segment.InstsOf(id);
  for (size_t i = 0; i < insts.size() && region_.ok(); ++i) {
    const bool last = i + 1 == insts.size();
    VerifyPlaced(insts[i], last, ending, depth);
  }
  const bool yields = region_.ok() && !insts.empty() &&
                      region_.segment.insts[insts.back()].kind == InstKind::kYield;
  region_.Check(!region_.ok() || yields == (ending == Ending::kYields),
                "a value block ends in a yield");
  for (const uint32_t inst : insts) {
    if (inst < visible_.size()) {
      visible_[inst] = false;
    }
  }
}

void RegionVerifier::VerifyPlaced(uint32_t number, bool last, Ending ending, uint32_t depth) {
  region_.current = number;
  if (!region_.Check(number < region_.segment.insts.size() && !placed_[number], "placed twice")) {
    return;
  }
  placed_[number] = true;
  const Inst& inst = region_.segment.insts[number];
  if (!region_.Check(static_cast<size_t>(inst.kind) < std::size(kInstFacts) &&
                         FactsOf(inst.kind).form != Form::kOpen,
                     "not a closed kind") ||
      !region_.Check(inst.type.value < region_.pool.type_count(), "type") ||
      !VerifyOperands(inst) ||
      !region_.Check(last || !IsTerminator(inst.kind), "a terminator is last") ||
      !region_.Check(inst.kind != InstKind::kYield || ending == Ending::kYields,
                     "a yield ends a value")) {
    return;
  }
  VerifyOwnedBlocks(inst, depth);
  region_.current = number;
  if (region_.ok()) {
    insts_.Verify(number);
    visible_[number] = true;
  }
}

bool RegionVerifier::VerifyFlags(const Inst& inst) {
  const auto below = [&](uint32_t count) { return region_.Check(inst.flags < count, "flags"); };
  switch (FactsOf(inst.kind).flags) {
    case FlagSchema::kNone:
      return below(1);
    case FlagSchema::kBinary:
      return below(CountOf<BinaryOp>());
    case FlagSchema::kUnary:
      return below(CountOf<UnaryOp>());
    case FlagSchema::kLogical:
      return below(CountOf<LogicalOp>());
    case FlagSchema::kBuiltin:
      return below(kBuiltinCount);
    case FlagSchema::kStage:
      return below(CountOf<StageVariable>());
    case FlagSchema::kDirection:
      return below(CountOf<Direction>());
  }
  KILN_UNREACHABLE();
}

// Ids that are not blocks are in range, and instructions have run.
bool RegionVerifier::VerifyOperands(const Inst& inst) {
  if (!VerifyFlags(inst)) {
    return false;
  }
  for (const Operand& operand : OperandsOf(inst)) {
    const bool is_list = IsListSchema(operand.schema) || operand.schema == OperandSchema::kBlocks;
    if (is_list && !ListInRange(ListId{operand.word})) {
      return false;
    }
    if (operand.schema == OperandSchema::kConst &&
        !region_.Check(operand.word < region_.pool.const_count(), "constant")) {
      return false;
    }
  }
  ForEachInstOperand(
      inst, [this](ListId id) { return region_.segment.List(id); },
      [this](uint32_t operand) {
        region_.Check(operand < visible_.size() && visible_[operand], "an operand has not run");
      });
  return region_.ok();
}

void RegionVerifier::VerifyOwnedBlocks(const Inst& inst, uint32_t depth) {
  std::vector<uint32_t> blocks;
  ForEachOwnedBlock(
      inst, [this](ListId id) { return region_.segment.List(id); },
      [&](uint32_t block) { blocks.push_back(block); });
  if (FactsOf(inst.kind).b == OperandSchema::kBlocks) {
    const auto [least, most] = BlockCounts(inst.kind);
    if (!region_.Check(blocks.size() >= least && blocks.size() <= most, "number of blocks")) {
      return;
    }
  }
  const bool loop = inst.kind == InstKind::kLoop;
  if (loop) {
    OpenLoop(inst.As<LoopInst>().exit);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool value =
        inst.kind == InstKind::kLogical || inst.kind == InstKind::kSelectBlocks || (loop && i == 0);
    VerifyBlock(BlockId{blocks[i]}, value ? Ending::kYields : Ending::kFlows, depth + 1);
  }
  if (loop && region_.ok()) {
    region_.open_loops.pop_back();
  }
}

void RegionVerifier::OpenLoop(LocalId exit) {
  const SpecialisedLocal* const* local = region_.locals.Find(exit.value);
  region_.Check(local != nullptr && (*local)->kind == LocalKind::kLoopExit,
                "not a loop exit of the segment");
  region_.Check(!loops_.Contains(exit.value), "a loop exit has two loops");
  loops_.Insert(exit.value, true);
  region_.open_loops.push_back(exit);
}

}  // namespace kiln::ir
