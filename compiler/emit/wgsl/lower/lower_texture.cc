// SPDX-License-Identifier: MIT
// One function of WGSL for each operation and keyword. What no function has was refused before
// (typed/typed_checks), so here every combination is one of WGSL's. See spec/wgsl 3.9.
#include "compiler/emit/wgsl/lower/lower_texture.h"

#include <bit>
#include <string>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/emit/wgsl/lower/lower_place.h"
#include "compiler/ir/typing/image_typing.h"

namespace kiln::wgsl {
namespace {

using ir::ImageOp;
using ir::ImageOperand;

class TextureCall {
 public:
  TextureCall(RegionLowering& region, ir::InstId id, const ir::ImageInst& inst)
      : region_(region),
        id_(id),
        inst_(inst),
        operands_(region.source().List(inst.operands)),
        traits_(TraitsOfImage(region, inst)) {}

  void Make() {
    switch (inst_.op) {
      case ImageOp::kSample:
      case ImageOp::kSampleDref:
      case ImageOp::kGather:
      case ImageOp::kGatherDref:
        return Sample();
      case ImageOp::kFetch:
      case ImageOp::kRead:
        return Texel();
      case ImageOp::kWrite: {
        std::string call = "textureStore(" + Image() + CoordinateText(1) + ", " + Argument(2) + ")";
        region_.Flush();
        return region_.Line(call + ";");
      }
      case ImageOp::kSize:
        return Size();
      case ImageOp::kLevels:
        return Define("textureNumLevels(" + Image() + ")");
      case ImageOp::kSamples:
        return Define("textureNumSamples(" + Image() + ")");
      case ImageOp::kQueryLod:
        break;
    }
    KILN_UNREACHABLE();
  }

 private:
  bool Has(ImageOperand keyword) const { return (inst_.keywords & BitOf(keyword)) != 0; }
  std::string Image() { return HandleOf(region_, ir::InstId{operands_[0]}).text; }

  // Keeps what the text reads, so that it does not wait longer than it may.
  std::string Text(ir::InstId id) {
    const Expr value = region_.Take(id);
    reads_ = reads_ || value.reads;
    depth_ = std::max(depth_, value.depth);
    return ArgumentText(value);
  }
  std::string Argument(size_t i) { return Text(ir::InstId{operands_[i]}); }

  // A call in which neighbours take part stays where they are.
  void Define(std::string text) {
    region_.Define(id_, {.text = std::move(text), .reads = reads_, .depth = depth_ + 1});
  }

  // ", coordinate", and the layer behind it. One that was put together for this call alone gives
  // its parts.
  std::string CoordinateText(size_t operand) {
    const ir::InstId id{operands_[operand]};
    if (!traits_.arrayed) {
      return ", " + Text(id);
    }
    if (region_.IsTakenApart(id)) {
      const std::span<const uint32_t> parts =
          region_.source().List(region_.InstOf(id).As<ir::ConstructInst>().operands);
      ir::InstId layer{parts[1]};
      if (region_.IsTakenApart(layer)) {
        layer = region_.InstOf(layer).As<ir::ConvertInst>().value;
      }
      std::string at = ", " + Text(ir::InstId{parts[0]});
      return at + ", " + Text(layer);
    }
    const Expr whole = region_.Named(region_.Type(region_.InstOf(id).type), region_.Take(id));
    const bool cube = traits_.dim == ir::ImageDim::kCube;
    const bool one = traits_.dim == ir::ImageDim::k1d;
    const std::string layer = whole.text + (cube ? ".w" : one ? ".y" : ".z");
    const bool is_float = region_.TypeOf(id).scalar == ir::Scalar::kF32;
    return fmt::format(", {}{}, {}", whole.text,
                       cube  ? ".xyz"
                       : one ? ".x"
                             : ".xy",
                       is_float ? fmt::format("i32(round({}))", layer) : layer);
  }

  std::optional<ir::InstId> Keyword(ImageOperand keyword) {
    return OperandOf(region_, inst_, keyword);
  }
  std::string Offset() {
    return Has(ImageOperand::kConstOffset) ? ", " + Text(*Keyword(ImageOperand::kConstOffset))
                                           : std::string();
  }

  // Levels of depth textures are integers. One that was an integer is that one.
  std::string Level() {
    const ir::InstId id = *Keyword(ImageOperand::kLod);
    if (!IsDepthTexture(traits_)) {
      return Text(id);
    }
    if (region_.IsTakenApart(id)) {
      return Text(region_.InstOf(id).As<ir::ConvertInst>().value);
    }
    const ir::Inst& inst = region_.InstOf(id);
    if (inst.kind == ir::InstKind::kConst) {
      const float level = std::bit_cast<float>(region_.pool()[inst.As<ir::ConstInst>().value].a);
      return level >= 0 && level < 64 ? fmt::format("{}i", static_cast<int>(level)) : "0i";
    }
    return fmt::format("i32({})", Text(id));
  }

  // The number of a depth texture, or what a colour texture would give.
  std::string Shown(std::string call) {
    return IsDepthTexture(traits_) && !region_.IsShownAsPart(id_)
               ? fmt::format("vec4<f32>({}, 0.0f, 0.0f, 1.0f)", call)
               : call;
  }

  void Sample() {
    const bool compares = inst_.op == ImageOp::kSampleDref || inst_.op == ImageOp::kGatherDref;
    const bool gathers = inst_.op == ImageOp::kGather || inst_.op == ImageOp::kGatherDref;
    std::string function = gathers ? "textureGather" : "textureSample";
    std::string arguments;
    if (inst_.op == ImageOp::kGather && !IsDepthTexture(traits_)) {
      // A constant: the check refuses others.
      const ir::Inst& component = region_.InstOf(ir::InstId{operands_[3]});
      arguments += fmt::format("{}u, ", region_.pool()[component.As<ir::ConstInst>().value].a & 3u);
    }
    arguments += Image() + ", " + HandleOf(region_, ir::InstId{operands_[1]}).text;
    arguments += CoordinateText(2);
    if (compares) {
      function += "Compare";
      arguments += ", " + Argument(3);
      function += Has(ImageOperand::kLod) ? "Level" : "";
    } else if (Has(ImageOperand::kBias)) {
      function += "Bias";
      arguments += ", " + Text(*Keyword(ImageOperand::kBias));
    } else if (Has(ImageOperand::kLod)) {
      function += "Level";
      arguments += ", " + Level();
    } else if (Has(ImageOperand::kGrad)) {
      function += "Grad";
      const size_t x = PlaceOfOperand(inst_, ImageOperand::kGrad);
      arguments += ", " + Argument(x);
      arguments += ", " + Argument(x + 1);
    }
    // Derivatives are taken where the call stands.
    reads_ = reads_ || (!gathers && !Has(ImageOperand::kLod) && !Has(ImageOperand::kGrad));
    const std::string call = function + "(" + arguments + Offset() + ")";
    Define(gathers || compares ? call : Shown(call));
  }

  void Texel() {
    std::string call = "textureLoad(" + Image() + CoordinateText(1);
    if (Has(ImageOperand::kLod)) {
      call += ", " + Text(*Keyword(ImageOperand::kLod));
    } else if (Has(ImageOperand::kSample)) {
      call += ", " + Text(*Keyword(ImageOperand::kSample));
    }
    // What is read from a storage texture somebody may write.
    reads_ = reads_ || traits_.storage;
    Define(Shown(call + ")"));
  }

  void Size() {
    const std::string image = Image();
    const std::string level =
        Has(ImageOperand::kLod) ? ", " + Text(*Keyword(ImageOperand::kLod)) : std::string();
    const std::string size = "textureDimensions(" + image + level + ")";
    const std::string layers = "textureNumLayers(" + image + ")";
    if (!traits_.arrayed) {
      return Define(size);
    }
    if (!region_.IsShownAsPart(id_)) {
      return Define(fmt::format("vec3<u32>({}, {})", size, layers));
    }
    Define(region_.ShownRows(id_) == 1 ? layers : size);
  }

  RegionLowering& region_;
  const ir::InstId id_;
  const ir::ImageInst inst_;
  const std::span<const uint32_t> operands_;
  const ir::ImageTraits traits_;
  bool reads_ = false;
  uint32_t depth_ = 0;
};

}  // namespace

ir::ImageTraits TraitsOfImage(const RegionLowering& region, const ir::ImageInst& inst) {
  const ir::InstId image{region.source().List(inst.operands)[0]};
  return ir::UnpackImage(region.TypeOf(image).extent);
}

bool IsDepthTexture(const ir::ImageTraits& traits) {
  return traits.depth && traits.dim != ir::ImageDim::k3d;
}

// Behind those of the operation, in the order of the bits; gradients are two.
size_t PlaceOfOperand(const ir::ImageInst& inst, ir::ImageOperand keyword) {
  size_t place = 1 + ir::FactsOf(inst.op).operands.size();
  for (uint32_t bit = 0; bit < static_cast<uint32_t>(keyword); ++bit) {
    const auto other = static_cast<ImageOperand>(bit);
    place += (inst.keywords & BitOf(other)) != 0 ? ir::OperandCountOf(other) : 0;
  }
  return place;
}

std::optional<ir::InstId> OperandOf(const RegionLowering& region, const ir::ImageInst& inst,
                                    ir::ImageOperand keyword) {
  if ((inst.keywords & BitOf(keyword)) == 0) {
    return std::nullopt;
  }
  return ir::InstId{region.source().List(inst.operands)[PlaceOfOperand(inst, keyword)]};
}

void LowerTexture(RegionLowering& region, ir::InstId id, const ir::ImageInst& inst) {
  TextureCall(region, id, inst).Make();
}

}  // namespace kiln::wgsl
