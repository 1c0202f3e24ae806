// SPDX-License-Identifier: MIT
// What a family of inbuilt functions takes comes from its row in builtins.def, whose letters are
// spelled for one type. Functions of images have no letters: what they take follows from the kind
// of the image, twice, as a source writes it and as specialised IR holds it.
#include "compiler/ir/typing/typing.h"

#include <algorithm>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/flat_map.h"

namespace kiln::ir {
namespace {

// Do vectors of the target's scalar fill its components exactly?
// One operand is excluded: a vector of one part would be that part, and the rule before it in the
// list (spec/rpl 4.2) has taken it.
bool FillsVector(const Pool& pool, const Type& target, std::span<const TypeId> operands) {
  uint32_t rows = 0;
  for (const TypeId operand : operands) {
    const Type& type = pool[operand];
    if (type.kind != TypeKind::kVector || type.scalar != target.scalar) {
      return false;
    }
    rows += type.rows;
  }
  return rows == target.rows && operands.size() > 1;
}

void AddParameter(Signature& signature, TypeId type) { signature.slots[signature.count++] = type; }

// Number of coordinates of one image without its layer; of those that RPL has.
// A direction into a cube counts three, as does a volume.
uint32_t CoordinateRows(ImageDim dim) { return dim == ImageDim::k2d ? 2 : 3; }

// RPL's functions know RPL's images.
bool IsImageOfRpl(const ImageTraits& traits) {
  return traits.dim <= ImageDim::kCube && !traits.multisampled && !traits.unknown_depth &&
         !(traits.depth && traits.storage);
}

// Does the function take this kind of image? See spec/rpl 6.4, 14.2, 14.7.
bool Takes(Builtin builtin, const ImageTraits& traits) {
  // The order of the tests is that of the most special answer first: functions of storage images
  // are told apart before the rest of the list may assume a sampled one.
  const bool flat = traits.dim != ImageDim::k3d;
  if (builtin == Builtin::kImageLoad || builtin == Builtin::kImageStore) {
    return traits.storage;
  }
  if (builtin == Builtin::kImageSize) {
    return true;
  }
  if (traits.storage) {
    return false;
  }
  if (SamplesDepth(builtin)) {
    return traits.depth && flat;
  }
  if (builtin == Builtin::kGather) {
    return flat;
  }
  if (builtin == Builtin::kFetch) {
    return traits.dim != ImageDim::kCube;
  }
  return IsSampling(builtin) || builtin == Builtin::kImageLevels;
}

// The layer, written first, becomes the last component of the specialised coordinate.
// Both signatures grow side by side, because they differ only here: sources write `(layer, uv)` and
// specialised IR has one vector `(u, v, layer)`, with the layer converted to its scalar.
void AddCoordinates(const Pool& pool, Builtin builtin, const ImageTraits& traits,
                    SampleTyping& typing) {
  if (builtin == Builtin::kImageSize || builtin == Builtin::kImageLevels) {
    return;
  }
  const Scalar scalar = IsSampling(builtin) ? Scalar::kF32 : Scalar::kU32;
  const uint32_t rows = CoordinateRows(traits.dim);
  if (traits.arrayed) {
    AddParameter(typing.written, pool.Vector(Scalar::kU32, 1));
  }
  AddParameter(typing.written, pool.Vector(scalar, rows));
  AddParameter(typing.specialised, pool.Vector(scalar, rows + (traits.arrayed ? 1 : 0)));
}

// What follows the coordinate.
void AddImageOperands(const Pool& pool, Builtin builtin, const Type& image,
                      const ImageTraits& traits, Signature& signature) {
  // These operands are the same in a source and in specialised IR; the function is called once for
  // each signature.
  const TypeId f1 = pool.Vector(Scalar::kF32, 1);
  const TypeId u1 = pool.Vector(Scalar::kU32, 1);
  if (SamplesDepth(builtin)) {
    AddParameter(signature, f1);
  }
  if (builtin == Builtin::kSampleLod || builtin == Builtin::kSampleDrefLod) {
    AddParameter(signature, f1);
  } else if (builtin == Builtin::kSampleGrad) {
    AddParameter(signature, pool.Vector(Scalar::kF32, CoordinateRows(traits.dim)));
    AddParameter(signature, pool.Vector(Scalar::kF32, CoordinateRows(traits.dim)));
  } else if (builtin == Builtin::kGather || builtin == Builtin::kFetch ||
             (builtin == Builtin::kImageSize && !traits.storage)) {
    AddParameter(signature, u1);
  } else if (builtin == Builtin::kImageStore) {
    AddParameter(signature, pool.Vector(image.scalar, 4));
  }
}

// Texels always have four components, whatever their format holds (spec/rpl 6.4); comparing gives
// one, but a gather of comparisons gives the four it compared.
TypeId ResultOf(const Pool& pool, Builtin builtin, const Type& image, const ImageTraits& traits) {
  if (builtin == Builtin::kImageStore) {
    return pool.void_type();
  }
  if (builtin == Builtin::kImageLevels) {
    return pool.Vector(Scalar::kU32, 1);
  }
  if (builtin == Builtin::kImageSize) {
    const bool deep = traits.dim == ImageDim::k3d || traits.arrayed;
    // Width, height, and depth or the number of layers.
    return pool.Vector(Scalar::kU32, deep ? 3 : 2);
  }
  const bool one = builtin == Builtin::kSampleDref || builtin == Builtin::kSampleDrefLod;
  return pool.Vector(image.scalar, one ? 1 : 4);
}

}  // namespace

// All kinds are written out, without a default: a new kind of type must decide here.
uint32_t PartCount(const Pool& pool, TypeId id) {
  const Type& type = pool[id];
  switch (type.kind) {
    case TypeKind::kVector:
      return type.rows;
    case TypeKind::kMatrix:
      return type.columns;
    case TypeKind::kArray:
      return type.extent;
    case TypeKind::kStruct:
      return pool.ShapeOf(id).count;
    case TypeKind::kVoid:
    case TypeKind::kRuntimeArray:
    case TypeKind::kSampler:
    case TypeKind::kImage:
    case TypeKind::kNamed:
    case TypeKind::kDeferred:
    case TypeKind::kDeclared:
    case TypeKind::kSampledImage:
    case TypeKind::kAccel:
    case TypeKind::kRayQuery:
      return 0;
  }
  KILN_UNREACHABLE();
}

std::optional<TypeId> PartType(const Pool& pool, TypeId id, uint32_t index) {
  const Type& type = pool[id];
  // Any index will do for arrays: the items have one type, and bounds are checked elsewhere.
  if (type.kind == TypeKind::kArray || type.kind == TypeKind::kRuntimeArray) {
    return TypeId{type.element};
  }
  if (index >= PartCount(pool, id)) {
    return std::nullopt;
  }
  if (type.kind == TypeKind::kStruct) {
    return pool.Members(id)[index].type;
  }
  return pool.Vector(type.scalar, type.kind == TypeKind::kMatrix ? type.rows : 1);
}

// Types are compared by value and not by id, so nothing is looked up in the pool.
bool IsVector(const Pool& pool, TypeId id, Scalar scalar, uint32_t rows) {
  return pool[id] == VectorType(scalar, static_cast<uint8_t>(rows));
}

bool IsHandle(const Pool& pool, TypeId id) {
  // An array of handles is one in every rule about them: it cannot be loaded, stored or returned.
  while (pool[id].kind == TypeKind::kArray) {
    id = TypeId{pool[id].element};
  }
  return pool[id].kind == TypeKind::kSampler || IsImage(pool[id].kind) ||
         pool[id].kind == TypeKind::kAccel;
}

// `P` marks the functions with two results (`frexp`, `modf`): whoever lowers them makes a struct of
// these parts, and no such struct has a name in the pool.
std::optional<std::array<TypeId, 2>> PartsOfResult(const Pool& pool, Builtin builtin, TypeId type) {
  if (FactsOf(builtin).result != 'P') {
    return std::nullopt;
  }
  return std::array<TypeId, 2>{
      type, builtin == Builtin::kFrexp ? pool.Vector(Scalar::kS32, pool[type].rows) : type};
}

namespace {

// Of a type without looking into it; structs and arrays say yes.
bool MayHaveValues(TypeKind kind) {
  switch (kind) {
    case TypeKind::kVector:
    case TypeKind::kMatrix:
    case TypeKind::kArray:
    case TypeKind::kStruct:
      return true;
    case TypeKind::kVoid:
    case TypeKind::kRuntimeArray:
    case TypeKind::kSampler:
    case TypeKind::kImage:
    case TypeKind::kNamed:
    case TypeKind::kDeferred:
    case TypeKind::kDeclared:
    case TypeKind::kSampledImage:
    case TypeKind::kAccel:
    case TypeKind::kRayQuery:
      return false;
  }
  KILN_UNREACHABLE();
}

}  // namespace

// Each struct is looked into once: one that holds two of another, many times over, has few types
// but exponentially many leaves.
bool HasValues(const Pool& pool, TypeId id) {
  FlatMap<uint32_t, bool> seen;
  std::vector<TypeId> pending;
  while (true) {
    while (pool[id].kind == TypeKind::kArray) {
      id = TypeId{pool[id].element};
    }
    if (!MayHaveValues(pool[id].kind)) {
      return false;
    }
    if (pool[id].kind == TypeKind::kStruct && seen.Insert(id.value, true).second) {
      for (const ShapeMember& member : pool.Members(id)) {
        if (pool[member.type].kind != TypeKind::kVector) {
          pending.push_back(member.type);
        }
      }
    }
    if (pending.empty()) {
      return true;
    }
    id = pending.back();
    pending.pop_back();
  }
}

// Vectors are the only target whose operands may be of different sizes. For all others there is one
// operand for each part, of its exact type.
bool Combines(const Pool& pool, TypeId target, std::span<const TypeId> operands) {
  const Type& type = pool[target];
  if (type.kind == TypeKind::kVector) {
    return FillsVector(pool, type, operands);
  }
  if (operands.empty() || operands.size() != PartCount(pool, target)) {
    return false;
  }
  for (uint32_t i = 0; i < operands.size(); ++i) {
    if (PartType(pool, target, i) != operands[i]) {
      return false;
    }
  }
  // Asked last, because it walks the whole type and most calls end before it.
  return HasValues(pool, target);
}

// Bits, not components, are counted: two halves and one word are the same 32 bits. Booleans have no
// bits that anybody may see.
bool Bitcasts(const Pool& pool, TypeId from, TypeId to) {
  const auto is_number = [](const Type& type) {
    return type.kind == TypeKind::kVector && type.scalar != Scalar::kBool;
  };
  const auto width = [](const Type& type) { return type.rows * BitWidthOf(type.scalar); };
  return from != to && is_number(pool[from]) && is_number(pool[to]) &&
         width(pool[from]) == width(pool[to]);
}

std::optional<TypeId> TypeAtSteps(const Pool& pool, TypeId whole, std::span<const uint32_t> steps) {
  for (const uint32_t step : steps) {
    const std::optional<TypeId> part =
        step < PartCount(pool, whole) ? PartType(pool, whole, step) : std::nullopt;
    if (!part) {
      return std::nullopt;
    }
    whole = *part;
  }
  return whole;
}

// To bool there is no conversion: `b1(f)` would hide a comparison, and SPIR-V has none.
bool Converts(const Pool& pool, TypeId from, TypeId to) {
  const Type& source = pool[from];
  const Type& target = pool[to];
  return source.kind == TypeKind::kVector && target.kind == TypeKind::kVector &&
         source.rows == target.rows && source.scalar != target.scalar &&
         target.scalar != Scalar::kBool;
}

std::optional<ConstructorForm> TypeOfConstructor(const Pool& pool, TypeId target,
                                                 std::span<const TypeId> arguments) {
  // The order is that of spec/rpl 4.2, which takes the first rule that fits; a scalar of the same
  // type is therefore a skip and not a fill.
  const Type& type = pool[target];
  if (arguments.size() == 1 && type.kind != TypeKind::kStruct) {
    const TypeId argument = arguments[0];
    const Type& given = pool[argument];
    if (argument == target) {
      return ConstructorForm::kSkip;
    }
    if (type.kind == TypeKind::kVector && IsVector(pool, argument, type.scalar, 1)) {
      return ConstructorForm::kFill;
    }
    if (Converts(pool, argument, target)) {
      return ConstructorForm::kConvert;
    }
    if (type.kind == TypeKind::kMatrix && given.kind == TypeKind::kMatrix &&
        given.scalar == type.scalar && given.columns >= type.columns && given.rows >= type.rows) {
      return ConstructorForm::kCrop;
    }
  }
  return Combines(pool, target, arguments) ? std::optional(ConstructorForm::kCombine)
                                           : std::nullopt;
}

Type TypeOfStage(StageVariable variable) {
  switch (variable) {
    case StageVariable::kPosition:
    case StageVariable::kFragCoord:
      return VectorType(Scalar::kF32, 4);
    case StageVariable::kVertexIndex:
    case StageVariable::kInstanceIndex:
    case StageVariable::kLocalIndex:
      return VectorType(Scalar::kU32, 1);
    case StageVariable::kFrontFacing:
      return VectorType(Scalar::kBool, 1);
    case StageVariable::kFragDepth:
      return VectorType(Scalar::kF32, 1);
    case StageVariable::kGlobalId:
    case StageVariable::kLocalId:
    case StageVariable::kWorkgroupId:
    case StageVariable::kWorkgroupCount:
      return VectorType(Scalar::kU32, 3);
  }
  KILN_UNREACHABLE();
}

namespace {

// What a letter of builtins.def stands for, in the family of `type`.
// `u` is the letter of parameters and `U` the one of results, of the same type. Whatever is no
// letter of its own is one component of the family.
TypeId TypeOfLetter(const Pool& pool, char letter, TypeId type) {
  const Type& of = pool[type];
  switch (letter) {
    case 'T':
      return type;
    case 'B':
      return pool.Vector(Scalar::kBool, of.rows);
    case 'S':
      return pool.Vector(Scalar::kS32, of.rows);
    case 'u':
    case 'U':
      return pool.Vector(Scalar::kU32, 1);
    case '2':
      return pool.Vector(Scalar::kF32, 2);
    case '4':
      return pool.Vector(Scalar::kF32, 4);
    case 'M':
      return pool.FloatMatrix(of.scalar, of.rows, of.columns);
    default:
      return pool.Vector(of.scalar, 1);
  }
}

}  // namespace

std::optional<Signature> TypeOfBuiltin(const Pool& pool, Builtin builtin, TypeId type) {
  const BuiltinFacts& facts = FactsOf(builtin);
  const TypeId f1 = pool.Vector(Scalar::kF32, 1);
  Signature signature{.result = pool.void_type()};
  // The functions that are no family have no letters for a type to fill in.
  if (builtin == Builtin::kPi) {
    signature.result = f1;
    return signature;
  }
  if (builtin == Builtin::kStageDiscard) {
    return signature;
  }
  if (builtin == Builtin::kOutputPosition) {
    AddParameter(signature, pool.Vector(Scalar::kF32, 4));
    return signature;
  }
  if (!ExistsFor(facts.types, pool[type])) {
    return std::nullopt;
  }
  for (const char letter : facts.parameters) {
    AddParameter(signature, TypeOfLetter(pool, letter, type));
  }
  // Results of two parts have no single type: PartsOfResult says what they are, and the signature
  // keeps `void`.
  if (facts.result != 'P' && facts.result != 'X') {
    signature.result = TypeOfLetter(pool, facts.result, type);
  }
  return signature;
}

std::optional<SampleTyping> TypeOfSample(const Pool& pool, Builtin builtin, TypeId image) {
  const Type& type = pool[image];
  if (type.kind != TypeKind::kImage) {
    return std::nullopt;
  }
  const ImageTraits traits = UnpackImage(type.extent);
  if (!IsImageOfRpl(traits) || !Takes(builtin, traits)) {
    return std::nullopt;
  }
  SampleTyping typing;
  AddCoordinates(pool, builtin, traits, typing);
  for (Signature* signature : {&typing.written, &typing.specialised}) {
    AddImageOperands(pool, builtin, type, traits, *signature);
    signature->result = ResultOf(pool, builtin, type, traits);
  }
  return typing;
}

}  // namespace kiln::ir
