// SPDX-License-Identifier: MIT
#include "compiler/driver/expressions.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"

namespace kiln::driver {
namespace {

constexpr size_t kMaxBytes = 4096;
constexpr std::string_view kPrefix = "constant kiln_expression = (";

// Positions in the synthetic source -> positions in the expression.
void MoveInto(Location& where, uint32_t expression, size_t size) {
  const auto move = [&](uint32_t offset) {
    const auto prefix = static_cast<uint32_t>(kPrefix.size());
    const uint32_t moved = offset < prefix ? 0 : offset - prefix;
    return std::min(moved, static_cast<uint32_t>(size));
  };
  if (where.known()) {
    where = {.module = expression,
             .span_number = Location::kNone,
             .bytes = {.begin = move(where.bytes.begin), .end = move(where.bytes.end)}};
  }
}

void MoveAll(std::vector<Diagnostic>& diagnostics, uint32_t expression, size_t size) {
  for (Diagnostic& diagnostic : diagnostics) {
    MoveInto(diagnostic.primary, expression, size);
    for (Label& label : diagnostic.labels) {
      MoveInto(label.where, expression, size);
    }
  }
}

}  // namespace

// Each expression is the only constant of a module of its own, linked behind the program's: options
// keep their numbers, and names cannot clash with one another.
struct Expressions::State {
  struct One {
    std::string text;
    std::unique_ptr<LinkedProgram> linked;
    ir::CexprId value;
    Location run;
    std::unique_ptr<resolve::Answers> answers;
  };
  ir::Pool pool;
  resolve::OptionValues none;
  std::vector<One> all;
};

namespace {

// What is wrong whatever the options are: a name that nobody declares, a text that an option never
// is. In a source the latter is a warning; who filters by it gets something else than was meant.
std::vector<Diagnostic> UnknownNames(Expressions::State::One& one, uint32_t number) {
  std::vector<Diagnostic> found;
  one.answers->ReportCondition(one.value, one.run, found);
  std::erase_if(found, [](const Diagnostic& diagnostic) {
    return diagnostic.code != Code::kRpl3003 && diagnostic.code != Code::kRpl3026;
  });
  for (Diagnostic& diagnostic : found) {
    if (diagnostic.code == Code::kRpl3026) {
      diagnostic.code = Code::kRpl2006;  // of the same arguments
      diagnostic.severity = CodeSeverity(diagnostic.code);
    }
  }
  FillPositions(one.linked->program, found);
  MoveAll(found, number, one.text.size());
  return found;
}

}  // namespace

Expressions::Expressions(std::unique_ptr<State> state) : state_(std::move(state)) {}
Expressions::~Expressions() = default;

Diagnosed<std::unique_ptr<Expressions>> Expressions::Compile(const LinkedProgram& program,
                                                             std::span<const std::string> texts) {
  Diagnosed<std::unique_ptr<Expressions>> result;
  auto state = std::make_unique<State>();
  state->none.bits.resize(program.program.option_count());
  for (uint32_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    if (text.size() > kMaxBytes) {
      result.diagnostics.push_back(Make(Code::kRpl1008, {.module = i, .bytes = {}})
                                       .With("size", text.size())
                                       .With("limit", kMaxBytes));
      continue;
    }
    const auto ordinal = static_cast<uint32_t>(program.modules.size());
    const SourceFile source("expression.rpl", std::string(kPrefix) + text + "\n);");
    Diagnosed<ir::Module> parsed = ParseSource(ir::Language::kRpl, source, ordinal);
    MoveAll(parsed.diagnostics, i, text.size());
    result.diagnostics.insert(result.diagnostics.end(), parsed.diagnostics.begin(),
                              parsed.diagnostics.end());
    if (!parsed.ok()) {
      continue;
    }
    const ir::ModuleView view = parsed.value->view();
    if (view.decls.size() != 1) {  // "a); constant b = (c": more than an expression
      result.diagnostics.push_back(
          Make(Code::kRpl1170, {.module = i, .bytes = {.begin = 0, .end = 1}})
              .With("kind", "text")
              .With("text", ")"));
      continue;
    }
    State::One one;
    one.text = text;
    one.value = ir::CexprId{view.decls[0].body};
    const ir::SpanId span = view.decl_spans.empty() ? ir::SpanId{} : view.decl_spans[0].value;
    one.run = {.module = ordinal, .span_number = span.value, .bytes = view.SpanOf(span)};
    std::vector<std::shared_ptr<const ir::Module>> modules = program.modules;
    std::vector<std::string> paths = program.paths;
    modules.push_back(std::make_shared<const ir::Module>(std::move(*parsed.value)));
    paths.emplace_back("expression");
    Diagnosed<LinkedProgram> linked =
        LinkModules(std::move(modules), std::move(paths), program.program.pipeline());
    KILN_CHECK(linked.ok(), "a module of one constant links with anything");
    one.linked = std::make_unique<LinkedProgram>(std::move(*linked.value));
    one.value = ir::CexprId{one.linked->program.bases(ordinal).cexpr + one.value.value};
    one.answers =
        std::make_unique<resolve::Answers>(one.linked->program, state->none, state->pool, nullptr);
    const std::vector<Diagnostic> unknown = UnknownNames(one, i);
    result.diagnostics.insert(result.diagnostics.end(), unknown.begin(), unknown.end());
    state->all.push_back(std::move(one));
  }
  if (!HasErrors(result.diagnostics)) {
    result.value = std::unique_ptr<Expressions>(new Expressions(std::move(state)));
  }
  return result;
}

uint32_t Expressions::size() const { return static_cast<uint32_t>(state_->all.size()); }

std::optional<Residuals::Number> Expressions::Residual(uint32_t i, Residuals& residuals) const {
  const State::One& one = state_->all[i];
  return residuals.Add(one.linked->program, one.value);
}

Diagnosed<std::vector<bool>> Expressions::Evaluate(const resolve::OptionValues& values) {
  Diagnosed<std::vector<bool>> result;
  std::vector<bool> truths;
  for (uint32_t i = 0; i < state_->all.size(); ++i) {
    State::One& one = state_->all[i];
    one.answers->Reset(values);
    const resolve::Value value = one.answers->ValueOf(one.value);
    truths.push_back(value.kind == ir::ValueKind::kFlag && value.bits != 0);
    if (value.kind != ir::ValueKind::kFlag) {
      std::vector<Diagnostic> found;
      one.answers->ReportCondition(one.value, one.run, found);
      FillPositions(one.linked->program, found);
      MoveAll(found, i, one.text.size());
      result.diagnostics.insert(result.diagnostics.end(), found.begin(), found.end());
    }
  }
  if (result.diagnostics.empty()) {
    result.value = std::move(truths);
  }
  return result;
}

}  // namespace kiln::driver
