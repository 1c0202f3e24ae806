// SPDX-License-Identifier: MIT
// A bound of memory that many calls share: each takes its share before it holds bytes, and is
// refused when there is no room. Where shares say whose they are, the owner finds a quarter of the
// room whatever the others hold, and one of them has half of it, or one share. See spec/daemon 10
//
// Threads: a room may be used by all, a share by one at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "compiler/base/mutex.h"
#include "server/ops/party.h"

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
    Share(ByteRoom& room, const ops::Party& of) : room_(room), of_(of) {}
    ~Share() { GiveBack(bytes_); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // False, and nothing is taken, if there is no room for `bytes` more.
    bool Take(uint64_t bytes) {
      if (!room_.Take(of_, bytes)) {
        return false;
      }
      bytes_ += bytes;
      return true;
    }
    // Requires: so much was taken.
    void GiveBack(uint64_t bytes) {
      bytes_ -= bytes;
      room_.GiveBack(of_, bytes);
    }
    void GiveBackAll() { GiveBack(bytes_); }
    uint64_t bytes() const { return bytes_; }

   private:
    ByteRoom& room_;
    const ops::Party of_;
    uint64_t bytes_ = 0;
  };

 private:
  bool Take(const ops::Party& party, uint64_t bytes);
  bool TakeOfAll(uint64_t bytes);
  void GiveBack(const ops::Party& party, uint64_t bytes);

  const uint64_t most_;
  std::atomic<uint64_t> held_ = 0;
  Mutex mutex_;
  uint64_t others_ KILN_GUARDED_BY(mutex_) = 0;  // of all but the owner
  std::map<std::string, uint64_t, std::less<>> of_party_ KILN_GUARDED_BY(mutex_);  // but the owner
};

}  // namespace kiln::rpc
