// SPDX-License-Identifier: MIT
// The book-keeping that all queries of one variant share: which options a result was found to rest
// on, which queries a unit makes, what is wrong with declarations that were asked for, and how long
// a kept result is valid. It knows no query: evaluators and resolvers keep their results in a
// ResultTable each and say here when the computation of one begins and ends.
//
// Computations nest. What is read while one is in progress belongs to the innermost; it reaches the
// outer one when that reads the finished result. For one thread, as the evaluator that owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/base/threads/stop.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/queries/dependency_sets.h"
#include "compiler/resolve/queries/queries.h"

namespace kiln::resolve {

// Results of one kind of query. A row is valid while its epoch is not before that of the variant;
// each has the set of what it rests on.
template <class Row>
struct ResultTable {
  std::vector<Row> rows;
  std::vector<uint32_t> epochs;
  std::vector<DependencySet> reads;
};

class QueryRecorder {
 public:
  // A set that is not empty: for queries that no trace may call fixed.
  static constexpr DependencySet kNotFixed = 1;

  // A set has one member more than there are options: it says that asking has an effect of its own,
  // a diagnostic or a name that may clash. Rows with an empty set are fixed: valid in every
  // variant.
  explicit QueryRecorder(uint32_t option_count)
      : option_count_(option_count), sets_(size_t{option_count} + 1) {}

  // Another variant: every row that is not fixed is forgotten, and so are diagnostics. Requires:
  // nothing is in progress.
  void Reset();

  // --- rows
  template <class Row>
  void Size(ResultTable<Row>& table, size_t count) {
    const uint64_t bytes = count * (sizeof(Row) + sizeof(uint32_t) + sizeof(DependencySet));
    ChargeMemory(bytes);
    table_bytes_ += bytes;
    table.rows.resize(count);
    table.epochs.resize(count);
    table.reads.resize(count);
  }
  template <class Row>
  bool Known(const ResultTable<Row>& table, uint32_t id) const {
    return table.epochs[id] >= epoch_;
  }
  template <class Row>
  void Keep(ResultTable<Row>& table, uint32_t id) {
    table.epochs[id] = table.reads[id] == kReadNothing ? kFixed : epoch_;
  }
  // The row is being computed: whoever finds it known asks for it in a cycle.
  template <class Row>
  void MarkInProgress(ResultTable<Row>& table, uint32_t id) {
    table.epochs[id] = epoch_;
  }

  // --- what is read
  DependencySet Only(uint32_t option) { return sets_.Only(option); }
  void Unite(DependencySet& into, DependencySet from) { into = sets_.United(into, from); }
  // Of the computation in progress; nothing if there is none.
  void AddReads(DependencySet reads) {
    if (!frames_.empty()) {
      Unite(frames_.back(), reads);
    }
  }
  void AddReads(const Bitset& reads) {
    if (!frames_.empty()) {
      AddReads(sets_.Of(reads));
    }
  }
  void BeginReads() { frames_.push_back(kReadNothing); }
  void EndReads(Bitset& result);  // adds to it
  bool HadEffect() const { return sets_.Has(frames_.back(), option_count_); }
  void NoteEffect() { AddReads(sets_.Only(option_count_)); }

  // Begins a result: its reads are its own, and its queries are in no trace.
  void Enter();
  // Ends it; `reads` gets what was read.
  void Leave(DependencySet& reads);

  // --- traces
  void BeginTrace(QueryTrace* trace) { traces_.push_back(trace); }
  void EndTrace() { traces_.pop_back(); }
  bool traces() const { return !traces_.empty() && traces_.back() != nullptr; }
  void Record(const VariantQuery& query, const QueryResult& result, DependencySet reads) {
    if (traces()) {
      traces_.back()->Add(query, result, reads == kReadNothing);
    }
  }

  // --- diagnostics of declarations, in order of asking
  std::vector<Diagnostic>& found() { return found_; }

  // Roughly the memory of tables and sets.
  uint64_t bytes_used() const { return table_bytes_ + sets_.bytes_used(); }

 private:
  static constexpr uint32_t kFixed = 0xffffffffu;

  const uint32_t option_count_;
  uint32_t epoch_ = 1;
  uint64_t table_bytes_ = 0;
  DependencySets sets_;
  std::vector<DependencySet> frames_;  // of what is in progress
  std::vector<QueryTrace*> traces_;    // null while a result is computed
  std::vector<Diagnostic> found_;
  std::vector<size_t> found_before_;  // by result in progress
};

}  // namespace kiln::resolve
