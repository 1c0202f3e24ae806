// SPDX-License-Identifier: MIT
// A code object: the relocatable words of one region, function head, type, constant or variable.
// Code objects are rows of ranges into the arenas of a CodeObjectStore; assembling copies their
// words and adds bases.
//
// Words of a code object lie in up to five parts. In them,
//   an *own id* is a result that this code object defines: the word holds k and becomes base + k,
//   an *import* is a result of somebody else: the word is zero and becomes the number of a symbol,
//   a *slot* is a number that Layout decides.
// All positions count from the first word of their part.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compiler/base/id.h"
#include "compiler/ir/ids.h"
#include "compiler/target/capabilities.h"

namespace kiln::spirv {

// Whatever code objects refer to across their edges. Ids are names: never printed, never ordered.
using SymbolId = Id<struct SymbolTag>;
using GlobalId = Id<struct GlobalTag>;  // symbols of module scope, numbered densely for bit sets
using CodeObjectId = Id<struct PieceTag>;

template <class T>
struct Range {
  uint32_t first = 0;
  uint32_t count = 0;
  bool empty() const { return count == 0; }
};

enum class Part : uint8_t {
  kDebug,         // OpName, OpMemberName
  kAnnotations,   // OpDecorate, OpMemberDecorate
  kDeclarations,  // a type, constant, variable or import of instructions; a function's head
  kVariables,     // the first label of a body; the variables of a region
  kCode,
};
inline constexpr uint32_t kPartCount = 5;

struct SymbolRelocation {
  uint32_t position = 0;
  SymbolId symbol{};
};

// One part of one code object. Which words are own ids is a mask beside the words
// (CodeObjectStore), so that copying and adding bases are one pass.
struct Section {
  Range<uint32_t> words{};
  Range<SymbolRelocation> imports{};  // ascending positions
};

enum class LayoutRelocationKind : uint8_t { kSet, kBinding, kLocation };

// A word of the annotations.
struct LayoutRelocation {
  uint32_t position = 0;
  LayoutRelocationKind kind = LayoutRelocationKind::kSet;
  uint32_t row = 0;  // DeclId of sets and bindings, MemberId of locations
};

// Where code continues with another region, if that is live. The ends are those of the chunk of
// code before the insertion point, in words and imports from the start of the code. One that is not
// reached stands behind an end: it keeps its place in the list and is never filled.
struct InsertionPoint {
  ir::RegionId region{};
  uint32_t word_end = 0;
  uint32_t import_end = 0;
  bool reached = true;
};

// An image that is handed to a parameter of `callee`. Non-uniform if `source` is invalid, else if
// the parameter `source` is.
struct Flow {
  SymbolId callee{};
  uint32_t argument = 0;
  SymbolId source{};
};

// Decorations that hold only if an image parameter is non-uniform.
struct Conditional {
  SymbolId parameter{};
  Section words{};
};

// How the last block of a region ends.
enum class End : uint8_t {
  kFlows,       // control goes on behind it
  kTerminated,  // by an instruction that ends a block
};

struct CodeObject {
  Section parts[kPartCount]{};
  uint32_t own_ids = 0;
  uint32_t word_count = 0;  // of all parts
  target::Needs needs = 0;
  End end = End::kFlows;
  Range<SymbolId> reserved{};  // own ids 0, 1, …: locals and labels that nested regions may name
  Range<uint64_t> globals{};   // bits by GlobalId: what it needs, and what those need
  Range<LayoutRelocation> slots{};           // ascending positions
  Range<InsertionPoint> insertion_points{};  // in order
  Range<Flow> flows{};
  Range<Conditional> conditionals{};

  const Section& part(Part p) const { return parts[static_cast<uint32_t>(p)]; }
};
static_assert(std::is_trivially_copyable_v<CodeObject>);

// What an operand is while words are written: an own id of the code object, or a symbol.
class Ref {
 public:
  Ref() = default;
  static Ref Own(uint32_t number) { return Ref(number); }
  static Ref Of(SymbolId symbol) { return Ref(symbol.value | kSymbolBit); }

  bool valid() const { return raw_ != kNone; }
  bool own() const { return (raw_ & kSymbolBit) == 0; }
  uint32_t number() const { return raw_; }                          // Requires: own()
  SymbolId symbol() const { return SymbolId{raw_ & ~kSymbolBit}; }  // Requires: !own()
  friend bool operator==(Ref, Ref) = default;

 private:
  static constexpr uint32_t kSymbolBit = 0x80000000u;
  static constexpr uint32_t kNone = 0xffffffffu;
  explicit Ref(uint32_t raw) : raw_(raw) {}
  uint32_t raw_ = kNone;
};

}  // namespace kiln::spirv
