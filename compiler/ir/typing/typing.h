// SPDX-License-Identifier: MIT
// The typing rules of constructors, conversions and inbuilt functions, and the parts of types;
// those of operators are in operator_typing.h. Pure functions of shapes: they know nothing of
// places, stages or names, and add nothing to the pool. Spec: docs/IR.md "Typing of specialised
// instructions", spec/rpl 4.2, 6.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "compiler/ir/builtins.h"
#include "compiler/ir/insts.h"
#include "compiler/ir/types.h"

namespace kiln::ir {

// --- constructors --------------------------------------------------------------------------------
// The first rule of spec/rpl 4.2 that fits.
enum class ConstructorForm : uint8_t {
  kSkip,     // the argument itself
  kFill,     // `splat`
  kConvert,  // `convert`
  kCombine,  // `construct`
  kCrop,     // the upper left part of a larger matrix
};
// Requires: `target` is a vector, matrix or struct. Nothing if no rule fits.
std::optional<ConstructorForm> TypeOfConstructor(const Pool& pool, TypeId target,
                                                 std::span<const TypeId> arguments);
// Does specialised `construct` make `target` of `operands`? As kCombine; arrays of their items too.
bool Combines(const Pool& pool, TypeId target, std::span<const TypeId> operands);
// Does `convert` turn a value of `from` into one of `to`?
bool Converts(const Pool& pool, TypeId from, TypeId to);
// Does `bitcast`?
bool Bitcasts(const Pool& pool, TypeId from, TypeId to);
// The type of the part at constant steps into a value; nothing if there is none.
std::optional<TypeId> TypeAtSteps(const Pool& pool, TypeId whole, std::span<const uint32_t> steps);

// --- inbuilt functions ---------------------------------------------------------------------------
struct Signature {
  std::array<TypeId, 4> slots{};
  uint32_t count = 0;
  TypeId result{};

  std::span<const TypeId> parameters() const { return std::span(slots).first(count); }
};
// What a stage variable holds.
Type TypeOfStage(StageVariable variable);
// Signature of a family for `type`, or of a function that is no family (then `type` is ignored).
// Nothing if the family does not exist for `type`, and for sampling.
std::optional<Signature> TypeOfBuiltin(const Pool& pool, Builtin builtin, TypeId type);

// The parts of a result that is a struct, which any struct of two members of these types is.
std::optional<std::array<TypeId, 2>> PartsOfResult(const Pool& pool, Builtin builtin, TypeId type);

// Takes a sampler and an image; an image alone; a place of memory first and its scalar behind.
constexpr bool IsSampling(Builtin builtin) {
  return builtin >= Builtin::kSample && builtin <= Builtin::kGatherDref;
}
constexpr bool TakesImage(Builtin builtin) {
  return builtin >= Builtin::kFetch && builtin <= Builtin::kImageStore;
}
constexpr bool IsAtomic(Builtin builtin) {
  return builtin >= Builtin::kAtomicAdd && builtin <= Builtin::kAtomicCompareExchange;
}
constexpr bool IsBarrier(Builtin builtin) {
  return builtin == Builtin::kWorkgroupBarrier || builtin == Builtin::kStorageBarrier;
}
// Picks its level by derivatives, in the stage that has them.
constexpr bool IsImplicitLod(Builtin builtin) {
  return builtin == Builtin::kSample || builtin == Builtin::kSampleDref;
}
constexpr bool SamplesDepth(Builtin builtin) {
  return builtin == Builtin::kSampleDref || builtin == Builtin::kSampleDrefLod ||
         builtin == Builtin::kGatherDref;
}
// What follows the image: as written in a source (layer first), and in specialised IR
// (the layer is the last component of the coordinate).
struct SampleTyping {
  Signature written;
  Signature specialised;
};
// Nothing if `image` is no sampled image, or not one that the function accepts.
// Nothing if the function does not take this kind of image.
std::optional<SampleTyping> TypeOfSample(const Pool& pool, Builtin builtin, TypeId image);

// --- shapes --------------------------------------------------------------------------------------
// Number of components, columns, members or items; 0 for everything else and runtime arrays.
uint32_t PartCount(const Pool& pool, TypeId id);
// Type of component, column, member or item `index`; nothing if there is none. Of arrays any index.
std::optional<TypeId> PartType(const Pool& pool, TypeId id, uint32_t index);
bool IsVector(const Pool& pool, TypeId id, Scalar scalar, uint32_t rows);
bool IsHandle(const Pool& pool, TypeId id);  // sampler, image, or array of those
// Can a value of this type be loaded and stored? Not void, no handle, runtime array or what holds
// one. Linear in the size of the type.
bool HasValues(const Pool& pool, TypeId id);

}  // namespace kiln::ir
