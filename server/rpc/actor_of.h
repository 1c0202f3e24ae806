// SPDX-License-Identifier: MIT
// The principal of a call as the one who changes named things. See spec/daemon 11.4
#pragma once

#include "cache/leases/actor.h"
#include "server/ops/access.h"

namespace kiln::rpc {

inline cache::Actor ActorOf(const ops::Principal& who) {
  return {.id = who.id, .any = who.scope == ops::Scope::kAdmin};
}

}  // namespace kiln::rpc
