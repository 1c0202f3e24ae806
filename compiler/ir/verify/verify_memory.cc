// SPDX-License-Identifier: MIT
#include "compiler/ir/verify/verify_memory.h"

#include <optional>
#include <string_view>

#include "compiler/ir/typing/typing.h"

namespace kiln::ir {

// The rules about images are shared with typing, which front ends use for messages. This function
// brings the operands into the form that is asked for.
void MemoryVerifier::VerifyTexel(const Inst& inst) {
  const auto texel = inst.As<TexelInst>();
  const std::vector<ImageArgument> operands = ArgumentsOf(region_.rows.List(texel.operands));
  if (region_.Check(region_.IsPlace(texel.image), "an image comes first")) {
    const std::string_view wrong =
        CheckTexel(region_.pool, region_.TypeOf(texel.image), operands, inst.type);
    region_.Check(wrong.empty(), wrong);
  }
}

// What is no value gets the type void, which no rule accepts.
std::vector<ImageArgument> MemoryVerifier::ArgumentsOf(std::span<const uint32_t> operands) const {
  std::vector<ImageArgument> arguments;
  for (const uint32_t operand : operands) {
    const bool value = region_.IsValue(InstId{operand});
    arguments.push_back({.type = value ? region_.TypeOf(InstId{operand}) : region_.pool.void_type(),
                         .is_constant = region_.rows.insts[operand].kind == InstKind::kConst});
  }
  return arguments;
}

// Images of typed modules.
void MemoryVerifier::VerifyImage(const Inst& inst) {
  const auto image = inst.As<ImageInst>();
  const std::span<const uint32_t> operands = region_.rows.List(image.operands);
  const ImageOperandCounts counts = OperandCountsOf(image.op, image.keywords);
  // The count follows from the operation and its keywords; handles come first, then coordinates and
  // the like, then what keywords bring.
  if (!region_.Check(operands.size() == counts.all(), "number of operands") ||
      !region_.Check(region_.IsPlace(InstId{operands[0]}), "an image comes first") ||
      !region_.Check(
          counts.handles == 1 ||
              (region_.IsPlace(InstId{operands[1]}) &&
               region_.pool[region_.TypeOf(InstId{operands[1]})].kind == TypeKind::kSampler),
          "a sampler comes behind the image")) {
    return;
  }
  const std::vector<ImageArgument> arguments = ArgumentsOf(operands.subspan(counts.handles));
  const std::string_view wrong =
      CheckImageUse(region_.pool, {.op = image.op,
                                   .keywords = image.keywords,
                                   .image = region_.TypeOf(InstId{operands[0]}),
                                   .arguments = arguments,
                                   .result = inst.type});
  region_.Check(wrong.empty(), wrong);
  // Derivatives exist only where neighbouring invocations run together, and the region has to say
  // that it uses them: the stage is not known to every caller.
  const bool implicit = IsImplicitLod(image.op, image.keywords);
  region_.Check(!implicit || region_.rows.uses_implicit_lod,
                "the region does not say that it samples");
  const bool bias = (image.keywords & BitOf(ImageOperand::kBias)) != 0;
  region_.Check(!(implicit || bias) || region_.surroundings == nullptr ||
                    region_.surroundings->stage.value_or(Stage::kFragment) == Stage::kFragment,
                "derivatives are of fragments");
}

// Without surroundings the stage is unknown and everything is allowed that some stage allows.
bool MemoryVerifier::MayBeCompute() const {
  return region_.surroundings == nullptr ||
         region_.surroundings->stage.value_or(Stage::kCompute) == Stage::kCompute;
}

// Waiting and memory may be of different scopes.
void MemoryVerifier::VerifyBarrier(const BarrierMode& mode) {
  region_.Check(mode.execution == MemoryScope::kNone || mode.execution == MemoryScope::kWorkgroup ||
                    mode.execution == MemoryScope::kSubgroup,
                "who waits is a workgroup or a subgroup");
  region_.Check(mode.kinds != 0 || mode.execution != MemoryScope::kNone, "a barrier for nothing");
  const bool workgroup = mode.execution != MemoryScope::kNone ||
                         mode.scope == MemoryScope::kWorkgroup ||
                         (mode.kinds & 1u << static_cast<uint32_t>(MemoryKind::kWorkgroup)) != 0;
  region_.Check(!workgroup || MayBeCompute(), "workgroups are of compute shaders");
}

// Whose memory atomics may change: buffers, workgroup memory, texels.
bool MemoryVerifier::IsSharedPlace(InstId place) const {
  const Inst* inst = &region_.rows.insts[place.value];
  if (inst->kind == InstKind::kTexel) {
    return true;
  }
  if (inst->kind == InstKind::kAccess) {
    inst = &region_.rows.insts[inst->As<AccessInst>().root.value];
  }
  // A member of a container belongs to one invocation, so atomics on it would mean nothing.
  return inst->kind == InstKind::kGlobalRef && !inst->As<GlobalRefInst>().member.valid();
}

// A place, and one or two values of its type.
void MemoryVerifier::VerifyAtomic(const Inst& inst) {
  const auto atomic = inst.As<AtomicInst>();
  const std::span<const uint32_t> operands = region_.rows.List(atomic.operands);
  const size_t values = atomic.op == AtomicOp::kLoad              ? 0
                        : atomic.op == AtomicOp::kCompareExchange ? 2
                                                                  : 1;
  if (!region_.Check(operands.size() == values + 1 && region_.IsPlace(InstId{operands[0]}) &&
                         IsSharedPlace(InstId{operands[0]}),
                     "a place in shared memory and its values")) {
    return;
  }
  const TypeId id = region_.TypeOf(InstId{operands[0]});
  const Type& type = region_.pool[id];
  // Floats can be moved atomically; arithmetic on them needs extensions that no target here has.
  const bool moves = atomic.op == AtomicOp::kLoad || atomic.op == AtomicOp::kStore ||
                     atomic.op == AtomicOp::kExchange;
  const bool integer = IsIntegerScalar(type.scalar) && BitWidthOf(type.scalar) >= 32;
  region_.Check(type.kind == TypeKind::kVector && type.rows == 1 &&
                    (integer || (moves && type.scalar == Scalar::kF32)),
                "not a type of atomics");
  for (const uint32_t value : operands.subspan(1)) {
    region_.Check(region_.IsValue(InstId{value}) && region_.TypeOf(InstId{value}) == id,
                  "type of an operand");
  }
  // A load cannot release and a store cannot acquire, in SPIR-V as in C++.
  const MemoryOrder order = UnpackAtomic(atomic.mode).order;
  const bool releases = order == MemoryOrder::kRelease || order == MemoryOrder::kAcquireRelease;
  const bool acquires = order == MemoryOrder::kAcquire || order == MemoryOrder::kAcquireRelease;
  region_.Check(
      !(atomic.op == AtomicOp::kLoad && releases) && !(atomic.op == AtomicOp::kStore && acquires),
      "order");
  region_.Check(UnpackAtomic(atomic.mode).scope != MemoryScope::kWorkgroup || MayBeCompute(),
                "workgroups are of compute shaders");
  region_.Check(inst.type == (atomic.op == AtomicOp::kStore ? region_.pool.void_type() : id),
                "type of the result");
}

// Functions of samplers and images: handles first, then what typing says.
void MemoryVerifier::VerifySampling(const Inst& inst, std::span<const uint32_t> arguments) {
  const Builtin builtin = inst.As<BuiltinCallInst>().builtin;
  const size_t handles = IsSampling(builtin) ? 2 : 1;
  region_.Check(!IsImplicitLod(builtin) || region_.rows.uses_implicit_lod,
                "the region does not say that it samples");
  bool good = arguments.size() >= handles;
  for (size_t i = 0; good && i < handles; ++i) {
    const TypeKind kind = i + 1 == handles ? TypeKind::kImage : TypeKind::kSampler;
    good = region_.IsPlace(InstId{arguments[i]}) &&
           region_.pool[region_.TypeOf(InstId{arguments[i]})].kind == kind;
  }
  if (!region_.Check(good, "a sampler and an image, or an image")) {
    return;
  }
  const std::optional<SampleTyping> typing =
      TypeOfSample(region_.pool, builtin, region_.TypeOf(InstId{arguments[handles - 1]}));
  if (!region_.Check(typing && typing->specialised.count == arguments.size() - handles,
                     "not for this image")) {
    return;
  }
  for (size_t i = handles; i < arguments.size(); ++i) {
    const InstId argument{arguments[i]};
    region_.Check(region_.IsValue(argument) &&
                      region_.TypeOf(argument) == typing->specialised.slots[i - handles],
                  "type of an argument");
  }
  region_.Check(inst.type == typing->specialised.result, "type of the result");
}

// Atomics, barriers, lengths of runtime arrays.
void MemoryVerifier::VerifyMemory(const Inst& inst, std::span<const uint32_t> arguments) {
  const Builtin builtin = inst.As<BuiltinCallInst>().builtin;
  if (IsBarrier(builtin)) {
    region_.Check(arguments.empty() && inst.type == region_.pool.void_type(),
                  "a barrier has no operands");
    return;
  }
  if (!region_.Check(!arguments.empty() && region_.IsPlace(InstId{arguments[0]}), "a place")) {
    return;
  }
  const TypeId type = region_.TypeOf(InstId{arguments[0]});
  if (builtin == Builtin::kArrayLength) {
    region_.Check(arguments.size() == 1 && region_.pool[type].kind == TypeKind::kRuntimeArray,
                  "a runtime array has a length");
    region_.Check(inst.type == region_.pool.Vector(Scalar::kU32, 1), "type of the result");
    return;
  }
  const size_t count = builtin == Builtin::kAtomicCompareExchange ? 3 : 2;
  region_.Check(arguments.size() == count, "operands of an atomic");
  for (size_t i = 1; i < arguments.size(); ++i) {
    region_.Check(
        region_.IsValue(InstId{arguments[i]}) && region_.TypeOf(InstId{arguments[i]}) == type,
        "type of an argument");
  }
  region_.Check(region_.pool[type].rows == 1 && inst.type == type, "type of the result");
}

}  // namespace kiln::ir
