// SPDX-License-Identifier: MIT
// Evaluation on demand. A work list takes the place of recursion, so that neither long sums nor
// long chains of constants grow the stack: whoever needs a row that is not known puts it on the
// list and gives up; the list is worked off from its end, so what was needed comes first and who
// needed it is tried again. Each try before the last pushes at least one row, and programs are
// acyclic (a constant sees those before it only, or is ordered by Program), so it ends.
#include "compiler/resolve/values/value_evaluator.h"

#include <optional>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::resolve {

// Tables have a row for everything that may be asked for, so that a query is an index and no
// search. They are sized once for each program.
ValueEvaluator::ValueEvaluator(const Program& program, const OptionValues& values, ir::Pool& pool,
                               QueryRecorder& recorder)
    : program_(program), values_(&values), pool_(pool), recorder_(recorder) {
  // Booleans of an older dialect, which are told with their replacement.
  on_ = program.FindName("on");
  off_ = program.FindName("off");
  recorder.Size(expressions_, program.cexpr_count());
  recorder.Size(constants_, program.decl_count());
  recorder.Size(constant_names_, program.name_count());
  pool_texts_.resize(program.name_count());
  looked_at_.resize(program.option_count());
}

// Rows of other values of the options stay where the recorder knows that they do not depend on what
// has changed.
void ValueEvaluator::Reset(const OptionValues& values) {
  KILN_CHECK(work_.empty(), "answers are in use");
  values_ = &values;
}

// --- queries -------------------------------------------------------------------------------------

// Queries record themselves and what they read, so that a unit can be found again without being
// specialised anew.
Value ValueEvaluator::ValueOf(ir::CexprId cexpr) {
  Demand({NodeKind::kExpression, cexpr.value});
  recorder_.AddReads(expressions_.reads[cexpr.value]);
  const Value& value = expressions_.rows[cexpr.value];
  // A literal has the same value in every variant; recording it would only make traces longer.
  if (program_.Row(cexpr).op != ir::CexprOp::kLiteral) {
    recorder_.Record({.kind = VariantQueryKind::kValue, .a = cexpr.value}, Pack(value),
                     expressions_.reads[cexpr.value]);
  }
  return value;
}

Value ValueEvaluator::Option(ir::OptionId option) {
  const Value value = OptionValue(option);
  recorder_.AddReads(recorder_.Only(option.value));
  recorder_.Record({.kind = VariantQueryKind::kOption, .a = option.value}, Pack(value),
                   QueryRecorder::kNotFixed);
  return value;
}

Value ValueEvaluator::Constant(ir::DeclId constant) {
  const NameId name = program_.NameOf(constant);
  // By name, because all constants of the name decide which of them is live.
  Demand({NodeKind::kConstantName, name.value});
  recorder_.AddReads(constant_names_.reads[name.value]);
  const ConstantName& row = constant_names_.rows[name.value];
  // A constant that is not live has no value, even if its own row has one.
  const bool is_live =
      row.answer.kind == NameResolution::Kind::kConstant && row.answer.decl() == constant;
  const Value value = is_live ? row.meaning.value : Value{};
  recorder_.Record({.kind = VariantQueryKind::kConstant, .a = constant.value}, Pack(value),
                   constant_names_.reads[name.value]);
  return value;
}

NameResolution ValueEvaluator::ResolveConstant(NameId name) {
  Demand({NodeKind::kConstantName, name.value});
  recorder_.AddReads(constant_names_.reads[name.value]);
  return constant_names_.rows[name.value].answer;
}

ConstantState ValueEvaluator::StateOf(ir::DeclId constant) {
  const ConstantState state = PeekState(constant);
  recorder_.AddReads(constants_.reads[constant.value]);
  return state;
}

// The Peek functions record nothing: they serve messages, which must not change what a variant
// depends on.
const Value& ValueEvaluator::Peek(ir::CexprId cexpr) {
  Demand({NodeKind::kExpression, cexpr.value});
  return expressions_.rows[cexpr.value];
}

const ConstantState& ValueEvaluator::PeekState(ir::DeclId constant) {
  Demand({NodeKind::kConstant, constant.value});
  return constants_.rows[constant.value];
}

Meaning ValueEvaluator::Find(NameId name, ir::DeclId limit) {
  // With a limit the caller has seen to it that everything before is known.
  if (!limit.valid() && !program_.Option(name).valid()) {
    Demand({NodeKind::kConstantName, name.value});
  }
  return MeaningOf(name, limit);
}

// --- evaluation on demand ------------------------------------------------------------------------

bool ValueEvaluator::Known(Node node) const {
  switch (node.kind) {
    case NodeKind::kExpression:
      return recorder_.Known(expressions_, node.id);
    case NodeKind::kConstant:
      return recorder_.Known(constants_, node.id);
    case NodeKind::kConstantName:
      return recorder_.Known(constant_names_, node.id);
  }
  KILN_UNREACHABLE();
}

// The caller gives up when this is false and is tried again later.
bool ValueEvaluator::Need(Node node) {
  if (Known(node)) {
    return true;
  }
  work_.push_back(node);
  return false;
}

// May be called while an outer demand is working, so it works only down to the height it has found.
void ValueEvaluator::Demand(Node node) {
  if (Known(node)) {
    return;
  }
  const size_t base = work_.size();
  // What is needed lies at the end, and what needs it waits below.
  work_.push_back(node);
  while (work_.size() > base) {
    CheckStop();
    const Node next = work_.back();
    if (Known(next) || Compute(next)) {  // what it needed would lie above it
      work_.pop_back();
    }
  }
}

bool ValueEvaluator::Compute(Node node) {
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

// False means that something was pushed which has to be known first.
bool ValueEvaluator::ComputeExpression(ir::CexprId id) {
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
    // An option is read as itself; a constant brings along what it rests on.
    reads = option.valid() ? recorder_.Only(option.value) : constant_names_.reads[row.a];
    value = MeaningOf(NameId{row.a}, {}).value;
  } else {
    const uint32_t count = OperandCount(row.op);
    // All operands are pushed at once, and not only the first that is missing: this saves a try for
    // each of them.
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
      recorder_.Unite(reads, expressions_.reads[OperandOf(row, i).value]);
    }
    Failure failure;
    bool failed_here = false;
    // Rows without operands that are neither literal nor name have no value.
    if (count > 0) {
      value = Apply(row, operands[0], operands[1], operands[2], failure, failed_here);
    }
  }
  expressions_.rows[id.value] = value;
  // Value and dependencies are written together: a row is known with both or not at all.
  expressions_.reads[id.value] = reads;
  recorder_.Keep(expressions_, id.value);
  return true;
}

// An ordered constant may use whatever its expression names; others see the constants before them
// only, and so their expressions are evaluated with a limit and not shared.
bool ValueEvaluator::ComputeConstant(ir::DeclId id) {
  const uint32_t m = program_.ModuleOf(id);
  const ir::Decl& decl = program_.Get(id);
  const bool ordered = program_.Ordered(id);
  ValueScope scope(*this, id);
  DependencySet reads = kReadNothing;
  // Nothing if it is not ready yet.
  const auto value_of = [&](ir::CexprId root) -> std::optional<Value> {
    if (ordered) {
      if (!Need({NodeKind::kExpression, root.value})) {
        return std::nullopt;
      }
      return expressions_.rows[root.value];
    }
    // The constants before it must be known, since evaluating with a limit looks only at the table.
    return NeedEarlier(root, id) ? std::optional(Evaluate(scope, root)) : std::nullopt;
  };
  const auto unite = [&](ir::CexprId root) {
    if (ordered && program_.Row(root).op != ir::CexprOp::kComposite) {
      recorder_.Unite(reads, expressions_.reads[root.value]);
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
    // Composite values are read on demand by another query. Here it is enough to know what they
    // rest on.
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
  // Both count as read: with other options the condition may choose another constant.
  unite(condition);
  if (state.kind == ConstantState::Kind::kActive) {
    unite(body);
  }
  constants_.rows[id.value] = state;
  constants_.reads[id.value] = reads;
  recorder_.Keep(constants_, id.value);
  return true;
}

// Every candidate is computed, because all of their conditions decide what the name means.
bool ValueEvaluator::ComputeConstantName(NameId name) {
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
  // With a limit behind all declarations: every constant of the name counts.
  row.meaning = MeaningOf(name, ir::DeclId{ir::kNoRow - 1});
  for (const ir::DeclId id : candidates) {
    recorder_.Unite(reads, constants_.reads[id.value]);
    // More than one active constant is a conflict. Which was first is kept for the message.
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
  recorder_.Keep(constant_names_, name.value);
  return true;
}

// All names at once, so that one more try suffices.
bool ValueEvaluator::NeedEarlier(ir::CexprId root, ir::DeclId limit) {
  bool ready = true;
  ForNames(program_, root, [&](NameId name, uint32_t) {
    for (const ir::DeclId id : program_.Constants(name)) {
      ready = (id.value >= limit.value || Need({NodeKind::kConstant, id.value})) && ready;
    }
  });
  return ready;
}

void ValueEvaluator::UniteEarlier(ir::CexprId root, ir::DeclId limit, DependencySet& reads) {
  ForNames(program_, root, [&](NameId name, uint32_t) {
    if (const ir::OptionId option = program_.Option(name); option.valid()) {
      recorder_.Unite(reads, recorder_.Only(option.value));
      return;
    }
    for (const ir::DeclId id : program_.Constants(name)) {
      // Later constants of the name are invisible here, so nothing rests on them.
      if (id.value < limit.value) {
        recorder_.Unite(reads, constants_.reads[id.value]);
      }
    }
  });
}

// Of a composite value any part is enough.
bool ValueEvaluator::RestsOnInstance(ir::CexprId root, ir::DeclId limit) {
  bool found = false;
  ValueScope scope(*this, limit);
  ForNames(program_, root,
           [&](NameId name, uint32_t) { found = found || scope.Find(name.value).value.instance; });
  return found;
}

// Outside of the tables: what depends on a limit is not shared.
Value ValueEvaluator::ValueBefore(ir::DeclId limit, ir::CexprId root, const SpanRun& run,
                                  std::vector<Diagnostic>* diagnostics) {
  ValueScope scope(*this, limit);
  return diagnostics == nullptr ? Evaluate(scope, root) : Explain(scope, root, run, *diagnostics);
}

Value ValueEvaluator::OptionValue(ir::OptionId id) {
  // The order in which options are first looked at is that of keys; it is the same in every run,
  // because evaluation is.
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
      // The value of an enum option is kept as the number of a text.
      const std::span<const uint32_t> values = program_.module(m).List(option.values);
      KILN_CHECK(bits < values.size(), "value {} of {}", bits, values.size());
      const ir::StringId text = PoolText(program_.Name(m, ir::StringId{values[bits]}));
      return {.kind = ir::ValueKind::kString, .instance = instance, .bits = text.value};
    }
  }
  KILN_UNREACHABLE();
}

// What a name means. Requires: known are, with no limit, its row; else all constants before it.
// Options first: they own their name.
Meaning ValueEvaluator::MeaningOf(NameId name, ir::DeclId limit) {
  if (const ir::OptionId option = program_.Option(name); option.valid()) {
    if (program_.Get(option).specialize != 0) {
      return {.kind = Meaning::Kind::kSpecialised, .option = option};
    }
    return {.kind = Meaning::Kind::kValue, .value = OptionValue(option), .option = option};
  }
  if (!limit.valid()) {
    return constant_names_.rows[name.value].meaning;
  }
  // All constants before the limit are looked at, active or not, because their conditions may rest
  // on an instance option and then so does the name.
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
      // If several are active, the value is dropped below.
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
  // Two active ones and a failed condition are reported elsewhere.
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

// Texts are interned in the pool, which compares them by id; this table saves the hashing.
ir::StringId ValueEvaluator::PoolText(NameId text) {
  ir::StringId& known = pool_texts_[text.value];
  if (!known.valid()) {
    known = pool_.InternText(program_.Text(text));
  }
  return known;
}

}  // namespace kiln::resolve
