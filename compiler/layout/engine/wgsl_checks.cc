// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/wgsl_checks.h"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::layout {
namespace {

// Structs and arrays in uniform buffers are aligned to this many bytes.
constexpr uint64_t kUniformUnit = 16;
constexpr Rules kNatural = Rules::kStd430;  // the numbers of a declaration without attributes

// Types that WGSL aligns by itself, for which uniform buffers have rules of their own.
bool IsComposite(const Type& type) { return type.kind == TypeKind::kStruct || IsArray(type); }

// spec/layout 4.9: what WGSL has no scalar for cannot be written in any layout.
bool HasWgslScalar(const Type& type) {
  switch (type.scalar) {
    case ScalarKind::kF32:
    case ScalarKind::kI32:
    case ScalarKind::kU32:
    case ScalarKind::kF16:
      return true;
    case ScalarKind::kBool:  // written as u32 where the engine writes the declaration
      return type.kind == TypeKind::kVector;
    case ScalarKind::kI16:
    case ScalarKind::kU16:
    case ScalarKind::kF64:
    case ScalarKind::kI64:
    case ScalarKind::kU64:
    case ScalarKind::kI8:
    case ScalarKind::kU8:
    case ScalarKind::kAddress:
      return false;
  }
  return false;
}

std::string Joined(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

// One walk over the members of a block; arrays are looked into once. WGSL can say where a member
// lies with @align and @size only, so it can write a layout if members follow each other, each at a
// multiple of its natural alignment. The first member for which that is not so is the answer.
class Expressible {
 public:
  Expressible(ByteLayouts& bytes, Rules rules)
      : bytes_(bytes), types_(bytes.types()), rules_(rules) {}

  // `end` is where the last member ends, rounded as WGSL rounds it: a struct to its alignment,
  // nothing else.
  std::optional<WgslIssue> Struct(TypeId id, const std::string& path) {
    const TypeLayout& layout = bytes_.Of(id, rules_);
    const std::span<const Member> members = types_.Members(id);
    uint64_t end = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      const Member& member = members[i];
      const TypeLayout& placed = bytes_.Of(member, rules_);
      // What has no bytes is not declared.
      if (placed.size == 0 && !placed.unsized) {
        continue;
      }
      const std::string at = Joined(path, member.name);
      const uint32_t natural = bytes_.Of(member, kNatural).alignment;
      if (layout.offsets[i] % natural != 0) {
        return WgslIssue{at,
                         fmt::format("offset {} not a multiple of {}", layout.offsets[i], natural)};
      }
      if (layout.offsets[i] < end) {
        return WgslIssue{at, fmt::format("offset {} below the end {} of the member before",
                                         layout.offsets[i], end)};
      }
      if (std::optional<WgslIssue> issue = Value(member.type, member, at)) {
        return issue;
      }
      // A member that would have to lie before this cannot be said with @align and @size.
      end = layout.offsets[i] + RoundUp(placed.size, Rounding(member.type, natural));
    }
    return std::nullopt;
  }

 private:
  // The size of a struct is a multiple of its alignment in WGSL.
  uint64_t Rounding(TypeId type, uint32_t natural) const {
    return types_[type].kind == TypeKind::kStruct ? natural : 1;
  }

  // Arrays are looked into once, at item 0: items are all alike.
  std::optional<WgslIssue> Value(TypeId id, const Member& member, const std::string& path) {
    const Type& type = types_[id];
    // The order of matrices comes from the member, however deep in arrays the matrix lies.
    const Member value{.type = id, .order = member.order};
    if (type.kind == TypeKind::kStruct) {
      return Struct(id, path);
    }
    if (IsArray(type)) {
      const Member item{.type = type.element, .order = member.order};
      const uint32_t stride = bytes_.Of(value, rules_).stride;
      const TypeLayout& element = bytes_.Of(item, rules_);
      const uint32_t natural = bytes_.Of(item, kNatural).alignment;
      if (stride % natural != 0) {
        return WgslIssue{path, fmt::format("stride {} not a multiple of {}", stride, natural)};
      }
      // Items of WGSL's own arrays lie as close as their alignment lets them; further apart is
      // only possible by a member of a struct.
      if (stride < RoundUp(element.size, Rounding(type.element, natural))) {
        return WgslIssue{path, fmt::format("stride {} below the size of an element", stride)};
      }
      return Value(type.element, member, path + "[0]");
    }
    if (!HasWgslScalar(type)) {
      return WgslIssue{path, fmt::format("no type like {}", TypeText(types_, id))};
    }
    if (type.kind == TypeKind::kMatrix) {
      const uint32_t stride = bytes_.Of(value, rules_).matrix_stride;
      const uint32_t natural = bytes_.Of(value, kNatural).matrix_stride;
      // The distance of columns is that of vectors in WGSL; a wider one is written as columns
      // of their own.
      if (stride < natural || stride % bytes_.Of(value, kNatural).alignment != 0) {
        return WgslIssue{path, fmt::format("matrix stride {} instead of {}", stride, natural)};
      }
    }
    return std::nullopt;
  }

  ByteLayouts& bytes_;
  const Types& types_;
  Rules rules_;
};

// Everything that a uniform buffer of WGSL may not have, not just the first: a report lists all.
// Both rules are those of the address space `uniform` of WGSL.
class Uniform {
 public:
  Uniform(ByteLayouts& bytes, Rules rules) : bytes_(bytes), types_(bytes.types()), rules_(rules) {}

  std::vector<WgslIssue> Run(TypeId content) {
    Struct(content, "");
    return std::move(issues_);
  }

 private:
  template <class... Args>
  void Add(const std::string& path, fmt::format_string<Args...> text, Args&&... args) {
    issues_.push_back({path, fmt::format(text, std::forward<Args>(args)...)});
  }

  void Struct(TypeId id, const std::string& path) {
    const TypeLayout& layout = bytes_.Of(id, rules_);
    const std::span<const Member> members = types_.Members(id);
    for (size_t i = 0; i < members.size(); ++i) {
      const Member& member = members[i];
      const Type& type = types_[member.type];
      const std::string at = Joined(path, member.name);
      // There is no such array in a uniform buffer, so nothing in it is looked at.
      if (type.kind == TypeKind::kRuntimeArray) {
        Add(at, "run-time sized");
        continue;
      }
      // In a uniform buffer structs and arrays are aligned to 16 bytes at least.
      uint64_t required = bytes_.Of(member, kNatural).alignment;
      if (IsComposite(type)) {
        required = RoundUp(required, kUniformUnit);
      }
      if (layout.offsets[i] % required != 0) {
        Add(at, "offset {} not a multiple of {}", layout.offsets[i], required);
      }
      // A struct must be padded to 16 bytes before the next member begins.
      if (type.kind == TypeKind::kStruct && i + 1 < members.size()) {
        const uint64_t size = bytes_.Of(member, rules_).size;
        const uint64_t distance = layout.offsets[i + 1] - layout.offsets[i];
        if (distance < RoundUp(size, kUniformUnit)) {
          Add(at, "next member only {} bytes after a struct of size {}", distance, size);
        }
      }
      Inside(member.type, member, at);
    }
  }

  void Inside(TypeId id, const Member& member, const std::string& path) {
    const Type& type = types_[id];
    if (type.kind == TypeKind::kStruct) {
      Struct(id, path);
    } else if (type.kind == TypeKind::kArray) {
      const uint32_t stride = bytes_.Of(Member{.type = id, .order = member.order}, rules_).stride;
      if (stride % kUniformUnit != 0) {
        Add(path, "stride {} not a multiple of {}", stride, kUniformUnit);
      }
      Inside(type.element, member, path + "[0]");
    } else if (type.kind == TypeKind::kRuntimeArray) {
      Add(path, "run-time sized");
    }
  }

  ByteLayouts& bytes_;
  const Types& types_;
  Rules rules_;
  std::vector<WgslIssue> issues_;
};

}  // namespace

// Blocks without a struct have nothing that could lie wrongly.
std::optional<WgslIssue> FindNotExpressible(ByteLayouts& bytes, TypeId content, Rules rules) {
  if (bytes.types()[content].kind != TypeKind::kStruct) {
    return std::nullopt;
  }
  return Expressible(bytes, rules).Struct(content, "");
}

std::vector<WgslIssue> UniformIssues(ByteLayouts& bytes, TypeId content, Rules rules) {
  if (bytes.types()[content].kind != TypeKind::kStruct) {
    return {};
  }
  return Uniform(bytes, rules).Run(content);
}

// A boolean has no form in memory that host and shader agree about.
bool HostShareable(const Types& types, TypeId id) {
  const Type& type = types[id];
  switch (type.kind) {
    case TypeKind::kVector:
      return type.scalar != ScalarKind::kBool && HasWgslScalar(type);
    case TypeKind::kMatrix:
      return (type.scalar == ScalarKind::kF32 || type.scalar == ScalarKind::kF16) &&
             type.rows > 1 && type.columns > 1;
    case TypeKind::kArray:
      // An array of nothing has no form in WGSL.
      return type.extent != 0 && HostShareable(types, type.element);
    case TypeKind::kRuntimeArray:
      return HostShareable(types, type.element);
    case TypeKind::kStruct:
      return type.member_count != 0 &&
             std::ranges::all_of(types.Members(id), [&](const Member& member) {
               return HostShareable(types, member.type);
             });
    case TypeKind::kResource:
    case TypeKind::kConstantBuffer:
    case TypeKind::kParameterBlock:
    case TypeKind::kGeneric:
    case TypeKind::kEndless:
      return false;
  }
  return false;
}

bool HasRowMajor(const ByteLayouts& bytes, TypeId id) {
  const Types& types = bytes.types();
  const TypeId item = ItemOf(types, id);
  if (types[item].kind != TypeKind::kStruct) {
    return false;
  }
  return std::ranges::any_of(types.Members(item), [&](const Member& member) {
    const bool matrix = types[ItemOf(types, member.type)].kind == TypeKind::kMatrix;
    return matrix ? bytes.OrderOf(member) == MatrixOrder::kRow : HasRowMajor(bytes, member.type);
  });
}

bool HasArray(const Types& types, TypeId type) {
  if (IsArray(types[type])) {
    return true;
  }
  return types[type].kind == TypeKind::kStruct &&
         std::ranges::any_of(types.Members(type),
                             [&](const Member& member) { return HasArray(types, member.type); });
}

// A wider stride than WGSL's own means that the engine declares the matrix as separate columns.
bool NeedsColumns(ByteLayouts& bytes, const Member& member, Rules rules) {
  return bytes.Of(member, rules).matrix_stride > bytes.Of(member, kNatural).matrix_stride;
}

}  // namespace kiln::layout
