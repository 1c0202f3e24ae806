// SPDX-License-Identifier: MIT
// The operators of compile-time expressions, and the two ways to evaluate a whole expression.
#include "compiler/resolve/evaluate.h"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::resolve {
namespace {

using ir::CexprOp;
using ir::ValueKind;

constexpr bool IsNumber(ValueKind kind) {
  return kind == ValueKind::kUint || kind == ValueKind::kSint || kind == ValueKind::kFloat;
}

int32_t Signed(Value v) { return static_cast<int32_t>(v.bits); }
float Float(Value v) { return std::bit_cast<float>(v.bits); }

Value Flag(bool flag) { return {.kind = ValueKind::kFlag, .bits = flag ? 1u : 0u}; }
Value Uint(uint32_t number) { return {.kind = ValueKind::kUint, .bits = number}; }

// Evaluation of one operator: its operands, and why there is no result.
struct Operation {
  CexprOp op;
  ValueKind target;
  Value left, right;
  Failure& failure;
  bool& failed_here;

  Value Fail(Code code) const {
    failure = {.code = code, .op = op, .target = target, .left = left, .right = right};
    failed_here = true;
    return {};
  }
  Value Sint(int64_t number) const {
    if (number < std::numeric_limits<int32_t>::min() ||
        number > std::numeric_limits<int32_t>::max()) {
      return Fail(Code::kRpl3020);
    }
    return {.kind = ValueKind::kSint, .bits = static_cast<uint32_t>(number)};
  }
  Value Real(float number) const {
    if (!std::isfinite(number)) {
      return Fail(Code::kRpl3022);
    }
    return {.kind = ValueKind::kFloat, .bits = std::bit_cast<uint32_t>(number)};
  }
};

// Result of an operator on two numbers of one kind, one function per kind.
template <class OnUint, class OnSint, class OnFloat>
Value OnNumbers(const Operation& o, OnUint on_uint, OnSint on_sint, OnFloat on_float) {
  if (!IsNumber(o.left.kind) || !IsNumber(o.right.kind)) {
    return o.Fail(Code::kRpl3005);
  }
  if (o.left.kind != o.right.kind) {
    return o.Fail(Code::kRpl3006);
  }
  switch (o.left.kind) {
    case ValueKind::kUint:
      return on_uint(o.left.bits, o.right.bits);
    case ValueKind::kSint:
      return on_sint(int64_t{Signed(o.left)}, int64_t{Signed(o.right)});
    case ValueKind::kFloat:
      return on_float(Float(o.left), Float(o.right));
    case ValueKind::kFlag:
    case ValueKind::kString:
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

Value Add(const Operation& o) {
  return OnNumbers(
      o, [](uint32_t a, uint32_t b) { return Uint(a + b); },
      [&](int64_t a, int64_t b) { return o.Sint(a + b); },
      [&](float a, float b) { return o.Real(a + b); });
}

Value Subtract(const Operation& o) {
  return OnNumbers(
      o, [](uint32_t a, uint32_t b) { return Uint(a - b); },
      [&](int64_t a, int64_t b) { return o.Sint(a - b); },
      [&](float a, float b) { return o.Real(a - b); });
}

Value Multiply(const Operation& o) {
  return OnNumbers(
      o, [](uint32_t a, uint32_t b) { return Uint(a * b); },
      [&](int64_t a, int64_t b) { return o.Sint(a * b); },
      [&](float a, float b) { return o.Real(a * b); });
}

Value Divide(const Operation& o) {
  return OnNumbers(
      o, [&](uint32_t a, uint32_t b) { return b == 0 ? o.Fail(Code::kRpl3019) : Uint(a / b); },
      [&](int64_t a, int64_t b) { return b == 0 ? o.Fail(Code::kRpl3019) : o.Sint(a / b); },
      [&](float a, float b) { return o.Real(a / b); });
}

// The result has the sign of the right operand.
int64_t FloorModulo(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Value Modulo(const Operation& o) {
  const auto integer = [](ValueKind kind) {
    return kind == ValueKind::kUint || kind == ValueKind::kSint;
  };
  if (!integer(o.left.kind) || !integer(o.right.kind)) {
    return o.Fail(Code::kRpl3008);
  }
  return OnNumbers(
      o, [&](uint32_t a, uint32_t b) { return b == 0 ? o.Fail(Code::kRpl3019) : Uint(a % b); },
      [&](int64_t a, int64_t b) {
        return b == 0 ? o.Fail(Code::kRpl3019) : o.Sint(FloorModulo(a, b));
      },
      [](float, float) -> Value { KILN_UNREACHABLE(); });
}

template <class Compare>
Value Ordering(const Operation& o, Compare compare) {
  const auto flag = [&](auto a, auto b) { return Flag(compare(a, b)); };
  return OnNumbers(o, flag, flag, flag);
}

Value Less(const Operation& o) {
  return Ordering(o, [](auto a, auto b) { return a < b; });
}
Value Greater(const Operation& o) {
  return Ordering(o, [](auto a, auto b) { return a > b; });
}
Value LessEqual(const Operation& o) {
  return Ordering(o, [](auto a, auto b) { return a <= b; });
}
Value GreaterEqual(const Operation& o) {
  return Ordering(o, [](auto a, auto b) { return a >= b; });
}

// Strings are interned in one pool, so equal text is equal bits; only floats differ from their
// bits.
Value Equal(const Operation& o) {
  if (o.left.kind != o.right.kind) {
    return o.Fail(Code::kRpl3006);
  }
  if (o.left.kind == ValueKind::kFloat) {
    return Flag(Float(o.left) == Float(o.right));
  }
  return Flag(o.left.bits == o.right.bits);
}

Value NotEqual(const Operation& o) {
  Value value = Equal(o);
  value.bits ^= value.failed() ? 0u : 1u;
  return value;
}

template <class Combine>
Value OnFlags(const Operation& o, Combine combine) {
  if (o.left.kind != ValueKind::kFlag || o.right.kind != ValueKind::kFlag) {
    return o.Fail(Code::kRpl3009);
  }
  return Flag(combine(o.left.bits != 0, o.right.bits != 0));
}

Value LogicalAnd(const Operation& o) {
  return OnFlags(o, [](bool a, bool b) { return a && b; });
}
Value LogicalOr(const Operation& o) {
  return OnFlags(o, [](bool a, bool b) { return a || b; });
}

template <class Combine>
Value OnUints(const Operation& o, Combine combine) {
  if (o.left.kind != ValueKind::kUint || o.right.kind != ValueKind::kUint) {
    return o.Fail(Code::kRpl3007);
  }
  return Uint(combine(o.left.bits, o.right.bits));
}

Value And(const Operation& o) {
  return OnUints(o, [](uint32_t a, uint32_t b) { return a & b; });
}
Value Or(const Operation& o) {
  return OnUints(o, [](uint32_t a, uint32_t b) { return a | b; });
}
Value Xor(const Operation& o) {
  return OnUints(o, [](uint32_t a, uint32_t b) { return a ^ b; });
}

bool ShiftsTooFar(const Operation& o) {
  return o.left.kind == ValueKind::kUint && o.right.kind == ValueKind::kUint && o.right.bits > 31;
}
Value ShiftLeft(const Operation& o) {
  return ShiftsTooFar(o) ? o.Fail(Code::kRpl3021)
                         : OnUints(o, [](uint32_t a, uint32_t b) { return a << b; });
}
Value ShiftRight(const Operation& o) {
  return ShiftsTooFar(o) ? o.Fail(Code::kRpl3021)
                         : OnUints(o, [](uint32_t a, uint32_t b) { return a >> b; });
}

Value Negate(const Operation& o) {
  if (o.left.kind == ValueKind::kSint) {
    return o.Sint(-int64_t{Signed(o.left)});
  }
  return o.left.kind == ValueKind::kFloat ? o.Real(-Float(o.left)) : o.Fail(Code::kRpl3010);
}

Value Not(const Operation& o) {
  return o.left.kind == ValueKind::kFlag ? Flag(o.left.bits == 0) : o.Fail(Code::kRpl3009);
}

Value Complement(const Operation& o) {
  return o.left.kind == ValueKind::kUint ? Uint(~o.left.bits) : o.Fail(Code::kRpl3007);
}

// `number` is exact: every source kind fits a double.
Value ConvertNumber(const Operation& o, double number) {
  switch (o.target) {
    case ValueKind::kUint:
      return number >= 0 && number <= std::numeric_limits<uint32_t>::max()
                 ? Uint(static_cast<uint32_t>(number))
                 : o.Fail(Code::kRpl3023);
    case ValueKind::kSint:
      return number >= std::numeric_limits<int32_t>::min() &&
                     number <= std::numeric_limits<int32_t>::max()
                 ? o.Sint(static_cast<int64_t>(number))
                 : o.Fail(Code::kRpl3023);
    case ValueKind::kFloat:
      return o.Real(static_cast<float>(number));
    case ValueKind::kFlag:
    case ValueKind::kString:
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

Value Convert(const Operation& o) {
  switch (o.left.kind) {
    case ValueKind::kFlag:
    case ValueKind::kUint:
      return ConvertNumber(o, o.left.bits);
    case ValueKind::kSint:
      return ConvertNumber(o, Signed(o.left));
    case ValueKind::kFloat:
      if (o.target == ValueKind::kFloat) {
        return o.left;  // -0.0 stays what it is
      }
      return ConvertNumber(o, std::trunc(double{Float(o.left)}));
    case ValueKind::kString:
      return o.Fail(Code::kRpl3017);
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

// Both branches are evaluated and checked, as for && (rpl.md 14.3).
Value Select(const Operation& o, Value if_false) {
  if (o.left.kind != ValueKind::kFlag) {
    return o.Fail(Code::kRpl3009);
  }
  if (o.right.kind != if_false.kind) {
    Operation branches = o;
    branches.left = o.right;
    branches.right = if_false;
    return branches.Fail(Code::kRpl3006);
  }
  return o.left.bits != 0 ? o.right : if_false;
}

Value Dispatch(const Operation& o, Value third) {
  switch (o.op) {
    case CexprOp::kNegate:
      return Negate(o);
    case CexprOp::kNot:
      return Not(o);
    case CexprOp::kComplement:
      return Complement(o);
    case CexprOp::kPlus:
      return o.left;
    case CexprOp::kAdd:
      return Add(o);
    case CexprOp::kSub:
      return Subtract(o);
    case CexprOp::kMul:
      return Multiply(o);
    case CexprOp::kDiv:
      return Divide(o);
    case CexprOp::kMod:
      return Modulo(o);
    case CexprOp::kAnd:
      return And(o);
    case CexprOp::kOr:
      return Or(o);
    case CexprOp::kXor:
      return Xor(o);
    case CexprOp::kShiftLeft:
      return ShiftLeft(o);
    case CexprOp::kShiftRight:
      return ShiftRight(o);
    case CexprOp::kLess:
      return Less(o);
    case CexprOp::kGreater:
      return Greater(o);
    case CexprOp::kLessEqual:
      return LessEqual(o);
    case CexprOp::kGreaterEqual:
      return GreaterEqual(o);
    case CexprOp::kEqual:
      return Equal(o);
    case CexprOp::kNotEqual:
      return NotEqual(o);
    case CexprOp::kLogicalAnd:
      return LogicalAnd(o);
    case CexprOp::kLogicalOr:
      return LogicalOr(o);
    case CexprOp::kConvert:
      return Convert(o);
    case CexprOp::kSelect:
      return Select(o, third);
    case CexprOp::kLiteral:
    case CexprOp::kName:
    case CexprOp::kComposite:
    case CexprOp::kInvalid:
      break;
  }
  KILN_UNREACHABLE();
}

Diagnostic Describe(const Failure& failure, ExpressionScope& scope, const Location& where) {
  const Code code = failure.code;
  Diagnostic made = Make(code, where);
  const std::string_view op = failure.op == CexprOp::kSelect ? "?:" : OperatorText(failure.op);
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
struct Tree {
  std::vector<ir::CexprId> nodes;
  std::vector<uint32_t> sizes;
  std::vector<Value> values;

  Tree(ExpressionScope& scope, ir::CexprId root) {
    std::vector<ir::CexprId> pending = {root};
    while (!pending.empty()) {
      const ir::CexprId id = pending.back();
      pending.pop_back();
      nodes.push_back(id);
      const ir::Cexpr& row = scope.Row(id);
      for (uint32_t i = OperandCount(row.op); i > 0; --i) {
        pending.push_back(OperandOf(row, i - 1));
      }
    }
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

  Value Run(ir::CexprId root) {
    Tree tree(scope_, root);
    for (uint32_t node = static_cast<uint32_t>(tree.nodes.size()); node > 0; --node) {
      Visit(tree, node - 1);
    }
    return tree.values[0];
  }

 private:
  void Visit(Tree& tree, uint32_t node) {
    const ir::Cexpr& row = scope_.Row(tree.nodes[node]);
    const uint32_t count = OperandCount(row.op);
    if (count == 0) {
      tree.values[node] = Leaf(row, node);
      return;
    }
    uint32_t operands[3] = {};
    uint32_t next = tree.First(node);
    for (uint32_t i = 0; i < count; ++i) {
      operands[i] = next;
      tree.sizes[node] += tree.sizes[next];
      next = tree.After(next);
    }
    const auto value = [&](uint32_t i) { return i < count ? tree.values[operands[i]] : Value{}; };
    Failure failure;
    bool failed_here = false;
    tree.values[node] = Apply(row, value(0), value(1), value(2), failure, failed_here);
    if (failed_here && diagnostics_ != nullptr) {
      diagnostics_->push_back(Describe(failure, scope_, run_->At(node)));
    }
    if (row.op == CexprOp::kEqual || row.op == CexprOp::kNotEqual) {
      CheckEnumValue(tree, operands[0], operands[1]);
      CheckEnumValue(tree, operands[1], operands[0]);
    }
  }

  Value Leaf(const ir::Cexpr& row, uint32_t node) {
    if (row.op == CexprOp::kName) {
      return Name(row.a, node);
    }
    if (row.op != CexprOp::kLiteral) {
      ReportInvalid(row, node);
      return {};
    }
    const auto kind = static_cast<ValueKind>(row.kind);
    return {.kind = kind, .bits = kind == ValueKind::kString ? scope_.StringBits(row.a) : row.a};
  }

  Value Name(uint32_t name, uint32_t node) {
    const Meaning meaning = scope_.Find(name);
    if (diagnostics_ == nullptr) {
      return meaning.value;
    }
    const std::string_view text = scope_.Spelling(name);
    switch (meaning.kind) {
      case Meaning::Kind::kValue:
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

  void CheckEnumValue(const Tree& tree, uint32_t option_node, uint32_t text_node) {
    const ir::Cexpr& name = scope_.Row(tree.nodes[option_node]);
    const ir::Cexpr& text = scope_.Row(tree.nodes[text_node]);
    if (diagnostics_ == nullptr || name.op != CexprOp::kName || text.op != CexprOp::kLiteral ||
        !HoldsText(text)) {
      return;
    }
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

Value Apply(const ir::Cexpr& row, Value left, Value right, Value third, Failure& failure,
            bool& failed_here) {
  failed_here = false;
  const uint32_t count = OperandCount(row.op);
  if (left.failed() || (count > 1 && right.failed()) || (count > 2 && third.failed())) {
    return {};
  }
  Value value = Dispatch({.op = row.op,
                          .target = row.op == CexprOp::kConvert ? static_cast<ValueKind>(row.kind)
                                                                : ValueKind::kFailed,
                          .left = left,
                          .right = right,
                          .failure = failure,
                          .failed_here = failed_here},
                         third);
  value.instance = left.instance || (count > 1 && right.instance) || (count > 2 && third.instance);
  return value;
}

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

std::string ValueText(Value value) {
  switch (value.kind) {
    case ValueKind::kFlag:
      return value.bits != 0 ? "true" : "false";
    case ValueKind::kUint:
      return fmt::format("{}", value.bits);
    case ValueKind::kSint:
      return fmt::format("{}", Signed(value));
    case ValueKind::kFloat:
      return fmt::format("{}", Float(value));
    case ValueKind::kString:
    case ValueKind::kFailed:
      break;
  }
  KILN_UNREACHABLE();
}

std::string_view OperatorText(CexprOp op) {
  static constexpr std::string_view kTexts[] = {"",  "",  "-",  "!",  "~",  "+",  "+",  "-",
                                                "*", "/", "%",  "&",  "|",  "^",  "<<", ">>",
                                                "<", ">", "<=", ">=", "==", "!=", "&&", "||"};
  static_assert(std::size(kTexts) == static_cast<size_t>(CexprOp::kConvert));
  const auto row = static_cast<size_t>(op);
  return row < std::size(kTexts) ? kTexts[row] : std::string_view{};
}

Value Explain(ExpressionScope& scope, ir::CexprId root, const SpanRun& run,
              std::vector<Diagnostic>& diagnostics) {
  return Evaluation(scope, &run, &diagnostics).Run(root);
}

Value Evaluate(ExpressionScope& scope, ir::CexprId root) {
  return Evaluation(scope, nullptr, nullptr).Run(root);
}

}  // namespace kiln::resolve
