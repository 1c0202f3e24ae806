// SPDX-License-Identifier: MIT
// Walks the blocks of a specialised region in order: ids, visibility, block structure. An
// instruction is asked for its meaning (verify_inst.h) behind the blocks it owns and before it
// becomes visible, so the rules there may follow every id without a check.
#include "compiler/ir/verify/verify_specialised.h"

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/verify/verify_decl.h"

namespace kiln::ir {

// `visible_` has the instructions that may be operands now, `placed_` all that have a block.
RegionVerifier::RegionVerifier(const SpecialisedRegion& region, const Pool& pool,
                               const Surroundings* surroundings)
    : region_(region, pool, surroundings),
      insts_(region_),
      visible_(region.insts.size()),
      placed_(region.insts.size()),
      owned_(region.blocks.size()) {}

// The first fault ends the walk: what follows could only be its result.
Result<void> RegionVerifier::Run() {
  for (const SpecialisedLocal& local : region_.rows.locals) {
    if (region_.Check(local.type.value < region_.pool.type_count(), "type of a local")) {
      const std::string_view unlowered = UnloweredType(region_.pool, local.type);
      region_.Check(unlowered.empty(), unlowered);
    }
    region_.Check(region_.locals.Insert(local.local.value, &local).second,
                  "a local is listed twice");
  }
  region_.Check(region_.rows.body.value < region_.rows.blocks.size(), "body");
  if (region_.ok()) {
    VerifyBlock(region_.rows.body, Ending::kFlows, 1);
  }
  // VerifyInsertionPoint counts them; one that is listed and not met would be built without a
  // place.
  region_.Check(region_.insertion_points == region_.rows.insertion_points.size(),
                "insertion points that no instruction is");
  return region_.Finish();
}

// The length of a list stands in front of it.
bool RegionVerifier::ListInRange(ListId id) {
  const size_t size = region_.rows.extra.size();
  return region_.Check(
      !id.valid() || (id.value < size && region_.rows.extra[id.value] < size - id.value),
      "a list is not inside the table");
}

// Requires: the inst operands of `block`'s owner have been checked.
// Ids are checked here and not in advance, since most regions are small and come straight from
// specialisation; one walk is cheaper than two.
void RegionVerifier::VerifyBlock(BlockId id, Ending ending, uint32_t depth) {
  if (!region_.Check(id.value < region_.rows.blocks.size() && !owned_[id.value],
                     "a block has two owners") ||
      !region_.Check(depth <= kMaxNesting, "nested too deep")) {
    return;
  }
  owned_[id.value] = true;
  const Block& block = region_.rows.blocks[id.value];
  const size_t size = region_.rows.block_insts.size();
  if (!region_.Check(block.first <= size && block.count <= size - block.first,
                     "range of a block")) {
    return;
  }
  const std::span<const uint32_t> insts = region_.rows.InstsOf(id);
  for (size_t i = 0; i < insts.size() && region_.ok(); ++i) {
    const bool last = i + 1 == insts.size();
    VerifyPlaced(insts[i], last, ending, depth);
  }
  const bool yields =
      region_.ok() && !insts.empty() && region_.rows.insts[insts.back()].kind == InstKind::kYield;
  region_.Check(!region_.ok() || yields == (ending == Ending::kYields),
                "a value block ends in a yield");
  // Values of the block are no operands behind it. The ids may be wrong if the walk has failed, so
  // they are compared with the size first.
  for (const uint32_t inst : insts) {
    if (inst < visible_.size()) {
      visible_[inst] = false;
    }
  }
}

// One instruction at its place in a block.
void RegionVerifier::VerifyPlaced(uint32_t number, bool last, Ending ending, uint32_t depth) {
  region_.current = number;
  if (!region_.Check(number < region_.rows.insts.size() && !placed_[number], "placed twice")) {
    return;
  }
  placed_[number] = true;
  const Inst& inst = region_.rows.insts[number];
  if (!region_.Check(static_cast<size_t>(inst.kind) < std::size(kInstFacts) &&
                         Includes(FactsOf(inst.kind).form, Form::kSpecialised),
                     "not a specialised kind") ||
      !region_.Check(inst.type.value < region_.pool.type_count(), "type") ||
      !VerifyOperands(inst) ||
      !region_.Check(last || !IsTerminator(inst.kind), "a terminator is last") ||
      !region_.Check(inst.kind != InstKind::kYield || ending == Ending::kYields,
                     "a yield ends a value")) {
    return;
  }
  // The blocks come before the meaning of their owner, which may ask what they yield; and the owner
  // is visible to nobody inside of them.
  VerifyOwnedBlocks(inst, depth);
  // The blocks have moved the number of the current instruction on.
  region_.current = number;
  if (region_.ok()) {
    insts_.Verify(number);
    visible_[number] = true;
  }
}

// Ids that are not blocks are in range, and instructions have run.
bool RegionVerifier::VerifyOperands(const Inst& inst) {
  if (!region_.Check(HasGoodFlags(inst), "flags")) {
    return false;
  }
  for (const Operand& operand : OperandsOf(inst)) {
    if (HoldsList(operand.schema) && !ListInRange(ListId{operand.word})) {
      return false;
    }
    const bool shaped =
        operand.schema == OperandSchema::kPart ? region_.rows.List(ListId{operand.word}).size() > 1
        : operand.schema == OperandSchema::kCases
            ? VerifyCases(region_.rows.List(ListId{operand.word}))
        : operand.schema == OperandSchema::kLiteral ? HasGoodLiteral(inst, operand.word)
                                                    : true;
    if (!region_.Check(shaped, "operand")) {
      return false;
    }
    if (operand.schema == OperandSchema::kConst &&
        !region_.Check(operand.word < region_.pool.const_count(), "constant")) {
      return false;
    }
  }
  ForEachInstOperand(
      inst, [this](ListId id) { return region_.rows.List(id); },
      [this](uint32_t operand) {
        region_.Check(operand < visible_.size() && visible_[operand], "an operand has not run");
      });
  return region_.ok();
}

// The number of blocks depends on the kind; which of them end in a yield does, too.
void RegionVerifier::VerifyOwnedBlocks(const Inst& inst, uint32_t depth) {
  std::vector<uint32_t> blocks;
  ForEachOwnedBlock(
      inst, [this](ListId id) { return region_.rows.List(id); },
      [&](uint32_t block) { blocks.push_back(block); });
  if (FactsOf(inst.kind).b == OperandSchema::kBlocks) {
    const BlockCounts counts = BlockCountsOf(inst.kind);
    if (!region_.Check(blocks.size() >= counts.least && blocks.size() <= counts.most,
                       "number of blocks")) {
      return;
    }
  }
  const bool loop = inst.kind == InstKind::kLoop;
  const bool breaks = loop || inst.kind == InstKind::kSwitch;
  // A switch has the word of its exit at the same place as a loop, and so it may be read as one.
  if (breaks) {
    OpenExit(inst.As<LoopInst>().exit, loop ? LocalKind::kLoopExit : LocalKind::kSwitchExit);
  }
  const size_t outer_limit = region_.jump_limit;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool continuing = loop && i == 2;
    const bool value = inst.kind == InstKind::kLogical || inst.kind == InstKind::kSelectBlocks ||
                       (loop && i == 0 && !IsEmpty(BlockId{blocks[i]})) ||
                       (continuing && EndsInYield(BlockId{blocks[i]}));
    // Within a continuing block, jumps may only leave what has been opened inside of it.
    region_.jump_limit = continuing ? region_.open_loops.size() : outer_limit;
    region_.in_continuing += continuing ? 1 : 0;
    VerifyBlock(BlockId{blocks[i]}, value ? Ending::kYields : Ending::kFlows, depth + 1);
    region_.in_continuing -= continuing ? 1 : 0;
  }
  region_.jump_limit = outer_limit;
  if (breaks && region_.ok()) {
    region_.open_loops.pop_back();
  }
}

// A loop without a condition has an empty first block.
bool RegionVerifier::IsEmpty(BlockId id) const {
  return id.value < region_.rows.blocks.size() && region_.rows.blocks[id.value].count == 0;
}

// Asked before the block is verified, therefore nothing about it is taken for granted.
bool RegionVerifier::EndsInYield(BlockId id) const {
  if (id.value >= region_.rows.blocks.size()) {
    return false;
  }
  const Block& block = region_.rows.blocks[id.value];
  const size_t size = region_.rows.block_insts.size();
  if (block.count == 0 || block.first > size || block.count > size - block.first) {
    return false;
  }
  const uint32_t last = region_.rows.block_insts[block.first + block.count - 1];
  return last < region_.rows.insts.size() && region_.rows.insts[last].kind == InstKind::kYield;
}

// Labels are constants, and a case without any has to be the default.
bool RegionVerifier::VerifyCases(std::span<const uint32_t> words) const {
  bool good = true;
  const bool whole = ForEachCase(words, [&](const SwitchCase& one) {
    good = good && (one.is_default || !one.labels.empty());
    for (const uint32_t label : one.labels) {
      good = good && label < region_.pool.const_count();
    }
  });
  return whole && good;
}

// One exit for each loop: a jump names the exit and thereby one loop.
void RegionVerifier::OpenExit(LocalId exit, LocalKind kind) {
  const SpecialisedLocal* const* local = region_.locals.Find(exit.value);
  region_.Check(local != nullptr && (*local)->kind == kind,
                kind == LocalKind::kLoopExit ? "not a loop exit of the region"
                                             : "not a switch exit of the region");
  // Kept after the loop has ended, so that a second loop cannot use the exit again.
  region_.Check(!loops_.Contains(exit.value), "a loop exit has two loops");
  loops_.Insert(exit.value, true);
  region_.open_loops.push_back(exit);
}

}  // namespace kiln::ir
