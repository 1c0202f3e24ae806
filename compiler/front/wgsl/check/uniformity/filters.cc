// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/check/uniformity/filters.h"

#include <algorithm>
#include <optional>
#include <span>

#include "compiler/base/threads/stop.h"

namespace kiln::wgsl::front {
namespace {

// Of "off, derivative_uniformity"; nothing of another rule, or of a word that is no severity.
std::optional<FilterSeverity> SeverityOf(const CheckContext& context,
                                         std::span<const uint32_t> words) {
  if (words.size() != 2 || context.Text(words[1]) != "derivative_uniformity") {
    return std::nullopt;
  }
  const std::string_view word = context.Text(words[0]);
  return word == "error"     ? std::optional(FilterSeverity::kError)
         : word == "warning" ? std::optional(FilterSeverity::kWarning)
         : word == "info"    ? std::optional(FilterSeverity::kInfo)
         : word == "off"     ? std::optional(FilterSeverity::kOff)
                             : std::nullopt;
}

}  // namespace

// Ranges of attributes lie in each other or apart, as statements do. Sorted by their beginnings,
// the row around another is found with a stack.
DerivativeFilters::DerivativeFilters(const CheckContext& context) {
  for (const syntax::Directive& directive : context.ast.directives) {
    if (directive.kind == syntax::DirectiveKind::kDiagnostic) {
      module_ = SeverityOf(context, context.ast.List(directive.words)).value_or(module_);
    }
  }
  const auto add = [&](syntax::ListId attributes, TokenRange at) {
    for (const uint32_t id : context.ast.List(attributes)) {
      const syntax::Attribute& row = context.ast.attributes[id];
      if (context.Text(row.token) != "diagnostic") {
        continue;
      }
      if (const auto severity = SeverityOf(context, context.ast.List(row.words))) {
        ChargeMemory(sizeof(Row));
        rows_.push_back({.at = at, .severity = *severity});
      }
    }
  };
  for (const syntax::Decl& decl : context.ast.decls) {
    if (decl.kind == syntax::DeclKind::kFunction) {
      add(decl.attributes, decl.at);
    }
  }
  for (const syntax::Stmt& stmt : context.ast.stmts) {
    CheckStop();
    add(stmt.attributes, stmt.at);
  }
  std::ranges::stable_sort(rows_, [](const Row& a, const Row& b) {
    return a.at.begin != b.at.begin ? a.at.begin < b.at.begin : a.at.end > b.at.end;
  });
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < rows_.size(); ++i) {
    while (!open.empty() && rows_[open.back()].at.end < rows_[i].at.end) {
      open.pop_back();
    }
    rows_[i].around = open.empty() ? kNoRow : open.back();
    open.push_back(i);
  }
}

// The last row that begins in front of the place, or the first around it that holds it.
FilterSeverity DerivativeFilters::At(TokenRange at) const {
  const auto behind =
      std::ranges::upper_bound(rows_, at.begin, {}, [](const Row& row) { return row.at.begin; });
  uint32_t row =
      behind == rows_.begin() ? kNoRow : static_cast<uint32_t>(behind - rows_.begin() - 1);
  while (row != kNoRow && rows_[row].at.end < at.end) {
    row = rows_[row].around;
  }
  return row == kNoRow ? module_ : rows_[row].severity;
}

}  // namespace kiln::wgsl::front
