// SPDX-License-Identifier: MIT
// Specialised IR: what is left of generic IR when one variant's queries are answered. Types are
// those of one Pool, DeclId, MemberId, LocalId and RegionId are program-wide, nothing is deferred,
// named or conditional any more. A specialised unit is immutable once made.
//
//   SpecialisedDecl     one live declaration: its live members with specialised types
//   SpecialisedRegion   the rows of one region; insertion points name the regions that go there if
//   live SpecialisedProgram  ordered references to those that make up one variant; owns nothing
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/ir/decls.h"
#include "compiler/ir/ids.h"
#include "compiler/ir/insts.h"
#include "compiler/ir/types.h"
#include "compiler/source/span.h"

namespace kiln::ir {

enum class Stage : uint8_t { kVertex, kFragment, kCompute };
enum class PipelineType : uint8_t { kGraphicsClassic, kCompute };

// Where a row came from: module ordinal and span number (spec/cache 2.4.3).
struct Origin {
  uint32_t module = 0;
  SpanId span{};
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct SpecialisedMember {
  StringId name{};  // of the Pool
  TypeId type{};
  MemberId member{};                     // program-wide row of the generic member
  PackClass pack = PackClass::kDefault;  // attributes: never kDefault
  uint8_t pack_bits = 0;
  Access access = Access::kIn;   // parameters
  std::vector<StringId> tags{};  // of the Pool, source order
  LocalId local{};               // parameters
  Origin origin{};
  bool relaxed = false;                 // parameters, state fields
  std::vector<Attribute> attributes{};  // texts are those of the Pool
};

// kStruct: `type` is the struct type. kFunction: `type` is the return type, members are the live
// parameters. kBuffer, kPushConstant: `type` is a struct type with the declaration's name.
// kSampler, kImage: `type` is the sampler, image or an array of those. kContainer: members only.
// kPrivate: `type` and `initial`. A buffer of one content, or of an array of contents, has no
// members: its type is a struct that wraps the content, or an array of that.
struct SpecialisedDecl {
  DeclId decl{};
  DeclKind kind = DeclKind::kStruct;
  uint16_t flags = 0;  // as Decl::flags
  StringId name{};
  TypeId type{};
  std::vector<SpecialisedMember> members{};
  Origin origin{};
  ConstId initial{};  // of private variables; invalid: zero
  std::vector<Attribute> attributes{};

  ContainerKind container() const { return static_cast<ContainerKind>(flags & 0xffu); }
  BufferKind buffer() const { return static_cast<BufferKind>(flags & 0xffu); }
  ImageAccess access() const { return static_cast<ImageAccess>(flags & 0xffu); }
  ResourceSet set() const { return static_cast<ResourceSet>(flags >> 8); }
};

// A local variable that this region owns (a reserved name), with its specialised type.
struct SpecialisedLocal {
  LocalId local{};
  LocalKind kind = LocalKind::kVariable;  // parameters, variables, loop exits; aliases are gone
  Access access = Access::kIn;
  StringId name{};
  TypeId type{};  // loop exits: void
  bool relaxed = false;
};

// What a region touches, for checks of the walk and for `stages` in metadata. First mention order.
enum class MemberUse : uint8_t { kRead = 1, kWrite = 2, kSample = 4, kCompare = 8 };
struct Mention {
  DeclId decl{};        // container, buffer, push constant, sampler, image or callee
  MemberId member{};    // container field, else invalid
  uint8_t touches = 0;  // Touch bits
  Direction direction = Direction::kNone;
  SpanId span{};  // of the first mention
};

// What a region does to local variables that are declared without a value, in order, for the walk
// (spec/rpl 8.8). Branches and loops hold parts: kBranch part {kNext part} kEnd; the parts of a
// loop are its condition, body and continuing block.
enum class AssignmentEventKind : uint8_t {
  kDeclare,  // id: LocalId
  kRead,     // id: LocalId
  kAssign,   // id: LocalId
  kBranch,
  kLoop,
  kNext,
  kEnd,
  kBreak,
  kContinue,
  kLeave,           // the function
  kInsertionPoint,  // id: RegionId
};
struct AssignmentEvent {
  AssignmentEventKind kind = AssignmentEventKind::kLeave;
  uint32_t id = 0;
  SpanId span{};  // of the mention
};

// One variable between stages, or between a stage and what is fixed around it, of an entry point of
// a typed module: leaves of a parameter or of the result. `io` names it by its row.
struct InterfaceRow {
  StringId name{};                       // of the Pool: the path, "input.uv"
  TypeId type{};                         // a vector or matrix, or an array of those
  Direction direction = Direction::kIn;  // kIn or kOut
  // builtin; semantic, location, index, interpolation; texts of the Pool
  std::vector<Attribute> attributes{};
  // For metadata:
  StringId field{};           // the last name of the path; invalid for a bare result
  StringId source{};          // the struct that holds it, or what the source says; may be invalid
  Rate rate = Rate::kVertex;  // of that buffer
  PackClass pack = PackClass::kDefault;  // as SpecialisedMember has it
  uint8_t pack_bits = 0;
  std::vector<StringId> tags{};
  Origin origin{};

  const Attribute* Find(AttributeKey key) const {
    for (const Attribute& attribute : attributes) {
      if (attribute.key == key) {
        return &attribute;
      }
    }
    return nullptr;
  }
  friend bool operator==(const InterfaceRow&, const InterfaceRow&) = default;
};

struct SpecialisedRegion {
  RegionId id{};
  DeclId function{};
  std::vector<Inst> insts{};
  std::vector<Block> blocks{};
  std::vector<uint32_t> block_insts{};
  std::vector<uint32_t> extra{};
  BlockId body{};                                // operands precede users inside and across blocks
  std::vector<SpecialisedLocal> locals{};        // own reserved names, source order
  std::vector<Mention> mentions{};               // variables and callees in order of first mention
  std::vector<RegionId> insertion_points{};      // in order; each is also an InsertionPoint inst
  std::vector<StageVariable> stage_variables{};  // mentioned, in order
  std::vector<AssignmentEvent>
      flow{};                        // empty if the function declares no variable without a value
  std::vector<LocalId> ambiguous{};  // own names that a function or struct of the program has too
  std::vector<uint32_t> relaxed{};   // places, parameters and calls that may be 16 bits wide
  std::vector<SpanId> spans{};       // parallel to insts; of the module of the function
  std::vector<InterfaceRow> io{};    // of the body of an entry version: all that `io` may name
  uint32_t module = 0;               // ordinal, for spans
  bool discards = false;
  bool bound = false;              // touches a container or calls a stage function (spec/rpl 8.9)
  bool uses_implicit_lod = false;  // then the stage was asked

  std::span<const uint32_t> InstsOf(BlockId id) const {
    const Block& b = blocks[id.value];
    return std::span(block_insts).subspan(b.first, b.count);
  }
  std::span<const uint32_t> List(ListId id) const {
    return id.valid() ? std::span(extra).subspan(id.value + 1, extra[id.value])
                      : std::span<const uint32_t>{};
  }
};

// One live region of a function, in the order of the insertion points (depth first); [0] is the
// body. `parent` is the index, in `regions` of the function, of the region whose insertion point
// it fills.
struct RegionRef {
  RegionId region{};
  const SpecialisedRegion* specialised = nullptr;
  uint32_t parent = 0;
};

struct FunctionRef {
  uint32_t number = 0;  // dense: equal numbers are equal functions, within what owns them
  DeclId function{};
  const SpecialisedDecl* signature = nullptr;
  Stage stage = Stage::kVertex;  // the version's stage if stage-sensitive
  bool stage_sensitive = false;
  std::vector<RegionRef> regions{};  // live ones; an insertion point whose region is absent is dead
};

struct EntryRef {
  Stage stage = Stage::kVertex;
  DeclId function{};        // of typed modules: the entry version
  std::string_view name{};  // of the Pool or program
  // Reached, in order of first mention; [0] is the entry. Owned by whoever owns the specialised
  // units.
  std::vector<const FunctionRef*> functions{};
  Bitset live_options{};           // read by what this entry point reaches and by the interface
  std::vector<InterfaceRow> io{};  // of typed modules
  uint32_t interface = 0;          // equal numbers are equal io, within what owns them
};

struct SpecialisedSetting {
  std::string name{};
  uint32_t block = kNoBlock;
  uint16_t kind = 0;   // ValueKind
  uint32_t bits = 0;   // flag, uint, sint, float bits
  std::string text{};  // string settings
  Origin origin{};     // of the value
};

// Which kind of thing read an option (spec/rpl 12.3), one bit each.
enum class Influence : uint8_t {
  kLayout = 1,
  kSettings = 2,
  kCode = 4,
  kCheck = 8,
  kSpecialization = 16
};
struct OptionUse {
  StringId name{};  // of the Pool
  OptionScope scope = OptionScope::kGlobal;
  OptionKind kind = OptionKind::kFlag;
  uint32_t value = 0;     // bits; enum: index
  StringId text{};        // enum value
  uint8_t influence = 0;  // Influence bits
};

// A specialised option: its value is not part of the code (spec/rpl 14.9).
struct SpecConstant {
  StringId name{};  // of the Pool
  uint32_t id = 0;  // SpecId
  OptionKind kind = OptionKind::kFlag;
  uint32_t default_bits = 0;
  uint32_t bits = 0;
};

// How the declarations of an interface get their bindings: by RPL's groups and sets, or by what is
// written and the lowest free numbers (spec/layout 7.3).
enum class BindingPolicy : uint8_t { kGroups, kFirstFit };

struct SpecialisedProgram {
  const Pool* pool = nullptr;
  PipelineType pipeline = PipelineType::kGraphicsClassic;
  BindingPolicy bindings = BindingPolicy::kGroups;
  // Live interface declarations in binding order (spec/rpl 8.1 step 3): containers, uniform
  // buffers, read-only storage buffers, push constants, samplers, images by type, read-write
  // storage buffers, storage images; module by module. Then the workgroup memory that is mentioned.
  std::vector<const SpecialisedDecl*> interface;
  // Structs that those hold, directly or not, each once: tags and origins of their members, which
  // are parallel to the members of the type.
  std::vector<const SpecialisedDecl*> structs{};
  // Last one of a name and block wins, applied in order. Owned as functions are.
  std::span<const SpecialisedSetting> settings{};
  std::vector<EntryRef> entries{};             // stage order
  std::vector<OptionUse> option_uses{};        // sorted by name
  std::vector<SpecConstant> specialization{};  // by id
  Bitset live_options{};  // union over everything; bit = OptionId of the program
};

}  // namespace kiln::ir
