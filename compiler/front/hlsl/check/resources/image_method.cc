// SPDX-License-Identifier: MIT
// What a method takes is a row of letters, by which arguments are converted one after another: a
// sampler, a coordinate, a level. What may follow, offset and clamp, is the same for all that
// sample. The arguments of a row are those of the method as written; how many there are says which.
#include "compiler/front/hlsl/check/resources/image_method.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/resources/handle.h"
#include "compiler/front/hlsl/check/resources/texel_method.h"

namespace kiln::hlsl {
namespace {

// S sampler, C comparison sampler, c coordinate with layer, l level or bias or reference, g
// derivative, u coordinate without layer, o offset, m clamp of the level.
std::string_view ArgumentsOf(Method method) {
  switch (method) {
    case Method::kSample:
      return "Scom";
    case Method::kSampleBias:
      return "Sclom";
    case Method::kSampleLevel:
      return "Sclo";
    case Method::kSampleGrad:
      return "Scggom";
    case Method::kSampleCmp:
      return "Cclom";
    case Method::kSampleCmpLevelZero:
      return "Cclo";
    case Method::kGather:
    case Method::kGatherRed:
    case Method::kGatherGreen:
    case Method::kGatherBlue:
    case Method::kGatherAlpha:
      return "Scoooo";
    case Method::kGatherCmp:
    case Method::kGatherCmpRed:
      return "Ccloooo";
    case Method::kCalculateLevelOfDetail:
    case Method::kCalculateLevelOfDetailUnclamped:
      return "Su";
    default:
      return "";
  }
}
// A method that takes a comparison sampler compares.
bool Compares(Method method) { return ArgumentsOf(method).starts_with('C'); }
bool Gathers(Method method) { return method >= Method::kGather && method <= Method::kGatherCmpRed; }

class Sampling {
 public:
  Sampling(const MethodSite& site, Method method)
      : site_(site), context_(site.context()), method_(method) {}

  // How many arguments there may be follows from the letters: up to the first offset all are
  // needed.
  ExprId Make(std::span<const ExprId> arguments) {
    const std::string_view letters = ArgumentsOf(method_);
    const size_t needed = std::min(letters.find('o'), letters.size());
    if (!Fits()) {
      return site_.NoMethod();
    }
    // A gather has one offset or four.
    const size_t offsets = arguments.size() - std::min(needed, arguments.size());
    // One more than the letters is the status of sparse resources, which is not built.
    const bool wrong = Gathers(method_) && (offsets == 2 || offsets == 3);
    if (arguments.size() > letters.size() || wrong) {
      return site_.Refuse("status of sparse resources");
    }
    if (arguments.size() < needed) {
      return site_.NoSuch(arguments);
    }
    std::vector<ExprId> made;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ExprId argument = Argument(letters[i], arguments[i]);
      if (!argument.valid() || context_.Get(argument).kind == ExprKind::kFailed) {
        return argument.valid() ? context_.Failed(site_.at()) : site_.NoSuch(arguments);
      }
      made.push_back(argument);
    }
    if (Compares(method_)) {
      NoteCompared(context_, site_.object());
    }
    return site_.Make(method_, Result(), made);
  }

 private:
  // spec/hlsl 19, column "on".
  bool Fits() const {
    const ObjectFacts& facts = site_.facts();
    const bool flat = facts.dim == ir::ImageDim::k2d || facts.dim == ir::ImageDim::kCube;
    return !facts.writable && !facts.multisampled && facts.dim != ir::ImageDim::kBuffer &&
           (!Compares(method_) || facts.dim != ir::ImageDim::k3d) && (!Gathers(method_) || flat);
  }

  // Samplers must be of the right kind, numbers convert.
  ExprId Argument(char letter, ExprId argument) {
    const Type type = context_.types()[context_.TypeOf(argument)];
    if (letter == 'S' || letter == 'C') {
      const ObjectKind wanted =
          letter == 'S' ? ObjectKind::kSamplerState : ObjectKind::kSamplerComparisonState;
      return type.kind == TypeKind::kObject && type.object == wanted ? argument : ExprId{};
    }
    if (type.kind != TypeKind::kNumeric && type.kind != TypeKind::kEnum) {
      return {};
    }
    switch (letter) {
      case 'c':
        return site_.To(argument, site_.Floats(site_.coordinates()));
      case 'u':
      case 'g':
        return site_.To(argument, site_.Floats(site_.dimensions()));
      case 'o':
        return Offset(argument);
      default:
        return site_.To(argument, site_.Floats(1));
    }
  }

  // A constant from -8 to 7; a gather takes others too.
  // spec/hlsl 19: texel offsets are constants but in gathers; cubes have none.
  ExprId Offset(ExprId argument) {
    if (site_.facts().dim == ir::ImageDim::kCube) {
      return {};
    }
    const ExprId offset = site_.To(argument, site_.Integers(site_.dimensions()));
    return Gathers(method_) ? offset : ConstantOffset(site_, argument, offset);
  }

  // A comparison gives one float, a gather four items, a sample the type of the image.
  TypeId Result() const {
    if (method_ >= Method::kCalculateLevelOfDetail) {
      return context_.types().Scalar(Item::kFloat);
    }
    if (Gathers(method_)) {
      return context_.types().Vector(Compares(method_) ? Item::kFloat : site_.item(), 4);
    }
    return Compares(method_) ? context_.types().Scalar(Item::kFloat) : site_.content();
  }

  const MethodSite& site_;
  CheckContext& context_;
  const Method method_;
};

}  // namespace

ExprId SampleMethod(const MethodSite& site, Method method, std::span<const ExprId> arguments) {
  return Sampling(site, method).Make(arguments);
}

}  // namespace kiln::hlsl
