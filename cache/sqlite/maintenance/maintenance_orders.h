// SPDX-License-Identifier: MIT
// What is to be done about the file of a store: ordered by whoever meets damage or asks for a new
// file, done by the maintenance thread, awaited by whoever needs the outcome.
//
// Threads: safe from any thread; Next, Done and Salvaged are the maintenance thread's.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "compiler/base/mutex.h"

namespace kiln::cache::sqlite {

// The graver the larger.
enum class Order : uint8_t {
  kNone,
  kCheck,              // reads the whole file; it is replaced if it does not pass
  kReplace,            // by what verifies of it
  kReplaceUnsalvaged,  // by an empty one
};

class MaintenanceOrders {
 public:
  // The graver one of two that were not taken yet stays.
  void Give(Order order);
  // Takes the order, or waits for at most a second; nothing when stopping. Does not wait while a
  // file is to be salvaged.
  std::optional<Order> Next();
  // What was ordered so far was about a file that is not there any more.
  void Forget();
  // The file was replaced; the old one has this name in the directory.
  void Done(const std::string& set_aside);
  // Orders a replacement and waits until one was made; gives the name of the last old file.
  std::string AwaitReplacement();

  // A file was set aside because it could not be opened.
  void GiveUnsalvaged(const std::string& name);
  // Its name; empty if there is none.
  std::string Unsalvaged() const;
  void Salvaged();
  // Waits until there is none.
  void AwaitSalvage(const std::stop_token& stop);

  // Ends all waiting, and work that asks the token. For good.
  void Stop();
  std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  mutable Mutex mutex_;
  CondVar changed_;
  Order order_ KILN_GUARDED_BY(mutex_) = Order::kNone;
  uint64_t replacements_ KILN_GUARDED_BY(mutex_) = 0;
  std::string last_set_aside_ KILN_GUARDED_BY(mutex_);
  std::string unsalvaged_ KILN_GUARDED_BY(mutex_);
  bool stopping_ KILN_GUARDED_BY(mutex_) = false;
  std::stop_source stop_;
};

}  // namespace kiln::cache::sqlite
