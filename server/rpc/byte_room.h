// SPDX-License-Identifier: MIT
// A bound of memory that many calls share: who holds bytes takes its share first, and is refused
// when there is no room. Spec: daemon §10
//
// Threads: a room may be used by all, a share by one at a time.
#pragma once

#include <atomic>
#include <cstdint>

namespace kiln::rpc {

class ByteRoom {
 public:
  explicit ByteRoom(uint64_t most) : most_(most) {}
  ByteRoom(const ByteRoom&) = delete;
  ByteRoom& operator=(const ByteRoom&) = delete;

  uint64_t most() const { return most_; }
  uint64_t held() const { return held_.load(std::memory_order_relaxed); }
  // `bytes` more would be refused.
  bool IsFullFor(uint64_t bytes) const { return held() > most_ || bytes > most_ - held(); }

  // What one call has of the room, which must outlive it; given back when it goes.
  class Share {
   public:
    explicit Share(ByteRoom& room) : room_(room) {}
    ~Share() { GiveBack(bytes_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False, and nothing is taken, if there is no room for `bytes` more.
    bool Take(uint64_t bytes) {
      uint64_t held = room_.held_.load(std::memory_order_relaxed);
      do {
        if (bytes > room_.most_ - held) {
          return false;
        }
      } while (!room_.held_.compare_exchange_weak(held, held + bytes));
      bytes_ += bytes;
      return true;
    }
    // Requires: so much was taken.
    void GiveBack(uint64_t bytes) {
      bytes_ -= bytes;
      room_.held_.fetch_sub(bytes);
    }
    void GiveBackAll() { GiveBack(bytes_); }
    uint64_t bytes() const { return bytes_; }

   private:
    ByteRoom& room_;
    uint64_t bytes_ = 0;
  };

 private:
  const uint64_t most_;
  std::atomic<uint64_t> held_ = 0;
};

}  // namespace kiln::rpc
