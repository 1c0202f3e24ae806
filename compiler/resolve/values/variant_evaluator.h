// SPDX-License-Identifier: MIT
// What specialising may ask about one variant. The evaluator is the only thing through which it can
// see option values; every result is computed at most once per variant, on first use, together with
// its dependency set (the options read on the way). See spec/architecture 7 and 10.2.
//
// A query that failed stays silent: whoever asked adds no message of its own, except that the
// asker of an expression reports why with ReportFailure, because only the asker knows the spans,
// and that the asker of a function reports kNone and kConflict. What is wrong with a declaration is
// found when it is first asked for and kept here (TakeDiagnostics), so that it is said once per
// variant however many units ask.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/names/decl_resolver.h"
#include "compiler/resolve/names/member_resolver.h"
#include "compiler/resolve/names/name_resolver.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/queries/decision_tree.h"
#include "compiler/resolve/queries/queries.h"
#include "compiler/resolve/queries/query_recorder.h"
#include "compiler/resolve/specialise/specialiser_scratch.h"
#include "compiler/resolve/units.h"
#include "compiler/resolve/values/expression_reports.h"
#include "compiler/resolve/values/options.h"
#include "compiler/resolve/values/value_evaluator.h"
#include "compiler/resolve/versions/entry_interface.h"

namespace kiln::resolve {

// The parts: `recorder` keeps the books, `values` evaluates expressions, options and constants,
// `names`, `members` and `decls` resolve. Each owns the results of its queries.
class VariantEvaluator {
 public:
  // All referenced objects must outlive the answers. `units` may be null if no declaration is
  // asked.
  VariantEvaluator(const Program& program, const OptionValues& values, ir::Pool& pool,
                   UnitSource* units);
  ~VariantEvaluator();
  VariantEvaluator(const VariantEvaluator&) = delete;
  VariantEvaluator& operator=(const VariantEvaluator&) = delete;

  // Forgets diagnostics and every answer that may be another under other options; the next ones are
  // about `values`.
  void Reset(const OptionValues& values);

  const Program& program() const { return program_; }
  ir::Pool& pool() { return pool_; }
  SpecialiserScratch& scratch() { return scratch_; }
  ValueEvaluator& values() { return values_; }

  // --- the queries -----------------------------------------------------------------------------
  Value ValueOf(ir::CexprId cexpr) { return values_.ValueOf(cexpr); }  // program-wide id
  // False if it failed or is no flag.
  bool Holds(ir::CexprId condition) { return values_.Holds(condition); }
  // The one live function, struct (never kConflict, which is a failure), or anything else.
  NameResolution Function(NameId name) { return names_.Function(name); }
  NameResolution Struct(NameId name) { return names_.Struct(name); }
  NameResolution Global(NameId name) { return names_.Global(name); }
  Value Option(ir::OptionId option) { return values_.Option(option); }
  Value Constant(ir::DeclId constant) { return values_.Constant(constant); }
  ir::ConstId Composite(ir::DeclId constant);  // Requires: Program::IsComposite; invalid: it failed
  // Of a struct, container, buffer or push constant.
  MemberResolution Member(ir::DeclId owner, NameId name) { return members_.Member(owner, name); }
  // Field alias: names from the owner, expanded until the first is a field. Empty if it failed.
  std::span<const NameId> AliasPath(ir::MemberId alias) { return members_.AliasPath(alias); }
  // Null if it failed; in-progress = cycle.
  const ir::SpecialisedDecl* Decl(ir::DeclId decl) { return decls_.Decl(decl); }
  ir::Stage stage();  // the stage being compiled for
  // The interface of the function being specialised if it is an entry version; null: it is called.
  const EntryInterface* entry();
  // The version that is being specialised of a function with place parameters.
  ir::DeclId version();
  // The same for units, which ask nothing; an invalid id: a function as it is declared.
  ir::DeclId current_version() const { return version_; }

  // What is wrong with an expression: see expression_reports.h.
  void ReportFailure(ir::CexprId cexpr, Location run, std::vector<Diagnostic>& diagnostics) {
    resolve::ReportFailure(values_, cexpr, run, diagnostics);
  }
  void ReportCondition(ir::CexprId condition, Location run, std::vector<Diagnostic>& diagnostics) {
    resolve::ReportCondition(values_, condition, run, diagnostics);
  }
  void ReportInstance(ir::CexprId cexpr, Location run, const Position& position,
                      std::vector<Diagnostic>& diagnostics) {
    resolve::ReportInstance(values_, cexpr, run, position, diagnostics);
  }
  Value Check(ir::CexprId cexpr, Location run, const Position& position,
              std::vector<Diagnostic>& diagnostics) {
    return CheckExpression(values_, cexpr, run, position, diagnostics);
  }
  std::optional<bool> CheckCondition(ir::CexprId condition, Location run, const Position& position,
                                     std::vector<Diagnostic>& diagnostics) {
    return resolve::CheckCondition(values_, condition, run, position, diagnostics);
  }

  // The text in the pool, found without hashing after the first time.
  ir::StringId PoolText(NameId text) { return values_.PoolText(text); }

  // Asks again what a trace recorded, by the function above of that query. A query whose result
  // depends on no option, and that found nothing wrong, is fixed: it has the same result in every
  // variant of the program.
  QueryResult Ask(const VariantQuery& query);

  // --- for the walk ------------------------------------------------------------------------------
  void SetStage(ir::Stage stage) { stage_ = stage; }
  // What is specialised next: a version, or a function as it is declared. An entry version has an
  // interface, which rests on `reads`.
  void SetVersion(ir::DeclId version, const EntryInterface* interface, const Bitset* reads) {
    version_ = version;
    entry_ = interface;
    entry_reads_ = reads;
  }
  // One declaration of a constant. `diagnostics`, if given, gets what is wrong with it.
  ConstantState StateOf(ir::DeclId constant, std::vector<Diagnostic>* diagnostics = nullptr);
  // Read sets: everything read since Begin until End is united into the result; calls nest.
  void BeginReads() { recorder_.BeginReads(); }
  Bitset EndReads();
  void EndReads(Bitset& result) { recorder_.EndReads(result); }  // adds to it
  // Whether asking since Begin had an effect of its own: a message, a name that may clash.
  bool HadEffect() const { return recorder_.HadEffect(); }
  void NoteEffect() { recorder_.NoteEffect(); }  // of what is in progress
  // What is remembered by option values. What is found counts as reading what it rests on.
  template <class T>
  const typename OptionCache<T>::Leaf* Recall(const OptionCache<T>& memo, DecisionTree::Root root) {
    const auto* leaf = memo.Find(root, values_.values().bits);
    if (leaf != nullptr) {
      recorder_.AddReads(leaf->reads);
    }
    return leaf;
  }
  template <class T>
  const typename OptionCache<T>::Leaf& Keep(OptionCache<T>& memo, DecisionTree::Root& root,
                                            typename OptionCache<T>::Leaf leaf) {
    return memo.Keep(root, options_in_order(), values_.values().bits, std::move(leaf));
  }
  // Traces: Begin until End records into `trace`; calls nest. Used by units, per unit.
  void BeginTrace(QueryTrace* trace) { recorder_.BeginTrace(trace); }
  void EndTrace() { recorder_.EndTrace(); }
  // Where the first two functions of a name are that are live together, as labels.
  void LabelFunctions(NameId name, Diagnostic& found) { names_.LabelFunctions(name, found); }
  // What was found wrong with declarations that were asked for, in order of asking.
  std::vector<Diagnostic> TakeDiagnostics();
  // Number of the value that an enum option has among those it declares.
  uint32_t EnumIndex(ir::OptionId option) const { return values_.values().bits[option.value]; }
  // Options by number in the order in which any variant first looked at them: what guards others
  // comes before them.
  std::span<const uint32_t> options_in_order() const { return values_.options_in_order(); }
  // Structs and functions whose specialised form was asked and whose name somebody else has too, in
  // order of asking.
  std::span<const ir::DeclId> ambiguous() const { return decls_.ambiguous(); }
  // Roughly the memory of what was asked.
  uint64_t bytes_used() const { return recorder_.bytes_used(); }

 private:
  const Program& program_;
  ir::Pool& pool_;
  ir::Stage stage_ = ir::Stage::kVertex;
  ir::DeclId version_;
  const EntryInterface* entry_ = nullptr;
  const Bitset* entry_reads_ = nullptr;
  QueryRecorder recorder_;
  ValueEvaluator values_;
  NameResolver names_;
  MemberResolver members_;
  DeclResolver decls_;
  ResultTable<ir::ConstId> composites_;  // by DeclId of the constant
  SpecialiserScratch scratch_;
};

}  // namespace kiln::resolve
