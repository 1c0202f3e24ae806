// SPDX-License-Identifier: MIT
// The meaning of specialised instructions: one case per kind, rules of types from typing.h. What
// lies outside of the region is asked for only if the surroundings are known; a region that is
// checked alone is taken at its word about other regions and declarations.
#include "compiler/ir/verify/verify_inst.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing/image_typing.h"
#include "compiler/ir/typing/operator_typing.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::ir {
namespace {

// The count of a shift may be too large, which SPIR-V leaves undefined.
bool IsShift(BinaryOp op) {
  return op == BinaryOp::kShiftLeft || op == BinaryOp::kShiftRight ||
         op == BinaryOp::kShiftRightArithmetic;
}

}  // namespace

// Ids are good at this point, as RegionVerifier has seen them; what is checked here is whether they
// make sense.
// The kind of result decides which rules an instruction has.
void InstVerifier::Verify(uint32_t number) {
  const Inst& inst = region_.rows.insts[number];
  switch (FactsOf(inst.kind).result) {
    case ResultSchema::kPlace:
      return VerifyPlaceInst(inst);
    case ResultSchema::kValue:
      return VerifyValueInst(inst);
    case ResultSchema::kVoid:
      region_.Check(region_.pool[inst.type].kind == TypeKind::kVoid, "a statement has no type");
      return VerifyStatement(inst);
    case ResultSchema::kDeferred:
      break;
  }
  KILN_UNREACHABLE();
}

// The region lists what it uses of the world around, so that a caller need not read its
// instructions. What it uses and does not list would be missing from the program.
// By kind: each root of a place has what its id must name.
void InstVerifier::VerifyPlaceInst(const Inst& inst) {
  if (inst.kind == InstKind::kGlobalRef) {
    VerifyGlobal(inst);
  } else if (inst.kind == InstKind::kLocalRef) {
    VerifyLocal(inst);
  } else if (inst.kind == InstKind::kStageRef) {
    const StageVariable variable = inst.As<StageRefInst>().variable;
    region_.Check(region_.pool[inst.type] == TypeOfStage(variable), "type of the stage variable");
    region_.Check(std::ranges::find(region_.rows.stage_variables, variable) !=
                      region_.rows.stage_variables.end(),
                  "the region does not list the stage variable");
  } else if (inst.kind == InstKind::kTemp) {
    region_.Check(region_.HasValues(inst.type), "a temp holds values");
  } else if (inst.kind == InstKind::kConstPlace) {
    IsResult(inst, region_.pool[inst.As<ConstPlaceInst>().value].type);
  } else if (inst.kind == InstKind::kTexel) {
    memory_.VerifyTexel(inst);
  } else if (inst.kind == InstKind::kIo) {
    VerifyIo(inst);
  } else {
    VerifyAccess(inst);
  }
}

// Rows of an interface exist in typed modules alone: containers are what RPL has.
void InstVerifier::VerifyIo(const Inst& inst) {
  const std::vector<InterfaceRow>& io = region_.rows.io;
  const uint32_t row = inst.As<IoInst>().row;
  if (!region_.Check(row < io.size(), "no such row of the interface of the entry point")) {
    return;
  }
  region_.Check(inst.type == io[row].type, "type of the row");
  // Only regions of an entry have such rows, and they are a copy of those of the entry.
  if (region_.surroundings != nullptr) {
    const EntryRef* entry = region_.surroundings->entry;
    region_.Check(entry != nullptr && entry->io == io,
                  "rows that are not those of the entry point");
  }
}

// A mention that is not listed would be missing from the interface of the module that is
// written.
void InstVerifier::VerifyGlobal(const Inst& inst) {
  const GlobalRefInst global = inst.As<GlobalRefInst>();
  region_.Check(global.member.valid() == (global.direction != Direction::kNone),
                "container fields, and only they, have a direction");
  region_.Check(region_.Mentions(global.decl, global.member),
                "the region does not list the mention");
  if (region_.surroundings == nullptr) {
    return;
  }
  const SpecialisedDecl* const* decl = region_.surroundings->decls.Find(global.decl.value);
  if (!region_.Check(decl != nullptr, "no such declaration in the interface")) {
    return;
  }
  region_.Check(((*decl)->kind == DeclKind::kContainer) == global.member.valid(),
                "member of a container");
  TypeId type = (*decl)->type;
  // A field of a container stands for itself in the interface and has a type of its own.
  if (global.member.valid()) {
    const auto member = std::ranges::find((*decl)->members, global.member,
                                          [](const SpecialisedMember& row) { return row.member; });
    if (!region_.Check(member != (*decl)->members.end(), "no such member")) {
      return;
    }
    type = member->type;
  }
  region_.Check(inst.type == type, "type of the declaration");
}

// A parameter by value is no place and is read by `param`; everything else is a place.
void InstVerifier::VerifyLocal(const Inst& inst) {
  const bool by_value = inst.kind == InstKind::kParam;
  const LocalId id = by_value ? inst.As<ParamInst>().local : inst.As<LocalRefInst>().local;
  const SpecialisedLocal* local = region_.FindLocal(id);
  if (local == nullptr) {
    // In a region that is checked alone, a name may belong to a region around it.
    region_.Check(region_.surroundings == nullptr, "a name of no enclosing region");
    return;
  }
  region_.Check(inst.type == local->type, "type of the local");
  // Parameters of values are SSA values in SPIR-V and are not stored anywhere, and so they are no
  // places.
  const bool value_parameter = local->kind == LocalKind::kParameter &&
                               local->access == Access::kIn && !IsHandle(region_.pool, local->type);
  region_.Check(by_value == value_parameter,
                "`in` parameters of value type, and only they, are values");
  region_.Check(local->kind != LocalKind::kLoopExit && local->kind != LocalKind::kAlias,
                "not a variable");
}

// All steps from the root are in one instruction. An access of an access would be a second form of
// the same place, and passes that compare places would not see that they are equal.
void InstVerifier::VerifyAccess(const Inst& inst) {
  const AccessInst access = inst.As<AccessInst>();
  const std::span<const uint32_t> steps = region_.rows.List(access.steps);
  const InstKind root = region_.rows.insts[access.root.value].kind;
  region_.Check(
      region_.IsPlace(access.root) && root != InstKind::kAccess && root != InstKind::kTexel,
      "the root is a place without steps");
  region_.Check(!steps.empty(), "no steps");
  TypeId type = region_.TypeOf(access.root);
  for (const uint32_t step : steps) {
    const std::optional<uint32_t> index = region_.ConstantIndex(InstId{step});
    region_.Check(region_.IsValue(InstId{step}) &&
                      IsVector(region_.pool, region_.TypeOf(InstId{step}), Scalar::kU32, 1),
                  "a step is a u1");
    const TypeKind kind = region_.pool[type].kind;
    // Members differ in type, so which one is meant has to be known; items may be chosen while
    // running.
    region_.Check(index || kind != TypeKind::kStruct, "a member is constant");
    region_.Check(!index || kind != TypeKind::kArray || *index < PartCount(region_.pool, type),
                  "a constant item is in range");
    const std::optional<TypeId> part = PartType(region_.pool, type, index.value_or(0));
    if (!region_.Check(part.has_value(), "no such part")) {
      return;
    }
    type = *part;
  }
  region_.Check(inst.type == type, "type of the part");
  const bool picks = (inst.flags & BitOf(InstFlag::kNonUniform)) != 0;
  region_.Check(!picks || IsArrayOfResources(access.root),
                "only items of arrays of resources are not uniform");
}

// Fields of containers are arrays of values, which are indexed uniformly or not.
bool InstVerifier::IsArrayOfResources(InstId root) const {
  const Inst& inst = region_.rows.insts[root.value];
  return inst.kind == InstKind::kGlobalRef && region_.pool[inst.type].kind == TypeKind::kArray &&
         !inst.As<GlobalRefInst>().member.valid();
}

// A type that could not be found is none of the instruction's.
void InstVerifier::IsResult(const Inst& inst, std::optional<TypeId> type) {
  region_.Check(inst.type == type, "type of the result");
}

// docs/IR.md, "Typing of specialised instructions": one branch for each row of that table.
void InstVerifier::VerifyValueInst(const Inst& inst) {
  if (inst.kind == InstKind::kConst) {
    IsResult(inst, region_.pool[inst.As<ConstInst>().value].type);
  } else if (inst.kind == InstKind::kFlag) {
    region_.Check(inst.As<FlagInst>().value <= 1, "a flag is 0 or 1");
    IsResult(inst, region_.pool.bool_type());
  } else if (inst.kind == InstKind::kSpecConst) {
    // Its value comes with the pipeline, so there is nothing but the type to compare.
    const Type& type = region_.pool[inst.type];
    region_.Check(type.kind == TypeKind::kVector && type.rows == 1,
                  "a specialised value is a scalar");
  } else if (inst.kind == InstKind::kParam) {
    VerifyLocal(inst);
  } else if (inst.kind == InstKind::kLoad) {
    const InstId place = inst.As<LoadInst>().place;
    region_.Check(region_.IsPlace(place) && region_.HasValues(region_.TypeOf(place)),
                  "a place that holds a value");
    IsResult(inst, region_.TypeOf(place));
  } else if (inst.kind == InstKind::kBuiltinCall) {
    VerifyBuiltin(inst);
  } else if (inst.kind == InstKind::kImage) {
    memory_.VerifyImage(inst);
  } else if (inst.kind == InstKind::kAtomic) {
    memory_.VerifyAtomic(inst);
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

void InstVerifier::VerifyOperator(const Inst& inst) {
  if (inst.kind == InstKind::kUnary) {
    const auto unary = inst.As<UnaryInst>();
    region_.Check(region_.IsValue(unary.operand), "operand");
    return IsResult(inst, TypeOfUnary(region_.pool, TypingRules::kSpecialised, unary.op,
                                      region_.TypeOf(unary.operand)));
  }
  const auto binary = inst.As<BinaryInst>();
  region_.Check(region_.IsValue(binary.left) && region_.IsValue(binary.right), "operands");
  const std::optional<BinaryTyping> typing =
      TypeOfBinary(region_.pool, TypingRules::kSpecialised, binary.op, region_.TypeOf(binary.left),
                   region_.TypeOf(binary.right));
  IsResult(inst, typing ? std::optional(typing->result) : std::nullopt);
  // Only operators with operands for which SPIR-V leaves the result undefined can be made total.
  const bool undefined = binary.op == BinaryOp::kDiv || binary.op == BinaryOp::kMod ||
                         binary.op == BinaryOp::kRem || IsShift(binary.op);
  region_.Check((inst.flags & BitOf(InstFlag::kTotal)) == 0 ||
                    (undefined && IsIntegerScalar(region_.pool[inst.type].scalar)),
                "only integer divisions and shifts can be total");
}

// logical, select, select_blocks
// docs/IR.md, "Order": which of the operands runs.
void InstVerifier::VerifyChoice(const Inst& inst) {
  if (inst.kind == InstKind::kLogical) {
    const auto logical = inst.As<LogicalInst>();
    region_.Check(region_.IsBoolValue(logical.left) &&
                      region_.YieldsType(logical.right, region_.pool.bool_type()),
                  "operands");
    return IsResult(inst, region_.pool.bool_type());
  }
  if (inst.kind == InstKind::kSelectBlocks) {
    const auto select = inst.As<SelectBlocksInst>();
    region_.Check(region_.IsBoolValue(select.condition), "condition");
    for (const uint32_t block : region_.rows.List(select.blocks)) {
      region_.Check(region_.YieldsType(BlockId{block}, inst.type), "type of a yield");
    }
    return;
  }
  const auto select = inst.As<SelectInst>();
  const std::span<const uint32_t> operands = region_.rows.List(select.operands);
  const Type& condition = region_.pool[region_.TypeOf(select.condition)];
  region_.Check(region_.IsValue(select.condition) && operands.size() == 2,
                "a condition and two operands");
  region_.Check(condition.scalar == Scalar::kBool &&
                    (condition.rows == 1 || condition.rows == region_.pool[inst.type].rows),
                "one condition, or one for each component");
  region_.Check(region_.pool[inst.type].kind == TypeKind::kVector, "operands are vectors");
  for (const uint32_t operand : operands) {
    region_.Check(region_.IsValue(InstId{operand}), "operands are values");
    IsResult(inst, region_.TypeOf(InstId{operand}));
  }
}

// construct, splat, convert, bitcast, insert, extract, swizzle
// All of these have values as operands and nothing else, so this is checked once for all.
void InstVerifier::VerifyConstruct(const Inst& inst) {
  std::vector<TypeId> types;
  bool values = true;
  ForEachInstOperand(
      inst, [this](ListId id) { return region_.rows.List(id); },
      [&](uint32_t operand) {
        values = values && region_.IsValue(InstId{operand});
        types.push_back(region_.TypeOf(InstId{operand}));
      });
  if (!region_.Check(values, "operands are values")) {
    return;
  }
  const Type& type = region_.pool[inst.type];
  if (inst.kind == InstKind::kConstruct) {
    region_.Check(Combines(region_.pool, inst.type, types), "operands do not make the type");
  } else if (inst.kind == InstKind::kSplat) {
    region_.Check(type.kind == TypeKind::kVector && type.rows > 1 &&
                      types[0] == region_.pool.Vector(type.scalar, 1),
                  "a scalar of the vector");
  } else if (inst.kind == InstKind::kConvert) {
    region_.Check(Converts(region_.pool, types[0], inst.type), "no such conversion");
    region_.Check(
        (inst.flags & BitOf(InstFlag::kSaturating)) == 0 ||
            (IsFloatScalar(region_.pool[types[0]].scalar) && IsIntegerScalar(type.scalar)),
        "only floats become integers saturating");
  } else if (inst.kind == InstKind::kBitcast) {
    region_.Check(Bitcasts(region_.pool, types[0], inst.type), "no such bitcast");
  } else if (inst.kind == InstKind::kInsert) {
    const std::span<const uint32_t> part = region_.rows.List(inst.As<InsertInst>().part);
    region_.Check(
        inst.type == types[0] && TypeAtSteps(region_.pool, inst.type, part.subspan(1)) == types[1],
        "no such part");
  } else if (inst.kind == InstKind::kExtract) {
    const uint32_t index = inst.As<ExtractInst>().index;
    region_.Check(index < PartCount(region_.pool, types[0]) &&
                      PartType(region_.pool, types[0], index) == inst.type,
                  "no such part");
  } else {
    const uint32_t letters = inst.As<SwizzleInst>().letters;
    const uint32_t count = SwizzleCount(letters);
    const Type& source = region_.pool[types[0]];
    bool in_range = source.kind == TypeKind::kVector && count >= 1 && count <= 4;
    for (uint32_t i = 0; in_range && i < count; ++i) {
      in_range = SwizzleLetter(letters, i) < source.rows;
    }
    region_.Check(in_range && inst.type == region_.pool.Vector(source.scalar, count), "letters");
  }
}

// Functions of handles and of memory have rules of their own; the rest follow from the type of the
// first argument.
void InstVerifier::VerifyBuiltin(const Inst& inst) {
  const auto call = inst.As<BuiltinCallInst>();
  const std::span<const uint32_t> arguments = region_.rows.List(call.arguments);
  if (IsSampling(call.builtin) || TakesImage(call.builtin)) {
    return memory_.VerifySampling(inst, arguments);
  }
  if (IsAtomic(call.builtin) || IsBarrier(call.builtin) || call.builtin == Builtin::kArrayLength) {
    return memory_.VerifyMemory(inst, arguments);
  }
  if (!region_.Check(FactsOf(call.builtin).types != BuiltinTypes::kNone && !arguments.empty(),
                     "specialising leaves none of these")) {
    return;
  }
  const std::optional<Signature> signature =
      TypeOfBuiltin(region_.pool, call.builtin, region_.TypeOf(InstId{arguments[0]}));
  if (!region_.Check(signature && signature->count == arguments.size(), "no such function")) {
    return;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const InstId argument{arguments[i]};
    region_.Check(region_.IsValue(argument) && region_.TypeOf(argument) == signature->slots[i],
                  "type of an argument");
  }
  // Some functions give two results, as a struct of two members whose name does not matter.
  if (const auto parts =
          PartsOfResult(region_.pool, call.builtin, region_.TypeOf(InstId{arguments[0]}))) {
    const bool two = PartCount(region_.pool, inst.type) == 2 &&
                     region_.pool[inst.type].kind == TypeKind::kStruct;
    region_.Check(two && PartType(region_.pool, inst.type, 0) == (*parts)[0] &&
                      PartType(region_.pool, inst.type, 1) == (*parts)[1],
                  "type of the result");
    return;
  }
  region_.Check(inst.type == signature->result, "type of the result");
}

// The callee is known by its head alone: its body is verified as a function of its own.
void InstVerifier::VerifyCall(const Inst& inst) {
  const auto call = inst.As<CallInst>();
  const std::span<const uint32_t> arguments = region_.rows.List(call.arguments);
  region_.Check(region_.Mentions(call.function, {}), "the region does not list the callee");
  if (region_.surroundings == nullptr) {
    return;
  }
  const SpecialisedDecl* const* callee = region_.surroundings->decls.Find(call.function.value);
  if (!region_.Check(callee != nullptr && (*callee)->kind == DeclKind::kFunction &&
                         (*callee)->members.size() == arguments.size(),
                     "no such function")) {
    return;
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    VerifyArgument((*callee)->members[i], InstId{arguments[i]});
  }
  region_.Check(inst.type == (*callee)->type, "type of the result");
}

// By the access of the parameter, as SPIR-V passes it.
void InstVerifier::VerifyArgument(const SpecialisedMember& parameter, InstId argument) {
  const InstKind kind = region_.rows.insts[argument.value].kind;
  region_.Check(region_.TypeOf(argument) == parameter.type, "type of an argument");
  // These parameters are pointers in SPIR-V, and a pointer into the middle of something is not
  // allowed there. Specialisation copies to a temp and back.
  if (parameter.access != Access::kIn) {
    region_.Check(kind == InstKind::kLocalRef || kind == InstKind::kTemp,
                  "`out` and `in out` take whole locals and temps");
  } else if (IsHandle(region_.pool, parameter.type)) {
    region_.Check(region_.IsPlace(argument), "a handle is a place");
  } else {
    region_.Check(region_.IsValue(argument), "`in` takes a value");
  }
}

// Statements have no result; what they do to control is checked with the blocks.
void InstVerifier::VerifyStatement(const Inst& inst) {
  if (inst.kind == InstKind::kYield) {
    region_.Check(region_.IsValue(inst.As<YieldInst>().value), "a yield has a value");
  } else if (inst.kind == InstKind::kIf) {
    region_.Check(region_.IsBoolValue(inst.As<IfInst>().condition), "condition");
  } else if (inst.kind == InstKind::kLoop) {
    VerifyLoop(inst.As<LoopInst>());
  } else if (inst.kind == InstKind::kSwitch) {
    VerifySwitch(inst.As<SwitchInst>());
  } else if (inst.kind == InstKind::kBreak) {
    VerifyJump(inst.As<BreakInst>().exit, inst.kind);
  } else if (inst.kind == InstKind::kContinue) {
    VerifyJump(inst.As<ContinueInst>().exit, inst.kind);
  } else if (inst.kind == InstKind::kReturn) {
    // SPIR-V wants the continuing block of a loop to go back to its head and nowhere else.
    region_.Check(region_.in_continuing == 0, "nothing leaves a continuing block");
    VerifyReturn(inst);
  } else if (inst.kind == InstKind::kDiscard || inst.kind == InstKind::kDemote) {
    region_.Check(region_.rows.discards, "the region does not say that it discards");
    region_.Check(inst.kind == InstKind::kDemote || region_.in_continuing == 0,
                  "nothing leaves a continuing block");
  } else if (inst.kind == InstKind::kUnreachable) {
    region_.Check(region_.in_continuing == 0, "nothing leaves a continuing block");
  } else if (inst.kind == InstKind::kBarrier) {
    memory_.VerifyBarrier(UnpackBarrier(inst.As<BarrierInst>().mode));
  } else if (inst.kind == InstKind::kInsertionPoint) {
    VerifyInsertionPoint(inst);
  } else if (inst.kind == InstKind::kStore) {
    const auto store = inst.As<StoreInst>();
    region_.Check(region_.IsPlace(store.place) && region_.IsValue(store.value) &&
                      region_.TypeOf(store.place) == region_.TypeOf(store.value) &&
                      region_.HasValues(region_.TypeOf(store.value)),
                  "a value of the place's type");
  }
}

// Without surroundings the type of the function is not known.
void InstVerifier::VerifyReturn(const Inst& inst) {
  const InstId value = inst.As<ReturnInst>().value;
  region_.Check(!value.valid() || region_.IsValue(value), "a return has a value");
  if (region_.surroundings != nullptr && region_.surroundings->signature != nullptr) {
    const TypeId type = region_.surroundings->signature->type;
    region_.Check(value.valid() ? region_.TypeOf(value) == type : type == region_.pool.void_type(),
                  "return type");
  }
}

// Condition, body and continuing block. The condition may be empty, and then the loop is left by
// jumps or by the value that the continuing block ends with.
void InstVerifier::VerifyLoop(const LoopInst& loop) {
  const std::span<const uint32_t> blocks = region_.rows.List(loop.blocks);
  const TypeId flag = region_.pool.bool_type();
  const auto insts = [&](size_t i) { return region_.rows.InstsOf(BlockId{blocks[i]}); };
  region_.Check(insts(0).empty() || region_.YieldsType(BlockId{blocks[0]}, flag), "condition");
  const bool goes_round =
      !insts(2).empty() && region_.rows.insts[insts(2).back()].kind == InstKind::kYield;
  region_.Check(!goes_round || region_.YieldsType(BlockId{blocks[2]}, flag), "condition");
}

// Labels are interned constants, so equal labels are equal ids.
void InstVerifier::VerifySwitch(const SwitchInst& inst) {
  const std::span<const uint32_t> words = region_.rows.List(inst.cases);
  const InstId selector{words[0]};
  const Type& type = region_.pool[region_.TypeOf(selector)];
  region_.Check(region_.IsValue(selector) && type.kind == TypeKind::kVector && type.rows == 1 &&
                    IsIntegerScalar(type.scalar) && BitWidthOf(type.scalar) >= 32,
                "a selector is an integer of 32 or 64 bits");
  FlatMap<uint32_t, bool> labels;
  bool has_default = false;
  bool last_through = false;
  ForEachCase(words, [&](const SwitchCase& one) {
    region_.Check(!one.is_default || !has_default, "two default cases");
    has_default = has_default || one.is_default;
    last_through = one.through;
    for (const uint32_t label : one.labels) {
      region_.Check(region_.pool[ConstId{label}].type == region_.TypeOf(selector),
                    "type of a label");
      region_.Check(labels.Insert(label, true).second, "a label occurs twice");
    }
  });
  region_.Check(!last_through, "nothing is behind the last case");
}

// A jump may leave the region it stands in: its loop is then in a region around, where nothing is
// known here but the name.
void InstVerifier::VerifyJump(LocalId exit, InstKind kind) {
  region_.Check(exit.valid(), "a jump outside of loops");
  const SpecialisedLocal* local = region_.FindLocal(exit);
  if (local == nullptr) {
    region_.Check(region_.surroundings == nullptr, "a loop of no enclosing region");
    return;
  }
  region_.Check(local->kind == LocalKind::kLoopExit ||
                    (kind == InstKind::kBreak && local->kind == LocalKind::kSwitchExit),
                "not a loop exit");
  const auto open = std::ranges::find(region_.open_loops, exit);
  region_.Check(!region_.locals.Contains(exit.value) || open != region_.open_loops.end(),
                "outside of its loop");
  const bool own = open != region_.open_loops.end();
  // Inside of a continuing block only loops that began inside of it may be left.
  region_.Check(
      own ? open - region_.open_loops.begin() >= static_cast<std::ptrdiff_t>(region_.jump_limit)
          : region_.in_continuing == 0,
      "nothing leaves a continuing block");
}

// Insertion points are listed in the order of the instructions, so the list needs no search and no
// insertion point can occur twice.
void InstVerifier::VerifyInsertionPoint(const Inst& inst) {
  region_.Check(region_.insertion_points < region_.rows.insertion_points.size() &&
                    region_.rows.insertion_points[region_.insertion_points] ==
                        inst.As<InsertionPointInst>().region,
                "the region does not list the insertion point here");
  ++region_.insertion_points;
}

}  // namespace kiln::ir
