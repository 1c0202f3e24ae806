// SPDX-License-Identifier: MIT
// Which records hold the failures of some programs. Records do not know what they were made from;
// the explain records of the requests do, as far as they are kept. spec/daemon 4.6, spec/cache 4.3
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "cache/explain/explain_ring.h"
#include "cache/store.h"

namespace kiln::compile {

struct FailureFilter {
  std::function<bool(const std::string& program)> program;
  std::set<Digest> sources;  // programs with one of these; empty: all
};

// Keys of every record that a failure of these programs may be in: of sources that were read, of
// results, of recipes that ran on their modules. `limits`: id of those that are in force. Errors:
// kCancelled; those of reading the log.
Result<std::shared_ptr<const std::set<cache::Key>>> FailureKeys(cache::ExplainRing& explains,
                                                                cache::BlobStore& store,
                                                                const FailureFilter& filter,
                                                                const Hash128& limits,
                                                                const cache::Call& call);

}  // namespace kiln::compile
