// SPDX-License-Identifier: MIT
// Inbuilt functions: families of ir/builtins.def, stage functions and sampling (rpl.md 6).
#include <optional>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/typing.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/segment_closer.h"

namespace kiln::resolve {
namespace {

constexpr uint32_t kPiBits = 0x40490FDBu;

// The types of a list as a message shows them: "f2, f1".
std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += joined.empty() ? text : ", " + text;
  }
  return joined;
}

}  // namespace

Operand SegmentCloser::CloseBuiltin(uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const ir::BuiltinFacts& facts = ir::FactsOf(call.builtin);
  if (call.builtin == ir::Builtin::kSample || call.builtin == ir::Builtin::kSampleDref) {
    return CloseSample(id);
  }
  if (facts.types == ir::BuiltinTypes::kNone) {
    return CloseStageFunction(id);
  }
  const ir::Type& written = module_.types[call.type.value];
  const ir::TypeId type = written.kind == ir::TypeKind::kMatrix
                              ? pool_.Matrix(written.scalar, written.columns, written.rows)
                              : pool_.Vector(written.scalar, written.rows);
  const std::string function = BuiltinText(call.builtin, TypeName(type));
  const std::optional<ir::Signature> typing = ir::TypeOfBuiltin(pool_, call.builtin, type);
  KILN_CHECK(typing.has_value(), "the front end names only families that exist");
  const std::span<const ir::TypeId> parameters = typing->parameters();
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  if (arguments.size() != parameters.size()) {
    Report(Make(Code::kRpl5036, MainOf(id))
               .With("function", function)
               .With("expected", parameters.size())
               .With("found", arguments.size()));
    return {};
  }
  std::vector<uint32_t> values;
  bool good = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Role role{
        .form = Role::Form::kArgument, .text = function, .index = static_cast<uint32_t>(i + 1)};
    const ir::InstId value = Read(arguments[i], role);
    if (value.valid() && TypeOf(value) != parameters[i]) {
      ReportArgumentType(role, TypeOf(value), parameters[i], arguments[i]);
      good = false;
    }
    good = good && value.valid();
    values.push_back(value.value);
  }
  if (!good) {
    return {};
  }
  return ValueOf(Emit(ir::BuiltinCallInst{
      .type = typing->result, .builtin = call.builtin, .arguments = EmitList(values)}
                          .To()));
}

Operand SegmentCloser::CloseStageFunction(uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  const size_t expected = call.builtin == ir::Builtin::kOutputPosition ? 1 : 0;
  if (arguments.size() != expected) {
    Report(Make(Code::kRpl5036, MainOf(id))
               .With("function", function)
               .With("expected", expected)
               .With("found", arguments.size()));
    return {};
  }
  const ir::TypeId f1 = pool_.Vector(ir::Scalar::kF32, 1);
  if (call.builtin == ir::Builtin::kPi) {
    return ValueOf(EmitConst(pool_.InternScalar(f1, kPiBits)));
  }
  const bool discards = call.builtin == ir::Builtin::kStageDiscard;
  const ir::Stage needed = discards ? ir::Stage::kFragment : ir::Stage::kVertex;
  if (answers_.stage() != needed) {
    Report(Make(Code::kRpl5013, MainOf(id))
               .With("function", function)
               .With("stage", StageText(answers_.stage())));
    return {};
  }
  out_.bound = true;
  Operand nothing;
  nothing.kind = OperandKind::kVoid;
  if (discards) {
    Emit(ir::DiscardInst{.type = pool_.void_type()}.To());
    out_.discards = true;
    return nothing;
  }
  const Role role{.form = Role::Form::kArgument, .text = function, .index = 1};
  const ir::InstId value = Read(arguments[0], role);
  const ir::TypeId f4 = pool_.Vector(ir::Scalar::kF32, 4);
  if (!value.valid()) {
    return {};
  }
  if (TypeOf(value) != f4) {
    ReportArgumentType(role, TypeOf(value), f4, arguments[0]);
    return {};
  }
  if (out_.stage_variables.empty()) {
    out_.stage_variables.push_back(ir::StageVariable::kPosition);
  }
  const ir::InstId place =
      Emit(ir::StageRefInst{.type = f4, .variable = ir::StageVariable::kPosition}.To());
  Emit(ir::StoreInst{.type = pool_.void_type(), .place = place, .value = value}.To());
  return nothing;
}

bool SegmentCloser::CheckHandle(uint32_t argument, uint32_t index, ir::TypeKind kind,
                                std::string_view function) {
  const Operand& operand = OperandOf(ir::InstId{argument});
  if (operand.kind == OperandKind::kFailed) {
    return false;
  }
  if (operand.kind == OperandKind::kPlace && pool_[operand.type].kind == kind) {
    return true;
  }
  Report(Make(Code::kRpl5041, MainOf(argument))
             .With("index", index)
             .With("function", function)
             .With("kind", kind == ir::TypeKind::kSampler ? "sampler" : "image")
             .With("text", TextOf(argument)));
  return false;
}

Operand SegmentCloser::CloseSample(uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const bool compares = call.builtin == ir::Builtin::kSampleDref;
  const std::string_view function = ir::FactsOf(call.builtin).name;
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  if (arguments.size() < 3) {
    Report(Make(Code::kRpl5040, MainOf(id)).With("function", function));
    return {};
  }
  const bool sampler_good = CheckHandle(arguments[0], 1, ir::TypeKind::kSampler, function);
  if (!CheckHandle(arguments[1], 2, ir::TypeKind::kImage, function) || !sampler_good) {
    return {};
  }
  const Operand sampler = OperandOf(ir::InstId{arguments[0]});
  const Operand image = OperandOf(ir::InstId{arguments[1]});
  const ir::ImageTraits traits = ir::UnpackImage(pool_[image.type].extent);
  if (compares && (!traits.depth || traits.dim == ir::ImageDim::k3d)) {
    Report(Make(traits.depth ? Code::kRpl5044 : Code::kRpl5043, MainOf(arguments[1]))
               .With("name", TextOf(arguments[1])));
    return {};
  }
  const std::optional<ir::SampleTyping> typing = ir::TypeOfSample(pool_, call.builtin, image.type);
  KILN_CHECK(typing.has_value(), "images that cannot be sampled are refused above");
  const std::span<const ir::TypeId> expected = typing->written.parameters();
  std::vector<ir::InstId> values;
  std::vector<std::string> found_types;
  bool matches = arguments.size() - 2 == expected.size();
  for (size_t i = 2; i < arguments.size(); ++i) {
    const Role role{
        .form = Role::Form::kArgument, .text = function, .index = static_cast<uint32_t>(i + 1)};
    const ir::InstId value = Read(arguments[i], role);
    if (!value.valid()) {
      return {};
    }
    matches = matches && TypeOf(value) == expected[i - 2];
    values.push_back(value);
    found_types.push_back(TypeName(TypeOf(value)));
  }
  if (!matches) {
    std::vector<std::string> expected_types;
    for (const ir::TypeId type : expected) {
      expected_types.push_back(TypeName(type));
    }
    Report(Make(Code::kRpl5045, MainOf(id))
               .With("function", function)
               .With("type", TypeName(image.type))
               .With("expected", Joined(expected_types))
               .With("found", Joined(found_types)));
    return {};
  }
  const ir::Touch touch = compares ? ir::Touch::kCompare : ir::Touch::kSample;
  Touched(sampler, touch);
  Touched(image, ir::Touch::kSample);
  const bool implicit = answers_.stage() == ir::Stage::kFragment;
  out_.uses_implicit_lod = true;
  std::vector<uint32_t> operands{PlaceInst(sampler).value, PlaceInst(image).value,
                                 SampleCoordinate(traits, values).value};
  if (compares) {
    operands.push_back(values.back().value);
  }
  if (!implicit) {
    operands.push_back(EmitConst(pool_.InternScalar(pool_.Vector(ir::Scalar::kF32, 1), 0)).value);
  }
  const ir::Builtin builtin =
      compares ? (implicit ? ir::Builtin::kSampleDref : ir::Builtin::kSampleDrefLod)
               : (implicit ? ir::Builtin::kSample : ir::Builtin::kSampleLod);
  return ValueOf(Emit(ir::BuiltinCallInst{
      .type = typing->written.result, .builtin = builtin, .arguments = EmitList(operands)}
                          .To()));
}

// The layer of an arrayed image becomes the last component of the coordinate.
ir::InstId SegmentCloser::SampleCoordinate(const ir::ImageTraits& traits,
                                           std::span<const ir::InstId> values) {
  if (!traits.arrayed) {
    return values[0];
  }
  const ir::InstId layer =
      Emit(ir::ConvertInst{.type = pool_.Vector(ir::Scalar::kF32, 1), .value = values[0]}.To());
  const uint32_t parts[] = {values[1].value, layer.value};
  return Emit(
      ir::ConstructInst{.type = pool_.Vector(ir::Scalar::kF32, 3), .operands = EmitList(parts)}
          .To());
}

}  // namespace kiln::resolve
