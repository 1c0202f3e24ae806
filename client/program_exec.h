// SPDX-License-Identifier: MIT
// Whether the daemon that answers is of the build that this program belongs to, and if not, whether
// it makes way: only one that a command once started, and that nobody else uses. spec/daemon 14.3
#pragma once

#include <string>

#include "client/client.h"
#include "compiler/base/result.h"

namespace kiln::client {

// The versions of the wire that this library speaks.
inline constexpr uint32_t kApiMin = 1;
inline constexpr uint32_t kApiMax = 1;

// Errors: kUnavailable, API_MISMATCH, with both versions and what to do.
Result<void> CheckApi(const ServerInfo& info);

struct Handover {
  bool drained = false;  // the daemon is gone, and another one is to be started
  std::string warning;   // it stays although it is of another build
};
// To be asked for daemons of this machine and user.
Handover OfferHandover(Client& client, const ServerInfo& info, const std::string& program);

}  // namespace kiln::client
