// SPDX-License-Identifier: MIT
// Whether a block can be written in WGSL, and whether it may be a uniform block there without
// language features that not every implementation has. See spec/layout 4.7.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/layout/bytes.h"

namespace kiln::layout {

struct WgslIssue {
  std::string path;    // of the member, arrays as "[0]"
  std::string reason;  // "offset 4 not a multiple of 16"
};

// Requires, here and below: the layout of `content` under `rules` has no fault.
// The first member whose place no WGSL declaration gives, or nothing.
std::optional<WgslIssue> FindNotExpressible(ByteLayouts& bytes, TypeId content, Rules rules);

// Why the block is not valid as a uniform block; in the order of declaration.
std::vector<WgslIssue> UniformIssues(ByteLayouts& bytes, TypeId content, Rules rules);

// Whether WGSL has the type as it stands, and may put it into a buffer.
bool HostShareable(const Types& types, TypeId id);

// Whether a field in it, at any depth, is stored row by row.
bool HasRowMajor(const ByteLayouts& bytes, TypeId id);

// Whether a value of the type has an array, at any depth.
bool HasArray(const Types& types, TypeId type);

// A matrix whose stored vectors lie further apart than WGSL puts columns.
bool NeedsColumns(ByteLayouts& bytes, const Member& member, Rules rules);

}  // namespace kiln::layout
