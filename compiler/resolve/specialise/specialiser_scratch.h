// SPDX-License-Identifier: MIT
// Private to specialising: the memory that one region after the other uses again, so that a region
// costs what it holds. It shows in nothing that comes out. What depends on the program
// alone (the survey of effects, texts of types for messages) is found out once.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/base/push.h"
#include "compiler/ir/specialised.h"

namespace kiln::resolve {

enum class OperandKind : uint8_t {
  kFailed,  // diagnosed already
  kVoid,    // call without a value
  kValue,
  kPlace,
  kBlock,      // buffer or push constant as a whole: a place that has no value
  kContainer,  // stands only before '.'
};

struct Operand {
  OperandKind kind = OperandKind::kFailed;
  bool readable = true;
  bool writable = false;
  bool local = false;     // a local variable, an argument or part of one
  bool constant = false;  // a literal, or an option or constant mentioned by name
  ir::Direction direction = ir::Direction::kNone;
  ir::TypeId type;   // of the value, or of what the place holds
  ir::InstId inst;   // the value, or the root of the place
  ir::InstId early;  // the value of a place that was read at its turn; may be invalid
  uint32_t first_step = 0;
  uint32_t step_count = 0;
  ir::DeclId decl;      // root declaration of a global place, kBlock and kContainer
  ir::MemberId member;  // container field
};

struct SpecialiserScratch {
  // Rows that were written by a region other than that of `epoch` are as good as empty.
  struct Slot {
    uint32_t epoch = 0;
    uint32_t operand = 0;
  };
  struct LocalType {
    uint32_t epoch = 0;
    ir::TypeId type;
  };
  // Of a generic instruction: the number of effects before it in its block, and whether a later
  // effect forces it to be read at its turn. Zero if nobody surveyed it.
  struct Survey {
    uint32_t effects_before : 30 = 0;
    uint32_t read_early : 1 = 0;
    uint32_t has_effect : 1 = 0;
  };

  // Of a type, what SPIR-V bounds: for checks/spirv_limits alone.
  struct TypeWidth {
    bool known = false;
    bool ends_open = false;  // in a runtime array
    uint32_t own = 0;        // members of a struct
    uint32_t members = 0;    // the most that a struct in it has
    uint32_t items = 0;      // the most that an array in it has
  };

  bool in_use = false;
  uint32_t epoch = 0;
  std::vector<Slot> slots;                   // by instruction of the function
  std::vector<LocalType> local_types;        // by LocalId
  std::vector<std::vector<Survey>> surveys;  // by module and instruction
  std::vector<bool> surveyed;                // by RegionId
  std::vector<TypeWidth> widths;             // by TypeId
  std::vector<Operand> operands;
  std::vector<ir::InstId> steps;
  std::vector<uint32_t> pending;          // rows of the open blocks, one after the other
  std::vector<uint32_t> open_blocks;      // where each begins in `pending`
  std::vector<bool> ended_blocks;         // by BlockId of the region: control never leaves it below
  std::vector<uint32_t> list;             // lists in progress, one after the other
  FlatMap<uint64_t, uint32_t> mentioned;  // decl << 32 | member -> mention, of many
  std::deque<std::string> texts;          // stable addresses
  FlatMap<uint64_t, uint32_t> text_of;    // of a type or a function of a family
};

// A list in progress. Lists end in the opposite order of their beginnings.
class ScratchList {
 public:
  explicit ScratchList(SpecialiserScratch& scratch) : all_(scratch.list), first_(all_.size()) {}
  ~ScratchList() { all_.resize(first_); }
  ScratchList(const ScratchList&) = delete;
  ScratchList& operator=(const ScratchList&) = delete;

  void Add(uint32_t item) { Push(all_, item); }
  void Add(ir::InstId item) { Push(all_, item.value); }
  uint32_t& operator[](size_t i) { return all_[first_ + i]; }
  ir::InstId Inst(size_t i) const { return ir::InstId{all_[first_ + i]}; }
  size_t size() const { return all_.size() - first_; }
  // Until something is added.
  std::span<const uint32_t> items() const { return std::span(all_).subspan(first_); }

 private:
  std::vector<uint32_t>& all_;
  const size_t first_;
};

}  // namespace kiln::resolve
