// SPDX-License-Identifier: MIT
// Compile-time expressions: evaluation of a whole one with everything that is wrong with it. Rows +
// values of names -> value, diagnostics. See spec/rpl 8.2.
//
// Rows are in program-wide terms (Program::Row), or those of any other holder of expressions:
// operands are a, then b, then (kSelect) zero; names and texts are numbers the scope understands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/cexpr.h"
#include "compiler/ir/module.h"
#include "compiler/resolve/values/evaluate_operator.h"

namespace kiln::resolve {

// "uint", "boolean", …: the spelling of messages. Requires: not kFailed.
std::string_view KindText(ir::ValueKind kind);
// "12", "-3", "0.5", "true". Requires: a flag or number.
std::string ValueText(Value value);
// "+", "<<", …; empty for leaves and conversions.
std::string_view OperatorText(ir::CexprOp op);

// Whether `a` is the number of a text.
constexpr bool HoldsText(const ir::Cexpr& row) {
  return row.op == ir::CexprOp::kName || row.op == ir::CexprOp::kInvalid ||
         (row.op == ir::CexprOp::kLiteral &&
          row.kind == static_cast<uint16_t>(ir::ValueKind::kString));
}
constexpr ir::CexprId OperandOf(const ir::Cexpr& row, uint32_t i) {
  return ir::CexprId{i == 0 ? row.a : i == 1 ? row.b : row.zero};
}

// What a name in an expression means.
struct Meaning {
  enum class Kind : uint8_t {
    kValue,
    kPoisoned,
    kUnknown,
    kTooEarly,
    kOldSpelling,
    kSpecialised,  // an option that is not folded
    kComposite,    // a constant that is no scalar
  };
  Kind kind = Kind::kUnknown;
  Value value;
  ir::OptionId option;  // valid if the name denotes an option
};

// The world of an expression.
class ExpressionScope {
 public:
  virtual ~ExpressionScope() = default;
  virtual const ir::Cexpr& Row(ir::CexprId id) = 0;
  virtual Meaning Find(uint32_t name) = 0;                        // `a` of a kName
  virtual uint32_t StringBits(uint32_t text) = 0;                 // Value::bits of a string literal
  virtual std::string_view Spelling(uint32_t text) = 0;           // `a` of a row that HoldsText
  virtual std::string_view StringText(Value string) = 0;          // of a value of kind kString
  virtual bool HasValue(ir::OptionId option, uint32_t text) = 0;  // true unless an enum without it
};

// Where the nodes of an expression stand: a run of spans in pre-order.
struct SpanRun {
  const ir::ModuleView* view = nullptr;
  uint32_t module = Location::kNone;
  ir::SpanId first;
  Location At(uint32_t node) const {
    const ir::SpanId span = first.valid() ? ir::SpanId{first.value + node} : first;
    return {.module = module, .span_number = span.value, .bytes = view->SpanOf(span)};
  }
};

// The value of `root`; adds every error and warning. Iterative: any depth is fine.
// Diagnostics: RPL3003 to RPL3026 but RPL3018 and RPL3024.
Value Explain(ExpressionScope& scope, ir::CexprId root, const SpanRun& run,
              std::vector<Diagnostic>& diagnostics);

// The same without a message.
Value Evaluate(ExpressionScope& scope, ir::CexprId root);

// Calls visit(operand) for each operand row of `row`, whose ids are those of `view`.
template <class Visit>
void ForOperands(const ir::ModuleView& view, const ir::Cexpr& row, Visit visit) {
  switch (OperandCount(row.op)) {
    case 3:
      visit(ir::CexprId{row.a});
      for (const uint32_t branch : view.List(ir::ListId{row.b})) {
        visit(ir::CexprId{branch});
      }
      return;
    case 2:
      visit(ir::CexprId{row.a});
      visit(ir::CexprId{row.b});
      return;
    case 1:
      visit(ir::CexprId{row.a});
      return;
  }
  if (row.op == ir::CexprOp::kComposite) {
    for (const uint32_t item : view.List(ir::ListId{row.b})) {
      visit(ir::CexprId{item});
    }
  }
}

}  // namespace kiln::resolve
