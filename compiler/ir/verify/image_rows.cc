// SPDX-License-Identifier: MIT
// The budget is a constant number of visits for every row that can be shared or share others. A
// module of a front end stays far below it; an image that refers to one list from every row runs
// out of it before it costs more than its size.
#include "compiler/ir/verify/image_rows.h"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::ir {
namespace {

// Generous, since a front end shares few rows. The 1024 words below keep the smallest modules from
// running out, whose few rows may all share one list.
constexpr size_t kVisitsPerWord = 64;

}  // namespace

ImageRows::ImageRows(const ModuleView& module)
    : module_(module),
      budget_(kVisitsPerWord * (module.insts.size() + module.extra.size() + module.members.size() +
                                module.locals.size() + module.options.size() +
                                module.cexprs.size() + module.consts.size() + 1024)) {}

bool ImageRows::Check(bool holds, std::string_view what, size_t row) {
  if (!holds && ok()) {
    error_ = Error{.code = ErrorCode::kCorrupt,
                   .context = fmt::format("module image: {} (row {})", what, row)};
  }
  return holds;
}

// Once the budget is gone, the check that failed ends all walks, so that a hostile image costs no
// more than a large honest one.
bool ImageRows::Charge(size_t visits) {
  const bool enough = visits <= budget_;
  budget_ -= enough ? visits : 0;
  return Check(enough, "rows are shared too often", visits);
}

// A list is its length and then its words. The subtraction is on the safe side: the id was compared
// with the size before.
bool ImageRows::IsList(ListId id) const {
  const size_t size = module_.extra.size();
  return !id.valid() || (id.value < size && module_.extra[id.value] < size - id.value);
}

bool ImageRows::WordsBelow(ListId id, size_t bound) {
  if (!IsList(id) || !Charge(module_.List(id).size())) {
    return false;
  }
  return std::ranges::all_of(module_.List(id), [&](uint32_t word) { return word < bound; });
}

// Images may come without spans; ids into the missing table mean nothing then and are never
// followed.
bool ImageRows::IsSpan(SpanId id) const {
  return !id.valid() || module_.spans.empty() || id.value < module_.spans.size();
}

Result<void> ImageRows::Finish() {
  if (error_) {
    return *std::move(error_);
  }
  return {};
}

}  // namespace kiln::ir
