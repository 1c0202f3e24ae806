// SPDX-License-Identifier: MIT
// The one order in which parameters are numbered, with equal globals of units collapsed into one
// and the bindings that the author wrote, as far as the target knows them.
// See spec/layout 6, 7.4, 8.2.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/layout/program.h"
#include "compiler/layout/program_layout.h"

namespace kiln::layout {

// A number that the author wrote and that applies to the target.
struct WrittenNumber {
  Kind kind = Kind::kSlot;  // kSpace: only the space is written
  uint64_t index = 0;
  uint32_t space = 0;
  friend bool operator==(const WrittenNumber&, const WrittenNumber&) = default;
};

// One parameter of the program.
struct Item {
  const Parameter* parameter = nullptr;
  uint32_t unit = 0;
  uint32_t ordinal = 0;  // of the unit; kNone: of an entry point
  std::vector<WrittenNumber> written;
  std::optional<uint64_t> counter;        // slot of the counter, if written
  std::optional<uint64_t> member_offset;  // in the implicit buffer, `register(cN)`
  bool bytes_elsewhere = false;           // loose bytes are in the buffer of their entry point
};

class Findings {
 public:
  void Add(Diagnostic diagnostic, uint32_t order, const Item* item = nullptr,
           uint32_t member = Finding::kNone);
  // In global order; errors behind the limit are dropped.
  std::vector<Finding> Take();

 private:
  std::vector<Finding> findings_;
};

struct GlobalOrder {
  std::vector<Item> items;
  // Parameters that entry points gather their uniform bytes in.
  std::deque<Parameter> gathered;
};

// `types` gets the structs of gathered parameters.
GlobalOrder OrderParameters(const Program& program, Types& types, Findings& findings);

// Path below `name` at which two types differ in structure, or nothing.
std::optional<std::string> DifferAt(const Types& types, TypeId a, TypeId b, std::string_view name);

}  // namespace kiln::layout
