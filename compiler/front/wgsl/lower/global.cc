// SPDX-License-Identifier: MIT
// An override is an option, whose default is its value; one whose value depends on others is a
// constant. A buffer of a struct has it as its content; of anything else it has one field.
// Order is that of the checked module, in which each variable comes behind what it mentions.
// Resources keep their group and binding as attributes; layouts read these and assign nothing
// for WGSL.
#include "compiler/front/wgsl/lower/global.h"

#include <string>

#include "compiler/base/check.h"
#include "compiler/front/wgsl/check/expressions/override_form.h"
#include "compiler/front/wgsl/lower/cexpr.h"
#include "compiler/front/wgsl/lower/interface.h"
#include "compiler/front/wgsl/lower/type.h"
#include "compiler/front/wgsl/lower/value.h"

namespace kiln::wgsl::front {
namespace {

class Globals {
 public:
  Globals(LowerContext& context, uint32_t id)
      : context_(context),
        id_(id),
        global_(context.unit.globals[id]),
        span_(context.SpanOf(global_.at)) {}

  void Declare() {
    switch (global_.kind) {
      case GlobalKind::kConst:
        break;
      case GlobalKind::kOverride:
        Override();
        break;
      case GlobalKind::kPrivate:
        Private();
        break;
      case GlobalKind::kWorkgroup:
        Made(Row(ir::DeclKind::kWorkgroup, global_.type));
        break;
      case GlobalKind::kBuffer:
        Buffer();
        break;
      case GlobalKind::kHandle:
        Handle();
        break;
    }
  }

 private:
  // Rows of all kinds begin alike.
  ir::Decl Row(ir::DeclKind kind, TypeId type) {
    return {
        .kind = kind, .name = context_.builder.Text(global_.name), .type = TypeOf(context_, type)};
  }
  ir::DeclSpans Spans() const { return {.name = span_, .type = span_}; }
  void Made(const ir::Decl& row) { context_.globals[id_] = context_.builder.Add(row, Spans()); }
  // The group lies above the low byte, which has what the kind of declaration says.
  uint16_t Flags(uint32_t low) const {
    const uint32_t set = context_.unit.attributes[global_.attributes].group;
    return static_cast<uint16_t>(low | set << 8);
  }
  // A span for each node of a value: all of them are that of the declaration, which messages of
  // a variant point to.
  ir::SpanId Run(ir::CexprId value) {
    const uint32_t* nodes = context_.cexpr_nodes.Find(value.value);
    return context_.builder.AddRun(
        std::vector<Span>(nodes == nullptr ? 1 : *nodes, context_.stream.SpanOf(global_.at)));
  }

  // An override with a constant is an option. Any other is a constant of the variant: only its
  // operands can be set.
  void Override() {
    const Expr& value = context_.Get(global_.value);
    const ScalarKind scalar = context_.types[global_.type].scalar;
    if (value.kind != ExprKind::kConstant) {
      const ir::CexprId computed = CexprOf(context_, global_.value);
      context_.builder.Add({.kind = ir::DeclKind::kConstant,
                            .name = context_.builder.Text(global_.name),
                            .type = {},
                            .body = computed.value},
                           {.name = span_, .type = {}, .value = Run(computed)});
      return;
    }
    const ir::OptionKind kind = scalar == ScalarKind::kBool  ? ir::OptionKind::kFlag
                                : scalar == ScalarKind::kI32 ? ir::OptionKind::kSint
                                : scalar == ScalarKind::kU32 ? ir::OptionKind::kUint
                                                             : ir::OptionKind::kFloat;
    context_.builder.Add(ir::Option{
        .name = context_.builder.Text(global_.name),
        .scope = ir::OptionScope::kInstance,
        .kind = kind,
        .default_value = static_cast<uint32_t>(BitsOf(scalar, context_.unit.WordsOf(value)[0])),
        .span = span_,
        .id_plus_one = global_.id == kNoRow ? 0 : global_.id + 1});
  }

  // The first value is a compile-time expression if it can be one. Otherwise a function
  // computes it before the entry point begins.
  void Private() {
    ir::Decl row = Row(ir::DeclKind::kPrivate, global_.type);
    ir::DeclSpans spans = Spans();
    if (global_.value.valid()) {
      if (IsCexpr(context_.unit, global_.value)) {
        const ir::CexprId value = CexprOf(context_, global_.value);
        row.body = value.value;
        spans.value = Run(value);
      } else {
        row.aux = Initial().value;
      }
    }
    context_.globals[id_] = context_.builder.Add(row, spans);
  }

  // A function that gives the first value, which a compile-time expression cannot say.
  ir::DeclId Initial() {
    const ir::DeclId function = context_.builder.BeginFunction(
        {.kind = ir::DeclKind::kFunction,
         .name = context_.builder.Text(std::string(global_.name) + ".initial"),
         .type = TypeOf(context_, global_.type)},
        Spans());
    const ir::InstId value = ValueOf(context_, global_.value);
    context_.at = global_.at;
    context_.Emit(ir::ReturnInst{context_.builder.Void(), value});
    context_.builder.EndFunction();
    return function;
  }

  // A buffer that is no struct is wrapped in a block with one member of its name, which is not
  // written in the source: RootPlace steps over it.
  void Buffer() {
    const ir::BufferKind kind = global_.space == AddressSpace::kUniform ? ir::BufferKind::kUniform
                                : global_.access == AccessMode::kRead
                                    ? ir::BufferKind::kReadOnlyStorage
                                    : ir::BufferKind::kReadWriteStorage;
    const bool is_struct = context_.types[global_.type].kind == TypeKind::kStruct;
    ir::Decl row{.kind = ir::DeclKind::kBuffer,
                 // The kind of buffer says who may write; uniform ones are never written.
                 .flags = Flags(static_cast<uint32_t>(kind)),
                 .name = context_.builder.Text(global_.name)};
    if (is_struct) {
      row.type = TypeOf(context_, global_.type);
      context_.globals[id_] = context_.builder.Add(row, Spans());
    } else {
      const ir::Member member{.name = row.name, .type = TypeOf(context_, global_.type)};
      const ir::MemberSpans spans{.name = span_, .type = span_};
      context_.globals[id_] =
          context_.builder.Add(row, Spans(), std::span(&member, 1), std::span(&spans, 1));
      ++context_.member_count;
      context_.is_wrapped[id_] = true;
    }
    AddInterface(context_, global_.attributes, false, context_.globals[id_].value);
  }

  // Sampled textures are read only; the access of storage textures is that of their type.
  void Handle() {
    const Type& type = context_.types[global_.type];
    const bool sampler = type.kind == TypeKind::kSampler;
    const bool storage = type.texture == TextureClass::kStorage;
    const ir::ImageAccess access =
        !storage || type.access == AccessMode::kRead ? ir::ImageAccess::kReadOnly
        : type.access == AccessMode::kWrite          ? ir::ImageAccess::kWriteOnly
                                                     : ir::ImageAccess::kReadWrite;
    ir::Decl row = Row(sampler ? ir::DeclKind::kSampler : ir::DeclKind::kImage, global_.type);
    row.flags = Flags(sampler ? 0 : static_cast<uint32_t>(access));
    Made(row);
    AddInterface(context_, global_.attributes, false, context_.globals[id_].value);
  }

  LowerContext& context_;
  const uint32_t id_;
  const Global& global_;
  const ir::SpanId span_;
};

}  // namespace

void DeclareGlobals(LowerContext& context) {
  for (uint32_t i = 0; i < context.unit.globals.size(); ++i) {
    Globals(context, i).Declare();
  }
}

}  // namespace kiln::wgsl::front
