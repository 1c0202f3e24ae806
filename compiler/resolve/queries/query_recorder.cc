// SPDX-License-Identifier: MIT
#include "compiler/resolve/queries/query_recorder.h"

#include "compiler/base/check.h"

namespace kiln::resolve {

// A new epoch makes every row of the old one stale without touching it. Fixed rows have the
// greatest epoch of all, so no variant ever computes them again.
void QueryRecorder::Reset() {
  KILN_CHECK(frames_.empty() && traces_.empty(), "answers are in use");
  ++epoch_;
  KILN_CHECK(epoch_ != kFixed);
  found_.clear();
}

// What a part reads, whoever asked for the part reads too.
// The set is both added to the frame around it and given to the caller as bits.
void QueryRecorder::EndReads(Bitset& result) {
  KILN_CHECK(!frames_.empty());
  const DependencySet reads = frames_.back();
  frames_.pop_back();
  AddReads(reads);
  sets_.AddTo(result, reads);
}

// Traces stop at a row that is computed: what it asks is its own matter, and whoever asked for it
// depends only on its answer.
// Also the place to stop: every part of a variant passes here.
void QueryRecorder::Enter() {
  CheckStop();
  BeginReads();
  traces_.push_back(nullptr);
  found_before_.push_back(found_.size());
}

// A result that came with a diagnostic has an effect: were it fixed, the next variant would take it
// from its row and say nothing.
void QueryRecorder::Leave(DependencySet& reads) {
  if (found_.size() != found_before_.back()) {
    NoteEffect();
  }
  // The set stays with the row, so whoever finds it known reads the same.
  reads = frames_.back();
  frames_.pop_back();
  traces_.pop_back();
  found_before_.pop_back();
}

}  // namespace kiln::resolve
