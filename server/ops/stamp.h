// SPDX-License-Identifier: MIT
// Unix time -> "2026-01-31T12:00:00.123Z", as all logs have it.
#pragma once

#include <string>

#include "compiler/base/clock.h"

namespace kiln::ops {

std::string StampOf(Duration unix_time);

}  // namespace kiln::ops
