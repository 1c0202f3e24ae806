// SPDX-License-Identifier: MIT
// The rows of each table first, then a walk of every region in order. The walk proves what rows
// alone cannot show: a block has one owner, an instruction one place, an operand has run in a block
// that is still open. Regions stand in pre-order, so a parent is walked before what is nested in
// it, and whether a name belongs to a region around is a comparison of two ranges.
#include "compiler/ir/verify/verify_body.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"

namespace kiln::ir {
namespace {

// May an operand of this instruction be a local of that kind?
bool MayName(InstKind inst, LocalKind local) {
  switch (inst) {
    case InstKind::kVariable:
      return local == LocalKind::kVariable;
    case InstKind::kAlias:
      return local == LocalKind::kAlias;
    case InstKind::kLoop:
    case InstKind::kContinue:
      return local == LocalKind::kLoopExit;
    case InstKind::kSwitch:
      return local == LocalKind::kSwitchExit;
    case InstKind::kBreak:
      return IsExit(local);
    default:  // local, param
      return local == LocalKind::kParameter || local == LocalKind::kVariable;
  }
}

}  // namespace

// The rows are checked completely before the walk, so that the walk may index with whatever a row
// holds.
void BodyVerifier::Run() {
  VerifyRegions();
  VerifyInsts();
  mentioned_.resize(module_.regions.size());
  region_depth_.resize(module_.regions.size(), 1);
  for (uint32_t i = 0; i < module_.regions.size() && rows_.ok(); ++i) {
    WalkRegion(i);
  }
  // A region with a parent must be mentioned by exactly one instruction. The walk has refused a
  // second one; here it is found whether there was one at all.
  for (uint32_t i = 0; i < module_.regions.size() && rows_.ok(); ++i) {
    rows_.Check(mentioned_[i] == module_.regions[i].parent.valid(),
                "region without its insertion point", i);
  }
}

// Regions of a function are consecutive and in pre-order, its body first.
void BodyVerifier::VerifyRegions() {
  const std::span<const Region> regions = module_.regions;
  region_end_.resize(regions.size());
  std::vector<uint32_t> path;  // from the body to the region before
  size_t bodies = 0;
  for (uint32_t i = 0; i < regions.size() && rows_.ok(); ++i) {
    const Region& region = regions[i];
    if (!rows_.Check(region.function.value < module_.decls.size() &&
                         module_.decls[region.function.value].kind == DeclKind::kFunction &&
                         region.block.value < module_.blocks.size() &&
                         rows_.IsCexpr(region.condition) && region.zero == 0,
                     "region", i)) {
      return;
    }
    // A region without a parent begins a function, and the function must say that it begins there;
    // so two functions cannot share a body.
    if (!region.parent.valid()) {
      rows_.Check(module_.decls[region.function.value].body == i && region.condition == kTrue,
                  "body of a function", i);
      path.clear();
      ++bodies;
    }
    // Pre-order: the parent is on the path from the body to the region before. What was left is
    // taken off and can never be a parent again.
    while (!path.empty() && path.back() != region.parent.value) {
      path.pop_back();
    }
    rows_.Check(path.empty() != region.parent.valid(), "regions are in pre-order", i);
    rows_.Check(path.empty() || regions[path.back()].function == region.function,
                "function of a region", i);
    path.push_back(i);
    rows_.Check(path.size() <= kMaxNesting, "regions are nested too deep", i);
  }
  // Each body has named its declaration, and there are as many bodies as functions; so every
  // function has exactly one.
  const auto functions = std::ranges::count(module_.decls, DeclKind::kFunction, &Decl::kind);
  rows_.Check(bodies == static_cast<size_t>(functions), "a body for every function", bodies);
  // Going backwards, the end of each nested region is final before its parent takes it over. The
  // regions of a subtree are then a range of numbers, which makes MayMention a comparison.
  for (size_t i = regions.size(); i-- > 0 && rows_.ok();) {
    region_end_[i] = std::max<uint32_t>(region_end_[i], static_cast<uint32_t>(i) + 1);
    if (const RegionId parent = regions[i].parent; parent.valid()) {
      region_end_[parent.value] = std::max(region_end_[parent.value], region_end_[i]);
    }
  }
  if (rows_.ok()) {
    VerifyRegionLocals();
  }
}

void BodyVerifier::VerifyRegionLocals() {
  // One owner for each local, or a name could be visible in two functions at once.
  local_owner_.assign(module_.locals.size(), kNoRow);
  for (uint32_t i = 0; i < module_.regions.size() && rows_.ok(); ++i) {
    if (!rows_.Check(rows_.WordsBelow(module_.regions[i].locals, module_.locals.size()),
                     "names of a region", i)) {
      return;
    }
    for (const uint32_t local : module_.List(module_.regions[i].locals)) {
      rows_.Check(local_owner_[local] == kNoRow, "a name of two regions", local);
      local_owner_[local] = i;
    }
  }
  // Parameters are members of the declaration as well, and both tables have to agree about them.
  for (const Decl& decl : module_.decls) {
    for (const Member& member : module_.MembersOf(decl)) {
      rows_.Check(member.kind != MemberKind::kParameter || local_owner_[member.value] == decl.body,
                  "a parameter belongs to the body", member.value);
    }
  }
}

// The kind is checked first: everything else about an instruction is read from the facts of its
// kind.
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
                         Includes(FactsOf(inst.kind).form, form_),
                     "kind of an instruction", i) ||
        !rows_.Check(HasGoodFlags(inst) && rows_.IsType(inst.type), "instruction", i)) {
      return;
    }
    // The facts say what each of the two words means, so one loop serves all kinds.
    for (const Operand& operand : OperandsOf(inst)) {
      VerifyOperand(i, operand);
    }
  }
  // The tables of the walk are made only now, when all ids are known to be below their sizes.
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
      // An operand that a kind does not have must be zero. Equal instructions then have equal
      // words, which hashing and comparing rely on.
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
      good = word < module_.regions.size();
      break;
    case OperandSchema::kLiteral:
      good = HasGoodLiteral(module_.insts[row], word);
      break;
    case OperandSchema::kInsts:
      good = rows_.WordsBelow(ListId{word}, module_.insts.size());
      break;
    case OperandSchema::kLocals:
      good = rows_.WordsBelow(ListId{word}, module_.locals.size());
      break;
    case OperandSchema::kBlocks:
      good = rows_.WordsBelow(ListId{word}, module_.blocks.size()) &&
             module_.List(ListId{word}).size() >= BlockCountsOf(module_.insts[row].kind).least &&
             module_.List(ListId{word}).size() <= BlockCountsOf(module_.insts[row].kind).most;
      break;
    case OperandSchema::kDecl:
      good = word < module_.decls.size() && MayMention(row, DeclId{word});
      break;
    case OperandSchema::kOptMember:
      good = word == kNoRow || word < module_.members.size();
      break;
    case OperandSchema::kTexts:
      good = rows_.WordsBelow(ListId{word}, module_.string_ends.size());
      break;
    case OperandSchema::kPart:
      good = rows_.IsList(ListId{word}) && module_.List(ListId{word}).size() >= 2 &&
             module_.List(ListId{word})[0] < module_.insts.size();
      break;
    case OperandSchema::kCases:
      good = rows_.IsList(ListId{word}) && VerifyCases(module_.List(ListId{word}));
      break;
  }
  rows_.Check(good, "operand", row);
}

// What an instruction names is declared above: of functions that means that none calls itself.
// Which function it stands in is known when it is walked, so here only kinds are looked at.
bool BodyVerifier::MayMention(uint32_t row, DeclId id) const {
  const DeclKind kind = module_.decls[id.value].kind;
  if (module_.insts[row].kind == InstKind::kCall) {
    return kind == DeclKind::kFunction;
  }
  return kind == DeclKind::kBuffer || kind == DeclKind::kPushConstant ||
         kind == DeclKind::kSampler || kind == DeclKind::kImage || kind == DeclKind::kWorkgroup ||
         kind == DeclKind::kPrivate || kind == DeclKind::kContainer;
}

// Cases have lengths of their own inside of the list, so their shape is checked while it is read.
bool BodyVerifier::VerifyCases(std::span<const uint32_t> words) {
  if (!rows_.Charge(words.size())) {
    return false;
  }
  bool good = true;
  const bool whole = ForEachCase(words, [&](const SwitchCase& one) {
    // A case without labels would never run, unless it is the default.
    good = good && one.block < module_.blocks.size() && (one.is_default || !one.labels.empty()) &&
           std::ranges::all_of(one.labels,
                               [&](uint32_t label) { return label < module_.consts.size(); });
  });
  return whole && good && words[0] < module_.insts.size();
}

void BodyVerifier::WalkRegion(uint32_t region) {
  region_ = region;
  WalkBlock(module_.regions[region].block, Ending::kFlows, region_depth_[region]);
}

// The walk is recursive, and the depth check comes before it goes deeper. It is also what later
// passes rely on, as they recurse in the same way.
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
  // At its end a block closes: its values are no operands of anything behind it. This takes time in
  // proportion to the block only.
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
  // Nesting of operands is counted for passes that recurse over expressions, as the specialisation
  // of untyped modules does.
  uint32_t below = 0;
  uint32_t left = 0;  // of a chain, which adds no level (ids.h)
  const bool chain = IsChain(inst.kind);
  const bool counts = module_.header.typed == 0;  // nothing recurses over operands of typed modules
  ForEachInstOperand(
      // An operand must have been placed, and in a block that is still open; so it dominates this
      // instruction.
      inst, [this](ListId id) { return module_.List(id); },
      [&](uint32_t operand) {
        const bool has_result = FactsOf(module_.insts[operand].kind).result != ResultSchema::kVoid;
        if (rows_.Check(visible_[operand] && has_result, "an operand has not run", row) && counts) {
          // The left operand of a chain is counted apart: passes walk down there in a loop.
          uint32_t& level = chain && operand == inst.a ? left : below;
          level = std::max(level, inst_nesting_[operand]);
        }
      });
  CheckLocalsOf(inst, row);
  CheckMention(inst, row);
  if (inst.kind == InstKind::kWhenRegion && rows_.ok()) {
    const uint32_t point = inst.As<WhenRegionInst>().region.value;
    rows_.Check(module_.regions[point].parent.value == region_ && !mentioned_[point],
                "insertion point", row);
    mentioned_[point] = true;
    region_depth_[point] = depth + 1;  // a parent is walked before what is nested in it
  }
  WalkOwnedBlocks(row, depth);
  ForEachOwnedBlock(
      inst, [this](ListId id) { return module_.List(id); },
      // Instructions of owned blocks count as operands: whoever recurses over an expression
      // recurses into them as well.
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

// Which blocks have a value follows from the kind and, for loops, from the number of the block.
void BodyVerifier::WalkOwnedBlocks(uint32_t row, uint32_t depth) {
  const Inst& inst = module_.insts[row];
  const bool values = inst.kind == InstKind::kLogical || inst.kind == InstKind::kNameSelect ||
                      inst.kind == InstKind::kAlias || inst.kind == InstKind::kSelectBlocks ||
                      inst.kind == InstKind::kChoose;
  uint32_t number = 0;
  ForEachOwnedBlock(
      inst, [this](ListId id) { return module_.List(id); },
      [&](uint32_t block) {
        const bool yields =
            values || (inst.kind == InstKind::kLoop && LoopPartYields(number, block));
        ++number;
        if (rows_.ok()) {
          WalkBlock(BlockId{block}, yields ? Ending::kYields : Ending::kFlows, depth + 1);
        }
      });
}

// Of untyped modules the condition alone; of typed ones the condition unless it is empty, and the
// continuing block if it likes to.
bool BodyVerifier::LoopPartYields(uint32_t number, uint32_t block) const {
  if (module_.header.typed == 0 || number == 1) {
    return number == 0;
  }
  const std::span<const uint32_t> insts = module_.InstsOf(BlockId{block});
  return number == 0 ? !insts.empty()
                     : !insts.empty() && module_.insts[insts.back()].kind == InstKind::kYield;
}

// A typed instruction names what is declared above its function; so no function calls itself.
void BodyVerifier::CheckMention(const Inst& inst, uint32_t row) {
  if (!rows_.ok() || (inst.kind != InstKind::kCall && inst.kind != InstKind::kGlobalRef)) {
    return;
  }
  // Whatever is mentioned has a smaller number, so calls cannot form a cycle and every walk over
  // callees ends.
  rows_.Check(inst.a < module_.regions[region_].function.value,
              "a declaration below the function that names it", row);
  if (inst.kind == InstKind::kGlobalRef) {
    const GlobalRefInst global = inst.As<GlobalRefInst>();
    const Decl& decl = module_.decls[global.decl.value];
    const bool field = decl.kind == DeclKind::kContainer;
    // Unsigned subtraction: a member below the first one becomes a large number and fails as well.
    rows_.Check(field ? global.member.value - decl.first_member < decl.member_count
                      : !global.member.valid(),
                "member of another declaration", row);
  }
}

// Names belong to this region or one around it, and are of the right kind.
void BodyVerifier::CheckLocalsOf(const Inst& inst, uint32_t row) {
  for (const Operand& operand : OperandsOf(inst)) {
    const bool names_one = operand.schema == OperandSchema::kLocal ||
                           (operand.schema == OperandSchema::kOptLocal && operand.word != kNoRow);
    if (names_one) {
      rows_.Check(MayMention(LocalId{operand.word}) &&
                      MayName(inst.kind, module_.locals[operand.word].kind),
                  "name of another region or kind", row);
    } else if (operand.schema == OperandSchema::kLocals) {
      for (const uint32_t local : module_.List(ListId{operand.word})) {
        rows_.Check(MayMention(LocalId{local}) && !IsExit(module_.locals[local].kind),
                    "candidate of another region or kind", row);
      }
    }
  }
  // The block of an alias is written twice, in the local and in the instruction. If they differed,
  // the block would have two owners.
  if (inst.kind == InstKind::kAlias) {
    const AliasInst alias = inst.As<AliasInst>();
    rows_.Check(module_.locals[alias.local.value].block == alias.block.value, "block of an alias",
                row);
  }
}

// The owner is this region or one around it: the number of this one lies in the range of the
// subtree of the owner.
bool BodyVerifier::MayMention(LocalId local) const {
  const uint32_t owner = local_owner_[local.value];
  return owner != kNoRow && owner <= region_ && region_ < region_end_[owner];
}

}  // namespace kiln::ir
