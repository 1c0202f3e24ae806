// SPDX-License-Identifier: MIT
// Pipeline metadata of one variant: closed variant + layout -> bytes of
// proto/kiln/v1/metadata.proto, without protobuf. Equal inputs give equal bytes. Spec: rpl.md 9,
// 12; pso 3.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/ir/closed.h"
#include "compiler/ir/module.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"
#include "compiler/target/capabilities.h"
#include "compiler/target/target.h"

namespace kiln::metadata {

// What metadata says about one module of the program.
struct ModuleFacts {
  Hash128 semantic_id{};                 // ir::Module::semantic_id
  std::string_view path{};               // logical path; used with full debug information only
  const ir::ModuleView* view = nullptr;  // for spans; used with full debug information only
};

struct Metadata {
  std::vector<std::byte> bytes;
  Hash128 layout_hash;  // of the input interface; equal for equal global options
};

// Requires: `layout` is of `variant`, `types` of its pool. `modules` are in link order, or empty;
// `needs` is the union over the code of all stages.
Metadata Write(const ir::ClosedVariant& variant, const layout::Layout& layout,
               const target::Target& target, layout::TypeLayouts& types,
               std::span<const ModuleFacts> modules = {}, target::Needs needs = 0);

}  // namespace kiln::metadata
