// SPDX-License-Identifier: MIT
// Handles come first and are places, not values. What follows is checked as one list against what
// the image takes, then put into the order of specialised IR: the layer joins the coordinate, and a
// stage without derivatives gets an explicit level 0.
#include "compiler/resolve/specialise/specialise_image.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/typing/typing.h"
#include "compiler/resolve/place_access.h"

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

bool CheckHandle(RegionBuilder& region, uint32_t argument, uint32_t index, ir::TypeKind kind,
                 std::string_view function) {
  const Operand& operand = region.OperandOf(ir::InstId{argument});
  if (operand.kind == OperandKind::kFailed) {
    return false;
  }
  if (operand.kind == OperandKind::kPlace && region.pool()[operand.type].kind == kind) {
    return true;
  }
  region.Report(Make(Code::kRpl5041, region.MainOf(argument))
                    .With("index", index)
                    .With("function", function)
                    .With("kind", kind == ir::TypeKind::kSampler ? "sampler" : "image")
                    .With("text", region.TextOf(argument)));
  return false;
}

// Whether the function takes this image at all.
bool CheckImage(RegionBuilder& region, ir::Builtin builtin, uint32_t argument, size_t index) {
  // The handle was checked, so the operand is a place with the type of an image.
  const Operand& image = region.OperandOf(ir::InstId{argument});
  const ir::ImageTraits traits = ir::UnpackImage(region.pool()[image.type].extent);
  // Whether a function takes an image follows from the typing of samples alone. The messages
  // differ: comparison has its own, as people mix up the two kinds of depth images.
  if (!ir::TypeOfSample(region.pool(), builtin, image.type).has_value()) {
    if (ir::SamplesDepth(builtin) && !traits.storage) {
      region.Report(Make(traits.depth ? Code::kRpl5044 : Code::kRpl5043, region.MainOf(argument))
                        .With("name", region.TextOf(argument)));
      return false;
    }
    region.Report(Make(Code::kRpl5041, region.MainOf(argument))
                      .With("index", index)
                      .With("function", ir::FactsOf(builtin).name)
                      .With("kind", ImageText(builtin, traits))
                      .With("text", region.TextOf(argument)));
    return false;
  }
  // A storage image says in its declaration whether it is read or written. Loading from one that is
  // only written is refused there.
  const bool loads = builtin == Builtin::kImageLoad;
  if (!loads && builtin != Builtin::kImageStore) {
    return true;
  }
  const ir::ImageAccess access = region.program().Get(image.decl).access();
  if (access != (loads ? ir::ImageAccess::kWriteOnly : ir::ImageAccess::kReadOnly)) {
    return true;
  }
  region.Report(Make(Code::kRpl8108, region.MainOf(argument))
                    .With("name", region.TextOf(argument))
                    .With("access", ir::NameOf(access))
                    .With("action", loads ? "read" : "written"));
  return false;
}

// The arguments behind the handles; false if they are wrong.
bool ReadImageOperands(RegionBuilder& region, uint32_t id, std::span<const uint32_t> arguments,
                       const ir::Signature& expected, ScratchList& values) {
  const auto call = region.Generic(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  // Messages count handles as arguments, too.
  const auto handles =
      static_cast<uint32_t>(region.module().List(call.arguments).size() - arguments.size());
  // All are read before the list as a whole is judged: the message shows what was found beside what
  // is expected.
  bool matches = arguments.size() == expected.parameters().size();
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const Role role{.form = Role::Form::kArgument, .text = function, .index = handles + i + 1};
    const ir::InstId value = Read(region, arguments[i], role);
    // Without a type of this argument the list cannot be compared, so nothing else is told.
    if (!value.valid()) {
      return false;
    }
    matches = matches && region.TypeOf(value) == expected.parameters()[i];
    values.Add(value);
  }
  if (!matches) {
    std::vector<std::string> expected_types;
    for (const ir::TypeId type : expected.parameters()) {
      expected_types.push_back(region.TypeName(type));
    }
    std::vector<std::string> found_types;
    for (const uint32_t value : values.items()) {
      found_types.push_back(region.TypeName(region.TypeOf(ir::InstId{value})));
    }
    const uint32_t image = region.module().List(call.arguments)[handles - 1];
    region.Report(Make(Code::kRpl5045, region.MainOf(id))
                      .With("function", function)
                      .With("type", region.TypeName(region.OperandOf(ir::InstId{image}).type))
                      .With("expected", Joined(expected_types))
                      .With("found", Joined(found_types)));
    return false;
  }
  // The component of a gather must be known when the instruction is made.
  if (call.builtin == Builtin::kGather) {
    const ir::Inst& component = region.out().insts[values.items().back()];
    if (component.kind != ir::InstKind::kConst ||
        region.pool()[component.As<ir::ConstInst>().value].a > 3) {
      region.Report(Make(Code::kRpl8109, region.MainOf(arguments.back())));
      return false;
    }
  }
  return true;
}

// The layer of an arrayed image becomes the last component of the coordinate.
ir::InstId ImageCoordinate(RegionBuilder& region, const ir::ImageTraits& traits, bool samples,
                           const ScratchList& values) {
  if (!traits.arrayed) {
    return values.Inst(0);
  }
  // Sampling takes normalised coordinates, and a layer is a number among them; loading takes
  // integers.
  const ir::Scalar scalar = samples ? ir::Scalar::kF32 : ir::Scalar::kU32;
  ir::InstId layer = values.Inst(0);
  if (samples) {
    layer =
        region.Emit(ir::ConvertInst{.type = region.pool().Vector(scalar, 1), .value = layer}.To());
  }
  const uint32_t parts[] = {values.Inst(1).value, layer.value};
  return region.Emit(
      ir::ConstructInst{.type = region.pool().Vector(scalar, 3), .operands = region.EmitList(parts)}
          .To());
}

Operand EmitImageCall(RegionBuilder& region, uint32_t id, const ScratchList& values,
                      ir::TypeId result) {
  const auto call = region.Generic(id).As<ir::NameBuiltinInst>();
  const std::span<const uint32_t> arguments = region.module().List(call.arguments);
  const bool samples = ir::IsSampling(call.builtin);
  const Operand& image = region.OperandOf(ir::InstId{arguments[samples ? 1 : 0]});
  ScratchList operands(region.scratch());
  // The lists share one stack, so the size of the first is taken before the second begins.
  const size_t given = values.size();  // before the operands, which lie behind them
  size_t taken = 0;
  if (samples) {
    const Operand& sampler = region.OperandOf(ir::InstId{arguments[0]});
    region.Touched(
        sampler, ir::SamplesDepth(call.builtin) ? ir::MemberUse::kCompare : ir::MemberUse::kSample);
    operands.Add(PlaceInst(region, sampler));
  }
  region.Touched(image, samples                                ? ir::MemberUse::kSample
                        : call.builtin == Builtin::kImageStore ? ir::MemberUse::kWrite
                                                               : ir::MemberUse::kRead);
  operands.Add(PlaceInst(region, image));
  // The size and the number of levels belong to the image as a whole.
  const bool located = call.builtin != Builtin::kImageSize && call.builtin != Builtin::kImageLevels;
  if (located) {
    const ir::ImageTraits traits = ir::UnpackImage(region.pool()[image.type].extent);
    operands.Add(ImageCoordinate(region, traits, samples, values));
    taken = traits.arrayed ? 2 : 1;
  }
  for (; taken < given; ++taken) {
    operands.Add(values.Inst(taken));
  }
  Builtin builtin = call.builtin;
  // Without derivatives an implicit level is always zero. Saying so explicitly keeps the
  // instruction legal in every stage.
  if (ir::IsImplicitLod(builtin)) {
    region.out().uses_implicit_lod = true;
    if (region.answers().stage() != ir::Stage::kFragment) {
      builtin = WithLod(builtin);
      const ir::TypeId f1 = region.pool().Vector(ir::Scalar::kF32, 1);
      operands.Add(region.EmitConst(region.pool().InternScalar(f1, 0)));
    }
  }
  return region.ResultOf(region.Emit(ir::BuiltinCallInst{
      .type = result, .builtin = builtin, .arguments = region.EmitList(operands)}
                                         .To()));
}

}  // namespace

// Handles first, then the kind of the image, then the arguments behind them: each check needs what
// the one before has established.
Operand SpecialiseImageCall(RegionBuilder& region, uint32_t id) {
  const auto call = region.Generic(id).As<ir::NameBuiltinInst>();
  const std::string_view function = ir::FactsOf(call.builtin).name;
  const std::span<const uint32_t> arguments = region.module().List(call.arguments);
  const bool samples = ir::IsSampling(call.builtin);
  const size_t handles = samples ? 2 : 1;
  if (samples && arguments.size() < 3) {
    region.Report(Make(Code::kRpl5040, region.MainOf(id)).With("function", function));
    return {};
  }
  if (arguments.empty()) {
    region.Report(Make(Code::kRpl5036, region.MainOf(id))
                      .With("function", function)
                      .With("expected", LeastArguments(call.builtin))
                      .With("found", 0));
    return {};
  }
  // Both handles are looked at before anything is refused, so that both mistakes are told.
  const bool sampler_good =
      !samples || CheckHandle(region, arguments[0], 1, ir::TypeKind::kSampler, function);
  const uint32_t image_argument = arguments[handles - 1];
  if (!CheckHandle(region, image_argument, static_cast<uint32_t>(handles), ir::TypeKind::kImage,
                   function) ||
      !sampler_good || !CheckImage(region, call.builtin, image_argument, handles)) {
    return {};
  }
  const ir::TypeId image = region.OperandOf(ir::InstId{image_argument}).type;
  const std::optional<ir::SampleTyping> typing =
      ir::TypeOfSample(region.pool(), call.builtin, image);
  KILN_CHECK(typing.has_value(), "images that do not fit are refused above");
  ScratchList values(region.scratch());
  return ReadImageOperands(region, id, arguments.subspan(handles), typing->written, values)
             ? EmitImageCall(region, id, values, typing->written.result)
             : Operand{};
}

}  // namespace kiln::resolve
