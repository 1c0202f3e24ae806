// SPDX-License-Identifier: MIT
// Draws rows table by table, and instructions by their operand schemas.
#include "tests/support/random_module.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing/image_typing.h"
#include "tests/support/random_module_rows.h"

namespace kiln::ir {

Cexpr RandomModule::AnyCexpr() {
  Cexpr cexpr{.op = Any<CexprOp>()};
  cexpr.zero = typed_ && MayWrap(cexpr.op) && Chance(50) ? kWrapping : 0;
  switch (ShapeOf(cexpr.op)) {
    case CexprShape::kLiteral: {
      const auto kind = static_cast<ValueKind>(Below(5));
      cexpr.kind = static_cast<uint16_t>(kind);
      cexpr.a = kind == ValueKind::kString ? Text().value
                : kind == ValueKind::kFlag ? Below(2)
                                           : Below(UINT32_MAX);
      return cexpr;
    }
    case CexprShape::kName:
      cexpr.a = Text().value;
      return cexpr;
    case CexprShape::kUnary:
      cexpr.kind = cexpr.op == CexprOp::kConvert ? static_cast<uint16_t>(Below(4)) : uint16_t{0};
      cexpr.a = Pick(cexprs_).value;
      return cexpr;
    case CexprShape::kBinary:
      cexpr.a = Pick(cexprs_).value;
      cexpr.b = Pick(cexprs_).value;
      return cexpr;
    case CexprShape::kSelect:
      cexpr.a = Pick(cexprs_).value;
      cexpr.b = builder_.Ids({Pick(cexprs_), Pick(cexprs_)}).value;
      return cexpr;
    case CexprShape::kComposite:  // refers to types, which refer to cexprs: not drawn
      return {.op = CexprOp::kName, .a = Text().value};
    case CexprShape::kInvalid:
      cexpr.kind = static_cast<uint16_t>(Any<InvalidCexpr>());
      cexpr.a = Text().value;
      cexpr.b = Below(5);
      return cexpr;
  }
  KILN_UNREACHABLE();
}

void RandomModule::AddCexprs() {
  for (uint32_t i = 0; i < 8 + Below(24); ++i) {
    cexprs_.push_back(builder_.Intern(AnyCexpr()));
  }
}

void RandomModule::AddTypes() {
  types_ = {typed_ ? builder_.Intern({.kind = TypeKind::kAccel}) : builder_.Deferred(),
            typed_ ? builder_.Vector(Scalar::kF64, 3) : builder_.Named("light_t"),
            builder_.Sampler(),
            builder_.Image(Scalar::kF32, {.dim = Any<ImageDim>(), .depth = Chance(50)}),
            builder_.Matrix(Scalar::kF32, 3, 3)};
  if (typed_) {
    types_.push_back(builder_.Intern({.kind = TypeKind::kRayQuery}));
    types_.push_back(builder_.Intern({.kind = TypeKind::kSampledImage,
                                      .scalar = Scalar::kF32,
                                      .extent = PackImage({.dim = Any<ImageDim>()})}));
    types_.push_back(builder_.Image(
        Scalar::kU64,
        {.dim = ImageDim::kBuffer, .storage = true, .format = ImageFormat::kR64Uint}));
    for (const Scalar scalar : {Scalar::kS64, Scalar::kU64, Scalar::kS16, Scalar::kU16}) {
      types_.push_back(builder_.Vector(scalar, static_cast<uint8_t>(1 + Below(4))));
      scalars_.push_back(builder_.Vector(scalar, 1));
    }
  }
  for (const Scalar scalar :
       {Scalar::kF32, Scalar::kU32, Scalar::kS32, Scalar::kBool, Scalar::kF16}) {
    scalars_.push_back(builder_.Vector(scalar, 1));
    types_.push_back(builder_.Vector(scalar, static_cast<uint8_t>(1 + Below(4))));
  }
  for (uint32_t i = 0; i < Below(8); ++i) {
    types_.push_back(Chance(70) ? builder_.Array(Pick(types_), Pick(cexprs_))
                                : builder_.RuntimeArray(Pick(types_)));
  }
}

void RandomModule::AddOption() {
  Option option{.name = Text(), .scope = Any<OptionScope>(), .kind = Any<OptionKind>()};
  option.specialize = Chance(20) ? 1 : 0;
  if (option.kind == OptionKind::kEnum) {
    option.values = builder_.Ids({Text(), Text()});
    option.default_value = Below(2);
  } else {
    option.default_value = option.kind == OptionKind::kFlag ? Below(2) : Below(UINT32_MAX);
  }
  option.id_plus_one = Below(3);
  builder_.Add(option);
}

std::vector<Member> RandomModule::Members(DeclKind kind) {
  std::vector<Member> members;
  for (uint32_t i = 0; i < 1 + Below(4); ++i) {
    Member member{.name = Text(), .condition = Condition(), .type = Pick(types_)};
    if (!typed_ && Chance(20)) {
      member.kind = MemberKind::kAlias;
      member.type = {};
      member.value = Chance(80) ? builder_.Ids({Text(), Text()}).value : kNoRow;
    } else if (kind == DeclKind::kContainer) {
      member.pack = Any<PackClass>();
      member.pack_bits = member.pack == PackClass::kDefault ? uint8_t{0} : uint8_t{16};
    }
    if (Chance(20)) {
      member.tags = builder_.Ids({Text()});
    }
    members.push_back(member);
  }
  return members;
}

void RandomModule::AddDecl() {
  Decl decl{.kind = Any<DeclKind>(), .name = Text(), .condition = Condition()};
  std::vector<Member> members;
  const auto set = static_cast<uint16_t>(Below(CountOf<ResourceSet>()) << 8);
  switch (decl.kind) {
    case DeclKind::kConstant:
    case DeclKind::kSetting:
      decl.body = Pick(cexprs_).value;
      decl.aux = decl.kind == DeclKind::kSetting && Chance(50) ? Below(8) : kNoBlock;
      break;
    case DeclKind::kContainer:
      decl.flags = static_cast<uint16_t>(Any<ContainerKind>());
      members = Members(decl.kind);
      break;
    case DeclKind::kBuffer:
      decl.flags = static_cast<uint16_t>(set | static_cast<uint16_t>(Any<BufferKind>()));
      members = Members(decl.kind);
      break;
    case DeclKind::kFunction:  // has its own way
      decl.kind = DeclKind::kStruct;
      members = Members(decl.kind);
      break;
    case DeclKind::kStruct:
    case DeclKind::kPushConstant:
      members = Members(decl.kind);
      break;
    case DeclKind::kSampler:
      decl.flags = set;
      decl.type = types_[2];
      break;
    case DeclKind::kImage:
      decl.flags = static_cast<uint16_t>(set | static_cast<uint16_t>(Any<ImageAccess>()));
      decl.type = Chance(50) ? types_[3] : builder_.Array(types_[3], Pick(cexprs_));
      break;
    case DeclKind::kWorkgroup:
      decl.type = Pick(types_);
      break;
    case DeclKind::kPrivate:
    case DeclKind::kEntry:
      if (!typed_) {
        decl.kind = DeclKind::kWorkgroup;
        decl.type = Pick(types_);
      }
      break;
  }
  if (typed_) {
    AddTypedDecl(decl, members);
  }
  const DeclId id = builder_.Add(decl, {.name = Spans(), .condition = Spans()}, members,
                                 std::vector<MemberSpans>(members.size()));
  if (!typed_) {
    return;
  }
  const bool named = decl.kind != DeclKind::kSetting && decl.kind != DeclKind::kEntry;
  for (uint32_t i = 0; named && i < members.size(); ++i) {
    AddAttributes(true, members_ + i);
  }
  members_ += static_cast<uint32_t>(members.size());
  if (named) {
    AddAttributes(false, id.value);
  }
  if (decl.kind == DeclKind::kStruct) {
    structs_.push_back(builder_.Intern({.kind = TypeKind::kDeclared, .element = id.value}));
    types_.push_back(structs_.back());
  } else if (named && decl.kind != DeclKind::kConstant && decl.kind != DeclKind::kContainer) {
    globals_.push_back(id);
  }
}

LocalId RandomModule::NewLocal(LocalKind kind) {
  Local local{.condition = Condition(), .kind = kind};
  if (IsExit(kind)) {
    return builder_.AddLocal(local, {});
  }
  local.name = Text();
  local.relaxed = Chance(10) ? 1 : 0;
  if (kind != LocalKind::kAlias) {
    local.type = Pick(types_);
  }
  if (!locals_.empty() && Chance(30)) {
    local.shadowed = builder_.Ids({Pick(locals_)});
  }
  if (kind == LocalKind::kParameter) {
    local.access = Any<Access>();
    if (!typed_ && local.access == Access::kPlace) {
      local.access = Access::kIn;
    }
    return builder_.AddParameter(local, {.name = Spans()});
  }
  return builder_.AddLocal(local, {.name = Spans()});
}

void RandomModule::AddFunction() {
  const DeclId function = builder_.BeginFunction({.kind = DeclKind::kFunction,
                                                  .flags = static_cast<uint16_t>(Below(2)),
                                                  .name = Text(),
                                                  .condition = Condition(),
                                                  .type = Pick(types_)},
                                                 {.name = Spans()});
  for (uint32_t i = 0; i < Below(4); ++i) {
    locals_.push_back(NewLocal(LocalKind::kParameter));
    if (typed_) {
      AddAttributes(true, members_++);
    }
  }
  FillBlock(size_.depth, false);
  builder_.EndFunction();
  if (typed_) {
    AddAttributes(false, function.value);
    functions_.push_back(function);
  }
  locals_.clear();
  values_.clear();
}

void RandomModule::FillBlock(uint32_t depth, bool yields) {
  const size_t values = values_.size();
  const size_t locals = locals_.size();
  for (uint32_t i = 0; i < Below(size_.statements); ++i) {
    AddStatement(depth);
  }
  if (yields) {
    AddInst(YieldInst{builder_.Void(), AnyValue()}.To());
  }
  values_.resize(values);
  locals_.resize(locals);
}

BlockId RandomModule::NewBlock(uint32_t depth, bool yields) {
  const BlockId block = builder_.BeginBlock();
  FillBlock(depth, yields);
  builder_.EndBlock();
  return block;
}

void RandomModule::AddStatement(uint32_t depth) {
  const auto kind = static_cast<InstKind>(Below(std::size(kInstFacts)));
  const InstFacts& facts = FactsOf(kind);
  const bool owns =
      IsBlockSchema(facts.a) || IsBlockSchema(facts.b) || facts.b == OperandSchema::kCases;
  const bool names_local = kind == InstKind::kLocalRef || kind == InstKind::kParam;
  const bool lacks = (names_local && locals_.empty()) ||
                     (kind == InstKind::kCall && functions_.empty()) ||
                     (kind == InstKind::kGlobalRef && globals_.empty());
  if (!Includes(facts.form, typed_ ? Form::kTypedGeneric : Form::kUntyped) || lacks ||
      kind == InstKind::kYield || kind == InstKind::kWhenRegion || (owns && depth == 0)) {
    return;
  }
  uint16_t flags = AnyFlags(facts.flags);
  literal_ = kind == InstKind::kImage ? flags : 0;
  const uint32_t a = AnyOperand(kind, facts.a, depth);
  std::vector<LocalId>& exits = kind == InstKind::kSwitch ? leaves_ : loops_;
  const bool breaks = kind == InstKind::kSwitch || kind == InstKind::kLoop;
  if (breaks) {
    exits.push_back(LocalId{a});
  }
  const uint32_t b = kind == InstKind::kImage ? builder_.List(AnyImageOperands(flags, a)).value
                                              : AnyOperand(kind, facts.b, depth);
  if (breaks) {
    exits.pop_back();
  }
  if (typed_) {
    flags |= static_cast<uint16_t>(Below(256) << 8) & AllowedFlags(kind);
  }
  const TypeId type = facts.result == ResultSchema::kVoid ? builder_.Void() : Pick(types_);
  AddInst(MakeInst(kind, flags, type, {a, b}));
  if (kind == InstKind::kVariable || kind == InstKind::kAlias) {
    locals_.push_back(LocalId{a});
  }
}

InstId RandomModule::AnyValue() {
  if (values_.empty() || Chance(20)) {
    const TypeId type = Pick(scalars_);
    return AddInst(ConstInst{type, builder_.ScalarConst(type, Below(2))}.To());
  }
  return Pick(values_);
}

uint16_t RandomModule::AnyFlags(FlagSchema schema) {
  switch (schema) {
    case FlagSchema::kNone:
      return 0;
    case FlagSchema::kBinary:
      return static_cast<uint16_t>(Any<BinaryOp>());
    case FlagSchema::kUnary:
      return static_cast<uint16_t>(Any<UnaryOp>());
    case FlagSchema::kLogical:
      return static_cast<uint16_t>(Any<LogicalOp>());
    case FlagSchema::kBuiltin:
      return static_cast<uint16_t>(Below(kBuiltinCount));
    case FlagSchema::kStage:
      return static_cast<uint16_t>(Any<StageVariable>());
    case FlagSchema::kDirection:
      return static_cast<uint16_t>(Any<Direction>());
    case FlagSchema::kBranch:
      return static_cast<uint16_t>(Any<BranchHint>());
    case FlagSchema::kLoop: {
      const auto hint = Any<LoopHint>();
      const uint32_t count = hint == LoopHint::kUnroll ? Below(256) : 0;
      return static_cast<uint16_t>(static_cast<uint32_t>(hint) | count << 8);
    }
    case FlagSchema::kImage:
      return static_cast<uint16_t>(Any<ImageOp>());
    case FlagSchema::kAtomic:
      return static_cast<uint16_t>(Any<AtomicOp>());
  }
  KILN_UNREACHABLE();
}

uint32_t RandomModule::AnyLocal(InstKind kind) {
  if (kind == InstKind::kVariable) {
    return NewLocal(LocalKind::kVariable).value;
  }
  if (kind == InstKind::kLocalRef || kind == InstKind::kParam) {
    return Pick(locals_).value;
  }
  return NewLocal(kind == InstKind::kAlias    ? LocalKind::kAlias
                  : kind == InstKind::kSwitch ? LocalKind::kSwitchExit
                                              : LocalKind::kLoopExit)
      .value;
}

ListId RandomModule::AnyBlocks(InstKind kind, uint32_t depth) {
  std::vector<BlockId> blocks;
  const uint32_t count = kind == InstKind::kLoop ? 3 : kind == InstKind::kIf ? 1 + Below(2) : 2;
  for (uint32_t i = 0; i < count; ++i) {
    const bool loop = kind == InstKind::kLoop;
    if (typed_ && loop && i == 0 && Chance(30)) {
      blocks.push_back(builder_.BeginBlock());  // always
      builder_.EndBlock();
      continue;
    }
    const bool yields = kind == InstKind::kNameSelect || kind == InstKind::kSelectBlocks ||
                        kind == InstKind::kChoose || (loop && i == 0) ||
                        (typed_ && loop && i == 2 && Chance(50));
    blocks.push_back(NewBlock(depth - 1, yields));
  }
  return builder_.Ids(blocks);
}

uint32_t RandomModule::AnyOperand(InstKind kind, OperandSchema schema, uint32_t depth) {
  switch (schema) {
    case OperandSchema::kNone:
      return 0;
    case OperandSchema::kInst:
      return AnyValue().value;
    case OperandSchema::kOptInst:
      return Chance(50) ? kNoRow : AnyValue().value;
    case OperandSchema::kString:
      return Text().value;
    case OperandSchema::kConst: {
      const ConstId one = builder_.ScalarConst(scalars_[0], Below(UINT32_MAX));
      return Chance(70) ? one.value
                        : builder_.CompositeConst(Pick(types_), builder_.Ids({one, one})).value;
    }
    case OperandSchema::kLocal:
      return AnyLocal(kind);
    case OperandSchema::kOptLocal:
      if (kind == InstKind::kBreak && !leaves_.empty() && Chance(50)) {
        return Pick(leaves_).value;
      }
      return loops_.empty() ? kNoRow : Pick(loops_).value;
    case OperandSchema::kBlock: {
      std::vector<InstId> outer;
      const bool apart = kind == InstKind::kWhen && (!typed_ || Chance(70));
      if (apart) {
        outer.swap(values_);  // it may be cut out, and regions share no values
      }
      const bool yields = kind == InstKind::kLogical || kind == InstKind::kAlias;
      const BlockId block = NewBlock(depth - 1, yields);
      if (apart) {
        outer.swap(values_);
      }
      return block.value;
    }
    case OperandSchema::kCexpr:
      return Pick(cexprs_).value;
    case OperandSchema::kLiteral:
      return AnyLiteral(kind);
    case OperandSchema::kInsts: {
      std::vector<InstId> values;
      const uint32_t least = kind == InstKind::kAtomic ? 1 : 0;
      for (uint32_t i = 0; i < least + Below(4); ++i) {
        values.push_back(AnyValue());
      }
      return builder_.Ids(values).value;
    }
    case OperandSchema::kLocals:
      return builder_.Ids(locals_).value;
    case OperandSchema::kBlocks:
      return AnyBlocks(kind, depth).value;
    case OperandSchema::kDecl:
      return AnyDecl(kind).value;
    case OperandSchema::kOptMember:
      return kNoRow;
    case OperandSchema::kTexts:
      return builder_.Ids({Text(), Text()}).value;
    case OperandSchema::kPart:
      return AnyPart();
    case OperandSchema::kCases:
      return AnyCases(depth);
    case OperandSchema::kRegion:
      break;  // made by the builder
  }
  KILN_UNREACHABLE();
}

Module MakeRandomModule(uint32_t seed, const RandomModuleSize& size) {
  return RandomModule(seed, size).Make();
}

}  // namespace kiln::ir
