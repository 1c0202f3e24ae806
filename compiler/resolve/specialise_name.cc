// SPDX-License-Identifier: MIT
// Names: what a mention denotes, aliases and options among them (spec/rpl 5.1, 5.4, 8.5, 14.9).
#include <algorithm>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/region_specialiser.h"
#include "compiler/resolve/specialise_type.h"

namespace kiln::resolve {
Operand RegionSpecialiser::SpecialiseNameRef(uint32_t id) {
  const ir::Inst& inst = Open(id);
  if (inst.kind == ir::InstKind::kConst) {
    const ir::Const& row = module_.consts[inst.As<ir::ConstInst>().value.value];
    const ir::Type& type = module_.types[row.type.value];
    Operand value =
        ValueOf(EmitConst(pool_.InternScalar(pool_.Vector(type.scalar, type.rows), row.a)));
    value.constant = true;
    return value;
  }
  if (inst.kind == ir::InstKind::kFlag || inst.kind == ir::InstKind::kText) {
    if (inst.kind == ir::InstKind::kFlag && module_.header.version >= 2) {
      return ValueOf(Emit(
          ir::FlagInst{.type = pool_.bool_type(), .value = inst.As<ir::FlagInst>().value}.To()));
    }
    Report(Make(Code::kRpl6003, MainOf(id))
               .With("kind", inst.kind == ir::InstKind::kFlag ? "boolean" : "string")
               .With("text", TextOf(id))
               .Note(NoteKind::kAccepted,
                     {{"accepted", inst.kind == ir::InstKind::kFlag
                                       ? "comparisons, conditional scopes, or 'rpl 2;'"
                                       : "strings in conditionals and settings"}}));
    return {};
  }
  const auto ref = inst.As<ir::NameRefInst>();
  for (const uint32_t candidate : module_.List(ref.candidates)) {
    const ir::CexprId condition = module_.locals[candidate].condition;
    if (condition == ir::kTrue || answers_.Holds(Global(condition))) {
      return SpecialiseLocalMention(ir::LocalId{bases_.local + candidate}, id);
    }
  }
  return SpecialiseGlobalMention(module_.Text(ref.name), program_.Name(module_ordinal_, ref.name),
                                 id);
}

Operand RegionSpecialiser::SpecialiseLocalMention(ir::LocalId id, uint32_t) {
  const ir::Local& local = module_.locals[id.value - bases_.local];
  if (local.kind == ir::LocalKind::kAlias) {
    if (std::ranges::binary_search(poisoned_, id.value, {}, &ir::LocalId::value) ||
        !MayExpand(local)) {
      return {};
    }
    const std::span<const uint32_t> insts = module_.InstsOf(ir::BlockId{local.block});
    const uint32_t mention = current_;
    ++alias_depth_;
    SpecialiseInsts(insts);
    --alias_depth_;
    current_ = mention;
    KILN_CHECK(!insts.empty() && Open(insts.back()).kind == ir::InstKind::kYield,
               "alias block of {} rows yields nothing", insts.size());
    return OperandOf(Open(insts.back()).As<ir::YieldInst>().value);
  }
  Operand operand;
  operand.local = true;
  if (local.kind == ir::LocalKind::kParameter) {
    const auto parameter = std::ranges::lower_bound(
        signature_->members, id.value, {},
        [](const ir::SpecialisedMember& member) { return member.local.value; });
    if (parameter == signature_->members.end() || parameter->local != id) {
      return {};
    }
    operand.type = parameter->type;
    operand.readable = parameter->access != ir::Access::kOut;
    operand.writable = parameter->access != ir::Access::kIn;
    if (parameter->access == ir::Access::kIn && !IsHandle(pool_[parameter->type])) {
      operand.kind = OperandKind::kValue;
      operand.inst = Emit(ir::ParamInst{.type = operand.type, .local = id}.To());
      MarkRelaxed(local.relaxed != 0, operand.inst);
      return operand;
    }
  } else {
    bool known = false;
    ir::TypeId& type = LocalTypeOf(id, known);
    if (!known) {
      std::vector<Diagnostic> ignored;  // reported where the variable is declared
      type = SpecialiseType({.module = module_ordinal_, .type = local.type}, answers_, ignored);
    }
    if (!type.valid()) {
      return {};
    }
    operand.type = type;
    operand.writable = true;
  }
  operand.kind = OperandKind::kPlace;
  operand.inst = Emit(ir::LocalRefInst{.type = operand.type, .local = id}.To());
  MarkRelaxed(local.relaxed != 0, operand.inst);
  return operand;
}

Operand RegionSpecialiser::SpecialiseGlobalMention(std::string_view name, NameId id,
                                                   uint32_t inst) {
  const NameResolution answer = answers_.Global(id);
  switch (answer.kind) {
    case NameResolution::Kind::kConflict:
    case NameResolution::Kind::kFailed:
      return {};
    case NameResolution::Kind::kOption:
      if (program_.Get(answer.option()).specialize != 0) {
        return SpecialiseSpecialised(answer.option());
      }
      return SpecialiseOptionMention("option", name, answers_.Option(answer.option()), inst);
    case NameResolution::Kind::kConstant:
      if (program_.IsComposite(answer.decl())) {
        const ir::ConstId value = answers_.Composite(answer.decl());
        return value.valid() ? ValueOf(EmitConst(value)) : Operand{};
      }
      return SpecialiseOptionMention("constant", name, answers_.Constant(answer.decl()), inst);
    case NameResolution::Kind::kDecl:
      break;
    case NameResolution::Kind::kNone: {
      const bool is_function = !program_.Functions(id).empty();
      if (is_function || !program_.Structs(id).empty()) {
        Report(Make(Code::kRpl6004, MainOf(inst))
                   .With("kind", is_function ? "function" : "struct")
                   .With("name", name));
      } else {
        Report(Make(Code::kRpl6001, MainOf(inst)).With("name", name));
      }
      return {};
    }
  }
  const ir::Decl& decl = program_.Get(answer.decl());
  Operand operand;
  operand.decl = answer.decl();
  if (decl.kind == ir::DeclKind::kContainer) {
    operand.kind = OperandKind::kContainer;
    return operand;
  }
  const ir::SpecialisedDecl* closed = answers_.Decl(answer.decl());
  if (closed == nullptr) {
    return {};
  }
  if (decl.kind == ir::DeclKind::kWorkgroup) {
    if (answers_.stage() != ir::Stage::kCompute) {
      Report(Make(Code::kRpl5011, MainOf(inst))
                 .With("kind", DeclKindText(decl))
                 .With("container", name)
                 .With("stage", ir::NameOf(answers_.stage())));
      return {};
    }
    out_.bound = true;
  }
  operand.kind = decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant
                     ? OperandKind::kBlock
                     : OperandKind::kPlace;
  operand.type = closed->type;
  operand.writable =
      decl.kind == ir::DeclKind::kWorkgroup ||
      (decl.kind == ir::DeclKind::kBuffer && decl.buffer() == ir::BufferKind::kReadWriteStorage);
  operand.inst = Emit(ir::GlobalRefInst{
      .type = operand.type,
      .direction = ir::Direction::kNone,
      .decl = answer.decl(),
      .member = {}}.To());
  Mentioned(answer.decl(), ir::MemberId{}, ir::Direction::kNone, 0);
  return operand;
}

// Not folded: the value is that of the pipeline (spec/rpl 14.9).
Operand RegionSpecialiser::SpecialiseSpecialised(ir::OptionId id) {
  const ir::Option& option = program_.Get(id);
  const ir::Scalar scalar = option.kind == ir::OptionKind::kFlag   ? ir::Scalar::kBool
                            : option.kind == ir::OptionKind::kUint ? ir::Scalar::kU32
                            : option.kind == ir::OptionKind::kSint ? ir::Scalar::kS32
                                                                   : ir::Scalar::kF32;
  return ValueOf(Emit(ir::SpecConstInst{
      .type = pool_.Vector(scalar, 1), .id = program_.SpecIdOf(id), .bits = option.default_value}
                          .To()));
}

Operand RegionSpecialiser::SpecialiseOptionMention(std::string_view kind, std::string_view name,
                                                   const Value& value, uint32_t inst) {
  ir::Scalar scalar = ir::Scalar::kNone;
  std::string_view type;
  switch (value.kind) {
    case ir::ValueKind::kFailed:
      return {};
    case ir::ValueKind::kFlag:
      type = "a flag";
      break;
    case ir::ValueKind::kString:
      type = kind == "option" ? "an enum" : "a string";
      break;
    case ir::ValueKind::kUint:
      scalar = ir::Scalar::kU32;
      break;
    case ir::ValueKind::kSint:
      scalar = ir::Scalar::kS32;
      break;
    case ir::ValueKind::kFloat:
      scalar = ir::Scalar::kF32;
      break;
  }
  if (scalar == ir::Scalar::kNone) {
    std::string condition(name);
    if (value.kind == ir::ValueKind::kString) {
      condition += " == \"" + std::string(pool_.Text(ir::StringId{value.bits})) + "\"";
    }
    Report(
        Make(Code::kRpl6002, MainOf(inst))
            .With("kind", kind)
            .With("name", name)
            .With("type", type)
            .Note(NoteKind::kWrite, {{"replacement", "conditional (" + condition + ") { ... }"}}));
    return {};
  }
  Operand operand = ValueOf(EmitConst(pool_.InternScalar(pool_.Vector(scalar, 1), value.bits)));
  operand.constant = true;
  return operand;
}

// An alias stands for its expression at each mention, so a few lines can ask for any amount.
bool RegionSpecialiser::MayExpand(const ir::Local& alias) {
  if (too_large_ || out_.insts.size() > program_.limits().function_rows) {
    if (!too_large_) {
      Report(Make(Code::kLim1001, MainOf(current_))
                 .With("what", "function '" + std::string(module_.Text(function_.name)) + "'")

                 .With("parts", "instructions")
                 .With("limit", program_.limits().function_rows));
    }
    too_large_ = true;
    return false;
  }
  if (alias_depth_ >= program_.limits().nesting) {
    Report(Make(Code::kRpl1009, MainOf(current_))
               .With("text", module_.Text(alias.name))
               .With("limit", program_.limits().nesting));
    return false;
  }
  return true;
}

}  // namespace kiln::resolve
