// SPDX-License-Identifier: MIT
// Values of expressions, options and constants: evaluated on demand with a work list instead of
// recursion, so that neither long sums nor long chains of constants grow the stack; and what is
// wrong with them.
#include <algorithm>
#include <string>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/stop.h"
#include "compiler/resolve/variant_evaluator.h"

namespace kiln::resolve {
namespace {

Diagnostic NoCondition(const Location& where, ir::ValueKind kind) {
  Diagnostic made = Make(Code::kRpl3018, where).With("type", KindText(kind));
  const bool text = kind == ir::ValueKind::kString;
  return std::move(made).Note(NoteKind::kAccepted,
                              {{"accepted", text ? "a flag, or a comparison: option == \"value\""
                                                 : "a flag, or a comparison"}});
}

}  // namespace

// The names an expression sees: all, or for a constant those declared before it (spec/rpl 8.1).
class VariantEvaluator::Scope final : public ExpressionScope {
 public:
  Scope(VariantEvaluator& answers, ir::DeclId limit) : answers_(answers), limit_(limit) {}

  const ir::Cexpr& Row(ir::CexprId id) override { return answers_.program_.Row(id); }
  Meaning Find(uint32_t name) override {
    if (!limit_.valid() && !answers_.program_.Option(NameId{name}).valid()) {
      answers_.Demand({NodeKind::kConstantName, name});
    }
    return answers_.MeaningOf(NameId{name}, limit_);
  }
  uint32_t StringBits(uint32_t text) override { return answers_.PoolText(NameId{text}).value; }
  std::string_view Spelling(uint32_t text) override { return answers_.program_.Text(NameId{text}); }
  std::string_view StringText(Value string) override {
    return answers_.pool_.Text(ir::StringId{string.bits});
  }
  bool HasValue(ir::OptionId option, uint32_t text) override {
    return answers_.program_.MayHaveValue(option, NameId{text});
  }

 private:
  VariantEvaluator& answers_;
  ir::DeclId limit_;
};

// --- evaluation on demand ------------------------------------------------------------------------

bool VariantEvaluator::Known(Node node) const {
  switch (node.kind) {
    case NodeKind::kExpression:
      return Known(expressions_, node.id);
    case NodeKind::kConstant:
      return Known(constants_, node.id);
    case NodeKind::kConstantName:
      return Known(constant_names_, node.id);
  }
  KILN_UNREACHABLE();
}

bool VariantEvaluator::Need(Node node) {
  if (Known(node)) {
    return true;
  }
  work_.push_back(node);
  return false;
}

void VariantEvaluator::Demand(Node node) {
  if (Known(node)) {
    return;
  }
  const size_t base = work_.size();
  work_.push_back(node);
  while (work_.size() > base) {
    CheckStop();
    const Node next = work_.back();
    if (Known(next) || Compute(next)) {  // what it needed would lie above it
      work_.pop_back();
    }
  }
}

bool VariantEvaluator::Compute(Node node) {
  switch (node.kind) {
    case NodeKind::kExpression:
      return ComputeExpression(ir::CexprId{node.id});
    case NodeKind::kConstant:
      return ComputeConstant(ir::DeclId{node.id});
    case NodeKind::kConstantName:
      return ComputeConstantName(NameId{node.id});
  }
  KILN_UNREACHABLE();
}

bool VariantEvaluator::ComputeExpression(ir::CexprId id) {
  const ir::Cexpr& row = program_.Row(id);
  DependencySet reads = kReadNothing;
  Value value;
  if (row.op == ir::CexprOp::kLiteral) {
    value = {.kind = static_cast<ir::ValueKind>(row.kind),
             .bits = HoldsText(row) ? PoolText(NameId{row.a}).value : row.a};
  } else if (row.op == ir::CexprOp::kName) {
    const ir::OptionId option = program_.Option(NameId{row.a});
    if (!option.valid() && !Need({NodeKind::kConstantName, row.a})) {
      return false;
    }
    reads = option.valid() ? sets_.Only(option.value) : constant_names_.reads[row.a];
    value = MeaningOf(NameId{row.a}, {}).value;
  } else {
    const uint32_t count = OperandCount(row.op);
    bool ready = true;
    for (uint32_t i = 0; i < count; ++i) {
      ready = Need({NodeKind::kExpression, OperandOf(row, i).value}) && ready;
    }
    if (!ready) {
      return false;
    }
    Value operands[3];
    for (uint32_t i = 0; i < count; ++i) {
      operands[i] = expressions_.rows[OperandOf(row, i).value];
      Unite(reads, expressions_.reads[OperandOf(row, i).value]);
    }
    Failure failure;
    bool failed_here = false;
    if (count > 0) {
      value = Apply(row, operands[0], operands[1], operands[2], failure, failed_here);
    }
  }
  expressions_.rows[id.value] = value;
  expressions_.reads[id.value] = reads;
  Keep(expressions_, id.value);
  return true;
}

bool VariantEvaluator::ComputeConstant(ir::DeclId id) {
  const uint32_t m = program_.ModuleOf(id);
  const ir::Decl& decl = program_.Get(id);
  const bool ordered = program_.Ordered(id);
  Scope scope(*this, id);
  DependencySet reads = kReadNothing;
  // Nothing if it is not ready yet.
  const auto value_of = [&](ir::CexprId root) -> std::optional<Value> {
    if (ordered) {
      if (!Need({NodeKind::kExpression, root.value})) {
        return std::nullopt;
      }
      return expressions_.rows[root.value];
    }
    return NeedEarlier(root, id) ? std::optional(Evaluate(scope, root)) : std::nullopt;
  };
  const auto unite = [&](ir::CexprId root) {
    if (ordered && program_.Row(root).op != ir::CexprOp::kComposite) {
      Unite(reads, expressions_.reads[root.value]);
    } else {
      UniteEarlier(root, id, reads);
    }
  };
  const ir::CexprId condition = program_.Wide(m, decl.condition);
  const ir::CexprId body = program_.Wide(m, ir::CexprId{decl.body});
  const std::optional<Value> active = value_of(condition);
  if (!active) {
    return false;
  }
  ConstantState state;
  state.instance_condition = active->instance;
  if (active->kind != ir::ValueKind::kFlag) {
    state.kind = ConstantState::Kind::kFailed;
  } else if (active->bits != 0) {
    state.kind = ConstantState::Kind::kActive;
    state.composite = program_.IsComposite(id);
    if (state.composite && !NeedEarlier(body, id)) {
      return false;
    }
    if (state.composite) {
      state.value.instance = RestsOnInstance(body, id);
    } else if (const std::optional<Value> value = value_of(body)) {
      state.value = *value;
    } else {
      return false;
    }
  }
  unite(condition);
  if (state.kind == ConstantState::Kind::kActive) {
    unite(body);
  }
  constants_.rows[id.value] = state;
  constants_.reads[id.value] = reads;
  Keep(constants_, id.value);
  return true;
}

bool VariantEvaluator::ComputeConstantName(NameId name) {
  const std::span<const ir::DeclId> candidates = program_.Constants(name);
  bool ready = true;
  for (const ir::DeclId id : candidates) {
    ready = Need({NodeKind::kConstant, id.value}) && ready;
  }
  if (!ready) {
    return false;
  }
  DependencySet reads = kReadNothing;
  ConstantName row;
  row.meaning = MeaningOf(name, ir::DeclId{ir::kNoRow - 1});
  for (const ir::DeclId id : candidates) {
    Unite(reads, constants_.reads[id.value]);
    const ConstantState& state = constants_.rows[id.value];
    if (state.kind == ConstantState::Kind::kActive) {
      row.answer =
          row.answer.kind == NameResolution::Kind::kConstant
              ? NameResolution{.kind = NameResolution::Kind::kConflict, .id = row.answer.id}
          : row.answer.kind == NameResolution::Kind::kConflict
              ? row.answer
              : NameResolution{.kind = NameResolution::Kind::kConstant, .id = id.value};
    }
  }
  if (row.answer.kind == NameResolution::Kind::kNone &&
      row.meaning.kind == Meaning::Kind::kPoisoned) {
    row.answer.kind = NameResolution::Kind::kFailed;
  }
  constant_names_.rows[name.value] = row;
  constant_names_.reads[name.value] = reads;
  Keep(constant_names_, name.value);
  return true;
}

// Calls visit(NameId, pre-order number of its node) for every name of the tree.
template <class Visit>
void VariantEvaluator::ForNames(ir::CexprId root, Visit visit) const {
  std::vector<ir::CexprId> pending = {root};
  for (uint32_t node = 0; !pending.empty(); ++node) {
    const ir::Cexpr& row = program_.Row(pending.back());
    const ir::CexprId id = pending.back();
    pending.pop_back();
    for (uint32_t i = OperandCount(row.op); i > 0; --i) {
      pending.push_back(OperandOf(row, i - 1));
    }
    if (row.op == ir::CexprOp::kComposite) {
      const uint32_t m = program_.ModuleOf(id);
      const std::span<const uint32_t> items = program_.module(m).List(ir::ListId{row.b});
      for (size_t i = items.size(); i > 0; --i) {
        pending.push_back(program_.Wide(m, ir::CexprId{items[i - 1]}));
      }
    }
    if (row.op == ir::CexprOp::kName) {
      visit(NameId{row.a}, node);
    }
  }
}

bool VariantEvaluator::NeedEarlier(ir::CexprId root, ir::DeclId limit) {
  bool ready = true;
  ForNames(root, [&](NameId name, uint32_t) {
    for (const ir::DeclId id : program_.Constants(name)) {
      ready = (id.value >= limit.value || Need({NodeKind::kConstant, id.value})) && ready;
    }
  });
  return ready;
}

void VariantEvaluator::UniteEarlier(ir::CexprId root, ir::DeclId limit, DependencySet& reads) {
  ForNames(root, [&](NameId name, uint32_t) {
    if (const ir::OptionId option = program_.Option(name); option.valid()) {
      Unite(reads, sets_.Only(option.value));
      return;
    }
    for (const ir::DeclId id : program_.Constants(name)) {
      if (id.value < limit.value) {
        Unite(reads, constants_.reads[id.value]);
      }
    }
  });
}

bool VariantEvaluator::RestsOnInstance(ir::CexprId root, ir::DeclId limit) {
  bool found = false;
  Scope scope(*this, limit);
  ForNames(root,
           [&](NameId name, uint32_t) { found = found || scope.Find(name.value).value.instance; });
  return found;
}

Value VariantEvaluator::ValueBefore(ir::DeclId limit, ir::CexprId root, const SpanRun& run,
                                    std::vector<Diagnostic>* diagnostics) {
  Scope scope(*this, limit);
  return diagnostics == nullptr ? Evaluate(scope, root) : Explain(scope, root, run, *diagnostics);
}

Value VariantEvaluator::OptionValue(ir::OptionId id) {
  if (!looked_at_[id.value]) {
    looked_at_[id.value] = true;
    options_in_order_.push_back(id.value);
  }
  const uint32_t m = program_.ModuleOf(id);
  const ir::Option& option = program_.Get(id);
  const uint32_t bits = values_->bits[id.value];
  const bool instance = option.scope == ir::OptionScope::kInstance;
  switch (option.kind) {
    case ir::OptionKind::kFlag:
      return {.kind = ir::ValueKind::kFlag, .instance = instance, .bits = bits};
    case ir::OptionKind::kUint:
      return {.kind = ir::ValueKind::kUint, .instance = instance, .bits = bits};
    case ir::OptionKind::kSint:
      return {.kind = ir::ValueKind::kSint, .instance = instance, .bits = bits};
    case ir::OptionKind::kFloat:
      return {.kind = ir::ValueKind::kFloat, .instance = instance, .bits = bits};
    case ir::OptionKind::kEnum: {
      const std::span<const uint32_t> values = program_.module(m).List(option.values);
      KILN_CHECK(bits < values.size(), "value {} of {}", bits, values.size());
      const ir::StringId text = PoolText(program_.Name(m, ir::StringId{values[bits]}));
      return {.kind = ir::ValueKind::kString, .instance = instance, .bits = text.value};
    }
  }
  KILN_UNREACHABLE();
}

// What a name means. Requires: known are, with no limit, its row; else all constants before it.
Meaning VariantEvaluator::MeaningOf(NameId name, ir::DeclId limit) {
  if (const ir::OptionId option = program_.Option(name); option.valid()) {
    if (program_.Get(option).specialize != 0) {
      return {.kind = Meaning::Kind::kSpecialised, .option = option};
    }
    return {.kind = Meaning::Kind::kValue, .value = OptionValue(option), .option = option};
  }
  if (!limit.valid()) {
    return constant_names_.rows[name.value].meaning;
  }
  Meaning meaning;
  uint32_t active = 0;
  bool failed = false;
  bool instance = false;
  bool later = false;
  bool composite = false;
  for (const ir::DeclId id : program_.Constants(name)) {
    if (id.value >= limit.value) {
      later = true;
      break;
    }
    const ConstantState& state = constants_.rows[id.value];
    instance = instance || state.instance_condition;
    failed = failed || state.kind == ConstantState::Kind::kFailed;
    if (state.kind == ConstantState::Kind::kActive) {
      ++active;
      meaning.value = state.value;
      composite = state.composite;
    }
  }
  if (active == 1) {
    meaning.kind = composite                ? Meaning::Kind::kComposite
                   : meaning.value.failed() ? Meaning::Kind::kPoisoned
                                            : Meaning::Kind::kValue;
    meaning.value.instance = meaning.value.instance || instance;
    return meaning;
  }
  meaning.value = {};
  if (active > 1 || failed) {
    meaning.kind = Meaning::Kind::kPoisoned;
  } else if (later) {
    meaning.kind = Meaning::Kind::kTooEarly;
  } else if (name == on_ || name == off_) {
    meaning.kind = Meaning::Kind::kOldSpelling;
    meaning.value = {.kind = ir::ValueKind::kFlag, .bits = name == on_ ? 1u : 0u};
  }
  return meaning;
}

ir::StringId VariantEvaluator::PoolText(NameId text) {
  ir::StringId& known = pool_texts_[text.value];
  if (!known.valid()) {
    known = pool_.InternText(program_.Text(text));
  }
  return known;
}

ConstantState VariantEvaluator::StateOf(ir::DeclId constant, std::vector<Diagnostic>* diagnostics) {
  Demand({NodeKind::kConstant, constant.value});
  AddReads(constants_.reads[constant.value]);
  const ConstantState state = constants_.rows[constant.value];
  if (diagnostics == nullptr) {
    return state;
  }
  const uint32_t m = program_.ModuleOf(constant);
  const ir::Decl& decl = program_.Get(constant);
  const ir::DeclSpans spans = program_.SpansOf(constant);
  Scope scope(*this, constant);
  const auto explain = [&](ir::CexprId root, ir::SpanId first, bool failed) -> Value {
    if (!failed && !program_.MayRemark(root)) {
      return {};
    }
    return Explain(scope, root, RunOf(program_.At(m, first)), *diagnostics);
  };
  const bool failed = state.kind == ConstantState::Kind::kFailed;
  const Value condition = explain(program_.Wide(m, decl.condition), spans.condition, failed);
  if (failed && !condition.failed()) {
    diagnostics->push_back(NoCondition(program_.At(m, spans.condition), condition.kind));
  }
  if (state.kind == ConstantState::Kind::kActive && state.composite) {
    ReadComposite(constant, diagnostics);
  } else if (state.kind == ConstantState::Kind::kActive) {
    explain(program_.Wide(m, ir::CexprId{decl.body}), spans.value, state.value.failed());
    CheckWrittenType(constant, state.value, *diagnostics);
  }
  return state;
}

// --- reports -------------------------------------------------------------------------------------

SpanRun VariantEvaluator::RunOf(const Location& first) const {
  return {.view = &program_.module(first.module),
          .module = first.module,
          .first = ir::SpanId{first.span_number}};
}

void VariantEvaluator::ReportFailure(ir::CexprId cexpr, Location run,
                                     std::vector<Diagnostic>& diagnostics) {
  Demand({NodeKind::kExpression, cexpr.value});
  if (expressions_.rows[cexpr.value].failed() || program_.MayRemark(cexpr)) {
    Scope scope(*this, {});
    Explain(scope, cexpr, RunOf(run), diagnostics);
  }
}

void VariantEvaluator::ReportCondition(ir::CexprId condition, Location run,
                                       std::vector<Diagnostic>& diagnostics) {
  ReportFailure(condition, run, diagnostics);
  const Value value = expressions_.rows[condition.value];
  if (!value.failed() && value.kind != ir::ValueKind::kFlag) {
    diagnostics.push_back(NoCondition(RunOf(run).At(0), value.kind));
  }
}

// One step from a name towards the instance option it rests on.
struct VariantEvaluator::ChainStep {
  NameId name;        // an instance option, or another tainted constant
  ir::DeclId holder;  // the constant whose value or conditional mentions it
  Location where;
};

bool VariantEvaluator::FindStep(NameId name, ir::DeclId limit, ChainStep& step) {
  for (const ir::DeclId id : program_.Constants(name)) {
    if (id.value >= limit.value) {
      break;
    }
    Demand({NodeKind::kConstant, id.value});
    const ConstantState state = constants_.rows[id.value];
    const bool by_value = state.kind == ConstantState::Kind::kActive && state.value.instance;
    if (!state.instance_condition && !by_value) {
      continue;
    }
    const uint32_t m = program_.ModuleOf(id);
    const ir::Decl& decl = program_.Get(id);
    const ir::DeclSpans spans = program_.SpansOf(id);
    const bool by_condition = state.instance_condition;
    const SpanRun run = RunOf(program_.At(m, by_condition ? spans.condition : spans.value));
    bool found = false;
    Scope scope(*this, id);
    ForNames(program_.Wide(m, by_condition ? decl.condition : ir::CexprId{decl.body}),
             [&](NameId mentioned, uint32_t node) {
               if (!found && scope.Find(mentioned.value).value.instance) {
                 found = true;
                 step = {.name = mentioned, .holder = id, .where = run.At(node)};
               }
             });
    return found;
  }
  return false;
}

Diagnostic VariantEvaluator::DescribeTaint(NameId name, const Location& where,
                                           std::string_view position) {
  Diagnostic made = Make(Code::kRpl3002, where).With("name", program_.Text(name));
  std::string chain = "'" + std::string(program_.Text(name)) + "'";
  NameId from = name;
  ir::DeclId limit{ir::kNoRow - 1};
  ChainStep step;
  // Each step leads to an earlier constant, so the chain ends.
  while (!program_.Option(from).valid() && FindStep(from, limit, step)) {
    made.labels.push_back(
        {.kind = LabelKind::kDependsHere,
         .where = step.where,
         .arguments = {{"name", program_.Text(from)}, {"option", program_.Text(step.name)}}});
    chain += " -> '" + std::string(program_.Text(step.name)) + "'";
    from = step.name;
    limit = step.holder;
  }
  return std::move(made)
      .With("option", program_.Text(from))
      .With("position", position)
      .Note(NoteKind::kTaintChain, {{"chain", chain}});
}

void VariantEvaluator::ReportInstance(ir::CexprId cexpr, Location run, const Position& position,
                                      std::vector<Diagnostic>& diagnostics) {
  std::string text(position.what);
  if (!position.name.empty()) {
    text += " '" + std::string(position.name) + "'";
  }
  Scope scope(*this, {});
  const SpanRun spans = RunOf(run);
  ForNames(cexpr, [&](NameId name, uint32_t node) {
    const Meaning meaning = scope.Find(name.value);
    if (!meaning.value.instance) {
      return;
    }
    if (meaning.option.valid()) {
      diagnostics.push_back(Make(Code::kRpl3001, spans.At(node))
                                .With("name", program_.Text(name))
                                .With("position", text)
                                .Label(LabelKind::kDeclaredHere,
                                       program_.NameLocation(meaning.option),
                                       {{"name", program_.Text(name)}}));
      return;
    }
    diagnostics.push_back(DescribeTaint(name, spans.At(node), text));
  });
}

Value VariantEvaluator::Check(ir::CexprId cexpr, Location run, const Position& position,
                              std::vector<Diagnostic>& diagnostics) {
  const Value value = ValueOf(cexpr);
  if (value.failed() || program_.MayRemark(cexpr)) {
    ReportFailure(cexpr, run, diagnostics);
  }
  if (position.global_only && value.instance) {
    ReportInstance(cexpr, run, position, diagnostics);
  }
  return value;
}

std::optional<bool> VariantEvaluator::CheckCondition(ir::CexprId condition, Location run,
                                                     const Position& position,
                                                     std::vector<Diagnostic>& diagnostics) {
  const Value value = Check(condition, run, position, diagnostics);
  if (value.kind == ir::ValueKind::kFlag) {
    return value.bits != 0;
  }
  if (!value.failed()) {
    diagnostics.push_back(NoCondition(RunOf(run).At(0), value.kind));
  }
  return std::nullopt;
}

}  // namespace kiln::resolve
