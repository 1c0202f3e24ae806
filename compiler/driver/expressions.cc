// SPDX-License-Identifier: MIT
#include "compiler/driver/expressions.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"
#include "compiler/driver/expression_errors.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"

namespace kiln::driver {
namespace {

// The bound of an expression also bounds how deep it nests, and so every recursion over it
// (residuals).
constexpr size_t kMaxBytes = 4096;

void MoveAll(std::vector<Diagnostic>& diagnostics, uint32_t number, std::string_view text) {
  for (Diagnostic& diagnostic : diagnostics) {
    MoveIntoExpression(diagnostic, number, text);
  }
}

}  // namespace

// Each expression is the only constant of a module of its own. All of them are linked behind the
// program's: options keep their numbers, and nobody asks for a constant by its name.
struct Expressions::State {
  struct One {
    std::string text;
    ir::CexprId value;
    Location run;
  };
  std::unique_ptr<LinkedProgram> linked;
  ir::Pool pool;
  resolve::OptionValues none;
  std::unique_ptr<resolve::VariantEvaluator> answers;
  std::vector<One> all;

  std::vector<Diagnostic> UnknownNames(uint32_t number);
};

// What is wrong whatever the options are: a name that nobody declares, a text that an option never
// is. In a source the latter is a warning; who filters by it gets something else than was meant.
std::vector<Diagnostic> Expressions::State::UnknownNames(uint32_t number) {
  const One& one = all[number];
  std::vector<Diagnostic> found;
  answers->ReportCondition(one.value, one.run, found);
  // A name may be unknown whatever the other side decides, so the codes that depend on values are
  // left to Evaluate.
  std::erase_if(found, [](const Diagnostic& diagnostic) {
    return diagnostic.code != Code::kRpl3003 && diagnostic.code != Code::kRpl3026;
  });
  for (Diagnostic& diagnostic : found) {
    if (diagnostic.code == Code::kRpl3026) {
      diagnostic.code = Code::kRpl2006;  // of the same arguments
      diagnostic.severity = CodeSeverity(diagnostic.code);
    }
  }
  FillPositions(linked->program, found);
  MoveAll(found, number, one.text);
  return found;
}

Expressions::Expressions(std::unique_ptr<State> state) : state_(std::move(state)) {}
Expressions::~Expressions() = default;

namespace {

// The module of expression `number`, or nothing after saying why not.
std::shared_ptr<const ir::Module> Parsed(const std::string& text, uint32_t number, uint32_t ordinal,
                                         std::vector<Diagnostic>& diagnostics) {
  if (text.size() > kMaxBytes) {
    diagnostics.push_back(Make(Code::kRpl1008, {.module = number, .bytes = {}})
                              .With("size", text.size())
                              .With("limit", kMaxBytes));
    return nullptr;
  }
  const std::string_view read =
      std::string_view(text).substr(0, FindSemicolon(text).value_or(text.size()));
  const SourceFile source("expression.rpl", std::string(kBeforeExpression) + std::string(read) +
                                                std::string(kBehindExpression));
  Diagnosed<ir::Module> parsed = ParseSource(ir::Language::kRpl, source, ordinal);
  if (std::optional<Diagnostic> error =
          ErrorOfExpression(std::move(parsed.diagnostics), number, text)) {
    diagnostics.push_back(std::move(*error));
    return nullptr;
  }
  KILN_CHECK(parsed.ok() && parsed.value->view().decls.size() == 1, "'{}' is no constant", text);
  return std::make_shared<const ir::Module>(std::move(*parsed.value));
}

}  // namespace

Diagnosed<std::unique_ptr<Expressions>> Expressions::Compile(const LinkedProgram& program,
                                                             std::span<const std::string> texts) {
  Diagnosed<std::unique_ptr<Expressions>> result;
  auto state = std::make_unique<State>();
  // The modules of the program come first, so its options keep their numbers, and values for the
  // program are values for the whole.
  std::vector<std::shared_ptr<const ir::Module>> modules = program.modules;
  std::vector<std::string> paths = program.paths;
  for (uint32_t i = 0; i < texts.size(); ++i) {
    CheckStop();
    const auto ordinal = static_cast<uint32_t>(modules.size());
    std::shared_ptr<const ir::Module> module = Parsed(texts[i], i, ordinal, result.diagnostics);
    if (module == nullptr) {
      continue;
    }
    ChargeMemory(module->image().size());
    const ir::ModuleView& view = module->view();
    // Only the value has a place that the author knows: the constant around it was made here.
    const ir::SpanId span = view.decl_spans.empty() ? ir::SpanId{} : view.decl_spans[0].value;
    state->all.push_back(
        {.text = texts[i],
         .value = ir::CexprId{view.decls[0].body},  // of its module, until all are linked
         .run = {.module = ordinal, .span_number = span.value, .bytes = view.SpanOf(span)}});
    modules.push_back(std::move(module));
    paths.emplace_back("expression");
  }
  if (HasErrors(result.diagnostics)) {
    return result;
  }
  if (!state->all.empty()) {
    Diagnosed<LinkedProgram> linked = LinkModulesOfAnyLanguage(
        std::move(modules), std::move(paths), program.program.pipeline(), program.program.limits());
    KILN_CHECK(linked.ok(), "modules of one constant link with anything");
    state->linked = std::make_unique<LinkedProgram>(std::move(*linked.value));
    const resolve::Program& all = state->linked->program;
    // Rows of a module become rows of the program, now that its place is known.
    for (State::One& one : state->all) {
      one.value = all.Wide(one.run.module, one.value);
    }
    state->none.bits.resize(all.option_count());
    state->answers =
        std::make_unique<resolve::VariantEvaluator>(all, state->none, state->pool, nullptr);
    for (uint32_t i = 0; i < state->all.size(); ++i) {
      CheckStop();
      const std::vector<Diagnostic> unknown = state->UnknownNames(i);
      result.diagnostics.insert(result.diagnostics.end(), unknown.begin(), unknown.end());
    }
  }
  if (HasErrors(result.diagnostics)) {
    return result;
  }
  result.value = std::unique_ptr<Expressions>(new Expressions(std::move(state)));
  return result;
}

uint32_t Expressions::size() const { return static_cast<uint32_t>(state_->all.size()); }

std::optional<Residuals::Number> Expressions::Residual(uint32_t i, Residuals& residuals) const {
  const State::One& one = state_->all[i];
  return residuals.Add(state_->linked->program, one.value);
}

// Every expression is evaluated, so that all that fail are told at once. One value that is no flag
// makes the whole result an error: an unknown condition must not count as false.
Diagnosed<std::vector<bool>> Expressions::Evaluate(const resolve::OptionValues& values) {
  Diagnosed<std::vector<bool>> result;
  std::vector<bool> truths;
  if (state_->answers != nullptr) {
    state_->answers->Reset(values);
  }
  for (uint32_t i = 0; i < state_->all.size(); ++i) {
    CheckStop();
    const State::One& one = state_->all[i];
    // The evaluator remembers values of conditions, so parts that expressions share are computed
    // once.
    const resolve::Value value = state_->answers->ValueOf(one.value);
    truths.push_back(value.kind == ir::ValueKind::kFlag && value.bits != 0);
    if (value.kind != ir::ValueKind::kFlag) {
      std::vector<Diagnostic> found;
      state_->answers->ReportCondition(one.value, one.run, found);
      FillPositions(state_->linked->program, found);
      MoveAll(found, i, one.text);
      result.diagnostics.insert(result.diagnostics.end(), found.begin(), found.end());
    }
  }
  if (result.diagnostics.empty()) {
    result.value = std::move(truths);
  }
  return result;
}

}  // namespace kiln::driver
