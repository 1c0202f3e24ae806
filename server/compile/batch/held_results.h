// SPDX-License-Identifier: MIT
// How many results the batches of one principal hold in memory, those included that are over and
// remembered. See spec/daemon 10
//
// Threads: a count may be used by all, a part by one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace kiln::compile {

struct HeldResults {
  const uint64_t most;
  std::atomic<uint64_t> count = 0;
};

// What one batch has of it; given back when it goes.
class HeldPart {
 public:
  HeldPart() = default;  // of nobody who counts
  HeldPart(const HeldPart&) = delete;
  HeldPart& operator=(const HeldPart&) = delete;
  ~HeldPart() { Set(0); }

  // Requires: nothing was set.
  void CountIn(std::shared_ptr<HeldResults> all) { all_ = std::move(all); }
  void Set(uint64_t results) {
    if (all_ != nullptr) {
      all_->count += results - counted_;
      counted_ = results;
    }
  }
  // All that is held is more than may be.
  bool IsTooMuch() const { return all_ != nullptr && all_->count > all_->most; }

 private:
  std::shared_ptr<HeldResults> all_;
  uint64_t counted_ = 0;
};

}  // namespace kiln::compile
