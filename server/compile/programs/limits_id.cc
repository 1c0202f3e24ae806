// SPDX-License-Identifier: MIT
// The limits of a daemon as one id, which is part of all keys (spec/cache 2.5): daemons with other
// limits do not share results.
#include "server/compile/programs/limits_id.h"

namespace kiln::compile {

std::vector<cache::LimitValue> LimitValues(const LanguageLimits& limits) {
  std::vector<cache::LimitValue> values;
  for (const LanguageLimitRow& row : LanguageLimitTable()) {
    values.push_back({.name = row.name, .value = limits.*row.value});
  }
  return values;
}

Hash128 LimitsIdOf(const LanguageLimits& limits) { return cache::LimitsId(LimitValues(limits)); }

}  // namespace kiln::compile
