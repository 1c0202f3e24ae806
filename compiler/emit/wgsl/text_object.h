// SPDX-License-Identifier: MIT
// A text object: the WGSL of one specialised region, with places for what only the module knows.
// Text is made with marks in it, bytes that no WGSL text has; Split takes them out and says where
// they stood. See spec/wgsl 3.2, 3.3.
//
//   mark = 0x01 kind hexadecimal-id 0x02
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

enum class MarkKind : char {
  kLocal = 'l',           // a local of an enclosing region: LocalId
  kIndent = 'i',          // how deep the insertion point that follows stands
  kInsertionPoint = 'h',  // the lines of another region: RegionId
  kFunction = 'f',        // the name of a function: DeclId
  kArguments = 'a',       // arguments that the callee takes besides its own: DeclId
  kTable = 't',           // the variable of a constant: ConstId
  kOverride = 'o',        // an option that the pipeline sets: SpecId
  kZero = 'z',            // " T()" with the result of this function, or nothing
  kResult = 'r',          // the struct that this entry point gives
  // The text up to kEnd is there only if …
  kIfInLoop = 'L',        // this region runs inside of a loop
  kIfKills = 'K',         // the callee may discard: DeclId
  kIfKillsInLoop = 'B',   // both
  kIfFlag = 'F',          // some loop asks whether a callee has discarded
  kIfWritesImages = 'I',  // some image of the variant is read and written
  kEnd = 'e',
};

std::string Mark(MarkKind kind, uint32_t id = 0);

struct Relocation {
  uint32_t offset = 0;  // in the text
  MarkKind kind{};
  uint32_t id = 0;
};

// Text without marks, and the marks in order.
struct MarkedText {
  std::string text;
  std::vector<Relocation> marks;
};
MarkedText Split(std::string_view marked);

// What is wrong with a region for WGSL. The module is that of the region.
struct RegionFinding {
  Code code{};
  ir::SpanId span{};
  std::vector<Argument> arguments;
};

// Functions that kiln adds to a module that calls them: rows of helpers.def.
enum class Helper : uint8_t {
#define KILN_HELPER(name, function, requires, text) k##name,
#include "compiler/emit/wgsl/helpers.def"
};
using HelperBits = uint32_t;
constexpr HelperBits BitOf(Helper helper) { return HelperBits{1} << static_cast<uint32_t>(helper); }

// A module-scope variable that text mentions; `member` of containers.
struct VariableUse {
  ir::DeclId decl{};
  ir::MemberId member{};
  ir::Direction direction = ir::Direction::kNone;
  uint32_t element = 0;  // of an array of images
  friend bool operator==(const VariableUse&, const VariableUse&) = default;
};

// Bits of a float that no literal has; they are read from a variable.
struct SpecialBits {
  ir::Scalar scalar = ir::Scalar::kF32;
  uint32_t bits = 0;
  friend bool operator==(const SpecialBits&, const SpecialBits&) = default;
};

// What text needs at module scope, each once, in order of first mention.
struct Needs {
  std::vector<VariableUse> variables;
  std::vector<ir::TypeId> structs;
  std::vector<SpecialBits> specials;
  HelperBits helpers = 0;
  uint32_t stage_variables = 0;  // bits by ir::StageVariable
  bool half = false;
};

struct LocalName {
  ir::LocalId local{};
  std::string name;
};

struct TextObject {
  MarkedText code;
  std::vector<LocalName> names;  // of the locals that the region declares
  std::vector<std::string> io;  // of an entry point of a typed module, by row: inputs that the text
                                // mentions; others are empty
  Needs needs;
  std::vector<RegionFinding> findings;
  bool ends = false;   // control never arrives at the end
  uint64_t bytes = 0;  // of the lines that are there in any case
};

}  // namespace kiln::wgsl
