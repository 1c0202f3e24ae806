// SPDX-License-Identifier: MIT
// What somebody who asks for durability may be told of results that he did not build himself: they
// are known, but perhaps to memory alone, or to the file and not to the upstream. Here they are
// brought to where he wants them, and what did not get there is counted. See spec/cache 7.2, 8.5
//
// Threads: as the store.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cache/store.h"

namespace kiln::compile {

struct RefusedResults {
  uint64_t results = 0;
  std::optional<Error> why;  // of the first

  void Add(const RefusedResults& more) {
    results += more.results;
    why = why.has_value() ? why : more.why;
  }
};

// Puts rows in order. A row whose content the store refuses does not keep the others out.
RefusedResults PutRows(cache::BlobStore& store, std::span<const cache::Item> rows,
                       cache::Durability durability, const cache::Call& call);

// Waits until the results of these keys are kept as far as `durability` says, and puts again what
// is not. kDurable costs one look-up for all; kQuorum one put of each, because only the upstream
// can say what it has: what is known here it may never have seen. For a call that may not write
// nothing is put, so no upstream has acknowledged anything.
RefusedResults KeepResults(cache::BlobStore& store, std::span<const cache::Key> results,
                           cache::Durability durability, const cache::Call& call);

}  // namespace kiln::compile
