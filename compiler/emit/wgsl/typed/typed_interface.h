// SPDX-License-Identifier: MIT
// Inputs and outputs of an entry point of a typed module as parameters and as what it returns. See
// spec/wgsl 3.16.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/wgsl/types.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

struct TypedLeaf {
  std::string attributes;  // "@location(0) @interpolate(flat)"
  std::string name;
  std::string type;
};
struct TypedInterface {
  std::vector<TypedLeaf> inputs;    // those that the text mentions
  std::vector<TypedLeaf> outputs;   // all
  std::vector<std::string> enable;  // extensions
};

// `names`: of the rows, empty for inputs that are not used.
TypedInterface InterfaceOf(const ir::EntryRef& entry, const std::vector<std::string>& names,
                           Types& types);

}  // namespace kiln::wgsl
