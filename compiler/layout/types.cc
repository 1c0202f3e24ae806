// SPDX-License-Identifier: MIT
#include "compiler/layout/types.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/digest.h"

namespace kiln::layout {
namespace {

struct ScalarFacts {
  std::string_view text;
  char letter;  // of RPL; '?': none
  uint8_t size;
};
// In the order of ScalarKind. The letters are those that RPL has; it has no others in memory.
constexpr ScalarFacts kScalars[] = {
    {"f32", 'f', 4}, {"i32", 's', 4}, {"u32", 'u', 4},     {"bool", 'b', 4}, {"f16", 'h', 2},
    {"i16", '?', 2}, {"u16", '?', 2}, {"f64", '?', 8},     {"i64", '?', 8},  {"u64", '?', 8},
    {"i8", '?', 1},  {"u8", '?', 1},  {"address", '?', 8},
};

const ScalarFacts& FactsOf(ScalarKind scalar) { return kScalars[static_cast<size_t>(scalar)]; }

// What follows from the row itself (depth, counts) need not be compared.
// A row that is equal in these has the same derived numbers.
bool SameRow(const Type& a, const Type& b) {
  return a.kind == b.kind && a.scalar == b.scalar && a.rows == b.rows && a.columns == b.columns &&
         a.resource == b.resource && a.element == b.element && a.extent == b.extent &&
         a.stride == b.stride && a.name == b.name;
}

// Packed into two words; texts are hashed only if there is one.
uint64_t HashRow(const Type& row) {
  const uint64_t head = static_cast<uint64_t>(row.kind) | static_cast<uint64_t>(row.scalar) << 8 |
                        uint64_t{row.rows} << 16 | uint64_t{row.columns} << 24 |
                        uint64_t{row.element.value} << 32;
  const uint64_t tail =
      row.extent ^ uint64_t { row.stride } << 40 ^ (row.name.empty() ? 0 : Hash64(row.name));
  return Mix64(head ^ Mix64(tail ^ static_cast<uint64_t>(row.resource)));
}

// One above the limit is enough to know that it was exceeded.
uint32_t AddPaths(uint32_t a, uint32_t b) { return std::min(a + b, kMaxPaths + 1); }

// In the spelling of the source, since diagnostics show it.
std::string VectorText(const Type& type, Spelling spelling) {
  const ScalarFacts& facts = FactsOf(type.scalar);
  if (spelling == Spelling::kRpl) {
    return fmt::format("{}{}", facts.letter, type.rows);
  }
  return type.rows == 1 ? std::string(facts.text) : fmt::format("vec{}<{}>", type.rows, facts.text);
}

std::string MatrixText(const Type& type, Spelling spelling) {
  const ScalarFacts& facts = FactsOf(type.scalar);
  if (spelling == Spelling::kRpl) {
    return fmt::format("{}{}x{}", facts.letter, type.columns, type.rows);
  }
  return fmt::format("mat_r{}c{}<{}>", type.rows, type.columns, facts.text);
}

}  // namespace

uint32_t ScalarSize(ScalarKind scalar) { return FactsOf(scalar).size; }

std::string_view ScalarText(ScalarKind scalar) { return FactsOf(scalar).text; }

bool IsArray(const Type& type) {
  return type.kind == TypeKind::kArray || type.kind == TypeKind::kRuntimeArray;
}

TypeId ItemOf(const Types& types, TypeId type) {
  while (IsArray(types[type])) {
    type = types[type].element;
  }
  return type;
}

std::string TypeText(const Types& types, TypeId id) {
  const Spelling spelling = types.spelling();
  std::string extents;
  // Extents are written from the outermost on, behind the item, as both languages have it.
  for (; IsArray(types[id]); id = types[id].element) {
    const Type& type = types[id];
    if (type.kind == TypeKind::kArray) {
      extents += fmt::format("[{}]", type.extent);
    } else {
      extents += spelling == Spelling::kRpl ? "..." : "[]";
    }
  }
  const Type& type = types[id];
  if (type.kind == TypeKind::kVector) {
    return VectorText(type, spelling) + extents;
  }
  if (type.kind == TypeKind::kMatrix) {
    return MatrixText(type, spelling) + extents;
  }
  return std::string(type.name) + extents;
}

// Vectors of one component are scalars.
TypeId Types::Vector(ScalarKind scalar, uint32_t components) {
  KILN_CHECK(components >= 1 && components <= 4, "{} components", components);
  return Intern({.scalar = scalar, .rows = static_cast<uint8_t>(components)});
}

// A stride of 0 is none that is written.
TypeId Types::Matrix(ScalarKind scalar, uint32_t rows, uint32_t columns, uint32_t stride) {
  KILN_CHECK(rows >= 1 && rows <= 4 && columns >= 1 && columns <= 4, "{}x{}", rows, columns);
  return Intern({.kind = TypeKind::kMatrix,
                 .scalar = scalar,
                 .rows = static_cast<uint8_t>(rows),
                 .columns = static_cast<uint8_t>(columns),
                 .stride = stride});
}

TypeId Types::Array(TypeId element, uint64_t extent, uint32_t stride) {
  return Intern({.kind = TypeKind::kArray, .element = element, .extent = extent, .stride = stride});
}

TypeId Types::RuntimeArray(TypeId element, uint32_t stride) {
  return Intern({.kind = TypeKind::kRuntimeArray, .element = element, .stride = stride});
}

// Structs are never shared: two with equal members are two types, for diagnostics name them and
// members have places.
TypeId Types::Struct(std::string_view name, std::span<const Member> members) {
  const auto first = static_cast<uint32_t>(members_.size());
  members_.insert(members_.end(), members.begin(), members.end());
  return Add({.kind = TypeKind::kStruct,
              .name = name,
              .first_member = first,
              .member_count = static_cast<uint32_t>(members.size())});
}

// Equal resources are one type, by their spelling.
TypeId Types::Resource(ResourceClass resource, std::string_view name, TypeId element) {
  return Intern(
      {.kind = TypeKind::kResource, .resource = resource, .element = element, .name = name});
}

// The extent tells a buffer that is one block from one that is an array of elements.
// Buffers that are one block, and buffers of elements, differ in what an offset is counted
// from.
TypeId Types::StorageBuffer(ResourceClass resource, std::string_view name, TypeId content) {
  return Intern({.kind = TypeKind::kResource,
                 .resource = resource,
                 .element = content,
                 .extent = 1,
                 .name = name});
}

TypeId Types::ConstantBuffer(std::string_view name, TypeId content) {
  return Intern({.kind = TypeKind::kConstantBuffer, .element = content, .name = name});
}

TypeId Types::ParameterBlock(std::string_view name, TypeId content) {
  return Intern({.kind = TypeKind::kParameterBlock, .element = content, .name = name});
}

TypeId Types::Generic(std::string_view name) {
  return Intern({.kind = TypeKind::kGeneric, .name = name});
}

TypeId Types::Endless(std::string_view name) {
  return Intern({.kind = TypeKind::kEndless, .name = name});
}

// Structs are not interned, but all that is made of them is.
TypeId Types::Intern(const Type& row) {
  return TypeId{index_.FindOrAdd(
      HashRow(row), [&](uint32_t i) { return SameRow(rows_[i], row); },
      [&] { return Add(row).value; })};
}

// A type that is too deep becomes one that has an end: `Endless` stands for it from there on, so no
// walk ever goes deeper than the limit, and whoever uses it reports that.
TypeId Types::Add(Type row) {
  Summarise(row);
  if (row.depth > kMaxDepth) {
    row = {.kind = TypeKind::kEndless, .name = row.name, .depth = 1};
  }
  rows_.push_back(row);
  return TypeId{size() - 1};
}

// What walks need to know before they start: depth, number of paths to leaves, whether there are
// bytes or resources below. All of it follows from the parts, which are there already. Paths
// saturate just above what is allowed, so that a type which doubles at each level is refused and
// not counted.
void Types::Summarise(Type& row) const {
  row.depth = 1;
  switch (row.kind) {
    case TypeKind::kVector:
    case TypeKind::kMatrix:
    case TypeKind::kGeneric:
    case TypeKind::kEndless:
      return;
    case TypeKind::kArray:
    case TypeKind::kRuntimeArray: {
      const Type& element = rows_[row.element.value];
      row.depth += element.depth;
      row.path_count = element.path_count;
      row.has_bytes = element.has_bytes && (row.kind == TypeKind::kRuntimeArray || row.extent != 0);
      row.has_resources = element.has_resources;
      return;
    }
    case TypeKind::kResource:
    case TypeKind::kConstantBuffer:
    case TypeKind::kParameterBlock:
      row.has_bytes = false;
      row.has_resources = true;
      if (row.element.valid()) {
        row.depth += rows_[row.element.value].depth;
        row.path_count = AddPaths(1, rows_[row.element.value].path_count);
      }
      return;
    case TypeKind::kStruct:
      row.has_bytes = false;
      for (uint32_t i = 0; i < row.member_count; ++i) {
        const Type& member = rows_[members_[row.first_member + i].type.value];
        row.depth = std::max(row.depth, member.depth + 1);
        row.path_count = AddPaths(row.path_count, member.path_count);
        row.has_bytes |= member.has_bytes;
        row.has_resources |= member.has_resources;
      }
      return;
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::layout
