// SPDX-License-Identifier: MIT
// Counts calls whose headers came and whose requests did not, for each party. They hold memory of
// gRPC that nothing else bounds. The caller's lock guards it.
#include "server/rpc/transport/waiting_calls.h"

namespace kiln::rpc {

bool WaitingCalls::Began(const std::string& party, Duration now) {
  Begun& begun = parties_.At(
      party, [this](const std::string&, const Begun& gone) { waiting_ -= gone.size(); });
  if (begun.size() >= kMost) {
    return false;
  }
  begun.push_back(now);
  ++waiting_;
  return true;
}

// It is not known which call it was, so at worst the remaining ages are too low.
void WaitingCalls::Arrived(const std::string& party) {
  Begun* const begun = parties_.Find(party);
  if (begun != nullptr && !begun->empty()) {
    begun->pop_front();
    --waiting_;
  }
}

void WaitingCalls::Forget(const std::string& party) {
  if (Begun* const begun = parties_.Find(party); begun != nullptr) {
    waiting_ -= begun->size();
    begun->clear();
  }
}

// A few calls may wait for as long as they like; ages are in order, so the oldest beyond that
// number tells whether the party is late.
std::vector<std::string> WaitingCalls::TakeStale(Duration now) {
  std::vector<std::string> stale;
  for (auto& [party, begun] : parties_.rows()) {
    if (begun.size() > kHarmless && now - begun[begun.size() - kHarmless - 1] >= kLongest) {
      stale.push_back(party);
      waiting_ -= begun.size();
      begun.clear();
    }
  }
  return stale;
}

}  // namespace kiln::rpc
