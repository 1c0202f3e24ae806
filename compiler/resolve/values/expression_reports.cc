// SPDX-License-Identifier: MIT
#include "compiler/resolve/values/expression_reports.h"

#include <string>
#include <utility>

namespace kiln::resolve {
namespace {

// Taint: a value that rests on an instance option must not stand where only global ones may. The
// value itself carries one bit; which option it was, and over which constants, is found when
// somebody has to be told: from a tainted constant to the first tainted name in its value or
// conditional, and on until that name is an option.

// One step from a name towards the instance option it rests on.
struct ChainStep {
  NameId name;        // an instance option, or another tainted constant
  ir::DeclId holder;  // the constant whose value or conditional mentions it
  Location where;
};

// Several constants may have the name, under conditions; the first that is tainted is followed. If
// its condition is tainted, then this is the reason, even though the value may be as well.
bool FindStep(ValueEvaluator& values, NameId name, ir::DeclId limit, ChainStep& step) {
  const Program& program = values.program();
  // Only constants before the limit count, in the order of their declarations.
  for (const ir::DeclId id : program.Constants(name)) {
    // Candidates are sorted by declaration.
    if (id.value >= limit.value) {
      break;
    }
    const ConstantState state = values.PeekState(id);
    const bool by_value = state.kind == ConstantState::Kind::kActive && state.value.instance;
    if (!state.instance_condition && !by_value) {
      continue;
    }
    const uint32_t m = program.ModuleOf(id);
    const ir::Decl& decl = program.Get(id);
    const ir::DeclSpans spans = program.SpansOf(id);
    const bool by_condition = state.instance_condition;
    const SpanRun run = RunOf(program, program.At(m, by_condition ? spans.condition : spans.value));
    // The first name in the order of the source is followed; others may be tainted as well.
    bool found = false;
    ValueScope scope(values, id);
    ForNames(program, program.Wide(m, by_condition ? decl.condition : ir::CexprId{decl.body}),
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

Diagnostic DescribeTaint(ValueEvaluator& values, NameId name, const Location& where,
                         std::string_view position) {
  const Program& program = values.program();
  Diagnostic made = Make(Code::kRpl3002, where).With("name", program.Text(name));
  std::string chain = "'" + std::string(program.Text(name)) + "'";
  NameId from = name;
  // Larger than every declaration: at first all constants count.
  ir::DeclId limit{ir::kNoRow - 1};
  ChainStep step;
  // Each step leads to an earlier constant, so the chain ends.
  // Only an option ends a chain: constants rest on something else.
  while (!program.Option(from).valid() && FindStep(values, from, limit, step)) {
    made.labels.push_back(
        {.kind = LabelKind::kDependsHere,
         .where = step.where,
         .arguments = {{"name", program.Text(from)}, {"option", program.Text(step.name)}}});
    chain += " -> '" + std::string(program.Text(step.name)) + "'";
    from = step.name;
    limit = step.holder;
  }
  return std::move(made)
      .With("option", program.Text(from))
      .With("position", position)
      .Note(NoteKind::kTaintChain, {{"chain", chain}});
}

}  // namespace

SpanRun RunOf(const Program& program, const Location& first) {
  return {.view = &program.module(first.module),
          .module = first.module,
          .first = ir::SpanId{first.span_number}};
}

// The note depends on what was written: a text is mostly one half of a comparison.
Diagnostic NoCondition(const Location& where, ir::ValueKind kind) {
  Diagnostic made = Make(Code::kRpl3018, where).With("type", KindText(kind));
  const bool text = kind == ir::ValueKind::kString;
  return std::move(made).Note(NoteKind::kAccepted,
                              {{"accepted", text ? "a flag, or a comparison: option == \"value\""
                                                 : "a flag, or a comparison"}});
}

// The value was computed long before without a message. It is evaluated again, with messages, only
// if it failed; so programs without faults pay nothing.
void ReportFailure(ValueEvaluator& values, ir::CexprId cexpr, Location run,
                   std::vector<Diagnostic>& diagnostics) {
  const Program& program = values.program();
  if (values.Peek(cexpr).failed() || program.MayRemark(cexpr)) {
    // No limit: expressions outside of constants see everything.
    ValueScope scope(values, {});
    Explain(scope, cexpr, RunOf(program, run), diagnostics);
  }
}

void ReportCondition(ValueEvaluator& values, ir::CexprId condition, Location run,
                     std::vector<Diagnostic>& diagnostics) {
  ReportFailure(values, condition, run, diagnostics);
  const Value value = values.Peek(condition);
  if (!value.failed() && value.kind != ir::ValueKind::kFlag) {
    diagnostics.push_back(NoCondition(RunOf(values.program(), run).At(0), value.kind));
  }
}

// Every name in the expression that brings an instance option along gets a message of its own.
void ReportInstance(ValueEvaluator& values, ir::CexprId cexpr, Location run,
                    const Position& position, std::vector<Diagnostic>& diagnostics) {
  const Program& program = values.program();
  std::string text(position.what);
  if (!position.name.empty()) {
    text += " '" + std::string(position.name) + "'";
  }
  ValueScope scope(values, {});
  const SpanRun spans = RunOf(program, run);
  // Names are visited with the number of their node, which leads to their place.
  ForNames(program, cexpr, [&](NameId name, uint32_t node) {
    const Meaning meaning = scope.Find(name.value);
    if (!meaning.value.instance) {
      return;
    }
    if (meaning.option.valid()) {
      diagnostics.push_back(Make(Code::kRpl3001, spans.At(node))
                                .With("name", program.Text(name))
                                .With("position", text)
                                .Label(LabelKind::kDeclaredHere,
                                       program.NameLocation(meaning.option),
                                       {{"name", program.Text(name)}}));
      return;
    }
    diagnostics.push_back(DescribeTaint(values, name, spans.At(node), text));
  });
}

Value CheckExpression(ValueEvaluator& values, ir::CexprId cexpr, Location run,
                      const Position& position, std::vector<Diagnostic>& diagnostics) {
  const Value value = values.ValueOf(cexpr);
  if (value.failed() || values.program().MayRemark(cexpr)) {
    ReportFailure(values, cexpr, run, diagnostics);
  }
  // Both may be told: a value that failed, and one that rests on the wrong options.
  if (position.global_only && value.instance) {
    ReportInstance(values, cexpr, run, position, diagnostics);
  }
  return value;
}

std::optional<bool> CheckCondition(ValueEvaluator& values, ir::CexprId condition, Location run,
                                   const Position& position, std::vector<Diagnostic>& diagnostics) {
  const Value value = CheckExpression(values, condition, run, position, diagnostics);
  if (value.kind == ir::ValueKind::kFlag) {
    return value.bits != 0;
  }
  if (!value.failed()) {
    diagnostics.push_back(NoCondition(RunOf(values.program(), run).At(0), value.kind));
  }
  return std::nullopt;
}

}  // namespace kiln::resolve
