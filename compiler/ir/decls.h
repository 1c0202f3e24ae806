// SPDX-License-Identifier: MIT
// Open declarations: options, global declarations, their members, the local names of functions,
// regions, and the span rows that run parallel to them.
#pragma once

#include <cstddef>
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
  uint32_t default_value = 0;  // flag 0/1, uint, sint, float bits; enum: index
  ListId values{};             // enum: list of StringId; else invalid
  SpanId span{};               // of the name
  uint32_t id_plus_one = 0;    // the number that the source gives it, or 0: none
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
  kPrivate,
  kEntry,
};
enum class ContainerKind : uint8_t { kVertexAttributes, kInstanceAttributes, kState, kColorOutput };
enum class BufferKind : uint8_t { kUniform, kReadOnlyStorage, kReadWriteStorage };
enum class ResourceSet : uint8_t { kPass, kMaterial, kObject, kShared };  // descriptor sets 0..3
enum class ImageAccess : uint8_t { kReadOnly, kWriteOnly, kReadWrite };

// One global declaration, in source order. What the words mean by kind:
//   kind           flags                      type                 members     body
//   kConstant      -                          declared or invalid  -           CexprId value
//   kSetting       -                          -                    -           CexprId value; aux =
//   block or kNoBlock; of a typed module: DeclId of the entry point or kNoRow, flags = 1 + block or
//   0 kStruct        -                          -                    fields      - kContainer
//   ContainerKind              -                    fields      - kBuffer        BufferKind | set
//   << 8      -                    fields      - kPushConstant  -                          - fields
//   - kSampler       set << 8                   sampler              -           - kImage
//   ImageAccess | set << 8     image or image array -           - kFunction      1 = relaxed return
//   return type          parameters  RegionId of the body kWorkgroup     - type                 - -
//   kPrivate       -                          type                 -           CexprId of the
//   initial value, or kNoRow: zero; aux = DeclId of the function that computes it, or kNoRow
//   kEntry         Stage                      -                    -           DeclId of the
//   function
// In typed modules a buffer has fields or, as its type, one content.
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
// kPlace: of typed modules, stands for one thing outside of the function.
enum class Access : uint8_t { kIn, kOut, kInOut, kPlace };

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

// --- attributes ----------------------------------------------------------------------------------
enum class AttributeKey : uint16_t {
#define KILN_ATTRIBUTE(key, name, a, b, owners) k##key,
#include "compiler/ir/attributes.def"
};
enum class AttributeWord : uint8_t {
  kNone,
  kNumber,
  kText,
  kInterpolation,
  kRate,
  kFormat,
  kRuleSet,
};
enum class AttributeOwners : uint8_t { kDecl = 1, kMember = 2, kAny = 3 };
struct AttributeFacts {
  const char* name;
  AttributeWord a, b;
  AttributeOwners owners;
};
inline constexpr AttributeFacts kAttributeFacts[] = {
#define KILN_ATTRIBUTE(key, name, a, b, owners) \
  {name, AttributeWord::k##a, AttributeWord::k##b, AttributeOwners::k##owners},
#include "compiler/ir/attributes.def"
};
constexpr const AttributeFacts& FactsOf(AttributeKey key) {
  return kAttributeFacts[static_cast<size_t>(key)];
}

enum class Interpolation : uint8_t { kSmooth, kFlat, kNoPerspective, kCentroid, kSample };
enum class Rate : uint8_t { kVertex, kInstance };
// By which rules a block lies in memory, where a language says so: those of layout/rules.h, by
// their names there.
enum class RuleSet : uint8_t {
  kStd140,
  kStd430,
  kScalar,
  kC,
  kD3dCbuffer,
  kStd140Relaxed,
  kStd430Relaxed,
};

// One attribute of a declaration (of a function: of what it returns) or of a member. Rows of one
// owner follow each other in the order in which they were written; declarations before members,
// both in the order of their tables.
struct Attribute {
  uint16_t of_member = 0;  // 1: owner is a MemberId, else a DeclId
  AttributeKey key = AttributeKey::kBinding;
  uint32_t owner = 0;
  uint32_t a = 0;  // what attributes.def says; 0 for nothing
  uint32_t b = 0;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};
static_assert(sizeof(Attribute) == 16 && std::is_trivially_copyable_v<Attribute>);

enum class LocalKind : uint8_t { kParameter, kVariable, kAlias, kLoopExit, kSwitchExit };
constexpr bool IsExit(LocalKind kind) {
  return kind == LocalKind::kLoopExit || kind == LocalKind::kSwitchExit;
}

// A name that lives in one function. Those a region declares are its reserved names, listed by the
// region in source order (spec/architecture 10.1).
struct Local {
  StringId name{};            // invalid for exits
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
  ListId locals{};            // reserved names this region declares: LocalIds in source order
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
