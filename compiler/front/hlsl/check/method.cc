// SPDX-License-Identifier: MIT
// What a method takes is a row of letters, by which arguments are converted one after another: a
// sampler, a coordinate, a level. What may follow, offset and clamp, is the same for all that
// sample. The arguments of a row are those of the method as written; which are there is in `c`.
#include "compiler/front/hlsl/check/method.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/front/hlsl/check/access.h"
#include "compiler/front/hlsl/check/build.h"
#include "compiler/front/hlsl/check/call.h"
#include "compiler/front/hlsl/check/expression.h"
#include "compiler/front/hlsl/sema/method.h"
#include "compiler/front/hlsl/sema/object.h"

namespace kiln::hlsl {
namespace {

// S sampler, C comparison sampler, c coordinate with layer, l level or bias or reference, g
// derivative, o offset, m clamp of the level.
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
      return "Sco";
    case Method::kGatherCmp:
    case Method::kGatherCmpRed:
      return "Cclo";
    default:
      return "";
  }
}
bool Compares(Method method) { return ArgumentsOf(method).starts_with('C'); }

uint32_t DimensionsOf(ir::ImageDim dim) {
  return dim == ir::ImageDim::k1d || dim == ir::ImageDim::kBuffer ? 1
         : dim == ir::ImageDim::k2d                               ? 2
                                                                  : 3;
}

class MethodCall {
 public:
  MethodCall(CheckContext& context, ExprId object, uint32_t name, TokenRange at)
      : context_(context),
        object_(object),
        name_(name),
        at_(at),
        type_(context.types()[context.TypeOf(object)]),
        facts_(FactsOf(type_.object)) {}

  ExprId Image(Method method, std::span<const ExprId> arguments) {
    if (method == Method::kLoad) {
      return Load(arguments);
    }
    const std::string_view letters = ArgumentsOf(method);
    const size_t needed = letters.find('o');
    const bool flat = facts_.dim != ir::ImageDim::k3d;
    const bool gathers = method >= Method::kGather && method <= Method::kGatherCmpRed;
    const bool fits =
        !facts_.writable && !facts_.multisampled && facts_.dim != ir::ImageDim::kBuffer &&
        (!Compares(method) || flat) &&
        (!gathers || facts_.dim == ir::ImageDim::k2d || facts_.dim == ir::ImageDim::kCube);
    if (!fits) {
      return NoMethod();
    }
    if (arguments.size() > letters.size()) {
      context_.Refuse(at_, context_.Text(name_), "status of sparse resources");
      return context_.Failed(at_);
    }
    if (arguments.size() < needed) {
      return NoSuch(arguments);
    }
    std::vector<ExprId> made;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ExprId argument = Argument(letters[i], arguments[i]);
      if (!argument.valid() || context_.Get(argument).kind == ExprKind::kFailed) {
        return argument.valid() ? context_.Failed(at_) : NoSuch(arguments);
      }
      made.push_back(argument);
    }
    if (Compares(method)) {
      NoteCompared();
    }
    return Make(method, ResultOf(method), made);
  }

  // `object [texel]`
  ExprId Texel(ExprId index) {
    const ExprId texel = To(index, Integers(Coordinates()));
    const ExprId both[] = {object_, texel};
    return Combine(context_,
                   {.kind = ExprKind::kMethod,
                    .flags = facts_.writable ? Expr::kPlace : uint8_t{0},
                    .op = static_cast<uint8_t>(Method::kTexel),
                    .type = Content(),
                    .a = object_.value,
                    .b = context_.AddList(std::span(&texel, 1)).value,
                    .at = at_},
                   both, Knowable::kNo);
  }

  ExprId Element(ExprId index) {
    const ExprId number = To(index, context_.types().Scalar(Item::kUint));
    const ExprId both[] = {object_, number};
    return Combine(context_,
                   {.kind = ExprKind::kIndex,
                    .flags = static_cast<uint8_t>(facts_.writable ? Expr::kPlace
                                                                  : Expr::kPlace | Expr::kConst),
                    .type = Content(),
                    .a = object_.value,
                    .b = number.value,
                    .at = at_},
                   both, Knowable::kNo);
  }

  ExprId NoMethod() {
    context_.Say(context_.At(Code::kHlsl4007, name_)
                     .With("type", context_.TypeText(object_))
                     .With("name", context_.Text(name_)));
    return context_.Failed(at_);
  }
  ExprId NoSuch(std::span<const ExprId> arguments) {
    context_.Say(context_.At(Code::kHlsl2021, name_)
                     .With("name", context_.Text(name_))
                     .With("types", TypesText(context_, arguments)));
    return context_.Failed(at_);
  }

 private:
  TypeId Content() const { return TypeId{type_.element}; }
  uint32_t Coordinates() const { return DimensionsOf(facts_.dim) + (facts_.arrayed ? 1 : 0); }
  TypeId Floats(uint32_t count) { return context_.types().Vector(Item::kFloat, count); }
  TypeId Integers(uint32_t count) { return context_.types().Vector(Item::kInt, count); }
  ExprId To(ExprId id, TypeId type) {
    return ConvertTo(context_, id, type, ConversionUse::kImplicit, context_.Get(id).at);
  }

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
        return To(argument, Floats(Coordinates()));
      case 'g':
        return To(argument, Floats(DimensionsOf(facts_.dim)));
      case 'o':
        return Offset(argument);
      default:
        return To(argument, Floats(1));
    }
  }

  // A constant from -8 to 7; a gather takes others too.
  ExprId Offset(ExprId argument) {
    if (facts_.dim == ir::ImageDim::kCube) {
      return {};
    }
    const ExprId offset = To(argument, Integers(DimensionsOf(facts_.dim)));
    const Expr& expr = context_.Get(offset);
    bool good = expr.kind == ExprKind::kFailed || expr.kind == ExprKind::kConstant;
    if (expr.kind == ExprKind::kConstant) {
      for (const Scalar scalar : context_.unit.ScalarsOf(expr)) {
        good = good && Integer(scalar) >= -8 && Integer(scalar) <= 7;
      }
    }
    if (!good) {
      const TokenRange at = context_.Get(argument).at;
      context_.Say(context_.At(Code::kHlsl4005, at).With("text", context_.Text(at)));
      return context_.Failed(at);
    }
    return offset;
  }

  ExprId Load(std::span<const ExprId> arguments) {
    const bool levelled =
        !facts_.writable && !facts_.multisampled && facts_.dim != ir::ImageDim::kBuffer;
    const size_t needed = facts_.multisampled ? 2 : 1;
    if (facts_.dim == ir::ImageDim::kCube) {
      return NoMethod();
    }
    if (arguments.size() > needed) {
      context_.Refuse(at_, context_.Text(name_), "loads with an offset or status");
      return context_.Failed(at_);
    }
    if (arguments.size() < needed) {
      return NoSuch(arguments);
    }
    std::vector<ExprId> made{To(arguments[0], Integers(Coordinates() + (levelled ? 1 : 0)))};
    if (facts_.multisampled) {
      made.push_back(To(arguments[1], context_.types().Scalar(Item::kInt)));
    }
    return Make(Method::kLoad, Content(), made);
  }

  TypeId ResultOf(Method method) {
    if (method == Method::kSampleCmp || method == Method::kSampleCmpLevelZero) {
      return context_.types().Scalar(Item::kFloat);
    }
    const Item item = context_.types()[Content()].item;
    const bool gathers = method >= Method::kGather && method <= Method::kGatherCmpRed;
    return gathers ? context_.types().Vector(Compares(method) ? Item::kFloat : item, 4) : Content();
  }

  void NoteCompared() {
    const Expr& object = context_.Get(object_);
    if (object.kind == ExprKind::kGlobal) {
      context_.unit[GlobalId{object.a}].compared = true;
    }
  }

  ExprId Make(Method method, TypeId type, std::span<const ExprId> arguments) {
    return Combine(context_,
                   {.kind = ExprKind::kMethod,
                    .op = static_cast<uint8_t>(method),
                    .type = type,
                    .a = object_.value,
                    .b = context_.AddList(arguments).value,
                    .at = at_},
                   arguments, Knowable::kNo);
  }

  CheckContext& context_;
  const ExprId object_;
  const uint32_t name_;
  const TokenRange at_;
  const Type type_;
  const ObjectFacts& facts_;
};

// Which shape of methods.def an object has.
uint32_t ShapeBit(const ObjectFacts& facts) {
  switch (facts.shape) {
    case ObjectShape::kImage:
      return facts.dim == ir::ImageDim::kBuffer ? 4 : facts.writable ? 2 : 1;
    case ObjectShape::kStructured:
      return 8;
    case ObjectShape::kBytes:
      return 16;
    case ObjectShape::kSampler:
    case ObjectShape::kBlock:
    case ObjectShape::kOther:
      break;
  }
  return 0;
}

}  // namespace

ExprId MakeObjectIndex(CheckContext& context, ExprId object, ExprId index, TokenRange at) {
  if (context.Get(object).kind == ExprKind::kFailed ||
      context.Get(index).kind == ExprKind::kFailed) {
    return context.Failed(at);
  }
  const ObjectFacts& facts = FactsOf(context.types()[context.TypeOf(object)].object);
  MethodCall call(context, object, at.begin, at);
  if (facts.shape == ObjectShape::kStructured) {
    return call.Element(index);
  }
  if (facts.shape == ObjectShape::kImage && !facts.multisampled) {
    return call.Texel(index);
  }
  context.Say(context.At(Code::kHlsl2034, context.Get(object).at)
                  .With("text", context.Text(context.Get(object).at))
                  .With("type", context.TypeText(object)));
  return context.Failed(at);
}

ExprId MakeMethod(CheckContext& context, ExprId object, uint32_t name,
                  std::span<const ExprId> arguments, TokenRange at) {
  const Expr base = context.Get(object);
  if (base.kind == ExprKind::kFailed || context.types().IsFailed(base.type)) {
    return context.Failed(at);
  }
  for (const ExprId argument : arguments) {
    if (context.Get(argument).kind == ExprKind::kFailed) {
      return context.Failed(at);
    }
  }
  const std::string_view text = context.Text(name);
  if (context.types()[base.type].kind != TypeKind::kObject) {
    context.Say(context.At(Code::kHlsl4007, name)
                    .With("type", context.types().Text(base.type))
                    .With("name", text));
    return context.Failed(at);
  }
  MethodCall call(context, object, name, at);
  const ObjectFacts& facts = FactsOf(context.types()[base.type].object);
  const std::optional<Method> method = FindMethod(text);
  if (text == "GatherCmpGreen" || text == "GatherCmpBlue" || text == "GatherCmpAlpha") {
    context.Say(context.At(Code::kHlsl4006, name).With("name", text));
    return context.Failed(at);
  }
  if (!method || (FactsOf(*method).shapes & ShapeBit(facts)) == 0) {
    return call.NoMethod();
  }
  if (*method == Method::kGetDimensions || facts.shape == ObjectShape::kBytes) {
    context.Refuse({name, name + 1}, text, "methods of T1 that are not built yet");
    return context.Failed(at);
  }
  if (facts.shape == ObjectShape::kStructured) {
    return arguments.size() == 1 ? call.Element(arguments[0]) : call.NoSuch(arguments);
  }
  return call.Image(*method, arguments);
}

}  // namespace kiln::hlsl
