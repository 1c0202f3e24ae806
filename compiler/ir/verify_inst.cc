// SPDX-License-Identifier: MIT
// The meaning of closed instructions: one case per kind, rules from typing.h.
#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing.h"
#include "compiler/ir/verify_specialised.h"

namespace kiln::ir {
bool RegionVerifier::IsValue(InstId id) const {
  const Inst& inst = segment_.insts[id.value];
  return FactsOf(inst.kind).result == ResultSchema::kValue &&
         pool_[inst.type].kind != TypeKind::kVoid;
}
bool RegionVerifier::IsPlace(InstId id) const {
  return FactsOf(segment_.insts[id.value].kind).result == ResultSchema::kPlace;
}
bool RegionVerifier::IsBoolValue(InstId id) const {
  return IsValue(id) && TypeOf(id) == pool_.bool_type();
}

bool RegionVerifier::YieldsType(BlockId block, TypeId type) const {
  const YieldInst yield = segment_.insts[segment_.InstsOf(block).back()].As<YieldInst>();
  return TypeOf(yield.value) == type;
}

std::optional<uint32_t> RegionVerifier::ConstantIndex(InstId id) const {
  const Inst& inst = segment_.insts[id.value];
  return inst.kind == InstKind::kConst ? std::optional(pool_[inst.As<ConstInst>().value].a)
                                       : std::nullopt;
}

const SpecialisedLocal* RegionVerifier::FindLocal(LocalId id) const {
  if (const SpecialisedLocal* const* own = locals_.Find(id.value)) {
    return *own;
  }
  const SpecialisedLocal* const* outer =
      surroundings_ != nullptr ? surroundings_->locals.Find(id.value) : nullptr;
  return outer != nullptr ? *outer : nullptr;
}

bool RegionVerifier::Mentions(DeclId decl, MemberId member) const {
  return std::ranges::any_of(segment_.mentions, [&](const Mention& mention) {
    return mention.decl == decl && mention.member == member;
  });
}

void RegionVerifier::VerifyMeaning(uint32_t number) {
  const Inst& inst = segment_.insts[number];
  switch (FactsOf(inst.kind).result) {
    case ResultSchema::kPlace:
      return VerifyPlaceInst(inst);
    case ResultSchema::kValue:
      return VerifyValueInst(inst);
    case ResultSchema::kVoid:
      Check(pool_[inst.type].kind == TypeKind::kVoid, "a statement has no type");
      return VerifyStatement(inst);
    case ResultSchema::kDeferred:
      break;
  }
  KILN_UNREACHABLE();
}

void RegionVerifier::VerifyPlaceInst(const Inst& inst) {
  if (inst.kind == InstKind::kGlobalRef) {
    VerifyGlobal(inst);
  } else if (inst.kind == InstKind::kLocalRef) {
    VerifyLocal(inst);
  } else if (inst.kind == InstKind::kStageRef) {
    const StageVariable variable = inst.As<StageRefInst>().variable;
    Check(pool_[inst.type] == TypeOfStage(variable), "type of the stage variable");
    Check(std::ranges::find(segment_.stage_variables, variable) != segment_.stage_variables.end(),
          "the segment does not list the stage variable");
  } else if (inst.kind == InstKind::kTemp) {
    Check(HasValues(pool_, inst.type), "a temp holds values");
  } else if (inst.kind == InstKind::kConstPlace) {
    IsResult(inst, pool_[inst.As<ConstPlaceInst>().value].type);
  } else {
    VerifyAccess(inst);
  }
}

void RegionVerifier::VerifyGlobal(const Inst& inst) {
  const GlobalRefInst global = inst.As<GlobalRefInst>();
  Check(global.member.valid() == (global.direction != Direction::kNone),
        "container fields, and only they, have a direction");
  Check(Mentions(global.decl, global.member), "the segment does not list the mention");
  if (surroundings_ == nullptr) {
    return;
  }
  const SpecialisedDecl* const* decl = surroundings_->decls.Find(global.decl.value);
  if (!Check(decl != nullptr, "no such declaration in the interface")) {
    return;
  }
  Check(((*decl)->kind == DeclKind::kContainer) == global.member.valid(), "member of a container");
  TypeId type = (*decl)->type;
  if (global.member.valid()) {
    const auto member = std::ranges::find((*decl)->members, global.member,
                                          [](const SpecialisedMember& row) { return row.member; });
    if (!Check(member != (*decl)->members.end(), "no such member")) {
      return;
    }
    type = member->type;
  }
  Check(inst.type == type, "type of the declaration");
}

void RegionVerifier::VerifyLocal(const Inst& inst) {
  const bool by_value = inst.kind == InstKind::kParam;
  const LocalId id = by_value ? inst.As<ParamInst>().local : inst.As<LocalRefInst>().local;
  const SpecialisedLocal* local = FindLocal(id);
  if (local == nullptr) {
    Check(surroundings_ == nullptr, "a name of no enclosing segment");
    return;
  }
  Check(inst.type == local->type, "type of the local");
  const bool value_parameter = local->kind == LocalKind::kParameter &&
                               local->access == Access::kIn && !IsHandle(pool_, local->type);
  Check(by_value == value_parameter, "`in` parameters of value type, and only they, are values");
  Check(local->kind != LocalKind::kLoopExit && local->kind != LocalKind::kAlias, "not a variable");
}

void RegionVerifier::VerifyAccess(const Inst& inst) {
  const AccessInst access = inst.As<AccessInst>();
  const std::span<const uint32_t> steps = segment_.List(access.steps);
  Check(IsPlace(access.root) && segment_.insts[access.root.value].kind != InstKind::kAccess,
        "the root is a place without steps");
  Check(!steps.empty(), "no steps");
  TypeId type = TypeOf(access.root);
  for (const uint32_t step : steps) {
    const std::optional<uint32_t> index = ConstantIndex(InstId{step});
    Check(IsValue(InstId{step}) && IsVector(pool_, TypeOf(InstId{step}), Scalar::kU32, 1),
          "a step is a u1");
    const TypeKind kind = pool_[type].kind;
    Check(index || kind == TypeKind::kArray || kind == TypeKind::kRuntimeArray,
          "a member, column or component is constant");
    Check(!index || kind != TypeKind::kArray || *index < PartCount(pool_, type),
          "a constant item is in range");
    const std::optional<TypeId> part = PartType(pool_, type, index.value_or(0));
    if (!Check(part.has_value(), "no such part")) {
      return;
    }
    type = *part;
  }
  Check(inst.type == type, "type of the part");
}

void RegionVerifier::IsResult(const Inst& inst, std::optional<TypeId> type) {
  Check(inst.type == type, "type of the result");
}

void RegionVerifier::VerifyValueInst(const Inst& inst) {
  if (inst.kind == InstKind::kConst) {
    IsResult(inst, pool_[inst.As<ConstInst>().value].type);
  } else if (inst.kind == InstKind::kFlag) {
    Check(inst.As<FlagInst>().value <= 1, "a flag is 0 or 1");
    IsResult(inst, pool_.bool_type());
  } else if (inst.kind == InstKind::kSpecConst) {
    const Type& type = pool_[inst.type];
    Check(type.kind == TypeKind::kVector && type.rows == 1, "a specialised value is a scalar");
  } else if (inst.kind == InstKind::kParam) {
    VerifyLocal(inst);
  } else if (inst.kind == InstKind::kLoad) {
    const InstId place = inst.As<LoadInst>().place;
    Check(IsPlace(place) && HasValues(pool_, TypeOf(place)), "a place that holds a value");
    IsResult(inst, TypeOf(place));
  } else if (inst.kind == InstKind::kBuiltinCall) {
    VerifyBuiltin(inst);
  } else if (inst.kind == InstKind::kCall) {
    VerifyCall(inst);
  } else if (inst.kind == InstKind::kUnary || inst.kind == InstKind::kBinary) {
    VerifyOperator(inst);
  } else if (inst.kind == InstKind::kLogical || inst.kind == InstKind::kSelect ||
             inst.kind == InstKind::kSelectBlocks) {
    VerifyChoice(inst);
  } else {
    VerifyConstruct(inst);
  }
}

void RegionVerifier::VerifyOperator(const Inst& inst) {
  if (inst.kind == InstKind::kUnary) {
    const auto unary = inst.As<UnaryInst>();
    Check(IsValue(unary.operand), "operand");
    return IsResult(inst,
                    TypeOfUnary(pool_, TypingRules::kClosed, unary.op, TypeOf(unary.operand)));
  }
  const auto binary = inst.As<BinaryInst>();
  Check(IsValue(binary.left) && IsValue(binary.right), "operands");
  const std::optional<BinaryTyping> typing = TypeOfBinary(
      pool_, TypingRules::kClosed, binary.op, TypeOf(binary.left), TypeOf(binary.right));
  IsResult(inst, typing ? std::optional(typing->result) : std::nullopt);
}

// logical, select, select_blocks
void RegionVerifier::VerifyChoice(const Inst& inst) {
  if (inst.kind == InstKind::kLogical) {
    const auto logical = inst.As<LogicalInst>();
    Check(IsBoolValue(logical.left) && YieldsType(logical.right, pool_.bool_type()), "operands");
    return IsResult(inst, pool_.bool_type());
  }
  if (inst.kind == InstKind::kSelectBlocks) {
    const auto select = inst.As<SelectBlocksInst>();
    Check(IsBoolValue(select.condition), "condition");
    for (const uint32_t block : segment_.List(select.blocks)) {
      Check(YieldsType(BlockId{block}, inst.type), "type of a yield");
    }
    return;
  }
  const auto select = inst.As<SelectInst>();
  const std::span<const uint32_t> operands = segment_.List(select.operands);
  const Type& condition = pool_[TypeOf(select.condition)];
  Check(IsValue(select.condition) && operands.size() == 2, "a condition and two operands");
  Check(condition.scalar == Scalar::kBool &&
            (condition.rows == 1 || condition.rows == pool_[inst.type].rows),
        "one condition, or one for each component");
  for (const uint32_t operand : operands) {
    Check(IsValue(InstId{operand}), "operands are values");
    IsResult(inst, TypeOf(InstId{operand}));
  }
}

// construct, splat, convert, extract, swizzle
void RegionVerifier::VerifyConstruct(const Inst& inst) {
  std::vector<TypeId> types;
  bool values = true;
  ForEachInstOperand(
      inst, [this](ListId id) { return segment_.List(id); },
      [&](uint32_t operand) {
        values = values && IsValue(InstId{operand});
        types.push_back(TypeOf(InstId{operand}));
      });
  if (!Check(values, "operands are values")) {
    return;
  }
  const Type& type = pool_[inst.type];
  if (inst.kind == InstKind::kConstruct) {
    Check(Combines(pool_, inst.type, types), "operands do not make the type");
  } else if (inst.kind == InstKind::kSplat) {
    Check(
        type.kind == TypeKind::kVector && type.rows > 1 && types[0] == pool_.Vector(type.scalar, 1),
        "a scalar of the vector");
  } else if (inst.kind == InstKind::kConvert) {
    Check(Converts(pool_, types[0], inst.type), "no such conversion");
  } else if (inst.kind == InstKind::kExtract) {
    const uint32_t index = inst.As<ExtractInst>().index;
    Check(index < PartCount(pool_, types[0]) && PartType(pool_, types[0], index) == inst.type,
          "no such part");
  } else {
    const uint32_t letters = inst.As<SwizzleInst>().letters;
    const uint32_t count = SwizzleCount(letters);
    const Type& source = pool_[types[0]];
    bool in_range = source.kind == TypeKind::kVector && count >= 1 && count <= 4;
    for (uint32_t i = 0; in_range && i < count; ++i) {
      in_range = SwizzleLetter(letters, i) < source.rows;
    }
    Check(in_range && inst.type == pool_.Vector(source.scalar, count), "letters");
  }
}

void RegionVerifier::VerifyBuiltin(const Inst& inst) {
  const auto call = inst.As<BuiltinCallInst>();
  const std::span<const uint32_t> arguments = segment_.List(call.arguments);
  if (IsSampling(call.builtin) || TakesImage(call.builtin)) {
    return VerifySampling(inst, arguments);
  }
  if (IsAtomic(call.builtin) || IsBarrier(call.builtin) || call.builtin == Builtin::kArrayLength) {
    return VerifyMemory(inst, arguments);
  }
  if (!Check(FactsOf(call.builtin).types != BuiltinTypes::kNone && !arguments.empty(),
             "closing leaves none of these")) {
    return;
  }
  const std::optional<Signature> signature =
      TypeOfBuiltin(pool_, call.builtin, TypeOf(InstId{arguments[0]}));
  if (!Check(signature && signature->count == arguments.size(), "no such function")) {
    return;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const InstId argument{arguments[i]};
    Check(IsValue(argument) && TypeOf(argument) == signature->slots[i], "type of an argument");
  }
  Check(inst.type == signature->result, "type of the result");
}

// Functions of samplers and images: handles first, then what typing says.
void RegionVerifier::VerifySampling(const Inst& inst, std::span<const uint32_t> arguments) {
  const Builtin builtin = inst.As<BuiltinCallInst>().builtin;
  const size_t handles = IsSampling(builtin) ? 2 : 1;
  Check(!IsImplicitLod(builtin) || segment_.uses_implicit_lod,
        "the segment does not say that it samples");
  bool good = arguments.size() >= handles;
  for (size_t i = 0; good && i < handles; ++i) {
    const TypeKind kind = i + 1 == handles ? TypeKind::kImage : TypeKind::kSampler;
    good = IsPlace(InstId{arguments[i]}) && pool_[TypeOf(InstId{arguments[i]})].kind == kind;
  }
  if (!Check(good, "a sampler and an image, or an image")) {
    return;
  }
  const std::optional<SampleTyping> typing =
      TypeOfSample(pool_, builtin, TypeOf(InstId{arguments[handles - 1]}));
  if (!Check(typing && typing->closed.count == arguments.size() - handles, "not for this image")) {
    return;
  }
  for (size_t i = handles; i < arguments.size(); ++i) {
    const InstId argument{arguments[i]};
    Check(IsValue(argument) && TypeOf(argument) == typing->closed.slots[i - handles],
          "type of an argument");
  }
  Check(inst.type == typing->closed.result, "type of the result");
}

// Atomics, barriers, lengths of runtime arrays.
void RegionVerifier::VerifyMemory(const Inst& inst, std::span<const uint32_t> arguments) {
  const Builtin builtin = inst.As<BuiltinCallInst>().builtin;
  if (IsBarrier(builtin)) {
    Check(arguments.empty() && inst.type == pool_.void_type(), "a barrier has no operands");
    return;
  }
  if (!Check(!arguments.empty() && IsPlace(InstId{arguments[0]}), "a place")) {
    return;
  }
  const TypeId type = TypeOf(InstId{arguments[0]});
  if (builtin == Builtin::kArrayLength) {
    Check(arguments.size() == 1 && pool_[type].kind == TypeKind::kRuntimeArray,
          "a runtime array has a length");
    Check(inst.type == pool_.Vector(Scalar::kU32, 1), "type of the result");
    return;
  }
  const size_t count = builtin == Builtin::kAtomicCompareExchange ? 3 : 2;
  Check(arguments.size() == count, "operands of an atomic");
  for (size_t i = 1; i < arguments.size(); ++i) {
    Check(IsValue(InstId{arguments[i]}) && TypeOf(InstId{arguments[i]}) == type,
          "type of an argument");
  }
  Check(pool_[type].rows == 1 && inst.type == type, "type of the result");
}

void RegionVerifier::VerifyCall(const Inst& inst) {
  const auto call = inst.As<CallInst>();
  const std::span<const uint32_t> arguments = segment_.List(call.arguments);
  Check(Mentions(call.function, {}), "the segment does not list the callee");
  if (surroundings_ == nullptr) {
    return;
  }
  const SpecialisedDecl* const* callee = surroundings_->decls.Find(call.function.value);
  if (!Check(callee != nullptr && (*callee)->kind == DeclKind::kFunction &&
                 (*callee)->members.size() == arguments.size(),
             "no such function")) {
    return;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    VerifyArgument((*callee)->members[i], InstId{arguments[i]});
  }
  Check(inst.type == (*callee)->type, "type of the result");
}

void RegionVerifier::VerifyArgument(const SpecialisedMember& parameter, InstId argument) {
  const InstKind kind = segment_.insts[argument.value].kind;
  Check(TypeOf(argument) == parameter.type, "type of an argument");
  if (parameter.access != Access::kIn) {
    Check(kind == InstKind::kLocalRef || kind == InstKind::kTemp,
          "`out` and `in out` take whole locals and temps");
  } else if (IsHandle(pool_, parameter.type)) {
    Check(IsPlace(argument), "a handle is a place");
  } else {
    Check(IsValue(argument), "`in` takes a value");
  }
}

void RegionVerifier::VerifyStatement(const Inst& inst) {
  if (inst.kind == InstKind::kYield) {
    Check(IsValue(inst.As<YieldInst>().value), "a yield has a value");
  } else if (inst.kind == InstKind::kIf) {
    Check(IsBoolValue(inst.As<IfInst>().condition), "condition");
  } else if (inst.kind == InstKind::kLoop) {
    const BlockId condition{segment_.List(inst.As<LoopInst>().blocks)[0]};
    Check(YieldsType(condition, pool_.bool_type()), "condition");
  } else if (inst.kind == InstKind::kBreak) {
    VerifyLoopExit(inst.As<BreakInst>().exit);
  } else if (inst.kind == InstKind::kContinue) {
    VerifyLoopExit(inst.As<ContinueInst>().exit);
  } else if (inst.kind == InstKind::kReturn) {
    VerifyReturn(inst);
  } else if (inst.kind == InstKind::kDiscard) {
    Check(segment_.discards, "the segment does not say that it discards");
  } else if (inst.kind == InstKind::kHole) {
    VerifyHole(inst);
  } else if (inst.kind == InstKind::kStore) {
    const auto store = inst.As<StoreInst>();
    Check(IsPlace(store.place) && IsValue(store.value) &&
              TypeOf(store.place) == TypeOf(store.value) && HasValues(pool_, TypeOf(store.value)),
          "a value of the place's type");
  }
}

void RegionVerifier::VerifyReturn(const Inst& inst) {
  const InstId value = inst.As<ReturnInst>().value;
  Check(!value.valid() || IsValue(value), "a return has a value");
  if (surroundings_ != nullptr && surroundings_->signature != nullptr) {
    const TypeId type = surroundings_->signature->type;
    Check(value.valid() ? TypeOf(value) == type : type == pool_.void_type(), "return type");
  }
}

void RegionVerifier::VerifyLoopExit(LocalId exit) {
  Check(exit.valid(), "a jump outside of loops");
  const SpecialisedLocal* local = FindLocal(exit);
  if (local == nullptr) {
    Check(surroundings_ == nullptr, "a loop of no enclosing segment");
    return;
  }
  Check(local->kind == LocalKind::kLoopExit, "not a loop exit");
  Check(!locals_.Contains(exit.value) || std::ranges::find(open_loops_, exit) != open_loops_.end(),
        "outside of its loop");
}

void RegionVerifier::VerifyHole(const Inst& inst) {
  Check(holes_ < segment_.holes.size() && segment_.holes[holes_] == inst.As<HoleInst>().segment,
        "the segment does not list the hole here");
  ++holes_;
}

}  // namespace kiln::ir
