// SPDX-License-Identifier: MIT
// Modules of WGSL of the variants of one program. Text of regions and functions is made once; what
// a variant decides as a whole is known by its functions and its interface, a module by what of
// that it rests on. So a variant is put together from text, and one that is like another is found.
// One thread. See spec/wgsl 3.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/flat_map.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/emit/wgsl/assemble.h"
#include "compiler/ir/specialised.h"
#include "compiler/layout/ir_types.h"
#include "compiler/layout/layout.h"

namespace kiln::driver {

// What came of one variant.
struct WgslVariant {
  bool ok = false;
  std::vector<Diagnostic> diagnostics;  // places have module and span number
  std::vector<uint32_t> oversized;  // entry points that no module has room for; then it is not ok
  std::vector<uint32_t> modules;    // numbers, by entry point; one if combined; none if not ok
  Bytes metadata;                   // what metadata says about them, encoded
};

class WgslCode {
 public:
  // Both must outlive it.
  WgslCode(const ir::Pool& pool, layout::TypeLayouts& layouts, const LanguageLimits& limits)
      : table_(pool, limits.spirv_bytes), assembler_(table_, layouts) {}

  // `interface`: equal numbers are equal declarations and layouts; nothing: the variant is the only
  // one. Numbers of functions must be those of one owner. Valid until the next call.
  const WgslVariant& Build(const ir::SpecialisedProgram& variant, const layout::Layout& layout,
                           bool combined, std::optional<uint32_t> interface);

  // The text of module `index` of a variant.
  const std::string& TextOf(const WgslVariant& variant, uint32_t index) const {
    return texts_[variant.modules[index]];
  }

  size_t bytes_used() const { return table_.bytes_used() + text_bytes_; }

 private:
  using Key = std::vector<uint32_t>;
  struct KnownVariant {
    Key key;
    WgslVariant variant;
  };

  void Make(const ir::SpecialisedProgram& variant, const layout::Layout& layout, bool combined,
            uint32_t interface, WgslVariant& made);
  Key ModuleKey(std::optional<uint32_t> entry, uint32_t interface) const;

  wgsl::ObjectTable table_;
  wgsl::Assembler assembler_;
  std::deque<KnownVariant> variants_;
  InternIndex variant_index_;
  std::vector<Key> module_keys_;
  std::deque<std::string> texts_;  // of modules
  InternIndex module_index_;
  size_t text_bytes_ = 0;
};

}  // namespace kiln::driver
