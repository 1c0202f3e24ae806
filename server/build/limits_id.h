// SPDX-License-Identifier: MIT
// The deterministic limits of this build, also as one id: they can decide a result, so they are in
// keys. Spec: daemon §10 class D, cache §2.4.5
#pragma once

#include <array>

#include "cache/key.h"
#include "compiler/base/digest.h"

namespace kiln::build {

// By name.
std::array<cache::LimitValue, 5> DeterministicLimitValues();
Hash128 DeterministicLimits();

}  // namespace kiln::build
