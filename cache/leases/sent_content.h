// SPDX-License-Identifier: MIT
// Content that no record names, by who sent it: sources, and what is to be named soon. It is kept
// for its sender alone, so nobody may have more of it than his share (owner_shares.h), and a full
// store gives it up before it refuses anybody. See spec/cache 8.4
//
// Threads: safe from any thread; one mutex, held for look-ups and moves only.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/leases/owner_shares.h"
#include "compiler/base/digest.h"
#include "compiler/base/mutex.h"

namespace kiln::cache {

class SentContent {
 public:
  // So many contents at most are known, however small they are: each counts for a part of the
  // bytes.
  static constexpr uint64_t kMostContents = uint64_t{1} << 18;
  // For whom content counts of which nobody said who sent it: what came inline with a request.
  static constexpr std::string_view kRequests = "requests";

  // `young_s`: what was sent so recently makes no room for more of the same sender.
  SentContent(uint64_t most_bytes, int64_t young_s) : shares_(most_bytes), young_s_(young_s) {}

  struct Share {
    std::string owner;
    uint64_t bytes = 0;
    uint64_t contents = 0;
    int64_t last_s = 0;  // when the youngest was sent; Unix
  };

  // Whether it is new: what is known already stays whose it is, and is young again if the same
  // owner sends it. Of kRequests what is small is left out, and the oldest is forgotten where one
  // more would be too many.
  bool Add(std::string_view owner, const Hash128& id, uint64_t bytes, int64_t now_s);
  // It is named now, or gone, or was not taken.
  void Forget(const Hash128& id);

  bool Fits(std::string_view owner) const;
  // What should go first where it does not fit for `owner`: of those who stand in his way, whoever
  // has most gives up what he sent first; of his own nothing that is young. Nothing: it stays so.
  std::optional<Hash128> NextToGo(std::string_view owner, int64_t now_s) const;
  // Where it does not fit in the store: of whoever has most, what he sent first.
  std::vector<Hash128> OldestOfMost(uint64_t bytes, size_t contents) const;
  // What was sent before then, at most so many; they count as looked at and are last the next time.
  std::vector<Hash128> SentBefore(int64_t then_s, size_t contents);

  bool empty() const;
  uint64_t Of(std::string_view owner) const;
  uint64_t most() const { return shares_.most(); }
  uint64_t MostOfOne() const { return shares_.MostOfOne(); }
  // Largest first.
  std::vector<Share> Shares() const;

 private:
  struct Row {
    Hash128 id;
    uint64_t cost = 0;
    int64_t sent_s = 0;
  };
  using Rows = std::list<Row>;  // of one owner, the oldest first
  struct Place {
    std::map<std::string, Rows, std::less<>>::iterator owner;
    Rows::iterator row;
  };

  uint64_t CostOf(uint64_t bytes) const;
  void Drop(const Hash128& id) KILN_REQUIRES(mutex_);

  mutable Mutex mutex_;
  OwnerShares shares_ KILN_GUARDED_BY(mutex_);
  const int64_t young_s_;
  std::map<std::string, Rows, std::less<>> owners_ KILN_GUARDED_BY(mutex_);  // none is empty
  std::unordered_map<Hash128, Place, Hash128Hash> places_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::cache
