// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/lower/typed_parts.h"

#include <optional>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/lower/lower_texture.h"
#include "compiler/emit/wgsl/lower/region_lowering.h"
#include "compiler/ir/operands.h"

namespace kiln::wgsl {
namespace {

using enum ir::InstKind;

// Which part of an image operation all of its users take.
enum class Part : uint8_t { kUnused, kFirst, kTwo, kThird, kWhole };

Part PartOf(const ir::Inst& user) {
  if (user.kind == kExtract) {
    const uint32_t index = user.As<ir::ExtractInst>().index;
    return index == 0 ? Part::kFirst : index == 2 ? Part::kThird : Part::kWhole;
  }
  if (user.kind == kSwizzle &&
      user.As<ir::SwizzleInst>().letters == ir::PackSwizzle(2, {0, 1, 0, 0})) {
    return Part::kTwo;
  }
  return Part::kWhole;
}

class Parts {
 public:
  explicit Parts(RegionLowering& region) : region_(region), source_(region.source()) {}

  void Run() {
    FindParts();
    for (uint32_t i = 0; i < source_.insts.size(); ++i) {
      CheckStop();
      const ir::Inst& inst = source_.insts[i];
      if (region_.typed_region.left_out[i]) {
        continue;
      }
      if (inst.kind == kImage) {
        Image(ir::InstId{i}, inst.As<ir::ImageInst>());
      } else if (inst.kind == kBuiltinCall) {
        Field(inst.As<ir::BuiltinCallInst>());
      } else if (inst.kind == kBinary) {
        Shift(inst.As<ir::BinaryInst>());
      }
    }
  }

 private:
  const ir::Inst& InstOf(ir::InstId id) const { return source_.insts[id.value]; }

  void FindParts() {
    parts_.assign(source_.insts.size(), Part::kUnused);
    const auto lists = [&](ir::ListId list) { return source_.List(list); };
    for (uint32_t i = 0; i < source_.insts.size(); ++i) {
      if (region_.typed_region.left_out[i]) {
        continue;
      }
      ir::ForEachInstOperand(source_.insts[i], lists, [&](uint32_t operand) {
        const Part part = PartOf(source_.insts[i]);
        Part& known = parts_[operand];
        known = known == Part::kUnused || known == part ? part : Part::kWhole;
      });
    }
  }

  void Image(ir::InstId id, const ir::ImageInst& inst) {
    const ir::ImageTraits traits = TraitsOfImage(region_, inst);
    const bool texel = inst.op == ir::ImageOp::kSample || inst.op == ir::ImageOp::kFetch;
    if (texel && IsDepthTexture(traits)) {
      if (parts_[id.value] == Part::kFirst) {
        region_.ShowAs(id, region_.pool().Vector(ir::Scalar::kF32, 1));
      }
      if (const std::optional<ir::InstId> level = OperandOf(region_, inst, ir::ImageOperand::kLod);
          level.has_value() && inst.op == ir::ImageOp::kSample && InstOf(*level).kind == kConvert &&
          region_.IsUsedOnce(*level) &&
          ir::IsIntegerScalar(region_.TypeOf(InstOf(*level).As<ir::ConvertInst>().value).scalar)) {
        region_.SetTakenApart(*level);
      }
    }
    if (inst.op == ir::ImageOp::kSize && traits.arrayed) {
      if (parts_[id.value] == Part::kTwo) {
        region_.ShowAs(id, region_.pool().Vector(ir::Scalar::kU32, 2));
      } else if (parts_[id.value] == Part::kThird) {
        region_.ShowAs(id, region_.pool().Vector(ir::Scalar::kU32, 1));
      }
    }
  }

  // Of the forms that are WGSL's own operator.
  void Shift(const ir::BinaryInst& inst) {
    const bool plain =
        inst.op == ir::BinaryOp::kShiftLeft || inst.op == ir::BinaryOp::kShiftRightArithmetic;
    if (plain && region_.pool()[inst.type].scalar == ir::Scalar::kS32 &&
        InstOf(inst.right).kind == kBitcast && region_.IsUsedOnce(inst.right) &&
        region_.TypeOf(InstOf(inst.right).As<ir::BitcastInst>().value).scalar == ir::Scalar::kU32) {
      region_.SetTakenApart(inst.right);
    }
  }

  // min(x, 32): what it is made of.
  bool IsMinOf(ir::InstId id, ir::InstId& left, ir::InstId& right) const {
    if (InstOf(id).kind != kBuiltinCall ||
        InstOf(id).As<ir::BuiltinCallInst>().builtin != ir::Builtin::kMin) {
      return false;
    }
    const std::span<const uint32_t> operands =
        source_.List(InstOf(id).As<ir::BuiltinCallInst>().arguments);
    left = ir::InstId{operands[0]};
    right = ir::InstId{operands[1]};
    return true;
  }
  bool Is32(ir::InstId id) const {
    return InstOf(id).kind == kConst &&
           region_.pool()[InstOf(id).As<ir::ConstInst>().value].a == 32 &&
           region_.pool()[InstOf(id).As<ir::ConstInst>().value].composite == 0;
  }

  // extractBits(e, min(offset, 32), min(count, 32 - min(offset, 32))), and the same of insertBits.
  void Field(const ir::BuiltinCallInst& inst) {
    if (inst.builtin != ir::Builtin::kBitFieldExtract &&
        inst.builtin != ir::Builtin::kBitFieldInsert) {
      return;
    }
    const std::span<const uint32_t> operands = source_.List(inst.arguments);
    const ir::InstId offset{operands[operands.size() - 2]};
    const ir::InstId count{operands.back()};
    ir::InstId any{}, word{}, left{};
    if (!IsMinOf(offset, any, word) || !Is32(word) || !IsMinOf(count, any, left) ||
        InstOf(left).kind != kBinary) {
      return;
    }
    const auto rest = InstOf(left).As<ir::BinaryInst>();
    if (rest.op == ir::BinaryOp::kSub && Is32(rest.left) && rest.right == offset &&
        region_.uses(offset) == 2 && region_.IsUsedOnce(left) && region_.IsUsedOnce(count)) {
      region_.SetTakenApart(offset);
      region_.SetTakenApart(left);
      region_.SetTakenApart(count);
    }
  }

  RegionLowering& region_;
  const ir::SpecialisedRegion& source_;
  std::vector<Part> parts_;  // by instruction
};

}  // namespace

void PrepareParts(RegionLowering& region) { Parts(region).Run(); }

}  // namespace kiln::wgsl
