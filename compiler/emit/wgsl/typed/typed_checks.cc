// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/typed/typed_checks.h"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/lower/rows.h"
#include "compiler/emit/wgsl/names.h"
#include "compiler/emit/wgsl/typed/builtin_values.h"
#include "compiler/emit/wgsl/typed/legal_names.h"
#include "compiler/ir/builtins.h"
#include "compiler/ir/enum_names.h"
#include "compiler/ir/operands.h"
#include "compiler/ir/typing/typing.h"

namespace kiln::wgsl {
namespace {

using enum ir::InstKind;

// Formats of storage textures that WGSL has.
bool HasFormat(ir::ImageFormat format) {
  switch (format) {
    case ir::ImageFormat::kRgba32Float:
    case ir::ImageFormat::kRgba16Float:
    case ir::ImageFormat::kR32Float:
    case ir::ImageFormat::kRgba8Unorm:
    case ir::ImageFormat::kRgba8Snorm:
    case ir::ImageFormat::kRgba32Sint:
    case ir::ImageFormat::kRgba16Sint:
    case ir::ImageFormat::kRgba8Sint:
    case ir::ImageFormat::kR32Sint:
    case ir::ImageFormat::kRgba32Uint:
    case ir::ImageFormat::kRgba16Uint:
    case ir::ImageFormat::kRgba8Uint:
    case ir::ImageFormat::kR32Uint:
    case ir::ImageFormat::kRg32Float:
    case ir::ImageFormat::kRg32Sint:
    case ir::ImageFormat::kRg32Uint:
      return true;
    default:
      return false;
  }
}

bool HasScalar(ir::Scalar scalar) {
  return scalar == ir::Scalar::kF32 || scalar == ir::Scalar::kU32 || scalar == ir::Scalar::kS32 ||
         scalar == ir::Scalar::kBool || scalar == ir::Scalar::kF16;
}

bool HasImage(const ir::Type& type) {
  const ir::ImageTraits traits = ir::UnpackImage(type.extent);
  const bool flat = traits.dim == ir::ImageDim::k2d;
  if (traits.dim == ir::ImageDim::kBuffer || traits.dim == ir::ImageDim::kSubpass ||
      !HasScalar(type.scalar) || type.scalar == ir::Scalar::kF16 ||
      (traits.dim == ir::ImageDim::k1d && (traits.arrayed || traits.depth)) ||
      (traits.multisampled && (!flat || traits.arrayed))) {
    return false;
  }
  return !traits.storage || (HasFormat(traits.format) && traits.dim != ir::ImageDim::kCube);
}

constexpr size_t kMostFindings = 64;

class TypedChecks {
 public:
  explicit TypedChecks(const ir::SpecialisedProgram& variant)
      : variant_(variant), pool_(*variant.pool) {}

  std::vector<Diagnostic> Run() {
    for (const ir::EntryRef& entry : variant_.entries) {
      Interface(entry);
      for (const ir::FunctionRef* function : entry.functions) {
        if (done_.insert(function->number).second) {
          Function(*function);
        }
      }
    }
    // What no function mentions is in no module.
    for (const ir::SpecialisedDecl* decl : variant_.interface) {
      if (mentioned_.contains(decl->decl.value)) {
        Declaration(*decl);
      }
    }
    return std::move(found_);
  }

 private:
  void Refuse(const Location& where, std::string what) {
    if (found_.size() == kMostFindings) {
      return;  // enough to know what to change
    }
    // The same thing is said once at one place.
    for (const Diagnostic& known : found_) {
      if (known.primary.module == where.module && known.primary.span_number == where.span_number) {
        return;
      }
    }
    found_.push_back(Make(Code::kWgsl8202, where).With("op", std::move(what)));
  }
  static Location Where(const ir::Origin& origin) {
    return {.module = origin.module, .span_number = origin.span.value};
  }
  std::string_view Text(ir::StringId id) const { return pool_.Text(id); }

  // Empty: WGSL has the type. Asked for once for each type; as deep as types are nested.
  std::string TypeFault(ir::TypeId id) {
    CheckStop();
    const ir::Type type = pool_[id];
    switch (type.kind) {
      case ir::TypeKind::kVoid:
      case ir::TypeKind::kSampler:
        return {};
      case ir::TypeKind::kVector:
        return HasScalar(type.scalar) ? "" : "a scalar of 8, 16 or 64 bits";
      case ir::TypeKind::kMatrix:
        return type.scalar == ir::Scalar::kF32 || type.scalar == ir::Scalar::kF16
                   ? ""
                   : "a matrix of other scalars than f32 and f16";
      case ir::TypeKind::kArray:
      case ir::TypeKind::kRuntimeArray: {
        const ir::TypeKind item = pool_[ir::TypeId{type.element}].kind;
        return item == ir::TypeKind::kImage || item == ir::TypeKind::kSampler
                   ? "an array of textures or samplers"
                   : TypeFault(ir::TypeId{type.element});
      }
      case ir::TypeKind::kStruct:
        return StructFault(id);
      case ir::TypeKind::kImage:
        return HasImage(type) ? "" : "a texture of this kind";
      case ir::TypeKind::kNamed:
      case ir::TypeKind::kDeferred:
      case ir::TypeKind::kDeclared:
      case ir::TypeKind::kSampledImage:
      case ir::TypeKind::kAccel:
      case ir::TypeKind::kRayQuery:
        break;
    }
    return "a type of this kind";
  }
  std::string StructFault(ir::TypeId id) {
    if (good_.contains(id.value)) {
      return {};
    }
    NameSet names;
    for (const ir::ShapeMember& member : pool_.Members(id)) {
      std::string fault = TypeFault(member.type);
      const std::string name = LegalMember(Text(member.name));
      if (fault.empty() && names.Has(name)) {
        fault = fmt::format("a struct with two members '{}'", name);
      }
      if (!fault.empty()) {
        return fault;
      }
      names.Add(name);
    }
    if (pool_.Members(id).empty()) {
      return "a struct without members";
    }
    good_.insert(id.value);
    return {};
  }

  // --- entry points
  void Interface(const ir::EntryRef& entry) {
    const Location at = Where(entry.functions[0]->signature->origin);
    bool position = false;
    for (const ir::InterfaceRow& row : entry.io) {
      const bool builtin = row.Find(ir::AttributeKey::kBuiltin) != nullptr;
      const BuiltinValue* value = BuiltinValueOf(pool_, row);
      const ir::Type type = pool_[ValueTypeOf(pool_, row)];
      position = position || (value != nullptr && value->name == "Position");
      const bool items = pool_[row.type].kind == ir::TypeKind::kArray &&
                         (value == nullptr || pool_[row.type].extent != 1);
      if (builtin && value == nullptr) {
        Refuse(Where(row.origin),
               fmt::format("built-in value '{}'",
                           Text(ir::StringId{row.Find(ir::AttributeKey::kBuiltin)->a})));
      } else if (items || type.kind != ir::TypeKind::kVector || !HasScalar(type.scalar)) {
        Refuse(Where(row.origin), fmt::format("input or output '{}' of its type", Text(row.name)));
      } else if (value != nullptr && row.direction == ir::Direction::kOut &&
                 (type.rows != value->rows || type.scalar != value->scalar)) {
        Refuse(Where(row.origin), fmt::format("output '{}' of its type", Text(row.name)));
      }
    }
    if (entry.stage == ir::Stage::kVertex && !position) {
      Refuse(at, "a vertex entry point without a position");
    }
  }

  // --- functions
  void Function(const ir::FunctionRef& function) {
    const Location at = Where(function.signature->origin);
    for (const ir::SpecialisedMember& parameter : function.signature->members) {
      if (const std::string fault = TypeFault(parameter.type); !fault.empty()) {
        Refuse(Where(parameter.origin), fault);
      }
    }
    for (const ir::RegionRef& ref : function.regions) {
      Region(*ref.specialised, function.regions.size() > 1, at);
    }
  }

  void Region(const ir::SpecialisedRegion& region, bool one_of_many, const Location& at) {
    for (const ir::SpecialisedLocal& local : region.locals) {
      const std::string_view name = ir::IsExit(local.kind) ? "" : Text(local.name);
      const std::string fault = ir::IsExit(local.kind) ? "" : TypeFault(local.type);
      if (!fault.empty()) {
        Refuse(at, fault);
      } else if (pool_[local.type].kind == ir::TypeKind::kStruct && IsInbuilt(local.type)) {
        Refuse(at, fmt::format("variable '{}' of a type without a name", name));
      } else if (one_of_many && name.starts_with('_')) {
        Refuse(at, fmt::format("the name '{}' beside parts that options cut out", name));
      }
    }
    for (const ir::Mention& mention : region.mentions) {
      mentioned_.insert(mention.decl.value);
    }
    for (uint32_t i = 0; i < region.insts.size(); ++i) {
      CheckStop();
      const std::string fault = Instruction(region, region.insts[i]);
      if (!fault.empty()) {
        const ir::SpanId span = i < region.spans.size() ? region.spans[i] : ir::SpanId{};
        Refuse({.module = region.module, .span_number = span.value}, fault);
      }
    }
  }

  bool IsInbuilt(ir::TypeId type) const { return Text(pool_.ShapeOf(type).name).starts_with("__"); }

  // Empty: WGSL has it.
  std::string Instruction(const ir::SpecialisedRegion& region, const ir::Inst& inst) {
    if (ir::FactsOf(inst.kind).result != ir::ResultSchema::kVoid) {
      const bool block = inst.kind == kGlobalRef || inst.kind == kIo;
      if (std::string fault = block ? "" : TypeFault(inst.type); !fault.empty()) {
        return fault;
      }
    }
    switch (inst.kind) {
      case kStageRef:
        return "a stage variable";
      case kTexel:
        return "an atomic operation on a texel";
      case kConst:
        return ConstantFault(inst.As<ir::ConstInst>().value);
      case kUnary: {
        const auto unary = inst.As<ir::UnaryInst>();
        const ir::Type& type = pool_[region.insts[unary.operand.value].type];
        return unary.op == ir::UnaryOp::kPlus || type.kind == ir::TypeKind::kMatrix ||
                       !TextOf(unary.op, type.scalar).empty()
                   ? ""
                   : "this operator of its type";
      }
      case kBinary: {
        const auto binary = inst.As<ir::BinaryInst>();
        const ir::Scalar scalar = pool_[region.insts[binary.left.value].type].scalar;
        return FormOf(RowOf(binary.op), scalar) == BinaryForm::kNone ? "this operator of its type"
                                                                     : "";
      }
      case kBuiltinCall:
        return BuiltinFault(region, inst.As<ir::BuiltinCallInst>());
      case kImage:
        return ImageFault(region, inst.As<ir::ImageInst>());
      case kAtomic:
        return region.insts[region.List(inst.As<ir::AtomicInst>().operands)[0]].kind == kTexel ||
                       pool_[inst.type].scalar == ir::Scalar::kF32
                   ? "an atomic operation of its type"
                   : "";
      case kBarrier:
        return ir::UnpackBarrier(inst.As<ir::BarrierInst>().mode).execution ==
                       ir::MemoryScope::kWorkgroup
                   ? ""
                   : "a barrier that does not wait for the workgroup";
      case kSwitch:
        return SwitchFault(region, inst.As<ir::SwitchInst>());
      default:
        return {};
    }
  }

  std::string ConstantFault(ir::ConstId constant) { return TypeFault(pool_[constant].type); }

  std::string BuiltinFault(const ir::SpecialisedRegion& region, const ir::BuiltinCallInst& call) {
    const BuiltinForm form = RowOf(call.builtin).form;
    const bool parts = call.builtin == ir::Builtin::kFrexp || call.builtin == ir::Builtin::kModf;
    if (form == BuiltinForm::kMissing || form == BuiltinForm::kSampling ||
        form == BuiltinForm::kImage || ir::IsAtomic(call.builtin) || ir::IsBarrier(call.builtin) ||
        (parts && !IsInbuilt(call.type))) {
      return fmt::format("function '{}'", ir::FactsOf(call.builtin).name);
    }
    const std::span<const uint32_t> operands = region.List(call.arguments);
    const bool vectors = call.builtin == ir::Builtin::kFaceForward;
    if (vectors && pool_[region.insts[operands[0]].type].rows == 1) {
      return fmt::format("function '{}' of scalars", ir::FactsOf(call.builtin).name);
    }
    return {};
  }

  std::string SwitchFault(const ir::SpecialisedRegion& region, const ir::SwitchInst& inst) {
    std::string fault;
    ir::ForEachCase(region.List(inst.cases), [&](const ir::SwitchCase& one) {
      if (one.through) {
        fault = "a case that falls through";
      }
    });
    const std::span<const uint32_t> words = region.List(inst.cases);
    return pool_[region.insts[words[0]].type].scalar == ir::Scalar::kBool ? "a switch over a flag"
                                                                          : fault;
  }

  bool IsConstant(const ir::SpecialisedRegion& region, ir::InstId id) const {
    return region.insts[id.value].kind == kConst;
  }

  std::string ImageFault(const ir::SpecialisedRegion& region, const ir::ImageInst& inst) {
    using ir::ImageOperand;
    const std::span<const uint32_t> operands = region.List(inst.operands);
    const auto has = [&](ImageOperand keyword) { return (inst.keywords & BitOf(keyword)) != 0; };
    for (const ImageOperand keyword : {ImageOperand::kOffset, ImageOperand::kConstOffsets,
                                       ImageOperand::kMinLod, ImageOperand::kSparse}) {
      if (has(keyword)) {
        return "this operand of a texture's function";
      }
    }
    const ir::ImageTraits traits = ir::UnpackImage(pool_[region.insts[operands[0]].type].extent);
    const bool depth = traits.depth && traits.dim != ir::ImageDim::k3d;
    const bool compares =
        inst.op == ir::ImageOp::kSampleDref || inst.op == ir::ImageOp::kGatherDref;
    if (inst.op == ir::ImageOp::kQueryLod || (inst.keywords & ir::kCombinedSampler) != 0) {
      return "this operation of a texture";
    }
    if (compares && (!depth || has(ImageOperand::kBias) || has(ImageOperand::kGrad))) {
      return "this comparison with a texture";
    }
    if (!compares && depth && (has(ImageOperand::kBias) || has(ImageOperand::kGrad))) {
      return "a depth texture with a bias or gradients";
    }
    if (inst.op == ir::ImageOp::kGather && !IsConstant(region, ir::InstId{operands[3]})) {
      return "a component that is no constant";
    }
    return compares && has(ImageOperand::kLod) && !IsZeroLevel(region, operands)
               ? "a comparison at another level than 0.0"
               : "";
  }
  // Of a comparison the level stands behind the reference.
  bool IsZeroLevel(const ir::SpecialisedRegion& region, std::span<const uint32_t> operands) const {
    const ir::Inst& level = region.insts[operands[4]];
    return level.kind == kConst && pool_[level.As<ir::ConstInst>().value].a == 0;
  }

  // --- declarations
  void Declaration(const ir::SpecialisedDecl& decl) {
    const bool buffer =
        decl.kind == ir::DeclKind::kBuffer || decl.kind == ir::DeclKind::kPushConstant;
    if (decl.kind == ir::DeclKind::kContainer) {
      return Refuse(Where(decl.origin), "a container beside typed modules");
    }
    if (buffer && pool_[decl.type].kind == ir::TypeKind::kArray) {
      return Refuse(Where(decl.origin), "an array of buffers");
    }
    if (const std::string fault = TypeFault(decl.type); !fault.empty()) {
      return Refuse(Where(decl.origin), fault);
    }
    if (buffer && HoldsFlag(decl.type)) {
      Refuse(Where(decl.origin), "a flag in a buffer");
    }
  }
  bool HoldsFlag(ir::TypeId id) const {
    CheckStop();
    const ir::Type type = pool_[id];
    if (type.kind == ir::TypeKind::kArray || type.kind == ir::TypeKind::kRuntimeArray) {
      return HoldsFlag(ir::TypeId{type.element});
    }
    if (type.kind != ir::TypeKind::kStruct) {
      return type.scalar == ir::Scalar::kBool;
    }
    const std::span<const ir::ShapeMember> members = pool_.Members(id);
    return std::ranges::any_of(
        members, [&](const ir::ShapeMember& member) { return HoldsFlag(member.type); });
  }

  const ir::SpecialisedProgram& variant_;
  const ir::Pool& pool_;
  std::vector<Diagnostic> found_;
  std::set<uint32_t> done_;       // functions, by number
  std::set<uint32_t> good_;       // structs, by TypeId
  std::set<uint32_t> mentioned_;  // declarations
};

}  // namespace

bool IsTyped(const ir::SpecialisedProgram& variant) {
  return variant.bindings == ir::BindingPolicy::kFirstFit ||
         std::ranges::any_of(variant.entries,
                             [](const ir::EntryRef& entry) { return entry.interface != 0; });
}

std::vector<Diagnostic> CheckTyped(const ir::SpecialisedProgram& variant) {
  return TypedChecks(variant).Run();
}

}  // namespace kiln::wgsl
