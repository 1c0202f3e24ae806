// SPDX-License-Identifier: MIT
// What closing may ask about one variant. Answers is the only thing through which closing can see
// option values; every answer is computed at most once per variant, on first use, together with its
// read set (the options read on the way). See spec/architecture 7 and 10.2.
//
// An answer that failed is poisoned: whoever asked adds no message of its own, except that the
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
#include "compiler/resolve/decision_tree.h"
#include "compiler/resolve/dependency_sets.h"
#include "compiler/resolve/evaluate.h"
#include "compiler/resolve/options.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/queries.h"
#include "compiler/resolve/specialiser_scratch.h"
#include "compiler/resolve/units.h"

namespace kiln::resolve {

// Which declaration a name denotes.
struct NameResolution {
  enum class Kind : uint8_t { kNone, kConflict, kFailed, kDecl, kOption, kConstant };
  Kind kind = Kind::kNone;
  uint32_t id = ir::kNoRow;  // DeclId (kDecl, kConstant; kConflict: the first) or OptionId
  ir::DeclId decl() const { return ir::DeclId{id}; }
  ir::OptionId option() const { return ir::OptionId{id}; }
  friend bool operator==(const NameResolution&, const NameResolution&) = default;
};

// A member of a declaration by name.
struct MemberResolution {
  enum class Kind : uint8_t { kNone, kFailed, kField, kAlias };
  Kind kind = Kind::kNone;
  uint32_t position = 0;  // among the live fields
  ir::TypeId type;        // closed; of a field
  ir::MemberId member;    // program-wide
};

// What one declaration of a constant is in this variant.
struct ConstantState {
  enum class Kind : uint8_t { kInactive, kActive, kFailed };  // kFailed: its conditional did
  Kind kind = Kind::kInactive;
  bool instance_condition = false;
  bool composite = false;  // of a type other than a scalar: no Value holds it
  Value value;             // if active
};

// Where a compile-time expression stands, for RPL3001 and RPL3002 (spec/rpl 8.4).
struct Position {
  bool global_only = false;
  std::string_view what = {};  // "the array size of field"
  std::string_view name = {};  // "lights"
};

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

  // --- the questions -----------------------------------------------------------------------------
  Value ValueOf(ir::CexprId cexpr);      // program-wide id
  bool Holds(ir::CexprId condition);     // false if it failed or is no flag
  NameResolution Function(NameId name);  // the one live function
  NameResolution Struct(NameId name);    // the one live struct; never kConflict, which is a failure
  NameResolution Global(NameId name);    // option, constant, container, buffer, sampler, image, …
  Value Option(ir::OptionId option);
  Value Constant(ir::DeclId constant);
  ir::ConstId Composite(ir::DeclId constant);  // Requires: Program::IsComposite; invalid: it failed
  MemberResolution Member(ir::DeclId owner,
                          NameId name);  // struct, container, buffer, push constant
  // Field alias: names from the owner, expanded until the first is a field. Empty if it failed.
  std::span<const NameId> AliasPath(ir::MemberId alias);
  const ir::SpecialisedDecl* Decl(ir::DeclId decl);  // null if it failed; in-progress = cycle
  ir::Stage stage();                                 // the stage being compiled for

  // Adds what is wrong with an expression, and warnings about a good one; cheap if there is
  // nothing. `run` is the first of its spans in pre-order (cexpr.h); nothing is added for names of
  // failed constants.
  void ReportFailure(ir::CexprId cexpr, Location run, std::vector<Diagnostic>& diagnostics);
  // The same for a condition, which must also be a flag (RPL3018).
  void ReportCondition(ir::CexprId condition, Location run, std::vector<Diagnostic>& diagnostics);
  // Instance options in a position that takes none (RPL3001, RPL3002).
  void ReportInstance(ir::CexprId cexpr, Location run, const Position& position,
                      std::vector<Diagnostic>& diagnostics);

  // Asks, and reports everything about it: value and position.
  Value Check(ir::CexprId cexpr, Location run, const Position& position,
              std::vector<Diagnostic>& diagnostics);
  // The same for a condition; nothing if it failed.
  std::optional<bool> CheckCondition(ir::CexprId condition, Location run, const Position& position,
                                     std::vector<Diagnostic>& diagnostics);

  // The text in the pool, found without hashing after the first time.
  ir::StringId PoolText(NameId text);

  // Asks again what a trail recorded, by the function above of that question. A question whose
  // answer depends on no option, and that found nothing wrong, is fixed: it has the same answer in
  // every variant of the program.
  QueryResult Ask(const VariantQuery& question);

  // --- for the walk ------------------------------------------------------------------------------
  void SetStage(ir::Stage stage) { stage_ = stage; }
  // One declaration of a constant. `diagnostics`, if given, gets what is wrong with it.
  ConstantState StateOf(ir::DeclId constant, std::vector<Diagnostic>* diagnostics = nullptr);
  // Read sets: everything read since Begin until End is united into the result; calls nest.
  void BeginReads();
  Bitset EndReads();
  void EndReads(Bitset& result);  // adds to it
  // Whether asking since Begin had an effect of its own: a message, a name that may clash.
  bool HadEffect() const { return sets_.Has(frames_.back(), Effect()); }
  void NoteEffect() { AddReads(sets_.Only(Effect())); }  // of what is in progress
  // What is remembered by option values. What is found counts as reading what it rests on.
  template <class T>
  const typename OptionCache<T>::Leaf* Recall(const OptionCache<T>& memo, DecisionTree::Root root) {
    const auto* leaf = memo.Find(root, values_->bits);
    if (leaf != nullptr && !frames_.empty()) {
      AddReads(sets_.Of(leaf->reads));
    }
    return leaf;
  }
  template <class T>
  const typename OptionCache<T>::Leaf& Keep(OptionCache<T>& memo, DecisionTree::Root& root,
                                            typename OptionCache<T>::Leaf leaf) {
    return memo.Keep(root, options_in_order_, values_->bits, std::move(leaf));
  }
  // Trails: Begin until End records into `trail`; calls nest. Used by Units, per unit.
  void BeginTrail(QueryTrace* trail);
  void EndTrail();
  // Where the first two functions of a name are that are live together, as labels.
  void LabelFunctions(NameId name, Diagnostic& found);
  // What was found wrong with declarations that were asked for, in order of asking.
  std::vector<Diagnostic> TakeDiagnostics();
  // Number of the value that an enum option has among those it declares.
  uint32_t EnumIndex(ir::OptionId option) const { return values_->bits[option.value]; }
  // Options by number in the order in which any variant first looked at them: what guards others
  // comes before them.
  std::span<const uint32_t> options_in_order() const { return options_in_order_; }
  // Structs and functions whose closed form was asked and whose name somebody else has too, in
  // order of asking.
  std::span<const ir::DeclId> ambiguous() const { return contested_; }
  // Roughly the memory of what was asked.
  uint64_t bytes_used() const { return table_bytes_ + sets_.bytes_used(); }

 private:
  class Scope;
  struct ChainStep;

  // Rows that are valid while their epoch is not before that of the variant, each with its read
  // set. One member more than there are options says that asking has an effect of its own: a
  // diagnostic, or a name that may clash. Rows with an empty read set are fixed: valid in every
  // variant.
  static constexpr uint32_t kFixed = 0xffffffffu;
  template <class Row>
  struct Memo {
    std::vector<Row> rows;
    std::vector<uint32_t> epochs;
    std::vector<DependencySet> reads;
  };
  struct ConstantName {
    Meaning meaning;
    NameResolution answer;
  };
  struct DeclRow {
    bool in_progress = false;
    const ir::SpecialisedDecl* closed = nullptr;
  };
  enum class NodeKind : uint8_t { kExpression, kConstant, kConstantName };
  struct Node {
    NodeKind kind;
    uint32_t id;
  };

  template <class Row>
  void Size(Memo<Row>& memo, size_t count);
  template <class Row>
  bool Known(const Memo<Row>& memo, uint32_t id) const {
    return memo.epochs[id] >= epoch_;
  }
  template <class Row>
  void Keep(Memo<Row>& memo, uint32_t id) {
    memo.epochs[id] = memo.reads[id] == kReadNothing ? kFixed : epoch_;
  }
  void Unite(DependencySet& into, DependencySet from) { into = sets_.United(into, from); }
  void AddReads(DependencySet reads) {
    if (!frames_.empty()) {
      Unite(frames_.back(), reads);
    }
  }
  void Enter();  // begins an answer: its reads are its own, and its questions are in no trail
  void Leave(DependencySet& reads);  // ends it; `reads` gets what was read
  // The member behind the options.
  size_t Effect() const { return program_.option_count(); }
  void Record(const VariantQuery& question, const QueryResult& answer, DependencySet reads);

  // --- evaluation, evaluate_values.cc
  // -------------------------------------------------------------
  void Demand(Node node);
  bool Known(Node node) const;
  bool Need(Node node);  // whether it is known; else it is put on the work list
  bool Compute(Node node);
  bool ComputeExpression(ir::CexprId id);
  bool ComputeConstant(ir::DeclId id);
  bool ComputeConstantName(NameId name);
  template <class Visit>
  void ForNames(ir::CexprId root, Visit visit) const;
  bool NeedEarlier(ir::CexprId root, ir::DeclId limit);
  void UniteEarlier(ir::CexprId root, ir::DeclId limit, DependencySet& reads);
  Value OptionValue(ir::OptionId id);
  // As a constant sees it; with every error if `diagnostics` is given.
  Value ValueBefore(ir::DeclId limit, ir::CexprId root, const SpanRun& run,
                    std::vector<Diagnostic>* diagnostics);
  bool RestsOnInstance(ir::CexprId root, ir::DeclId limit);
  Meaning MeaningOf(NameId name, ir::DeclId limit);
  bool FindStep(NameId name, ir::DeclId limit, ChainStep& step);
  Diagnostic DescribeTaint(NameId name, const Location& where, std::string_view position);
  SpanRun RunOf(const Location& first) const;
  // --- constants of vectors and arrays, evaluate_composites.cc
  // -------------------------------------
  ir::ConstId ReadComposite(ir::DeclId constant, std::vector<Diagnostic>* diagnostics);
  void CheckWrittenType(ir::DeclId constant, const Value& value,
                        std::vector<Diagnostic>& diagnostics);
  class CompositeReader;
  // --- names and declarations, variant_evaluator.cc
  // --------------------------------------------------------
  struct Live {
    NameResolution answer;
    ir::DeclId second;  // of a conflict
  };
  enum class Conditions : uint8_t { kAsked, kReported };
  Live FindLive(std::span<const ir::DeclId> candidates, Conditions conditions);
  MemberResolution FindMember(ir::DeclId owner, NameId name, ir::MemberId first);
  const ir::SpecialisedDecl* SpecialiseOnce(ir::DeclId decl);
  void ReportCycle(ir::DeclId decl);
  void ExpandAlias(ir::MemberId first);
  void ReportAliasCycle(ir::MemberId alias);

  const Program& program_;
  const OptionValues* values_;
  ir::Pool& pool_;
  UnitSource* units_;
  ir::Stage stage_ = ir::Stage::kVertex;
  uint32_t epoch_ = 1;
  DependencySets sets_;
  uint64_t table_bytes_ = 0;
  NameId on_, off_;  // the old spellings, if anybody writes them

  Memo<Value> expressions_;            // by CexprId
  Memo<ConstantState> constants_;      // by DeclId
  Memo<ConstantName> constant_names_;  // by NameId
  Memo<ir::ConstId> composites_;       // by DeclId of the constant
  Memo<NameResolution> functions_, structs_, globals_;
  Memo<MemberResolution> members_;  // by the MemberId of the first member of that name
  Memo<DeclRow> decls_;
  Memo<std::vector<NameId>> aliases_;     // empty: it failed
  std::vector<ir::StringId> pool_texts_;  // by NameId; kept over Reset, as the pool is
  std::vector<uint32_t> options_in_order_;
  std::vector<bool> looked_at_;  // by OptionId
  std::vector<Node> work_;
  std::vector<DependencySet> frames_;  // of what is in progress
  std::vector<QueryTrace*> trails_;    // null while an answer is computed
  std::vector<ir::DeclId> open_decls_;
  std::vector<ir::MemberId> open_aliases_;
  FlatMap<ir::MemberId, bool> is_open_alias_;
  std::vector<ir::DeclId> contested_;
  std::vector<Diagnostic> found_;
  std::vector<size_t> found_before_;  // by answer in progress
  SpecialiserScratch scratch_;
};

}  // namespace kiln::resolve
