// SPDX-License-Identifier: MIT
// The deterministic limits of this build as one id: they can decide a result, so they are in keys.
// Spec: daemon §10 class D, cache §2.4.5
#pragma once

#include "compiler/base/digest.h"

namespace kiln::build {

Hash128 DeterministicLimits();

}  // namespace kiln::build
