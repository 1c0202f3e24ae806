// SPDX-License-Identifier: MIT
// Results of one program in rows of fixed size, with what they have in common kept once. A batch
// may have a million results, and one of them as a plain outcome takes a kilobyte.
#include "server/compile/rows/result_table.h"

#include <algorithm>
#include <utility>

#include "compiler/base/check.h"

namespace kiln::compile {
namespace {

// Heads that an outcome is held against; variants with warnings of their own may have many.
constexpr size_t kRecentHeads = 16;

// Whether the outcome differs from the head in ids and numbers alone.
bool HasHead(const Outcome& outcome, const Outcome& head) {
  const Artifact& a = *outcome.artifact;
  const Artifact& b = *head.artifact;
  return a.live_options == b.live_options && a.target == b.target && a.build_id == b.build_id &&
         std::ranges::equal(a.code, b.code, {}, &StageCodeDigest::stage, &StageCodeDigest::stage) &&
         outcome.kind == head.kind && outcome.validated == head.validated &&
         outcome.optimised == head.optimised &&
         outcome.from_negative_cache == head.from_negative_cache &&
         outcome.diagnostics == head.diagnostics;
}

// The head of a group: everything that its rows do not have themselves is left in it, and all else
// is emptied.
Outcome HeadAlone(const Outcome& outcome) {
  Outcome head = outcome;
  head.fresh = {};
  Artifact& artifact = *head.artifact;
  for (StageCodeDigest& code : artifact.code) {
    code.digest = {};
  }
  artifact.metadata = {};
  artifact.layout_hash = artifact.state_id = artifact.signature = {};
  artifact.cpu_us = 0;
  return head;
}

}  // namespace

// Results of one program differ in ids and numbers alone, mostly. What they share is a head, kept
// once; a row has the rest in some 150 bytes.
uint32_t ResultTable::HeadFor(const Outcome& outcome) {
  const size_t oldest = heads_.size() - std::min(heads_.size(), kRecentHeads);
  for (size_t i = heads_.size(); i > oldest; --i) {
    if (HasHead(outcome, heads_[i - 1])) {
      return static_cast<uint32_t>(i - 1);
    }
  }
  heads_.push_back(HeadAlone(outcome));
  return static_cast<uint32_t>(heads_.size() - 1);
}

// Requires an outcome with an artifact. Failures are kept elsewhere.
void ResultTable::Add(std::span<const resolve::OptionSetting> options, const Outcome& outcome,
                      uint64_t served) {
  const Artifact& artifact = *outcome.artifact;
  rows_.push_back({.signature = artifact.signature,
                   .layout_hash = artifact.layout_hash,
                   .state_id = artifact.state_id,
                   .metadata = artifact.metadata,
                   .cpu_us = artifact.cpu_us,
                   .served = served,
                   .head = HeadFor(outcome),
                   .first_code = static_cast<uint32_t>(code_.size()),
                   .origin = artifact.origin,
                   .stored = artifact.stored});
  for (const StageCodeDigest& code : artifact.code) {
    code_.push_back(code.digest);
  }
  options_.Add(options);
}

std::span<const Digest> ResultTable::CodeOf(size_t row) const {
  return std::span(code_).subspan(rows_[row].first_code, HeadOf(row).artifact->code.size());
}

// Put together from head and row; the inverse of Add.
BatchItem ResultTable::At(size_t row) const {
  const ResultRow& numbers = rows_[row];
  BatchItem item{.program = program_,
                 .options = options_.At(row),
                 .outcome = HeadOf(row),
                 .served = numbers.served,
                 .examples = {}};
  Artifact& artifact = *item.outcome.artifact;
  const std::span<const Digest> code = CodeOf(row);
  for (size_t i = 0; i < code.size(); ++i) {
    artifact.code[i].digest = code[i];
  }
  artifact.metadata = numbers.metadata;
  artifact.layout_hash = numbers.layout_hash;
  artifact.state_id = numbers.state_id;
  artifact.signature = numbers.signature;
  artifact.cpu_us = numbers.cpu_us;
  artifact.origin = numbers.origin;
  artifact.stored = numbers.stored;
  return item;
}

// When the program is done: the growth of vectors may have left half of them empty.
void ResultTable::Shrink() {
  options_.Shrink();
  rows_.shrink_to_fit();
  code_.shrink_to_fit();
}

// Parts have ascending ranges of numbers, so the part of a number is found by halving.
void BatchResults::Add(ResultTablePtr table, bool stands) {
  if (const size_t rows = table->size(); rows != 0) {
    parts_.push_back(
        {.table = std::move(table), .stands = stands, .begin = size(), .end = size() + rows});
  }
}

// For a batch that goes on, whose tables change under its lock. Costs a copy of every table; used
// by calls that outlive the lock.
BatchResults BatchResults::Copied() const {
  BatchResults copy = *this;
  for (Part& part : copy.parts_) {
    part.table = std::make_shared<const ResultTable>(*part.table);
  }
  return copy;
}

// Binary search by the ends of the parts.
const BatchResults::Part& BatchResults::PartOf(size_t number) const {
  KILN_CHECK(number < size());
  return *std::ranges::upper_bound(parts_, number, {}, &Part::end);
}

const ResultRow& BatchResults::Row(size_t number) const {
  const Part& part = PartOf(number);
  return part.table->Row(number - part.begin);
}

// Rows of a part that stands were there before this batch: for it they come from memory.
BatchItem BatchResults::At(size_t number) const {
  const Part& part = PartOf(number);
  BatchItem item = part.table->At(number - part.begin);
  if (part.stands) {
    item.outcome.artifact->origin = Origin::kMemory;
  }
  return item;
}

}  // namespace kiln::compile
