// SPDX-License-Identifier: MIT
// Open declarations: options, global declarations, their members, the local names of functions,
// segments, and the span rows that run parallel to them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compiler/ir/cexpr.h"
#include "compiler/ir/ids.h"

namespace kiln::ir {

enum class OptionScope : uint8_t { kGlobal, kInstance };
enum class OptionKind : uint8_t { kFlag, kUint, kSint, kFloat, kEnum };

struct Option {
  StringId name{};
  OptionScope scope = OptionScope::kGlobal;
  OptionKind kind = OptionKind::kFlag;
  uint16_t specialize = 0;     // 1: version 2, not folded
  uint32_t default_value = 0;  // flag 0/1, uint, sint, float bits; enum: index, always 0
  ListId values{};             // enum: list of StringId; else invalid
  SpanId span{};               // of the name
  uint32_t zero = 0;
};
static_assert(sizeof(Option) == 24 && std::is_trivially_copyable_v<Option>);

enum class DeclKind : uint16_t {
  kConstant,
  kSetting,
  kStruct,
  kContainer,
  kBuffer,
  kPushConstant,
  kSampler,
  kImage,
  kFunction,
  kWorkgroup,
};
enum class ContainerKind : uint8_t { kVertexAttributes, kInstanceAttributes, kState, kColorOutput };
enum class BufferKind : uint8_t { kUniform, kReadOnlyStorage, kReadWriteStorage };
enum class ResourceSet : uint8_t { kPass, kMaterial, kObject, kShared };  // descriptor sets 0..3
enum class ImageAccess : uint8_t { kReadOnly, kWriteOnly, kReadWrite };

// One global declaration, in source order. What the words mean by kind:
//   kind           flags                      type                 members     body
//   kConstant      -                          declared or invalid  -           CexprId value
//   kSetting       -                          -                    -           CexprId value; aux =
//   block or kNoBlock kStruct        -                          -                    fields      -
//   kContainer     ContainerKind              -                    fields      -
//   kBuffer        BufferKind | set << 8      -                    fields      -
//   kPushConstant  -                          -                    fields      -
//   kSampler       set << 8                   sampler              -           -
//   kImage         ImageAccess | set << 8     image or image array -           -
//   kFunction      1 = relaxed return         return type          parameters  RegionId of the
//   body kWorkgroup     -                          type                 -           -
struct Decl {
  DeclKind kind = DeclKind::kConstant;
  uint16_t flags = 0;
  StringId name{};  // dotted names are one string with dots
  CexprId condition = kTrue;
  TypeId type{};
  uint32_t first_member = 0;
  uint32_t member_count = 0;
  uint32_t body = kNoRow;
  uint32_t aux = kNoRow;

  ContainerKind container() const { return static_cast<ContainerKind>(flags & 0xffu); }
  BufferKind buffer() const { return static_cast<BufferKind>(flags & 0xffu); }
  ImageAccess access() const { return static_cast<ImageAccess>(flags & 0xffu); }
  ResourceSet set() const { return static_cast<ResourceSet>(flags >> 8); }
};
static_assert(sizeof(Decl) == 32 && std::is_trivially_copyable_v<Decl>);

enum class MemberKind : uint8_t { kField, kAlias, kParameter };
enum class PackClass : uint8_t { kDefault, kFloat, kUnorm, kSnorm, kUint, kSint };
enum class Access : uint8_t { kIn, kOut, kInOut };

// Member::value of a field that is declared `relaxed`.
inline constexpr uint32_t kRelaxedField = 1;

// A field or field alias of a struct, container, buffer or push constant; a parameter of a
// function.
struct Member {
  StringId name{};
  CexprId condition = kTrue;
  TypeId type{};  // field, parameter
  MemberKind kind = MemberKind::kField;
  PackClass pack = PackClass::kDefault;
  uint8_t pack_bits = 0;        // 8, 16, 32 or what was written
  Access access = Access::kIn;  // parameter
  ListId tags{};                // of StringId, in source order; invalid = none
  uint32_t value = kNoRow;      // alias: ListId of StringId (the dotted path), invalid if the
                                // expression is not a path; parameter: LocalId
};
static_assert(sizeof(Member) == 24 && std::is_trivially_copyable_v<Member>);

enum class LocalKind : uint8_t { kParameter, kVariable, kAlias, kLoopExit };

// A name that lives in one function. Those a segment declares are its reserved names, listed by the
// segment in source order (spec/architecture 10.1).
struct Local {
  StringId name{};            // invalid for loop exits
  CexprId condition = kTrue;  // of parameters and aliases
  TypeId type{};              // open; parameter, variable
  LocalKind kind = LocalKind::kVariable;
  Access access = Access::kIn;  // parameter
  uint16_t relaxed = 0;
  uint32_t block = kNoRow;  // alias: BlockId that yields the expression
  ListId shadowed{};        // visible locals of the same name at the declaration, innermost first
};
static_assert(sizeof(Local) == 24 && std::is_trivially_copyable_v<Local>);

// A function body, or a `when` block nested in one that control always flows past
// (spec/architecture 10.1). Those of a function are consecutive, body first, then in pre-order.
struct Region {
  DeclId function{};
  RegionId parent{};  // invalid for a function body
  BlockId block{};
  ListId locals{};            // reserved names this segment declares: LocalIds in source order
  CexprId condition = kTrue;  // of the insertion point; kTrue for a function body
  uint32_t zero = 0;
};
static_assert(sizeof(Region) == 24 && std::is_trivially_copyable_v<Region>);

// Span rows. Each number is a row of the module's span table; a *run* is the first of one span per
// cexpr node in pre-order.
struct DeclSpans {
  SpanId name{};
  SpanId condition{};  // run
  SpanId type{};       // type name, then the runs of the extents, outermost first
  SpanId value{};      // run, of a constant or setting
};
struct MemberSpans {
  SpanId name{};
  SpanId condition{};  // run
  SpanId type{};
  SpanId value{};  // alias: one span per path item; pack: the pack format
};
struct LocalSpans {
  SpanId name{};
  SpanId condition{};  // run
  SpanId type{};
};
struct RegionSpans {
  SpanId condition{};  // run
};
// main: the whole construct; aux: operator, member name, callee or the condition run of a `when`.
struct InstSpans {
  SpanId main{};
  SpanId aux{};
};

inline constexpr uint32_t kNoBlock = kNoRow;

}  // namespace kiln::ir
