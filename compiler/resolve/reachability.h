// SPDX-License-Identifier: MIT
// The functions that entry points reach: specialises each once per variant (once per stage if it is
// stage-sensitive), finds recursion and functions that are bound to one stage and reached from
// another. See spec/rpl 8.7, 8.9.
//
// What it finds of a function is kept as a version: the same live regions in a later variant are
// the same version, and a function that asked nothing that depends on options is not looked at
// again.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// Live regions of a function, and what the walk asks of them together.
struct FunctionVersion {
  struct Call {
    ir::DeclId callee;
    Location where;
  };
  ir::FunctionRef ref;
  std::vector<Call> calls;             // each callee once, in order of first mention
  bool failed = false;                 // a region has errors: those of `ref` are the others
  std::vector<Call> failed_calls;      // of such regions, as they are written
  bool touches_stage = false;          // itself, not through calls
  bool writes_position = false;        // mentions the position that the vertex stage must write
  std::vector<Diagnostic> unassigned;  // reads of variables that have no value yet
  std::vector<ir::LocalId> ambiguous;  // own names that a function or struct of the program has
  Bitset state_reads;                  // fields of state containers, by MemberId
  Bitset writes;                       // fields of containers, by MemberId
};

class Reachability {
 public:
  // `program` must outlive it, and every version is valid as long as it is.
  Reachability(const Program& program, CachePolicy serves);

  // Forgets every version; keeps the memory. Where nothing is remembered by option values.
  void Forget();

  // Begins a variant. Arguments must outlive it. `entries` are the entry functions, for RPL5008.
  void Begin(std::span<const ir::DeclId> entries, VariantEvaluator& answers, UnitSource& units,
             std::vector<Diagnostic>& diagnostics);

  // Fills functions and live options of an entry; at most one for each stage. `interface` is null
  // for functions of untyped modules, and rests on `reads`.
  // Diagnostics: RPL5008, RPL5012, RPL5020, LIM1001, those of insertion points and of regions.
  void Walk(ir::EntryRef& entry, const EntryInterface* interface = nullptr,
            const Bitset* reads = nullptr);

  size_t bytes_used() const { return function_parts_.bytes_used() + region_parts_.bytes_used(); }

  // Whether a region failed, so that what it mentions is not known.
  bool incomplete() const { return incomplete_; }

  // What the entry of a stage reached in this variant, in order of first mention.
  std::span<const FunctionVersion* const> Reached(ir::Stage stage) const {
    return reached_[static_cast<size_t>(stage)];
  }

 private:
  static constexpr uint32_t kStages = 3;
  // One function, for one stage if it is stage-sensitive.
  struct Function {
    const FunctionVersion* version = nullptr;  // in the last variant that reached it
    Bitset reads;
    uint32_t variant = 0;     // of version
    DecisionTree::Root root;  // of function_parts_
    bool fixed = false;       // the version of every variant
    uint32_t walked_by = 0;   // number of the last walk that reached it
    uint32_t depth = 0;       // calls in each other below it, as far as that walk has come
    bool on_path = false;
  };
  struct Step {
    Function* function;
    size_t next_call = 0;
  };
  struct Pending {
    ir::RegionId region;
    uint32_t parent;
    bool below_failed = false;  // looked at for what else is wrong
  };
  struct Bound {
    uint32_t variant = 0;
    ir::Stage stage = ir::Stage::kVertex;
  };

  uint32_t VersionOf(ir::DeclId id, ir::Stage stage) const;
  // Where the number of its row is kept.
  uint32_t& RowOf(ir::DeclId id, ir::Stage stage);
  bool IsVersion(ir::DeclId id) const { return answers_->pool().versions().IsVersion(id); }
  ir::DeclId Declared(ir::DeclId id) const { return answers_->pool().versions().FunctionOf(id); }
  // An entry version, or one whose place parameters stand for something.
  bool IsEntry(ir::DeclId id) const {
    return IsVersion(id) && answers_->pool().versions().WordsOf(id).empty();
  }
  const ir::SpecialisedDecl* SignatureOf(ir::DeclId version, const ir::SpecialisedDecl& declared);
  DecisionTree::Root& RegionRoot(ir::DeclId function, ir::RegionId region);
  Function& Close(ir::DeclId id);
  const FunctionVersion* SpecialiseAnew(ir::DeclId id);
  void SpecialiseRegions(ir::DeclId function);
  const Diagnosed<ir::SpecialisedRegion>* SpecialiseRegion(ir::RegionId region);
  bool IsLive(ir::RegionId region);
  void LookInto(ir::RegionId failed);
  const FunctionVersion* Version(ir::DeclId id, const ir::SpecialisedDecl* signature);
  void Summarise(FunctionVersion& version) const;
  void Descend(Function& function, ir::EntryRef& entry);
  void Follow(const FunctionVersion::Call& call, ir::EntryRef& entry);
  void Leave(Function& function, ir::Stage stage);
  void Deepen(const Function& callee);
  const ir::Stage* BoundStage(ir::DeclId id) const;  // null: it is not bound
  void ReportVersions(const FunctionVersion::Call& call);
  void ReportRecursion(ir::DeclId callee);
  void ReportBound(const FunctionVersion::Call& call, ir::Stage stage);

  const Program& program_;
  const bool remembers_;
  std::span<const ir::DeclId> entries_;
  VariantEvaluator* answers_ = nullptr;
  UnitSource* units_ = nullptr;
  std::vector<Diagnostic>* diagnostics_ = nullptr;
  ir::Stage stage_ = ir::Stage::kVertex;
  const EntryInterface* interface_ = nullptr;  // of the entry in progress
  const Bitset* interface_reads_ = nullptr;
  uint32_t variant_ = 0;
  uint32_t walk_ = 0;
  bool incomplete_ = false;
  uint32_t recursions_ = 0;       // reported or not
  uint32_t versions_walked_ = 0;  // functions with ids of their own, of this walk
  bool too_deep_ = false;         // reported

  static constexpr uint32_t kNoRow = 0xffffffffu;
  std::vector<uint32_t> rows_;  // of functions_, by function and stage version
  // The same of versions with ids of their own, by id and stage.
  FlatMap<uint64_t, uint32_t> version_rows_;
  std::map<uint32_t, std::deque<ir::SpecialisedDecl>> signatures_;  // by version, each once
  std::deque<Function> functions_;                                  // stable addresses
  uint32_t function_count_ = 0;                                     // in use
  OptionCache<const FunctionVersion*> function_parts_;
  OptionCache<const Diagnosed<ir::SpecialisedRegion>*> region_parts_;  // null: not live
  std::vector<DecisionTree::Root> region_roots_;  // by stage version and region
  // The same of versions, by id, stage and region.
  std::map<std::array<uint32_t, 3>, DecisionTree::Root> version_region_roots_;
  std::vector<Bound> bound_;              // by DeclId: functions bound to one stage
  std::deque<FunctionVersion> versions_;  // stable addresses
  uint32_t version_count_ = 0;            // in use
  InternIndex version_index_;             // by function and live regions
  std::vector<const FunctionVersion*> reached_[kStages];
  std::vector<Step> path_;
  std::vector<Pending> pending_;
  std::vector<ir::RegionRef> regions_;  // of the function being specialised
  bool failed_ = false;                 // one of its regions has errors
  std::vector<FunctionVersion::Call> failed_calls_;
};

}  // namespace kiln::resolve
