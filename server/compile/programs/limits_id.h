// SPDX-License-Identifier: MIT
// The deterministic limits as one id: they can decide a result, so they are in keys, and results
// that were made under other limits are never taken for answers. See spec/daemon 10 class D,
// spec/cache 2.4.5
#pragma once

#include <vector>

#include "cache/key.h"
#include "compiler/base/digest.h"
#include "compiler/base/language_limits.h"

namespace kiln::compile {

// By name; every row of LanguageLimitTable.
std::vector<cache::LimitValue> LimitValues(const LanguageLimits& limits);
Hash128 LimitsIdOf(const LanguageLimits& limits);

}  // namespace kiln::compile
