// SPDX-License-Identifier: MIT
#include "compiler/resolve/values/variant_evaluator.h"

#include <utility>

#include "compiler/base/check.h"
#include "compiler/resolve/values/constant_values.h"

namespace kiln::resolve {

// Members refer to one another and are constructed in the order of dependence.
VariantEvaluator::VariantEvaluator(const Program& program, const OptionValues& values,
                                   ir::Pool& pool, UnitSource* units)
    : program_(program),
      pool_(pool),
      recorder_(program.option_count()),
      values_(program, values, pool, recorder_),
      names_(values_, recorder_),
      members_(*this, values_, recorder_),
      decls_(*this, recorder_, units) {
  recorder_.Size(composites_, program.decl_count());
  // Versions of functions have numbers behind those of all declarations.
  pool.versions().Begin(program.decl_count());
}

VariantEvaluator::~VariantEvaluator() = default;

// The recorder first: it decides which rows of the others stay known.
void VariantEvaluator::Reset(const OptionValues& values) {
  recorder_.Reset();
  values_.Reset(values);
  decls_.Reset();
}

// Which options were read since BeginReads.
Bitset VariantEvaluator::EndReads() {
  Bitset result(program_.option_count());
  EndReads(result);
  return result;
}

// A unit that is found again by its trace goes through here with each of its queries: the words
// that come back are compared with those that were recorded.
QueryResult VariantEvaluator::Ask(const VariantQuery& query) {
  const NameId name{query.a};
  switch (query.kind) {
    case VariantQueryKind::kValue:
      return Pack(ValueOf(ir::CexprId{query.a}));
    case VariantQueryKind::kFunction:
      return Pack(Function(name));
    case VariantQueryKind::kStruct:
      return Pack(Struct(name));
    case VariantQueryKind::kGlobal:
      return Pack(Global(name));
    case VariantQueryKind::kOption:
      return Pack(Option(ir::OptionId{query.a}));
    case VariantQueryKind::kConstant:
      // A composite constant answers with a constant of the pool, another one with its value.
      return program_.IsComposite(ir::DeclId{query.a}) ? Pack(Composite(ir::DeclId{query.a}))
                                                       : Pack(Constant(ir::DeclId{query.a}));
    case VariantQueryKind::kMember:
      return Pack(Member(ir::DeclId{query.a}, NameId{query.b}));
    case VariantQueryKind::kAliasPath:
      return Pack(AliasPath(ir::MemberId{query.a}));
    case VariantQueryKind::kDecl:
      return Pack(Decl(ir::DeclId{query.a}));
    case VariantQueryKind::kStage:
      return {.first = static_cast<uint64_t>(stage())};
    case VariantQueryKind::kVersion:
      return {.first = version().value};
    case VariantQueryKind::kEntry: {
      const EntryInterface* interface = entry();
      return {.first = interface != nullptr ? interface->number : 0};
    }
  }
  KILN_UNREACHABLE();
}

// They are handed over, so that nobody tells them twice.
std::vector<Diagnostic> VariantEvaluator::TakeDiagnostics() {
  return std::exchange(recorder_.found(), {});
}

// Stage, version and entry are not fixed by options: the same unit may be wanted for another stage,
// so they are part of its trace.
ir::Stage VariantEvaluator::stage() {
  recorder_.Record({.kind = VariantQueryKind::kStage}, {.first = static_cast<uint64_t>(stage_)},
                   QueryRecorder::kNotFixed);
  return stage_;
}

// Null in a function that is called and not chosen.
const EntryInterface* VariantEvaluator::entry() {
  // What the interface of the entry rests on, whoever asks for it rests on too.
  if (entry_reads_ != nullptr) {
    recorder_.AddReads(*entry_reads_);
  }
  recorder_.Record({.kind = VariantQueryKind::kEntry},
                   {.first = entry_ != nullptr ? entry_->number : 0}, QueryRecorder::kNotFixed);
  return entry_;
}

ir::DeclId VariantEvaluator::version() {
  recorder_.Record({.kind = VariantQueryKind::kVersion}, {.first = version_.value},
                   QueryRecorder::kNotFixed);
  return version_;
}

// A constant is read once and then found by its declaration, with the options that it rests on.
ir::ConstId VariantEvaluator::Composite(ir::DeclId constant) {
  if (!recorder_.Known(composites_, constant.value)) {
    values_.PeekState(constant);  // before the frame begins: it asks for the constants before it
    // Between Enter and Leave all reads are collected for this one row.
    recorder_.Enter();
    values_.StateOf(constant);
    composites_.rows[constant.value] = ReadComposite(*this, constant, nullptr);
    recorder_.Leave(composites_.reads[constant.value]);
    recorder_.Keep(composites_, constant.value);
  }
  recorder_.AddReads(composites_.reads[constant.value]);
  const ir::ConstId value = composites_.rows[constant.value];
  recorder_.Record({.kind = VariantQueryKind::kConstant, .a = constant.value}, Pack(value),
                   composites_.reads[constant.value]);
  return value;
}

// Messages of a constant are asked for once, by the walk over all constants.
ConstantState VariantEvaluator::StateOf(ir::DeclId constant, std::vector<Diagnostic>* diagnostics) {
  const ConstantState state = values_.StateOf(constant);
  if (diagnostics != nullptr) {
    ReportConstant(*this, constant, state, *diagnostics);
  }
  return state;
}

}  // namespace kiln::resolve
