// SPDX-License-Identifier: MIT
// Textures. A layer is an argument of its own in WGSL and the last component of the coordinate in
// the IR; where the IR has just put it there it is taken from where it was. Of an array of images
// each element is a variable, so an index that a value chooses is a switch over all of them; what
// derivatives choose is taken before the switch. See spec/wgsl 3.9.
#include "compiler/emit/wgsl/lower/lower_image.h"

#include <bit>
#include <functional>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/emit/wgsl/lower/lower_place.h"
#include "compiler/emit/wgsl/lower/rows.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::wgsl {
namespace {

// The text of a call by the name of the texture.
// A call is made once for each element of an array of images if a value chooses among them, so it
// is a function of the texture's name.
using CallText = std::function<std::string(const std::string& texture)>;

struct Coordinate {
  std::string text;   // without layer
  std::string layer;  // ", layer", or nothing
  bool reads = false;
  uint32_t depth = 0;
};

ir::ImageTraits TraitsOf(const RegionLowering& region, ir::TypeId image) {
  return ir::UnpackImage(region.pool()[image].extent);
}

// A texture of depths, whose samples are one number.
bool IsDepthTexture(const ir::ImageTraits& traits) {
  return traits.depth && traits.dim != ir::ImageDim::k3d;
}

std::optional<uint32_t> ConstantBits(const RegionLowering& region, ir::InstId id) {
  const ir::Inst& inst = region.InstOf(id);
  if (inst.kind != ir::InstKind::kConst) {
    return std::nullopt;
  }
  const ir::Const& constant = region.pool()[inst.As<ir::ConstInst>().value];
  return constant.composite == 0 ? std::optional(constant.a) : std::nullopt;
}

// Coordinate of a sample, or texel, of an image with these traits.
Coordinate CoordinateOf(RegionLowering& region, ir::InstId id, const ir::ImageTraits& traits) {
  if (!traits.arrayed) {
    const Expr value = region.Take(id);
    return {ArgumentText(value), "", value.reads, value.depth};
  }
  // The coordinate was put together for this call alone: its parts stand as they are, and a layer
  // that was an integer before it became a float is that integer again.
  if (region.IsTakenApart(id)) {
    const std::span<const uint32_t> parts =
        region.source().List(region.InstOf(id).As<ir::ConstructInst>().operands);
    ir::InstId layer_id{parts[1]};
    if (region.IsTakenApart(layer_id)) {
      layer_id = region.InstOf(layer_id).As<ir::ConvertInst>().value;
    }
    const Expr texel = region.Take(ir::InstId{parts[0]});
    const Expr layer = region.Take(layer_id);
    return {ArgumentText(texel), ", " + ArgumentText(layer), texel.reads || layer.reads,
            std::max(texel.depth, layer.depth)};
  }
  // Otherwise the layer is the last component; as a float it is rounded to the nearest integer, as
  // sampling does.
  const Expr whole = region.Named(region.Type(region.InstOf(id).type), region.Take(id));
  const bool is_float = region.TypeOf(id).scalar == ir::Scalar::kF32;
  return {whole.text + ".xy", is_float ? fmt::format(", i32(round({}.z))", whole.text)
                                       : fmt::format(", {}.z", whole.text)};
}

// Defines `id` as what the call gives, or writes it as a statement if it gives nothing.
void Emit(RegionLowering& region, ir::InstId id, const HandleText& image, const Coordinate& at,
          const CallText& call) {
  const ir::TypeId type = region.InstOf(id).type;
  const bool is_void = region.pool()[type].kind == ir::TypeKind::kVoid;
  if (!image.dynamic) {
    std::string text = call(image.text);
    if (is_void) {
      region.Flush();
      region.Line(text + ";");
    } else {
      region.Define(id, {.text = std::move(text), .reads = at.reads, .depth = at.depth + 1});
    }
    return;
  }
  // WGSL cannot index textures by values, so the call stands in each case of a switch. The last
  // element is the default: a switch must have one, and every index in range has its case.
  const std::string index = region.Take(image.index).text;
  const std::string result = region.NewName();
  region.Line(fmt::format("var {} : {};", result, region.Type(type)));
  region.Open(fmt::format("switch ({}) {{", index));
  for (uint32_t i = 0; i < image.extent; ++i) {
    const std::string label = i + 1 < image.extent ? fmt::format("case {}u", i) : "default";
    region.Line(fmt::format("{}: {{ {} = {}; }}", label, result, call(ElementName(image.text, i))));
  }
  region.Close();
  region.SetText(id, result);
}

// A number becomes what a colour image would give.
std::string AsTexel(const ir::ImageTraits& traits, std::string call) {
  return IsDepthTexture(traits) ? fmt::format("vec4<f32>({}, 0.0f, 0.0f, 1.0f)", call) : call;
}

// Levels of depth textures are integers.
std::string LevelText(RegionLowering& region, ir::InstId id, const ir::ImageTraits& traits) {
  Expr level = region.Take(id);
  if (!IsDepthTexture(traits)) {
    return ArgumentText(level);
  }
  if (ConstantBits(region, id) == 0u) {
    return "0i";
  }
  if (level.constant) {
    level = region.Hidden(region.InstOf(id).type, level);
  }
  return fmt::format("i32({})", ArgumentText(level));
}

// The finding is reported and the instruction gets a value all the same, so that its users can be
// lowered and further findings are made.
void Refuse(RegionLowering& region, ir::InstId id, std::string_view op, std::string_view operand) {
  region.Report(Code::kWgsl8303, id, {{"op", op}, {"operand", operand}});
  region.SetText(id, region.Type(region.InstOf(id).type) + "()");
}

// One sampling instruction in parts; what stands behind the coordinate is `rest`.
struct Sample {
  ir::InstId id{};
  ir::Builtin builtin{};
  HandleText image{};
  ir::ImageTraits traits{};
  std::string sampler;
  Coordinate at{};
  std::span<const uint32_t> rest{};
};

// Sampling with an implicit level takes derivatives, for which neighbours must take the same path.
// In a switch they would not.
void LowerImplicit(RegionLowering& region, Sample& sample, const std::string& reference) {
  const bool compares = !reference.empty();
  const ir::TypeId coordinate =
      region.pool().Vector(ir::Scalar::kF32, sample.traits.dim == ir::ImageDim::k2d ? 2 : 3);
  if (!sample.image.dynamic) {
    sample.at.reads = true;  // stays where its neighbours are
    return Emit(region, sample.id, sample.image, sample.at, [&](const std::string& texture) {
      const std::string call =
          fmt::format("{}({}, {}, {}{}{})", RowOf(sample.builtin).text, texture, sample.sampler,
                      sample.at.text, sample.at.layer, reference);
      return compares ? call : AsTexel(sample.traits, call);
    });
  }
  // WGSL compares at level zero inside of branches, and at no other level; a warning says so
  // (spec/wgsl 3.9).
  if (compares) {
    region.Report(Code::kWgsl8304, sample.id, {{"name", sample.image.text}});
    return Emit(region, sample.id, sample.image, sample.at, [&](const std::string& texture) {
      return fmt::format("textureSampleCompareLevel({}, {}, {}{}{})", texture, sample.sampler,
                         sample.at.text, sample.at.layer, reference);
    });
  }
  // Depth textures cannot be sampled with gradients, so there is no way out.
  if (IsDepthTexture(sample.traits)) {
    return Refuse(region, sample.id, "sample", "an index that a value chooses among depth images");
  }
  // The derivatives are taken before the switch, where all invocations still are, and handed to
  // each case.
  const Expr at = region.Named(region.Type(coordinate), {.text = sample.at.text});
  const Expr ddx = region.Named(region.Type(coordinate), {.text = "dpdx(" + at.text + ")"});
  const Expr ddy = region.Named(region.Type(coordinate), {.text = "dpdy(" + at.text + ")"});
  Emit(region, sample.id, sample.image, sample.at, [&](const std::string& texture) {
    return fmt::format("textureSampleGrad({}, {}, {}{}, {}, {})", texture, sample.sampler, at.text,
                       sample.at.layer, ddx.text, ddy.text);
  });
}

void LowerExplicit(RegionLowering& region, const Sample& sample, const std::string& reference) {
  std::string rest = reference;
  switch (sample.builtin) {
    case ir::Builtin::kSampleLod:
      rest = ", " + LevelText(region, ir::InstId{sample.rest[0]}, sample.traits);
      break;
    // WGSL has comparison at a level only for level zero.
    case ir::Builtin::kSampleDrefLod:
      if (ConstantBits(region, ir::InstId{sample.rest[1]}) != 0u) {
        return Refuse(region, sample.id, "sample_dref_lod", "a level other than 0.0");
      }
      break;
    default:
      if (IsDepthTexture(sample.traits)) {
        return Refuse(region, sample.id, "sample_grad", "a depth image");
      }
      rest = ", " + ArgumentText(region.Take(ir::InstId{sample.rest[0]})) + ", " +
             ArgumentText(region.Take(ir::InstId{sample.rest[1]}));
  }
  const bool texel = reference.empty();
  Emit(region, sample.id, sample.image, sample.at, [&](const std::string& texture) {
    const std::string call = fmt::format("{}({}, {}, {}{}{})", RowOf(sample.builtin).text, texture,
                                         sample.sampler, sample.at.text, sample.at.layer, rest);
    return texel ? AsTexel(sample.traits, call) : call;
  });
}

void LowerGather(RegionLowering& region, const Sample& sample, const std::string& reference) {
  if (!reference.empty()) {
    return Emit(region, sample.id, sample.image, sample.at, [&](const std::string& texture) {
      return fmt::format("textureGatherCompare({}, {}, {}{}{})", texture, sample.sampler,
                         sample.at.text, sample.at.layer, reference);
    });
  }
  const std::optional<uint32_t> component = ConstantBits(region, ir::InstId{sample.rest[0]});
  KILN_CHECK(component.has_value(), "specialising refuses other components");
  const bool depth = IsDepthTexture(sample.traits);
  if (depth && *component != 0) {
    // What a depth image has besides depths: nothing, and one.
    region.SetText(sample.id, *component == 3 ? "vec4<f32>(1.0f)" : "vec4<f32>(0.0f)");
    return;
  }
  Emit(region, sample.id, sample.image, sample.at, [&](const std::string& texture) {
    return fmt::format("textureGather({}{}, {}, {}{})",
                       depth ? "" : fmt::format("{}u, ", *component), texture, sample.sampler,
                       sample.at.text, sample.at.layer);
  });
}

// "textureDimensions(t)", with the layers of an arrayed one behind it.
std::string SizeText(const ir::ImageTraits& traits, const std::string& texture,
                     const std::string& level) {
  const std::string size = fmt::format("textureDimensions({}{})", texture, level);
  return traits.arrayed ? fmt::format("vec3<u32>({}, textureNumLayers({}))", size, texture) : size;
}

}  // namespace

void LowerSample(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> operands = region.source().List(inst.arguments);
  Sample sample{.id = id, .builtin = inst.builtin};
  sample.sampler = HandleOf(region, ir::InstId{operands[0]}).text;
  sample.image = HandleOf(region, ir::InstId{operands[1]});
  sample.traits = TraitsOf(region, sample.image.type);
  sample.at = CoordinateOf(region, ir::InstId{operands[2]}, sample.traits);
  sample.rest = operands.subspan(3);
  std::string reference;
  if (ir::SamplesDepth(inst.builtin)) {
    const Expr value = region.Take(ir::InstId{sample.rest[0]});
    reference = ", " + ArgumentText(value);
    sample.at.reads = sample.at.reads || value.reads;
  }
  // Arguments behind the coordinate are part of the text, too.
  for (const uint32_t operand : sample.rest) {
    sample.at.reads = sample.at.reads || region.Reads(ir::InstId{operand});
  }
  if (ir::IsImplicitLod(inst.builtin)) {
    LowerImplicit(region, sample, reference);
  } else if (inst.builtin == ir::Builtin::kGather || inst.builtin == ir::Builtin::kGatherDref) {
    LowerGather(region, sample, reference);
  } else {
    LowerExplicit(region, sample, reference);
  }
}

void LowerImage(RegionLowering& region, ir::InstId id, const ir::BuiltinCallInst& inst) {
  const std::span<const uint32_t> operands = region.source().List(inst.arguments);
  const HandleText image = HandleOf(region, ir::InstId{operands[0]});
  const ir::ImageTraits traits = TraitsOf(region, image.type);
  const auto argument = [&](size_t i) {
    const Expr value = region.Take(ir::InstId{operands[i]});
    return std::pair(", " + ArgumentText(value), value.reads);
  };
  Coordinate at;
  if (inst.builtin == ir::Builtin::kImageLevels) {
    return Emit(region, id, image, at, [&](const std::string& texture) {
      return fmt::format("textureNumLevels({})", texture);
    });
  }
  if (inst.builtin == ir::Builtin::kImageSize) {
    const auto [level, reads] = operands.size() > 1 ? argument(1) : std::pair(std::string(), false);
    at.reads = reads;
    return Emit(region, id, image, at, [&, text = level](const std::string& texture) {
      return SizeText(traits, texture, text);
    });
  }
  at = CoordinateOf(region, ir::InstId{operands[1]}, traits);
  const auto [last, reads] = operands.size() > 2 ? argument(2) : std::pair(std::string(), false);
  // Storage images may be written, so what is loaded from them must not wait.
  at.reads = at.reads || reads || traits.storage;
  Emit(region, id, image, at, [&, text = last](const std::string& texture) {
    const std::string call =
        fmt::format("{}({}, {}{}{})", RowOf(inst.builtin).text, texture, at.text, at.layer, text);
    return inst.builtin == ir::Builtin::kFetch ? AsTexel(traits, call) : call;
  });
}

}  // namespace kiln::wgsl
