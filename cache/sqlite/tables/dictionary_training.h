// SPDX-License-Identifier: MIT
// How a store comes to new dictionaries: samples of its newest content, a dictionary from three
// quarters of them, a judgement by the rest. See spec/cache 5.3
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "cache/sqlite/session/current_session.h"
#include "cache/sqlite/tables/dictionaries.h"

namespace kiln::cache::sqlite {

// A dictionary that was made, and what it does to samples that it was not made from.
struct TrainedDictionary {
  ContentKind kind = ContentKind::kCode;
  uint32_t number = 0;
  uint64_t raw_bytes = 0;
  uint64_t before_bytes = 0;  // as compressed until now
  uint64_t after_bytes = 0;
};

// One step of upkeep: looks at the newest content, and where a dictionary for a kind makes it
// smaller by a tenth, puts one into the store and makes it the current one. Bounded in memory
// (some MiB) and in rows; takes seconds at most. Errors: those of the store.
Result<std::vector<TrainedDictionary>> TrainDictionaries(CurrentSession& session,
                                                         Dictionaries& dictionaries,
                                                         const std::stop_token& stop);

// Whether there is so much more content than at the last training that another one is worth it.
Result<bool> TrainingIsDue(Connection& connection);

}  // namespace kiln::cache::sqlite
