// SPDX-License-Identifier: MIT
// What the checks of one generic module share: the rows, questions about ids, the first thing that
// does not hold, and a budget. Every byte of the rows may be hostile.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/base/result.h"
#include "compiler/ir/module.h"

namespace kiln::ir {

class ImageRows {
 public:
  // `module` must outlive it.
  explicit ImageRows(const ModuleView& module);

  const ModuleView& module() const { return module_; }
  // The first thing that does not hold is the error. Returns `holds`.
  bool Check(bool holds, std::string_view what, size_t row);
  bool ok() const { return !error_; }
  // Counts visits of shared rows, so that sharing cannot make checks or prints more than linear.
  bool Charge(size_t visits);
  // Errors: kCorrupt, what Check found first.
  Result<void> Finish();

  bool IsString(StringId id) const { return id.value < module_.string_ends.size(); }
  bool IsType(TypeId id) const { return id.value < module_.types.size(); }
  bool IsCexpr(CexprId id) const { return id.value < module_.cexprs.size(); }
  // A list that is invalid or lies inside the table.
  bool IsList(ListId id) const;
  // All words of a valid or absent list are below `bound`.
  bool WordsBelow(ListId id, size_t bound);
  bool IsSpan(SpanId id) const;

 private:
  const ModuleView& module_;
  size_t budget_;
  std::optional<Error> error_;
};

}  // namespace kiln::ir
