// SPDX-License-Identifier: MIT
// Compile-time expressions: what is wrong in one, and the two ways to evaluate a whole expression.
#include "compiler/resolve/values/evaluate.h"

#include <bit>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::resolve {
namespace {

using ir::CexprOp;
using ir::ValueKind;

// Texts and flags have no arithmetic.
constexpr bool IsNumber(ValueKind kind) {
  return kind == ValueKind::kUint || kind == ValueKind::kSint || kind == ValueKind::kFloat;
}

// A failure has operands and an operator only; the words of the message are found when somebody
// wants to read it.
// One branch for each code, with the arguments that its template has.
Diagnostic Describe(const Failure& failure, ExpressionScope& scope, const Location& where) {
  const Code code = failure.code;
  Diagnostic made = Make(code, where);
  const std::string_view op = failure.op == CexprOp::kSelect ? "?:" : OperatorText(failure.op);
  // Of two operands, the one that is wrong is named; the left one, if both are.
  const auto first_that = [&](auto is_wrong) {
    return KindText(is_wrong(failure.left.kind) ? failure.left.kind : failure.right.kind);
  };
  if (code == Code::kRpl3005) {
    return std::move(made).With("op", op).With(
        "type", first_that([](ValueKind k) { return !IsNumber(k); }));
  }
  if (code == Code::kRpl3006) {
    return std::move(made)
        .With("op", op)
        .With("left", KindText(failure.left.kind))
        .With("right", KindText(failure.right.kind))
        .Note(NoteKind::kAccepted,
              {{"accepted", "one type on both sides; u1 {}, s1 {} and f1 {} convert"}});
  }
  if (code == Code::kRpl3007) {
    return std::move(made).With("op", op).With(
        "type", first_that([](ValueKind k) { return k != ValueKind::kUint; }));
  }
  if (code == Code::kRpl3008) {
    return std::move(made).With("type", first_that([](ValueKind k) {
                                  return k != ValueKind::kUint && k != ValueKind::kSint;
                                }));
  }
  if (code == Code::kRpl3009) {
    return std::move(made).With("op", op).With(
        "type", first_that([](ValueKind k) { return k != ValueKind::kFlag; }));
  }
  if (code == Code::kRpl3010) {
    return std::move(made).With("type", KindText(failure.left.kind));
  }
  if (code == Code::kRpl3017) {
    return std::move(made)
        .With("value", scope.StringText(failure.left))
        .With("type", KindText(failure.target));
  }
  if (code == Code::kRpl3021) {
    return std::move(made).With("count", failure.right.bits);
  }
  if (code == Code::kRpl3023) {
    return std::move(made)
        .With("value", ValueText(failure.left))
        .With("type", KindText(failure.target));
  }
  return std::move(made).With("op", op);  // RPL3019, RPL3020, RPL3022
}

// An expression laid out in pre-order; operands of a node come after it.
// Expressions may be thousands of operands long, so they are laid out in a list and not visited by
// recursion.
struct Tree {
  std::vector<ir::CexprId> nodes;
  std::vector<uint32_t> sizes;
  std::vector<Value> values;

  // Cost: one row for each mention, even where operands share a row, as each mention has a span
  // of its own.
  Tree(ExpressionScope& scope, ir::CexprId root) {
    // The root comes first, and what is pushed last is laid out next.
    std::vector<ir::CexprId> pending = {root};
    // Operands are pushed from the last to the first, so the first is taken off next and the order
    // is that of the spans.
    while (!pending.empty()) {
      const ir::CexprId id = pending.back();
      pending.pop_back();
      nodes.push_back(id);
      const ir::Cexpr& row = scope.Row(id);
      for (uint32_t i = OperandCount(row.op); i > 0; --i) {
        pending.push_back(OperandOf(row, i - 1));
      }
    }
    // A node without operands is a tree of one.
    sizes.assign(nodes.size(), 1);
    values.resize(nodes.size());
  }
  // Pre-order numbers of the operands of `node`. Requires: sizes of its operands are known.
  uint32_t First(uint32_t node) const { return node + 1; }
  uint32_t After(uint32_t operand) const { return operand + sizes[operand]; }
};

// Evaluates a tree from its leaves, which are the last nodes; `diagnostics` may be null.
class Evaluation {
 public:
  Evaluation(ExpressionScope& scope, const SpanRun* run, std::vector<Diagnostic>* diagnostics)
      : scope_(scope), run_(run), diagnostics_(diagnostics) {}

  // A failed operand fails the whole without another message, so that one mistake is told once.
  Value Run(ir::CexprId root) {
    Tree tree(scope_, root);
    // Backwards, all operands of a node are known before the node itself.
    for (uint32_t node = static_cast<uint32_t>(tree.nodes.size()); node > 0; --node) {
      Visit(tree, node - 1);
    }
    return tree.values[0];
  }

 private:
  // Requires: all nodes behind this one were visited.
  void Visit(Tree& tree, uint32_t node) {
    const ir::Cexpr& row = scope_.Row(tree.nodes[node]);
    const uint32_t count = OperandCount(row.op);
    if (count == 0) {
      tree.values[node] = Leaf(row, node);
      return;
    }
    uint32_t operands[3] = {};
    // Operands lie one behind the other, each as long as its tree.
    uint32_t next = tree.First(node);
    for (uint32_t i = 0; i < count; ++i) {
      operands[i] = next;
      tree.sizes[node] += tree.sizes[next];
      next = tree.After(next);
    }
    // A missing operand is a failed value, which no operator looks at.
    const auto value = [&](uint32_t i) { return i < count ? tree.values[operands[i]] : Value{}; };
    Failure failure;
    bool failed_here = false;
    tree.values[node] = Apply(row, value(0), value(1), value(2), failure, failed_here);
    if (failed_here && diagnostics_ != nullptr) {
      diagnostics_->push_back(Describe(failure, scope_, run_->At(node)));
    }
    // Comparisons are looked at even if they succeeded: a text that is no value of the option makes
    // the comparison always false, which is hardly meant.
    if (row.op == CexprOp::kEqual || row.op == CexprOp::kNotEqual) {
      CheckEnumValue(tree, operands[0], operands[1]);
      CheckEnumValue(tree, operands[1], operands[0]);
    }
  }

  Value Leaf(const ir::Cexpr& row, uint32_t node) {
    if (row.op == CexprOp::kName) {
      return Name(row.a, node);
    }
    // Neither name nor literal: something that has no place in a compile-time expression.
    if (row.op != CexprOp::kLiteral) {
      ReportInvalid(row, node);
      return {};
    }
    const auto kind = static_cast<ValueKind>(row.kind);
    return {.kind = kind, .bits = kind == ValueKind::kString ? scope_.StringBits(row.a) : row.a};
  }

  // Without diagnostics only the value counts, and finding the text of a name is left out.
  Value Name(uint32_t name, uint32_t node) {
    const Meaning meaning = scope_.Find(name);
    if (diagnostics_ == nullptr) {
      return meaning.value;
    }
    const std::string_view text = scope_.Spelling(name);
    switch (meaning.kind) {
      case Meaning::Kind::kValue:
      // A constant that failed is reported where it is declared, so nothing is said here.
      case Meaning::Kind::kPoisoned:
        break;
      case Meaning::Kind::kUnknown:
        diagnostics_->push_back(Make(Code::kRpl3003, run_->At(node)).With("name", text));
        break;
      case Meaning::Kind::kTooEarly:
        diagnostics_->push_back(Make(Code::kRpl3004, run_->At(node)).With("name", text));
        break;
      case Meaning::Kind::kSpecialised:
        diagnostics_->push_back(Make(Code::kRpl8101, run_->At(node))
                                    .With("name", text)
                                    .With("position", "a compile-time expression"));
        break;
      case Meaning::Kind::kComposite:
        diagnostics_->push_back(
            Make(Code::kRpl3011, run_->At(node))
                .With("construct", fmt::format("constant '{}', which is no scalar,", text)));
        break;
      case Meaning::Kind::kOldSpelling:
        diagnostics_->push_back(
            Make(Code::kRpl3025, run_->At(node))
                .With("text", text)
                .With("replacement", meaning.value.bits != 0 ? "true" : "false"));
        break;
    }
    return meaning.value;
  }

  // These have no value at compile time. They are kept as rows so that the message can name
  // them.
  void ReportInvalid(const ir::Cexpr& row, uint32_t node) {
    if (diagnostics_ == nullptr) {
      return;
    }
    if (row.op == CexprOp::kComposite) {
      diagnostics_->push_back(Make(Code::kRpl3011, run_->At(node))
                                  .With("construct", "constructor of vectors or arrays"));
      return;
    }
    const std::string_view text = scope_.Spelling(row.a);
    const auto construct = [&](std::string_view what) {
      diagnostics_->push_back(Make(Code::kRpl3011, run_->At(node)).With("construct", what));
    };
    switch (static_cast<ir::InvalidCexpr>(row.kind)) {
      case ir::InvalidCexpr::kFieldAccess:
        return construct("field access");
      case ir::InvalidCexpr::kIndex:
        return construct("index");
      case ir::InvalidCexpr::kAssignment:
        return construct("assignment");
      case ir::InvalidCexpr::kCall:
        return construct(fmt::format("call of '{}'", text));
      case ir::InvalidCexpr::kConstructorType:
        diagnostics_->push_back(Make(Code::kRpl3015, run_->At(node)).With("type", text));
        return;
      case ir::InvalidCexpr::kConstructorCount:
        diagnostics_->push_back(
            Make(Code::kRpl3016, run_->At(node)).With("type", text).With("count", row.b));
        return;
    }
    KILN_UNREACHABLE();
  }

  // Both orders are asked by the caller: the text may stand on either side.
  void CheckEnumValue(const Tree& tree, uint32_t option_node, uint32_t text_node) {
    const ir::Cexpr& name = scope_.Row(tree.nodes[option_node]);
    const ir::Cexpr& text = scope_.Row(tree.nodes[text_node]);
    if (diagnostics_ == nullptr || name.op != CexprOp::kName || text.op != CexprOp::kLiteral ||
        !HoldsText(text)) {
      return;
    }
    // Only names of options have a list of values.
    const Meaning meaning = scope_.Find(name.a);
    if (meaning.option.valid() && !scope_.HasValue(meaning.option, text.a)) {
      diagnostics_->push_back(Make(Code::kRpl3026, run_->At(text_node))
                                  .With("name", scope_.Spelling(name.a))
                                  .With("value", scope_.Spelling(text.a)));
    }
  }

  ExpressionScope& scope_;
  const SpanRun* run_;
  std::vector<Diagnostic>* diagnostics_;
};

}  // namespace

// As types are called in messages; a failed value is never told.
std::string_view KindText(ValueKind kind) {
  switch (kind) {
    case ValueKind::kFlag:
      return "boolean";
    case ValueKind::kUint:
      return "uint";
    case ValueKind::kSint:
      return "sint";
    case ValueKind::kFloat:
      return "float";
    case ValueKind::kString:
      return "string";
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

// Texts and failed values have no text here: callers ask ExpressionScope::StringText for the
// former.
std::string ValueText(Value value) {
  switch (value.kind) {
    case ValueKind::kFlag:
      return value.bits != 0 ? "true" : "false";
    case ValueKind::kUint:
      return fmt::format("{}", value.bits);
    case ValueKind::kSint:
      return fmt::format("{}", static_cast<int32_t>(value.bits));
    case ValueKind::kFloat:
      return fmt::format("{}", std::bit_cast<float>(value.bits));
    case ValueKind::kString:
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

std::string_view OperatorText(CexprOp op) {
  // Indexed by the operator. The assertion only compares the length, so a new operator has to be
  // put at its place.
  static constexpr std::string_view kTexts[] = {"",  "",  "-",  "!",  "~",  "+",  "+",  "-",
                                                "*", "/", "%",  "&",  "|",  "^",  "<<", ">>",
                                                "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
  static_assert(std::size(kTexts) == static_cast<size_t>(CexprOp::kConvert));
  const auto row = static_cast<size_t>(op);
  return row < std::size(kTexts) ? kTexts[row] : std::string_view{};
}

// `run` has a span for each node in pre-order, which is the order of Tree.
Value Explain(ExpressionScope& scope, ir::CexprId root, const SpanRun& run,
              std::vector<Diagnostic>& diagnostics) {
  return Evaluation(scope, &run, &diagnostics).Run(root);
}

// The same walk without spans and messages, so that both ways give the same value.
Value Evaluate(ExpressionScope& scope, ir::CexprId root) {
  return Evaluation(scope, nullptr, nullptr).Run(root);
}

}  // namespace kiln::resolve
