// SPDX-License-Identifier: MIT
// The rows of each table first, then a walk of every segment in order. The walk proves what rows
// alone cannot show: a block has one owner, an instruction one place, an operand has run in a block
// that is still open. Segments stand in pre-order, so a parent is walked before what is nested in
// it, and whether a name belongs to a segment around is a comparison of two ranges.
#include "compiler/ir/verify_body.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"

namespace kiln::ir {
namespace {

bool GoodBlockCount(InstKind kind, size_t count) {
  if (kind == InstKind::kIf) {
    return count == 1 || count == 2;
  }
  return kind == InstKind::kNameSelect ? count == 2 : count == 3;  // else a loop
}

uint32_t FlagBound(FlagSchema schema) {
  switch (schema) {
    case FlagSchema::kNone:
      return 1;
    case FlagSchema::kBinary:
      return CountOf<BinaryOp>();
    case FlagSchema::kUnary:
      return CountOf<UnaryOp>();
    case FlagSchema::kLogical:
      return CountOf<LogicalOp>();
    case FlagSchema::kBuiltin:
      return kBuiltinCount;
    case FlagSchema::kStage:
      return CountOf<StageVariable>();
    case FlagSchema::kDirection:
      return CountOf<Direction>();
  }
  KILN_UNREACHABLE();
}

// The kind of local that an operand of this instruction has to be; nothing if any will do.
std::optional<LocalKind> LocalKindOf(InstKind kind) {
  if (kind == InstKind::kVariable) {
    return LocalKind::kVariable;
  }
  if (kind == InstKind::kAlias) {
    return LocalKind::kAlias;
  }
  const bool exit =
      kind == InstKind::kLoop || kind == InstKind::kBreak || kind == InstKind::kContinue;
  return exit ? std::optional(LocalKind::kLoopExit) : std::nullopt;
}

}  // namespace

void BodyVerifier::Run() {
  VerifySegments();
  VerifyInsts();
  mentioned_.resize(module_.segments.size());
  segment_depth_.resize(module_.segments.size(), 1);
  for (uint32_t i = 0; i < module_.segments.size() && rows_.ok(); ++i) {
    WalkRegion(i);
  }
  for (uint32_t i = 0; i < module_.segments.size() && rows_.ok(); ++i) {
    rows_.Check(mentioned_[i] == module_.segments[i].parent.valid(), "segment without its hole", i);
  }
}

// Segments of a function are consecutive and in pre-order, its body first.
void BodyVerifier::VerifySegments() {
  const std::span<const Region> segments = module_.segments;
  segment_end_.resize(segments.size());
  std::vector<uint32_t> path;  // from the body to the segment before
  size_t bodies = 0;
  for (uint32_t i = 0; i < segments.size() && rows_.ok(); ++i) {
    const Region& segment = segments[i];
    if (!rows_.Check(segment.function.value < module_.decls.size() &&
                         module_.decls[segment.function.value].kind == DeclKind::kFunction &&
                         segment.block.value < module_.blocks.size() &&
                         rows_.IsCexpr(segment.condition) && segment.zero == 0,
                     "segment", i)) {
      return;
    }
    if (!segment.parent.valid()) {
      rows_.Check(module_.decls[segment.function.value].body == i && segment.condition == kTrue,
                  "body of a function", i);
      path.clear();
      ++bodies;
    }
    while (!path.empty() && path.back() != segment.parent.value) {
      path.pop_back();
    }
    rows_.Check(path.empty() != segment.parent.valid(), "segments are in pre-order", i);
    rows_.Check(path.empty() || segments[path.back()].function == segment.function,
                "function of a segment", i);
    path.push_back(i);
    rows_.Check(path.size() <= kMaxNesting, "segments are nested too deep", i);
  }
  const auto functions = std::ranges::count(module_.decls, DeclKind::kFunction, &Decl::kind);
  rows_.Check(bodies == static_cast<size_t>(functions), "a body for every function", bodies);
  for (size_t i = segments.size(); i-- > 0 && rows_.ok();) {
    segment_end_[i] = std::max<uint32_t>(segment_end_[i], static_cast<uint32_t>(i) + 1);
    if (const RegionId parent = segments[i].parent; parent.valid()) {
      segment_end_[parent.value] = std::max(segment_end_[parent.value], segment_end_[i]);
    }
  }
  if (rows_.ok()) {
    VerifySegmentLocals();
  }
}

void BodyVerifier::VerifySegmentLocals() {
  local_owner_.assign(module_.locals.size(), kNoRow);
  for (uint32_t i = 0; i < module_.segments.size() && rows_.ok(); ++i) {
    if (!rows_.Check(rows_.WordsBelow(module_.segments[i].locals, module_.locals.size()),
                     "names of a segment", i)) {
      return;
    }
    for (const uint32_t local : module_.List(module_.segments[i].locals)) {
      rows_.Check(local_owner_[local] == kNoRow, "a name of two segments", local);
      local_owner_[local] = i;
    }
  }
  for (const Decl& decl : module_.decls) {
    for (const Member& member : module_.MembersOf(decl)) {
      rows_.Check(member.kind != MemberKind::kParameter || local_owner_[member.value] == decl.body,
                  "a parameter belongs to the body", member.value);
    }
  }
}

void BodyVerifier::VerifyInsts() {
  for (size_t i = 0; i < module_.blocks.size() && rows_.ok(); ++i) {
    const Block& block = module_.blocks[i];
    const size_t size = module_.block_insts.size();
    rows_.Check(block.first <= size && block.count <= size - block.first, "range of a block", i);
  }
  for (size_t i = 0; i < module_.block_insts.size() && rows_.ok(); ++i) {
    rows_.Check(module_.block_insts[i] < module_.insts.size(), "instruction of a block", i);
  }
  for (uint32_t i = 0; i < module_.insts.size() && rows_.ok(); ++i) {
    const Inst& inst = module_.insts[i];
    if (!rows_.Check(static_cast<size_t>(inst.kind) < std::size(kInstFacts) &&
                         FactsOf(inst.kind).form != Form::kClosed,
                     "kind of an instruction", i) ||
        !rows_.Check(inst.flags < FlagBound(FactsOf(inst.kind).flags) && rows_.IsType(inst.type),
                     "instruction", i)) {
      return;
    }
    for (const Operand& operand : OperandsOf(inst)) {
      VerifyOperand(i, operand);
    }
  }
  inst_nesting_.resize(module_.insts.size());
  visible_.resize(module_.insts.size());
  placed_.resize(module_.insts.size());
  owned_.resize(module_.blocks.size());
}

void BodyVerifier::VerifyOperand(uint32_t row, const Operand& operand) {
  const uint32_t word = operand.word;
  bool good = true;
  switch (operand.schema) {
    case OperandSchema::kNone:
      good = word == 0;
      break;
    case OperandSchema::kInst:
      good = word < module_.insts.size();
      break;
    case OperandSchema::kOptInst:
      good = word == kNoRow || word < module_.insts.size();
      break;
    case OperandSchema::kString:
      good = rows_.IsString(StringId{word});
      break;
    case OperandSchema::kConst:
      good = word < module_.consts.size();
      break;
    case OperandSchema::kLocal:
      good = word < module_.locals.size();
      break;
    case OperandSchema::kOptLocal:
      good = word == kNoRow || word < module_.locals.size();
      break;
    case OperandSchema::kBlock:
      good = word < module_.blocks.size();
      break;
    case OperandSchema::kCexpr:
      good = rows_.IsCexpr(CexprId{word});
      break;
    case OperandSchema::kRegion:
      good = word < module_.segments.size();
      break;
    case OperandSchema::kLiteral:
      good = word <= 1;  // the only open kind with a literal is a flag
      break;
    case OperandSchema::kInsts:
      good = rows_.WordsBelow(ListId{word}, module_.insts.size());
      break;
    case OperandSchema::kLocals:
      good = rows_.WordsBelow(ListId{word}, module_.locals.size());
      break;
    case OperandSchema::kBlocks:
      good = rows_.WordsBelow(ListId{word}, module_.blocks.size()) &&
             GoodBlockCount(module_.insts[row].kind, module_.List(ListId{word}).size());
      break;
    case OperandSchema::kDecl:
    case OperandSchema::kOptMember:
      good = false;  // closed only
      break;
  }
  rows_.Check(good, "operand", row);
}

void BodyVerifier::WalkRegion(uint32_t segment) {
  segment_ = segment;
  WalkBlock(module_.segments[segment].block, Ending::kFlows, segment_depth_[segment]);
}

void BodyVerifier::WalkBlock(BlockId id, Ending ending, uint32_t depth) {
  if (!rows_.Check(!owned_[id.value], "a block has two owners", id.value) ||
      !rows_.Check(depth <= kMaxNesting, "blocks are nested too deep", id.value)) {
    return;
  }
  owned_[id.value] = true;
  const std::span<const uint32_t> insts = module_.InstsOf(id);
  for (size_t i = 0; i < insts.size() && rows_.ok(); ++i) {
    WalkInst(insts[i], ending, i + 1 == insts.size(), depth);
  }
  const bool yields = !insts.empty() && module_.insts[insts.back()].kind == InstKind::kYield;
  rows_.Check(yields == (ending == Ending::kYields), "a value block ends in a yield", id.value);
  if (rows_.ok()) {
    for (const uint32_t inst : insts) {
      visible_[inst] = false;
    }
  }
}

void BodyVerifier::WalkInst(uint32_t row, Ending ending, bool last, uint32_t depth) {
  const Inst& inst = module_.insts[row];
  if (!rows_.Check(!placed_[row], "an instruction is placed twice", row)) {
    return;
  }
  placed_[row] = true;
  rows_.Check(inst.kind != InstKind::kYield || (last && ending == Ending::kYields), "yield", row);
  uint32_t below = 0;
  uint32_t left = 0;  // of a chain, which adds no level (ids.h)
  const bool chain = IsChain(inst.kind);
  ForEachInstOperand(
      inst, [this](ListId id) { return module_.List(id); },
      [&](uint32_t operand) {
        const bool has_result = FactsOf(module_.insts[operand].kind).result != ResultSchema::kVoid;
        if (rows_.Check(visible_[operand] && has_result, "an operand has not run", row)) {
          uint32_t& level = chain && operand == inst.a ? left : below;
          level = std::max(level, inst_nesting_[operand]);
        }
      });
  CheckLocalsOf(inst, row);
  if (inst.kind == InstKind::kWhenSegment && rows_.ok()) {
    const uint32_t hole = inst.As<WhenSegmentInst>().segment.value;
    rows_.Check(module_.segments[hole].parent.value == segment_ && !mentioned_[hole], "hole", row);
    mentioned_[hole] = true;
    segment_depth_[hole] = depth + 1;  // a parent is walked before what is nested in it
  }
  WalkOwnedBlocks(row, depth);
  ForEachOwnedBlock(
      inst, [this](ListId id) { return module_.List(id); },
      [&](uint32_t block) {
        for (const uint32_t nested :
             rows_.ok() ? module_.InstsOf(BlockId{block}) : std::span<const uint32_t>{}) {
          below = std::max(below, inst_nesting_[nested]);
        }
      });
  inst_nesting_[row] = std::max(left, below + 1);
  visible_[row] = true;
  rows_.Check(below < kMaxNesting, "an instruction is nested too deep", row);
}

void BodyVerifier::WalkOwnedBlocks(uint32_t row, uint32_t depth) {
  const Inst& inst = module_.insts[row];
  const bool values = inst.kind == InstKind::kLogical || inst.kind == InstKind::kNameSelect ||
                      inst.kind == InstKind::kAlias;
  bool first = true;
  ForEachOwnedBlock(
      inst, [this](ListId id) { return module_.List(id); },
      [&](uint32_t block) {
        const bool yields = values || (inst.kind == InstKind::kLoop && first);
        first = false;
        if (rows_.ok()) {
          WalkBlock(BlockId{block}, yields ? Ending::kYields : Ending::kFlows, depth + 1);
        }
      });
}

// Names belong to this segment or one around it, and are of the right kind.
void BodyVerifier::CheckLocalsOf(const Inst& inst, uint32_t row) {
  const std::optional<LocalKind> kind = LocalKindOf(inst.kind);
  for (const Operand& operand : OperandsOf(inst)) {
    const bool names_one = operand.schema == OperandSchema::kLocal ||
                           (operand.schema == OperandSchema::kOptLocal && operand.word != kNoRow);
    if (names_one) {
      rows_.Check(MayMention(LocalId{operand.word}) && module_.locals[operand.word].kind == kind,
                  "name of another segment or kind", row);
    } else if (operand.schema == OperandSchema::kLocals) {
      for (const uint32_t local : module_.List(ListId{operand.word})) {
        rows_.Check(
            MayMention(LocalId{local}) && module_.locals[local].kind != LocalKind::kLoopExit,
            "candidate of another segment or kind", row);
      }
    }
  }
  if (inst.kind == InstKind::kAlias) {
    const AliasInst alias = inst.As<AliasInst>();
    rows_.Check(module_.locals[alias.local.value].block == alias.block.value, "block of an alias",
                row);
  }
}

bool BodyVerifier::MayMention(LocalId local) const {
  const uint32_t owner = local_owner_[local.value];
  return owner != kNoRow && owner <= segment_ && segment_ < segment_end_[owner];
}

}  // namespace kiln::ir
