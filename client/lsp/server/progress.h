// SPDX-License-Identifier: MIT
// Work-done progress of checks: what takes long is shown, and can be cancelled. Work that is done
// in a moment is not shown at all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/lsp/protocol/message.h"
#include "compiler/base/clock.h"

namespace kiln::lsp {

class Progress {
 public:
  static constexpr Duration kDelay = std::chrono::milliseconds(500);

  // Both outlive it; `next_request` numbers requests to the client.
  Progress(Clock& clock, int64_t& next_request) : clock_(clock), next_request_(next_request) {}

  // So many programs are left to check; 0: none. Adds what the client is told.
  void Update(size_t left, std::vector<Json>& out);
  // An answer of the client: whether it is one to a request of this, and then what follows.
  bool Take(const RpcMessage& answer, std::vector<Json>& out);
  // window/workDoneProgress/cancel: whether it is this that the client cancels.
  bool IsCancel(const Json& params) const;

 private:
  enum class State : uint8_t { kIdle, kAsked, kShown, kRefused };

  void Say(const char* kind, std::vector<Json>& out);

  Clock& clock_;
  int64_t& next_request_;
  State state_ = State::kIdle;
  std::optional<Duration> since_;  // when the work began
  std::string token_;              // of the last progress
  int64_t asked_ = 0;              // id of the request that made it
  size_t most_ = 0;                // programs that were left at once
  size_t done_ = 0;                // of those
};

}  // namespace kiln::lsp
