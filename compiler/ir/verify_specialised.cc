// SPDX-License-Identifier: MIT
// Walks the blocks of a closed segment in order: ids, visibility, block structure. What each
// instruction means is checked in verify_inst.cc.
#include "compiler/ir/verify_specialised.h"

#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/verify.h"

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
    : segment_(segment),
      pool_(pool),
      surroundings_(surroundings),
      visible_(segment.insts.size()),
      placed_(segment.insts.size()),
      owned_(segment.blocks.size()) {}

Result<void> RegionVerifier::Run() {
  for (const SpecialisedLocal& local : segment_.locals) {
    Check(local.type.value < pool_.type_count(), "type of a local");
    Check(locals_.Insert(local.local.value, &local).second, "a local is listed twice");
  }
  Check(segment_.body.value < segment_.blocks.size(), "body");
  if (!error_) {
    VerifyBlock(segment_.body, Ending::kFlows, 1);
  }
  Check(holes_ == segment_.holes.size(), "holes that no instruction is");
  if (error_) {
    return *std::move(error_);
  }
  return {};
}

bool RegionVerifier::Check(bool holds, std::string_view what) {
  if (!holds && !error_) {
    std::string where;
    if (current_ < segment_.insts.size()) {
      const InstKind kind = segment_.insts[current_].kind;
      where = fmt::format(", instruction {} ({})", current_, FactsOf(kind).mnemonic);
    }
    error_ = Error{
        .code = ErrorCode::kInternal,
        .context = fmt::format("closed segment {}{}: {}", segment_.segment.value, where, what)};
  }
  return holds;
}

bool RegionVerifier::ListInRange(ListId id) {
  const size_t size = segment_.extra.size();
  return Check(!id.valid() || (id.value < size && segment_.extra[id.value] < size - id.value),
               "a list is not inside the table");
}

// Requires: the inst operands of `block`'s owner have been checked.
void RegionVerifier::VerifyBlock(BlockId id, Ending ending, uint32_t depth) {
  if (!Check(id.value < segment_.blocks.size() && !owned_[id.value], "a block has two owners") ||
      !Check(depth <= kMaxNesting, "nested too deep")) {
    return;
  }
  owned_[id.value] = true;
  const Block& block = segment_.blocks[id.value];
  const size_t size = segment_.block_insts.size();
  if (!Check(block.first <= size && block.count <= size - block.first, "range of a block")) {
    return;
  }
  const std::span<const uint32_t> insts = segment_.InstsOf(id);
  for (size_t i = 0; i < insts.size() && !error_; ++i) {
    const bool last = i + 1 == insts.size();
    VerifyPlaced(insts[i], last, ending, depth);
  }
  const bool yields =
      !error_ && !insts.empty() && segment_.insts[insts.back()].kind == InstKind::kYield;
  Check(error_ || yields == (ending == Ending::kYields), "a value block ends in a yield");
  for (const uint32_t inst : insts) {
    if (inst < visible_.size()) {
      visible_[inst] = false;
    }
  }
}

void RegionVerifier::VerifyPlaced(uint32_t number, bool last, Ending ending, uint32_t depth) {
  current_ = number;
  if (!Check(number < segment_.insts.size() && !placed_[number], "placed twice")) {
    return;
  }
  placed_[number] = true;
  const Inst& inst = segment_.insts[number];
  if (!Check(static_cast<size_t>(inst.kind) < std::size(kInstFacts) &&
                 FactsOf(inst.kind).form != Form::kOpen,
             "not a closed kind") ||
      !Check(inst.type.value < pool_.type_count(), "type") || !VerifyOperands(inst) ||
      !Check(last || !IsTerminator(inst.kind), "a terminator is last") ||
      !Check(inst.kind != InstKind::kYield || ending == Ending::kYields, "a yield ends a value")) {
    return;
  }
  VerifyOwnedBlocks(inst, depth);
  current_ = number;
  if (!error_) {
    VerifyMeaning(number);
    visible_[number] = true;
  }
}

bool RegionVerifier::VerifyFlags(const Inst& inst) {
  const auto below = [&](uint32_t count) { return Check(inst.flags < count, "flags"); };
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
        !Check(operand.word < pool_.const_count(), "constant")) {
      return false;
    }
  }
  ForEachInstOperand(
      inst, [this](ListId id) { return segment_.List(id); },
      [this](uint32_t operand) {
        Check(operand < visible_.size() && visible_[operand], "an operand has not run");
      });
  return !error_;
}

void RegionVerifier::VerifyOwnedBlocks(const Inst& inst, uint32_t depth) {
  std::vector<uint32_t> blocks;
  ForEachOwnedBlock(
      inst, [this](ListId id) { return segment_.List(id); },
      [&](uint32_t block) { blocks.push_back(block); });
  if (FactsOf(inst.kind).b == OperandSchema::kBlocks) {
    const auto [least, most] = BlockCounts(inst.kind);
    if (!Check(blocks.size() >= least && blocks.size() <= most, "number of blocks")) {
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
  if (loop && !error_) {
    open_loops_.pop_back();
  }
}

void RegionVerifier::OpenLoop(LocalId exit) {
  const SpecialisedLocal* const* local = locals_.Find(exit.value);
  Check(local != nullptr && (*local)->kind == LocalKind::kLoopExit,
        "not a loop exit of the segment");
  Check(!loops_.Contains(exit.value), "a loop exit has two loops");
  loops_.Insert(exit.value, true);
  open_loops_.push_back(exit);
}

Result<void> Verify(const SpecialisedRegion& segment, const Pool& pool) {
  return RegionVerifier(segment, pool, nullptr).Run();
}

namespace {

// Segments of one function, each with the names of those around it.
Result<void> VerifyFunction(const FunctionRef& function, const Pool& pool,
                            Surroundings& surroundings) {
  surroundings.signature = function.signature;
  for (size_t i = 0; i < function.segments.size(); ++i) {
    const RegionRef& segment = function.segments[i];
    surroundings.locals.Clear();
    if (i != 0 && segment.parent >= i) {
      return Error{.code = ErrorCode::kInternal, .context = "a segment comes before its parent"};
    }
    for (size_t outer = i; outer != 0;) {
      outer = function.segments[outer].parent;
      for (const SpecialisedLocal& local : function.segments[outer].closed->locals) {
        surroundings.locals.Insert(local.local.value, &local);
      }
    }
    KILN_TRY_VOID(RegionVerifier(*segment.closed, pool, &surroundings).Run());
  }
  return {};
}

}  // namespace

Result<void> Verify(const SpecialisedProgram& variant) {
  Surroundings surroundings;
  for (const SpecialisedDecl* decl : variant.interface) {
    surroundings.decls.Insert(decl->decl.value, decl);
  }
  for (const EntryRef& entry : variant.entries) {
    for (const FunctionRef* function : entry.functions) {
      surroundings.decls[function->function.value] = function->signature;
    }
    for (const FunctionRef* function : entry.functions) {
      KILN_TRY_VOID(VerifyFunction(*function, *variant.pool, surroundings));
    }
  }
  return {};
}

}  // namespace kiln::ir
