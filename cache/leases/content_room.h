// SPDX-License-Identifier: MIT
// The room that a store has for content that it keeps for whoever sent it (sent_content.h).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cache/store.h"

namespace kiln::cache {

// Threads: safe from any thread.
class ContentRoom {
 public:
  virtual ~ContentRoom() = default;

  // Before contents are put: counts them for the principal that sends them, and removes what stands
  // in the way of his share. Gives those that were not counted before. Errors: kFull with
  // CACHE_FULL if he has more than he may, and of it nothing may go; then nothing is counted. Those
  // of the file.
  virtual Result<std::vector<Hash128>> Admit(std::string_view owner, std::span<const Item> contents,
                                             const Call& call) = 0;
  // They were not put after all.
  virtual void Forget(std::span<const Hash128> contents) = 0;
};

}  // namespace kiln::cache
