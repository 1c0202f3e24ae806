// SPDX-License-Identifier: MIT
#include "compiler/driver/residuals.h"

#include <algorithm>
#include <utility>

#include "compiler/base/threads/stop.h"

namespace kiln::driver {
namespace {

using ir::CexprOp;

constexpr resolve::Value kFalseValue{.kind = ir::ValueKind::kFlag, .bits = 0};
constexpr resolve::Value kTrueValue{.kind = ir::ValueKind::kFlag, .bits = 1};

// Operators that have a result for all operands of the right types. What is not total may fail, and
// a failure must not disappear when the other side of `&&` decides: the evaluator evaluates both.
bool IsTotal(CexprOp op) {
  switch (op) {
    case CexprOp::kLiteral:
    case CexprOp::kName:
    case CexprOp::kNot:
    case CexprOp::kComplement:
    case CexprOp::kPlus:
    case CexprOp::kAnd:
    case CexprOp::kOr:
    case CexprOp::kXor:
    case CexprOp::kLess:
    case CexprOp::kGreater:
    case CexprOp::kLessEqual:
    case CexprOp::kGreaterEqual:
    case CexprOp::kEqual:
    case CexprOp::kNotEqual:
    case CexprOp::kLogicalAnd:
    case CexprOp::kLogicalOr:
      return true;
    case CexprOp::kNegate:
    case CexprOp::kAdd:
    case CexprOp::kSub:
    case CexprOp::kMul:
    case CexprOp::kDiv:
    case CexprOp::kMod:
    case CexprOp::kShiftLeft:
    case CexprOp::kShiftRight:
    case CexprOp::kConvert:
    case CexprOp::kSelect:
    case CexprOp::kComposite:
    case CexprOp::kInvalid:
      return false;
  }
  return false;
}

}  // namespace

// The two flags are nodes 0 and 1, so that deciding a condition is a comparison of numbers.
Residuals::Residuals() : pool_(std::make_unique<ir::Pool>()) {
  Literal(kFalseValue);
  Literal(kTrueValue);
}

// Failed values are literals as well, and are told from the flags by their number.
Residuals::Number Residuals::Literal(const resolve::Value& value) {
  Node node;
  node.value = value;
  // Whether a value came from an instance option plays no part in counting, and would make equal
  // literals different.
  node.value.instance = false;
  node.total = !value.failed();
  return Intern(std::move(node));
}

// Expressions are those of a manifest, written in RPL, where nothing wraps (ir::kWrapping): so
// a node keeps of its row only the operator, the kind and the option.
Residuals::Number Residuals::Intern(Node node) {
  const uint32_t words[] = {static_cast<uint32_t>(node.row.op),
                            node.row.kind,
                            node.row.a,
                            static_cast<uint32_t>(node.value.kind),
                            node.value.bits,
                            node.operands[0],
                            node.operands[1],
                            node.operands[2]};
  return index_.FindOrAdd(
      Hash64(std::as_bytes(std::span(words))),
      [&](uint32_t i) {
        const Node& known = nodes_[i];
        return known.row.op == node.row.op && known.row.kind == node.row.kind &&
               known.row.a == node.row.a && known.value == node.value &&
               std::ranges::equal(known.operands, node.operands);
      },
      [&] {
        // Charged here, where memory grows: how many conditions are left of one is the sender's
        // choice.
        const uint64_t bytes = sizeof(Node) + node.options.size() * sizeof(uint32_t);
        ChargeMemory(bytes);
        bytes_ += bytes;
        nodes_.push_back(std::move(node));
        return static_cast<uint32_t>(nodes_.size() - 1);
      });
}

// `false && x` is false if x has a value.
std::optional<Residuals::Number> Residuals::Simplified(const ir::Cexpr& row,
                                                       const Number (&operands)[3]) const {
  if (row.op != CexprOp::kLogicalAnd && row.op != CexprOp::kLogicalOr) {
    return std::nullopt;
  }
  const Number decisive = row.op == CexprOp::kLogicalAnd ? kFalse : kTrue;
  for (const auto& [one, other] :
       {std::pair(operands[0], operands[1]), std::pair(operands[1], operands[0])}) {
    if (one == decisive && nodes_[other].total) {
      return decisive;
    }
    // The neutral operand leaves the other one.
    if (one == 1 - decisive) {
      return other;
    }
  }
  return std::nullopt;
}

// Hash consing with folding: equal nodes have equal numbers, and an operator over literals is the
// literal that the evaluator itself computes, so that a residual means exactly what the expression
// did. A node knows its options, sorted, so that Substitute can leave a tree alone that the option
// is not in.
Residuals::Number Residuals::Operator(const ir::Cexpr& row, const Number (&operands)[3]) {
  const uint32_t count = resolve::OperandCount(row.op);
  if (const std::optional<Number> simple = Simplified(row, operands)) {
    return *simple;
  }
  bool literal = true;
  Node node;
  node.row.op = row.op;
  node.row.kind = row.kind;
  node.total = IsTotal(row.op);
  for (uint32_t i = 0; i < count; ++i) {
    const Node& operand = nodes_[operands[i]];
    node.operands[i] = operands[i];
    literal = literal && IsLiteral(operands[i]);
    node.total = node.total && operand.total;
    std::vector<uint32_t> both;
    std::ranges::set_union(node.options, operand.options, std::back_inserter(both));
    node.options = std::move(both);
  }
  if (!literal) {
    return Intern(std::move(node));
  }
  resolve::Value values[3];
  for (uint32_t i = 0; i < count; ++i) {
    values[i] = nodes_[operands[i]].value;
  }
  resolve::Failure failure;
  bool failed_here = false;
  return Literal(resolve::Apply(row, values[0], values[1], values[2], failure, failed_here));
}

// The recursion is as deep as the expression, whose length bounds it.
Residuals::Number Residuals::AddNode(const resolve::Program& program, ir::CexprId id) {
  const ir::Cexpr& row = program.Row(id);
  if (row.op == CexprOp::kLiteral) {
    const bool text = resolve::HoldsText(row);
    return Literal(
        {.kind = static_cast<ir::ValueKind>(row.kind),
         .bits = text ? pool_->InternText(program.Text(resolve::NameId{row.a})).value : row.a});
  }
  if (row.op == CexprOp::kName) {
    const ir::OptionId option = program.Option(resolve::NameId{row.a});
    // A constant of the program, or nothing: only options can be substituted.
    if (!option.valid()) {
      return kNone;
    }
    Node node;
    node.row.op = CexprOp::kName;
    node.row.a = option.value;
    node.options = {option.value};
    return Intern(std::move(node));
  }
  const uint32_t count = resolve::OperandCount(row.op);
  if (count == 0) {
    return kNone;
  }
  Number operands[3] = {kNone, kNone, kNone};
  for (uint32_t i = 0; i < count; ++i) {
    operands[i] = AddNode(program, resolve::OperandOf(row, i));
    if (operands[i] == kNone) {
      return kNone;
    }
  }
  return Operator(row, operands);
}

// A literal that is no flag is no condition.
std::optional<Residuals::Number> Residuals::Add(const resolve::Program& program, ir::CexprId root) {
  const Number added = AddNode(program, root);
  // The two flags are the first nodes, so a literal with a higher number is something else, such as
  // a text.
  if (added == kNone || (IsLiteral(added) && added > kTrue)) {
    return std::nullopt;
  }
  return added;
}

// Equal leftovers under a `not` have one number again.
Residuals::Number Residuals::Not(Number condition) {
  const Number operands[3] = {condition, kNone, kNone};
  return Operator({.op = CexprOp::kNot}, operands);
}

// Bits as option values keep them: an enum has the position of its text in the list of the
// option.
resolve::Value Residuals::ValueOf(const resolve::Program& program, ir::OptionId option,
                                  uint32_t bits) {
  const ir::Option& declared = program.Get(option);
  switch (declared.kind) {
    case ir::OptionKind::kFlag:
      return {.kind = ir::ValueKind::kFlag, .bits = bits};
    case ir::OptionKind::kUint:
      return {.kind = ir::ValueKind::kUint, .bits = bits};
    case ir::OptionKind::kSint:
      return {.kind = ir::ValueKind::kSint, .bits = bits};
    case ir::OptionKind::kFloat:
      return {.kind = ir::ValueKind::kFloat, .bits = bits};
    case ir::OptionKind::kEnum: {
      const ir::ModuleView& module = program.module(program.ModuleOf(option));
      const uint32_t text = module.List(declared.values)[bits];
      return {.kind = ir::ValueKind::kString,
              // Texts are compared by number, so a text of a program becomes one of this pool.
              .bits = pool_->InternText(module.Text(ir::StringId{text})).value};
    }
  }
  return {};
}

// Memoised by node and given value, since expressions share parts and counting meets the same pairs
// on many paths.
Residuals::Number Residuals::Substitute(Number number, uint32_t place,
                                        const resolve::Value& value) {
  const uint32_t option = given_[place].first;
  // What does not mention the option is its own residual. That keeps the work proportional to the
  // part of the tree that changes.
  if (!std::ranges::binary_search(nodes_[number].options, option)) {
    return number;
  }
  if (nodes_[number].row.op == CexprOp::kName) {
    return Literal(value);
  }
  // The place of a given value is a small number, so node and value fit one key.
  const uint64_t key = uint64_t{number} << 32 | place;
  if (const Number* known = substituted_.Find(key)) {
    return *known;
  }
  const ir::Cexpr row = nodes_[number].row;
  Number operands[3] = {kNone, kNone, kNone};
  for (uint32_t i = 0; i < resolve::OperandCount(row.op); ++i) {
    operands[i] = Substitute(nodes_[number].operands[i], place, value);
  }
  const Number result = Operator(row, operands);
  substituted_.Insert(key, result);
  return result;
}

// The work is remembered for all conditions, since many of them share parts.
std::optional<Residuals::Number> Residuals::With(Number condition, const resolve::Program& program,
                                                 ir::OptionId option, uint32_t bits) {
  CheckStop();
  const uint64_t key = uint64_t{option.value} << 32 | bits;
  const uint32_t* const known = given_places_.Find(key);
  const uint32_t place = known != nullptr ? *known : static_cast<uint32_t>(given_.size());
  if (known == nullptr) {
    given_places_.Insert(key, place);
    given_.emplace_back(option.value, ValueOf(program, option, bits));
  }
  const Number left = Substitute(condition, place, given_[place].second);
  if (IsLiteral(left) && left > kTrue) {
    return std::nullopt;
  }
  return left;
}

}  // namespace kiln::driver
