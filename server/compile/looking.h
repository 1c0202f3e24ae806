// SPDX-License-Identifier: MIT
// The call of somebody who only wants to know whether something is stored.
#pragma once

#include "cache/store.h"

namespace kiln::compile {

// The same call, for which nothing is leased, touched or remembered.
inline cache::Call Looking(cache::Call call) {
  call.may_write = false;
  return call;
}

}  // namespace kiln::compile
