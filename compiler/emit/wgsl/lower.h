// SPDX-License-Identifier: MIT
// One specialised region -> one text object. What only a layout or the module knows cannot reach
// the text, because neither is given; what facts of the variant decide is given by name. See
// spec/wgsl 3.1, 3.2; docs/IR.md.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "compiler/base/language_limits.h"
#include "compiler/emit/wgsl/decl_names.h"
#include "compiler/emit/wgsl/text_object.h"
#include "compiler/emit/wgsl/types.h"
#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

// Leaves of the memory of one declaration that some function uses atomically.
struct AtomicDecl {
  ir::DeclId decl{};
  AtomicLeaves leaves;
  friend bool operator==(const AtomicDecl&, const AtomicDecl&) = default;
};

struct LoweringInputs {
  const DeclNames& names;  // of everything that the region mentions
  Types& types;
  std::span<const AtomicDecl> atomics;  // of the declarations that the region mentions
  // The body of a function, not a region in it.
  bool is_body = true;
  // That a module may have: text with more fits into none, and is not lowered to its end.
  uint64_t most_bytes = LanguageLimits{}.spirv_bytes;
};

TextObject Lower(const ir::SpecialisedRegion& region, const LoweringInputs& inputs);

}  // namespace kiln::wgsl
