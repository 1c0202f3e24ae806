// SPDX-License-Identifier: MIT
// Functions of samplers and images: which image a function takes, what it is given, and the form
// that the stage picks. See spec/rpl 6.4, 14.2, 14.7
#include <optional>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/typing.h"
#include "compiler/resolve/kind_text.h"
#include "compiler/resolve/open_text.h"
#include "compiler/resolve/region_specialiser.h"

namespace kiln::resolve {
namespace {

using ir::Builtin;

// The types of a list as a message shows them: "f2, f1".
std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += joined.empty() ? text : ", " + text;
  }
  return joined;
}

// What a function takes, for an image of another kind.
std::string_view ImageText(Builtin builtin, const ir::ImageTraits& traits) {
  if (builtin == Builtin::kImageLoad || builtin == Builtin::kImageStore) {
    return "storage image";
  }
  if (traits.storage) {
    return "image without format";
  }
  return builtin == Builtin::kFetch ? "image that is no cube" : "image that is not 3D";
}

// The least number of arguments, for a call without an image to tell more.
size_t LeastArguments(Builtin builtin) {
  if (builtin == Builtin::kFetch || builtin == Builtin::kImageStore) {
    return 3;
  }
  return builtin == Builtin::kImageLoad ? 2 : 1;
}

// The form with an explicit level 0, for stages without derivatives.
Builtin WithLod(Builtin builtin) {
  return builtin == Builtin::kSample ? Builtin::kSampleLod : Builtin::kSampleDrefLod;
}

}  // namespace

bool RegionSpecialiser::CheckHandle(uint32_t argument, uint32_t index, ir::TypeKind kind,
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

Operand RegionSpecialiser::SpecialiseImageCall(uint32_t id) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  const bool samples = ir::IsSampling(call.builtin);
  const size_t handles = samples ? 2 : 1;
  if (samples && arguments.size() < 3) {
    Report(Make(Code::kRpl5040, MainOf(id)).With("function", function));
    return {};
  }
  if (arguments.empty()) {
    Report(Make(Code::kRpl5036, MainOf(id))
               .With("function", function)
               .With("expected", LeastArguments(call.builtin))
               .With("found", 0));
    return {};
  }
  const bool sampler_good =
      !samples || CheckHandle(arguments[0], 1, ir::TypeKind::kSampler, function);
  const uint32_t image_argument = arguments[handles - 1];
  if (!CheckHandle(image_argument, static_cast<uint32_t>(handles), ir::TypeKind::kImage,
                   function) ||
      !sampler_good || !CheckImage(call.builtin, image_argument, handles)) {
    return {};
  }
  const ir::TypeId image = OperandOf(ir::InstId{image_argument}).type;
  const std::optional<ir::SampleTyping> typing = ir::TypeOfSample(pool_, call.builtin, image);
  KILN_CHECK(typing.has_value(), "images that do not fit are refused above");
  ScratchList values(scratch_);
  return ReadImageOperands(id, arguments.subspan(handles), typing->written, values)
             ? EmitImageCall(id, values, typing->written.result)
             : Operand{};
}

// Whether the function takes this image at all.
bool RegionSpecialiser::CheckImage(ir::Builtin builtin, uint32_t argument, size_t index) {
  const Operand& image = OperandOf(ir::InstId{argument});
  const ir::ImageTraits traits = ir::UnpackImage(pool_[image.type].extent);
  if (!ir::TypeOfSample(pool_, builtin, image.type).has_value()) {
    if (ir::SamplesDepth(builtin) && !traits.storage) {
      Report(Make(traits.depth ? Code::kRpl5044 : Code::kRpl5043, MainOf(argument))
                 .With("name", TextOf(argument)));
      return false;
    }
    Report(Make(Code::kRpl5041, MainOf(argument))
               .With("index", index)
               .With("function", ir::FactsOf(builtin).name)
               .With("kind", ImageText(builtin, traits))
               .With("text", TextOf(argument)));
    return false;
  }
  const bool loads = builtin == Builtin::kImageLoad;
  if (!loads && builtin != Builtin::kImageStore) {
    return true;
  }
  const ir::ImageAccess access = program_.Get(image.decl).access();
  if (access != (loads ? ir::ImageAccess::kWriteOnly : ir::ImageAccess::kReadOnly)) {
    return true;
  }
  Report(Make(Code::kRpl8108, MainOf(argument))
             .With("name", TextOf(argument))
             .With("access", ir::NameOf(access))
             .With("action", loads ? "read" : "written"));
  return false;
}

// The arguments behind the handles; false if they are wrong.
bool RegionSpecialiser::ReadImageOperands(uint32_t id, std::span<const uint32_t> arguments,
                                          const ir::Signature& expected, ScratchList& values) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  const auto handles =
      static_cast<uint32_t>(module_.List(call.arguments).size() - arguments.size());
  bool matches = arguments.size() == expected.parameters().size();
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const Role role{.form = Role::Form::kArgument, .text = function, .index = handles + i + 1};
    const ir::InstId value = Read(arguments[i], role);
    if (!value.valid()) {
      return false;
    }
    matches = matches && TypeOf(value) == expected.parameters()[i];
    values.Add(value);
  }
  if (!matches) {
    std::vector<std::string> expected_types;
    for (const ir::TypeId type : expected.parameters()) {
      expected_types.push_back(TypeName(type));
    }
    std::vector<std::string> found_types;
    for (const uint32_t value : values.items()) {
      found_types.push_back(TypeName(TypeOf(ir::InstId{value})));
    }
    const uint32_t image = module_.List(call.arguments)[handles - 1];
    Report(Make(Code::kRpl5045, MainOf(id))
               .With("function", function)
               .With("type", TypeName(OperandOf(ir::InstId{image}).type))
               .With("expected", Joined(expected_types))
               .With("found", Joined(found_types)));
    return false;
  }
  if (call.builtin == Builtin::kGather) {
    const ir::Inst& component = out_.insts[values.items().back()];
    if (component.kind != ir::InstKind::kConst ||
        pool_[component.As<ir::ConstInst>().value].a > 3) {
      Report(Make(Code::kRpl8109, MainOf(arguments.back())));
      return false;
    }
  }
  return true;
}

Operand RegionSpecialiser::EmitImageCall(uint32_t id, const ScratchList& values,
                                         ir::TypeId result) {
  const auto call = Open(id).As<ir::NameBuiltinInst>();
  const std::span<const uint32_t> arguments = module_.List(call.arguments);
  const bool samples = ir::IsSampling(call.builtin);
  const Operand& image = OperandOf(ir::InstId{arguments[samples ? 1 : 0]});
  ScratchList operands(scratch_);
  const size_t given = values.size();  // before the operands, which lie behind them
  size_t taken = 0;
  if (samples) {
    const Operand& sampler = OperandOf(ir::InstId{arguments[0]});
    Touched(sampler,
            ir::SamplesDepth(call.builtin) ? ir::MemberUse::kCompare : ir::MemberUse::kSample);
    operands.Add(PlaceInst(sampler));
  }
  Touched(image, samples                                ? ir::MemberUse::kSample
                 : call.builtin == Builtin::kImageStore ? ir::MemberUse::kWrite
                                                        : ir::MemberUse::kRead);
  operands.Add(PlaceInst(image));
  const bool located = call.builtin != Builtin::kImageSize && call.builtin != Builtin::kImageLevels;
  if (located) {
    const ir::ImageTraits traits = ir::UnpackImage(pool_[image.type].extent);
    operands.Add(ImageCoordinate(traits, samples, values));
    taken = traits.arrayed ? 2 : 1;
  }
  for (; taken < given; ++taken) {
    operands.Add(values.Inst(taken));
  }
  Builtin builtin = call.builtin;
  if (ir::IsImplicitLod(builtin)) {
    out_.uses_implicit_lod = true;
    if (answers_.stage() != ir::Stage::kFragment) {
      builtin = WithLod(builtin);
      const ir::TypeId f1 = pool_.Vector(ir::Scalar::kF32, 1);
      operands.Add(EmitConst(pool_.InternScalar(f1, 0)));
    }
  }
  return ResultOf(
      Emit(ir::BuiltinCallInst{.type = result, .builtin = builtin, .arguments = EmitList(operands)}
               .To()));
}

// The layer of an arrayed image becomes the last component of the coordinate.
ir::InstId RegionSpecialiser::ImageCoordinate(const ir::ImageTraits& traits, bool samples,
                                              const ScratchList& values) {
  if (!traits.arrayed) {
    return values.Inst(0);
  }
  const ir::Scalar scalar = samples ? ir::Scalar::kF32 : ir::Scalar::kU32;
  ir::InstId layer = values.Inst(0);
  if (samples) {
    layer = Emit(ir::ConvertInst{.type = pool_.Vector(scalar, 1), .value = layer}.To());
  }
  const uint32_t parts[] = {values.Inst(1).value, layer.value};
  return Emit(ir::ConstructInst{.type = pool_.Vector(scalar, 3), .operands = EmitList(parts)}.To());
}

}  // namespace kiln::resolve
