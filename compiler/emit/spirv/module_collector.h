// SPDX-License-Identifier: MIT
// First step of assembling: what is live. Variant, choice of entry points and layout -> LiveModule
// without ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/emit/spirv/function_images.h"
#include "compiler/emit/spirv/live_module.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/layout.h"

namespace kiln::spirv {

// Which module of a variant: that of one entry point, or one for all.
struct EntryChoice {
  uint32_t index = 0;  // into SpecialisedProgram::entries
  bool combined = false;
};
inline constexpr EntryChoice kCombined{0, true};

class ModuleCollector {
 public:
  // Both must outlive the collector.
  ModuleCollector(const CodeObjectTable& table, LiveModule& module)
      : table_(table), store_(table.store()), module_(module), images_(table) {}
  ModuleCollector(const ModuleCollector&) = delete;
  ModuleCollector& operator=(const ModuleCollector&) = delete;

  // Requires: everything the variant refers to is in the table, and the layout is that of the
  // variant.
  void Collect(const ir::SpecialisedProgram& variant, EntryChoice choice,
               const layout::Layout& layout);

  // Functions are put together anew.
  void Forget();

  const FunctionImages& images() const { return images_; }

 private:
  void CollectEntry(const ir::EntryRef& ref);
  bool IsShared(const FunctionImage& image) const;
  void AddFunction(const FunctionImage& image, GlobalBits& live);
  void DeclareVaryings(const ir::SpecialisedProgram& variant);
  void BindInterface(const ir::SpecialisedProgram& variant);
  void AddToKey(const CodeObject& variable, const layout::Layout& layout);
  void CollectVariables(LiveEntry& entry, const layout::Layout& layout);

  const CodeObjectTable& table_;
  const CodeObjectStore& store_;
  LiveModule& module_;
  FunctionImages images_;
  GlobalBits scratch_;
  std::vector<const ir::SpecialisedDecl*> interface_;  // what the versions were made of
};

}  // namespace kiln::spirv
