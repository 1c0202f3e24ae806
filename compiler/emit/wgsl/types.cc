// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/types.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/emit/wgsl/names.h"
#include "compiler/emit/wgsl/typed/legal_names.h"

namespace kiln::wgsl {
namespace {

// The formats that RPL's storage images have; each is one that WGSL has as well.
std::string_view TexelFormat(ir::ImageFormat format) {
  switch (format) {
    case ir::ImageFormat::kRgba32Float:
      return "rgba32float";
    case ir::ImageFormat::kRgba16Float:
      return "rgba16float";
    case ir::ImageFormat::kR32Float:
      return "r32float";
    case ir::ImageFormat::kRgba8Unorm:
      return "rgba8unorm";
    case ir::ImageFormat::kRgba8Snorm:
      return "rgba8snorm";
    case ir::ImageFormat::kRgba32Sint:
      return "rgba32sint";
    case ir::ImageFormat::kRgba16Sint:
      return "rgba16sint";
    case ir::ImageFormat::kRgba8Sint:
      return "rgba8sint";
    case ir::ImageFormat::kR32Sint:
      return "r32sint";
    case ir::ImageFormat::kRgba32Uint:
      return "rgba32uint";
    case ir::ImageFormat::kRgba16Uint:
      return "rgba16uint";
    case ir::ImageFormat::kRgba8Uint:
      return "rgba8uint";
    case ir::ImageFormat::kR32Uint:
      return "r32uint";
    case ir::ImageFormat::kRg32Float:
      return "rg32float";
    case ir::ImageFormat::kRg32Sint:
      return "rg32sint";
    case ir::ImageFormat::kRg32Uint:
      return "rg32uint";
    default:  // refused (typed/typed_checks)
      break;
  }
  KILN_UNREACHABLE();
}

// Others are refused (typed/typed_checks).
std::string_view Dimension(const ir::ImageTraits& traits) {
  switch (traits.dim) {
    case ir::ImageDim::k2d:
      return traits.arrayed ? "2d_array" : "2d";
    case ir::ImageDim::k3d:
      return "3d";
    case ir::ImageDim::kCube:
      return traits.arrayed ? "cube_array" : "cube";
    case ir::ImageDim::k1d:
      return "1d";
    case ir::ImageDim::kBuffer:
    case ir::ImageDim::kSubpass:
      break;
  }
  KILN_UNREACHABLE();
}

std::string_view AccessText(ir::ImageAccess access) {
  switch (access) {
    case ir::ImageAccess::kReadOnly:
      return "read";
    case ir::ImageAccess::kWriteOnly:
      return "write";
    case ir::ImageAccess::kReadWrite:
      return "read_write";
  }
  KILN_UNREACHABLE();
}

bool IsArray(const ir::Type& type) {
  return type.kind == ir::TypeKind::kArray || type.kind == ir::TypeKind::kRuntimeArray;
}

}  // namespace

std::string Types::Name(std::string_view source) const {
  return typed ? LegalName(source) : NameOf(source);
}
std::string Types::Member(std::string_view source) const {
  return typed ? LegalMember(source) : MemberName(source);
}

// Their names begin with two underscores, which no struct of a source has.
bool Types::IsInbuilt(ir::TypeId type) const {
  if (!typed || pool_[type].kind != ir::TypeKind::kStruct) {
    return false;
  }
  const std::string_view name = pool_.Text(pool_.ShapeOf(type).name);
  return name.starts_with("__frexp_result_") || name.starts_with("__modf_result_") ||
         name.starts_with("__atomic_compare_exchange_result_");
}

// The scalars that WGSL has. Others were refused before anything is written.
std::string_view ScalarText(ir::Scalar scalar) {
  switch (scalar) {
    case ir::Scalar::kF32:
      return "f32";
    case ir::Scalar::kU32:
      return "u32";
    case ir::Scalar::kS32:
      return "i32";
    case ir::Scalar::kBool:
      return "bool";
    case ir::Scalar::kF16:
      return "f16";
    case ir::Scalar::kNone:
    case ir::Scalar::kF64:
    case ir::Scalar::kS64:
    case ir::Scalar::kU64:
    case ir::Scalar::kS16:
    case ir::Scalar::kU16:
      break;
  }
  KILN_UNREACHABLE();
}

// Asked for once for each type.
std::string Types::MakeText(ir::TypeId type) {
  const ir::Type t = pool_[type];
  switch (t.kind) {
    case ir::TypeKind::kVector:
      return t.rows == 1 ? std::string(ScalarText(t.scalar))
                         : fmt::format("vec{}<{}>", t.rows, ScalarText(t.scalar));
    case ir::TypeKind::kMatrix:
      return fmt::format("mat{}x{}<{}>", t.columns, t.rows, ScalarText(t.scalar));
    case ir::TypeKind::kArray:
      return fmt::format("array<{}, {}>", Text(ir::TypeId{t.element}), t.extent);
    case ir::TypeKind::kRuntimeArray:
      return fmt::format("array<{}>", Text(ir::TypeId{t.element}));
    case ir::TypeKind::kStruct:
      return Name(pool_.Text(pool_.ShapeOf(type).name));
    case ir::TypeKind::kSampler:
    case ir::TypeKind::kImage:
    case ir::TypeKind::kVoid:
    case ir::TypeKind::kNamed:
    case ir::TypeKind::kDeferred:
    case ir::TypeKind::kDeclared:
    case ir::TypeKind::kSampledImage:
    case ir::TypeKind::kAccel:
    case ir::TypeKind::kRayQuery:
      break;
  }
  KILN_UNREACHABLE();
}

// The text is made before the row is looked up for writing: making it asks for the texts of parts,
// which may move the table.
const std::string& Types::Text(ir::TypeId type) {
  // An empty text stands for "not made yet": no type has one.
  if (type.value >= texts_.size() || texts_[type.value].empty()) {
    std::string made = MakeText(type);
    if (type.value >= texts_.size()) {
      texts_.resize(type.value + size_t{1});
    }
    texts_[type.value] = std::move(made);
  }
  return texts_[type.value];
}

// The type of a variable in memory, where some leaves are atomic.
// `first` is the number that the first leaf of this type has in the variable.
std::string Types::Memory(ir::TypeId type, std::span<const uint32_t> atomic, uint32_t first) {
  if (!HoldsAtomic(type, atomic, first)) {
    return Text(type);
  }
  const ir::Type t = pool_[type];
  if (t.kind == ir::TypeKind::kVector) {
    return fmt::format("atomic<{}>", Text(type));
  }
  if (IsArray(t)) {
    // Items of an array have one type, so an atomic leaf is atomic in all of them.
    const std::string item = Memory(ir::TypeId{t.element}, atomic, first);
    return t.kind == ir::TypeKind::kArray ? fmt::format("array<{}, {}>", item, t.extent)
                                          : fmt::format("array<{}>", item);
  }
  if (std::ranges::find(atomic_only, type) != atomic_only.end()) {
    return Text(type);
  }
  // Which leaves are atomic is part of the name, so that it follows from the type alone.
  // One hexadecimal digit for each four leaves, counted from the first leaf of this type: the same
  // struct elsewhere in a variable has the same name if the same leaves are atomic.
  std::string digits((LeavesOf(type) + 3) / 4, '0');
  for (const uint32_t leaf : atomic) {
    if (leaf >= first && leaf - first < LeavesOf(type)) {
      char& digit = digits[(leaf - first) / 4];
      const int value = (digit <= '9' ? digit - '0' : digit - 'a' + 10) | 1 << (leaf - first) % 4;
      digit = "0123456789abcdef"[value];
    }
  }
  return MadeName(pool_.Text(pool_.ShapeOf(type).name), "a" + digits);
}

// By class, dimension and scalar; storage textures by format and access (spec/wgsl 3.9).
std::string Types::Texture(ir::TypeId type, ir::ImageAccess access) const {
  const ir::Type& t = pool_[type];
  const ir::ImageTraits traits = ir::UnpackImage(t.extent);
  if (traits.storage) {
    return fmt::format("texture_storage_{}<{}, {}>", Dimension(traits), TexelFormat(traits.format),
                       AccessText(access));
  }
  if (traits.multisampled) {
    return traits.depth ? "texture_depth_multisampled_2d"
                        : fmt::format("texture_multisampled_2d<{}>", ScalarText(t.scalar));
  }
  // There are no depth textures of three dimensions.
  if (traits.depth && traits.dim != ir::ImageDim::k3d) {
    return fmt::format("texture_depth_{}", Dimension(traits));
  }
  return fmt::format("texture_{}<{}>", Dimension(traits), ScalarText(t.scalar));
}

// A leaf is what an atomic may be: items of an array count as one.
uint32_t Types::LeavesOf(ir::TypeId type) {
  if (type.value < leaves_.size() && leaves_[type.value] != 0) {
    return leaves_[type.value];
  }
  const ir::Type t = pool_[type];
  uint32_t count = 1;
  if (IsArray(t)) {
    count = LeavesOf(ir::TypeId{t.element});
  } else if (t.kind == ir::TypeKind::kStruct) {
    count = 0;
    for (const ir::ShapeMember& member : pool_.Members(type)) {
      CheckStop();
      // The count stops one above what is told apart, so that it cannot overflow, however the types
      // multiply.
      count = std::min(count + LeavesOf(member.type), kMaxLeaves + 1);
    }
  }
  if (type.value >= leaves_.size()) {
    // The table grows only now, because asking for the parts above may have grown it already.
    leaves_.resize(type.value + size_t{1});
  }
  leaves_[type.value] = count;
  return count;
}

// The sum of the leaves of all members before it.
uint32_t Types::LeafOfMember(ir::TypeId structure, uint32_t member) {
  uint32_t leaf = 0;
  for (uint32_t i = 0; i < member; ++i) {
    leaf = std::min(leaf + LeavesOf(pool_.Members(structure)[i].type), kMaxLeaves + 1);
  }
  return leaf;
}

// The leaves are ascending, so the first one that is not before the type decides.
bool Types::HoldsAtomic(ir::TypeId type, std::span<const uint32_t> atomic, uint32_t first) {
  if (atomic.empty()) {
    return false;
  }
  const auto found = std::ranges::lower_bound(atomic, first);
  return found != atomic.end() && *found - first < LeavesOf(type);
}

// Zero is "not asked yet", so the table needs no second one.
bool Types::HoldsHalf(ir::TypeId type) {
  if (type.value < half_.size() && half_[type.value] != 0) {
    return half_[type.value] == 2;
  }
  const ir::Type t = pool_[type];
  bool holds = t.scalar == ir::Scalar::kF16;
  if (IsArray(t)) {
    holds = HoldsHalf(ir::TypeId{t.element});
  } else if (t.kind == ir::TypeKind::kStruct) {
    for (const ir::ShapeMember& member : pool_.Members(type)) {
      holds = HoldsHalf(member.type) || holds;
    }
  }
  if (type.value >= half_.size()) {
    half_.resize(type.value + size_t{1});
  }
  half_[type.value] = holds ? 2 : 1;
  return holds;
}

// Depth first, so each struct stands behind those that it holds: the order in which WGSL wants
// them. The recursion is as deep as structs nest.
void Types::AddStructs(ir::TypeId type, std::vector<ir::TypeId>& found) const {
  ir::Type t = pool_[type];
  while (IsArray(t)) {
    type = ir::TypeId{t.element};
    t = pool_[type];
  }
  // The list is short: it has the structs that one object mentions.
  if (t.kind != ir::TypeKind::kStruct || IsInbuilt(type) ||
      std::ranges::find(found, type) != found.end()) {
    return;
  }
  for (const ir::ShapeMember& member : pool_.Members(type)) {
    CheckStop();
    AddStructs(member.type, found);
  }
  found.push_back(type);
}

}  // namespace kiln::wgsl
