// SPDX-License-Identifier: MIT
// The distinct results of one program of a batch as flat rows, and those of a batch: tables one
// behind the other. What results have in common (target, stages, live options, build, warnings) is
// kept once, as their head; a row has ids and numbers. An item is made of a row when somebody wants
// to see it. A batch of 64,000 results keeps 13 MB so and not 80.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/resolve/values/options.h"
#include "server/compile/batch/batch_progress.h"
#include "server/compile/request.h"
#include "server/compile/rows/option_rows.h"

namespace kiln::compile {

// What tells a result from the others of its program.
struct ResultRow {
  Hash128 signature;
  Hash128 layout_hash;
  Hash128 state_id;
  Digest metadata;
  uint64_t cpu_us = 0;
  uint64_t served = 0;  // variants
  uint32_t head = 0;
  uint32_t first_code = 0;
  Origin origin = Origin::kCompiled;
  bool stored = false;
};

// Threads: those of its owner, one at a time; any number may read one that does not change any
// more.
class ResultTable {
 public:
  explicit ResultTable(std::string program) : program_(std::move(program)) {}

  // Requires: the outcome has an artifact.
  void Add(std::span<const resolve::OptionSetting> options, const Outcome& outcome,
           uint64_t served);
  void AddServed(size_t row, uint64_t variants) { rows_[row].served += variants; }

  size_t size() const { return rows_.size(); }
  const ResultRow& Row(size_t row) const { return rows_[row]; }
  // Digests of its code, in stage order.
  std::span<const Digest> CodeOf(size_t row) const;
  const Outcome& HeadOf(size_t row) const { return heads_[rows_[row].head]; }
  BatchItem At(size_t row) const;
  // No other result is added for now.
  void Shrink();

 private:
  uint32_t HeadFor(const Outcome& outcome);

  std::string program_;
  OptionRows options_;
  std::vector<ResultRow> rows_;
  std::vector<Digest> code_;
  std::vector<Outcome> heads_;  // without ids and numbers
};
using ResultTablePtr = std::shared_ptr<const ResultTable>;

// Distinct results with the digests to fetch, by number. Refers to tables that others have, too.
class BatchResults {
 public:
  // `stands`: an earlier run found them, so they are told as hits of memory.
  void Add(ResultTablePtr table, bool stands);
  // The same results, whatever becomes of the tables.
  BatchResults Copied() const;

  size_t size() const { return parts_.empty() ? 0 : parts_.back().end; }
  bool empty() const { return size() == 0; }
  const ResultRow& Row(size_t number) const;
  BatchItem At(size_t number) const;

 private:
  struct Part {
    ResultTablePtr table;
    bool stands = false;
    size_t begin = 0;  // number of its first row
    size_t end = 0;    // number behind its last one
  };
  const Part& PartOf(size_t number) const;

  std::vector<Part> parts_;  // none is empty
};

}  // namespace kiln::compile
