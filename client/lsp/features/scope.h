// SPDX-License-Identifier: MIT
// Names that can be written at a byte of a file, and what a chain of names there stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/lsp/analysis/analysis.h"

namespace kiln::lsp {

struct VisibleName {
  enum class Kind : uint8_t { kLocal, kFunction, kStruct, kConstant, kOption, kBlock };
  Kind kind = Kind::kLocal;
  std::string name;
  std::string detail;  // its declaration in one line
};

// Local names of the function around the byte that are declared before it; those of scopes that
// have ended are left out.
std::vector<VisibleName> LocalNames(const FileView& file, uint32_t offset);
// What the modules of the program declare, each name once.
std::vector<VisibleName> GlobalNames(const FileView& file);

// What a chain as of Cursor stands for; empty if nobody knows.
ValueShape ShapeOfChain(const FileView& file, const Owners& owners, uint32_t offset,
                        const std::vector<std::string>& chain);

// A member that can stand behind a '.'.
struct MemberName {
  std::string name;
  std::string detail;
  bool field = true;  // false: a component or column
};
std::vector<MemberName> MembersOf(const FileView& file, const ValueShape& shape);

}  // namespace kiln::lsp
