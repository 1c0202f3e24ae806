// SPDX-License-Identifier: MIT
// Values of compile-time expressions, options and constants in one variant, each computed on first
// use. It sees scalars only: constants of a written type are read in constant_values.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/specialised.h"
#include "compiler/resolve/names/name_resolution.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/queries/query_recorder.h"
#include "compiler/resolve/values/evaluate.h"
#include "compiler/resolve/values/options.h"

namespace kiln::resolve {

// What one declaration of a constant is in this variant.
struct ConstantState {
  enum class Kind : uint8_t { kInactive, kActive, kFailed };  // kFailed: its conditional did
  Kind kind = Kind::kInactive;
  bool instance_condition = false;
  bool composite = false;  // of a type other than a scalar: no Value holds it
  Value value;             // if active
};

class ValueEvaluator {
 public:
  // All referenced objects must outlive the evaluator.
  ValueEvaluator(const Program& program, const OptionValues& values, ir::Pool& pool,
                 QueryRecorder& recorder);
  ValueEvaluator(const ValueEvaluator&) = delete;
  ValueEvaluator& operator=(const ValueEvaluator&) = delete;

  // The next values are those under `values`.
  void Reset(const OptionValues& values);

  const Program& program() const { return program_; }
  const ir::Pool& pool() const { return pool_; }
  const OptionValues& values() const { return *values_; }
  // Options by number in the order in which any variant first looked at them.
  std::span<const uint32_t> options_in_order() const { return options_in_order_; }

  // --- queries: what they rest on counts as read, and they are in the trace
  Value ValueOf(ir::CexprId cexpr);
  bool Holds(ir::CexprId condition) {
    const Value value = ValueOf(condition);
    return value.kind == ir::ValueKind::kFlag && value.bits != 0;
  }
  Value Option(ir::OptionId option);
  Value Constant(ir::DeclId constant);

  // --- for the other parts of the evaluator: in no trace
  ConstantState StateOf(ir::DeclId constant);  // counts as read
  NameResolution ResolveConstant(
      NameId name);                      // counts as read; kNone, kConstant, kConflict, kFailed
  const Value& Peek(ir::CexprId cexpr);  // does not count
  const ConstantState& PeekState(ir::DeclId constant);  // does not count
  // What a name means to an expression; with a limit only constants declared before it are seen,
  // and these must be known.
  Meaning Find(NameId name, ir::DeclId limit);
  // As a constant sees it; with every error if `diagnostics` is given.
  Value ValueBefore(ir::DeclId limit, ir::CexprId root, const SpanRun& run,
                    std::vector<Diagnostic>* diagnostics);
  // The text in the pool, found without hashing after the first time.
  ir::StringId PoolText(NameId text);

 private:
  struct ConstantName {
    Meaning meaning;
    NameResolution answer;
  };
  enum class NodeKind : uint8_t { kExpression, kConstant, kConstantName };
  struct Node {
    NodeKind kind;
    uint32_t id;
  };

  void Demand(Node node);
  bool Known(Node node) const;
  bool Need(Node node);  // whether it is known; else it is put on the work list
  bool Compute(Node node);
  bool ComputeExpression(ir::CexprId id);
  bool ComputeConstant(ir::DeclId id);
  bool ComputeConstantName(NameId name);
  bool NeedEarlier(ir::CexprId root, ir::DeclId limit);
  void UniteEarlier(ir::CexprId root, ir::DeclId limit, DependencySet& reads);
  Value OptionValue(ir::OptionId id);
  bool RestsOnInstance(ir::CexprId root, ir::DeclId limit);
  Meaning MeaningOf(NameId name, ir::DeclId limit);

  const Program& program_;
  const OptionValues* values_;
  ir::Pool& pool_;
  QueryRecorder& recorder_;
  NameId on_, off_;  // the old spellings, if anybody writes them

  ResultTable<Value> expressions_;            // by CexprId
  ResultTable<ConstantState> constants_;      // by DeclId
  ResultTable<ConstantName> constant_names_;  // by NameId
  std::vector<ir::StringId> pool_texts_;      // by NameId; kept over Reset, as the pool is
  std::vector<uint32_t> options_in_order_;
  std::vector<bool> looked_at_;  // by OptionId
  std::vector<Node> work_;
};

// The names an expression sees: all, or for a constant those declared before it (spec/rpl 8.1).
class ValueScope final : public ExpressionScope {
 public:
  ValueScope(ValueEvaluator& values, ir::DeclId limit) : values_(values), limit_(limit) {}

  const ir::Cexpr& Row(ir::CexprId id) override { return values_.program().Row(id); }
  Meaning Find(uint32_t name) override { return values_.Find(NameId{name}, limit_); }
  uint32_t StringBits(uint32_t text) override { return values_.PoolText(NameId{text}).value; }
  std::string_view Spelling(uint32_t text) override { return values_.program().Text(NameId{text}); }
  std::string_view StringText(Value string) override {
    return values_.pool().Text(ir::StringId{string.bits});
  }
  bool HasValue(ir::OptionId option, uint32_t text) override {
    return values_.program().MayHaveValue(option, NameId{text});
  }

 private:
  ValueEvaluator& values_;
  ir::DeclId limit_;
};

// Calls visit(NameId, pre-order number of its node) for every name of the tree.
template <class Visit>
void ForNames(const Program& program, ir::CexprId root, Visit visit) {
  std::vector<ir::CexprId> pending = {root};
  for (uint32_t node = 0; !pending.empty(); ++node) {
    const ir::Cexpr& row = program.Row(pending.back());
    const ir::CexprId id = pending.back();
    pending.pop_back();
    for (uint32_t i = OperandCount(row.op); i > 0; --i) {
      pending.push_back(OperandOf(row, i - 1));
    }
    if (row.op == ir::CexprOp::kComposite) {
      const uint32_t m = program.ModuleOf(id);
      const std::span<const uint32_t> items = program.module(m).List(ir::ListId{row.b});
      for (size_t i = items.size(); i > 0; --i) {
        pending.push_back(program.Wide(m, ir::CexprId{items[i - 1]}));
      }
    }
    if (row.op == ir::CexprOp::kName) {
      visit(NameId{row.a}, node);
    }
  }
}

}  // namespace kiln::resolve
