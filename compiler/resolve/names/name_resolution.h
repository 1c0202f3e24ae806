// SPDX-License-Identifier: MIT
// What the queries about names and members have as their results, and their form in a trace: 128
// bits that are equal if the results are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/base/hash/checksum.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/queries/queries.h"
#include "compiler/resolve/values/evaluate.h"

namespace kiln::resolve {

// Which declaration a name denotes.
struct NameResolution {
  enum class Kind : uint8_t { kNone, kConflict, kFailed, kDecl, kOption, kConstant };
  Kind kind = Kind::kNone;
  uint32_t id = ir::kNoRow;  // DeclId (kDecl, kConstant; kConflict: the first) or OptionId
  ir::DeclId decl() const { return ir::DeclId{id}; }
  ir::OptionId option() const { return ir::OptionId{id}; }
  friend bool operator==(const NameResolution&, const NameResolution&) = default;
};

// A member of a declaration by name.
struct MemberResolution {
  enum class Kind : uint8_t { kNone, kFailed, kField, kAlias };
  Kind kind = Kind::kNone;
  uint32_t position = 0;  // among the live fields
  ir::TypeId type;        // specialised; of a field
  ir::MemberId member;    // program-wide
};

inline QueryResult Pack(const Value& value) {
  return {.first = uint64_t{static_cast<uint16_t>(value.kind)} << 40 |
                   uint64_t{value.instance ? 1u : 0u} << 32 | value.bits};
}
inline QueryResult Pack(const NameResolution& answer) {
  return {.first = uint64_t{static_cast<uint8_t>(answer.kind)} << 32 | answer.id};
}
inline QueryResult Pack(const MemberResolution& answer) {
  return {.first = uint64_t{static_cast<uint8_t>(answer.kind)} << 32 | answer.position,
          .second = uint64_t{answer.member.value} << 32 | answer.type.value};
}
// The hash is that of this process: traces are not stored.
inline QueryResult Pack(std::span<const NameId> path) {
  if (path.empty()) {
    return {};
  }
  const Hash128 hash = ProcessHash(std::as_bytes(path));
  return {.first = ReadLittle<uint64_t>(std::as_bytes(std::span(hash.bytes))),
          .second = ReadLittle<uint64_t>(std::as_bytes(std::span(hash.bytes)), 8)};
}
inline QueryResult Pack(ir::ConstId value) { return {.first = value.value}; }
// Units keep what they made at one address while it is the same.
inline QueryResult Pack(const ir::SpecialisedDecl* decl) {
  return {.first = reinterpret_cast<uintptr_t>(decl)};
}

}  // namespace kiln::resolve
