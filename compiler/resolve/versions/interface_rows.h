// SPDX-License-Identifier: MIT
// The leaves of one entry point -> its rows: which built-in variable each is, or that it has a
// location, and what type it has on the way. Locations come afterwards (interface_locations.h).
#pragma once

#include <optional>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/versions/interface_leaves.h"

namespace kiln::resolve {

// A row that is being made.
struct DraftRow {
  ir::InterfaceRow row;  // without location
  bool located = false;
  std::optional<SemanticName> semantic;
  std::optional<uint32_t> location;  // that is given, or was found
  uint32_t index = 0;                // of a blend source
  bool given = false;                // `location` is the author's
  std::string path;
  Location where;
};

// An entry point on its way to an interface.
struct InterfaceDraft {
  ir::Stage stage = ir::Stage::kVertex;
  std::string_view entry;  // the function's name
  std::vector<Leaf> leaves;
  std::vector<DraftRow> rows;
  std::vector<uint32_t> unwritten;
};

// "result", "input": what messages call a direction.
std::string_view DirectionText(ir::Direction direction);

// False: something is wrong. Diagnostics: HLSL5001 to HLSL5004, HLSL5008, HLSL5013, HLSL8004.
bool MakeRows(InterfaceDraft& draft, ir::Pool& pool, std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
