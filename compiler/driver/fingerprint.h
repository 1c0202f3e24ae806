// SPDX-License-Identifier: MIT
// Identities of the parts of this build that can change an output: sources, compile flags and
// library versions of one component, taken when it was built. Never a file time.
// See spec/cache 2.5
#pragma once

#include "compiler/base/digest.h"
#include "compiler/ir/module.h"

namespace kiln::driver {

// The languages that have a front end, and what this is called where people see it.
struct FrontEnd {
  ir::Language language;
  const char* component;
};
inline constexpr FrontEnd kFrontEnds[] = {{ir::Language::kRpl, "front.rpl"},
                                          {ir::Language::kHlsl, "front.hlsl"},
                                          {ir::Language::kWgsl, "front.wgsl"}};

// Front end of a language and everything that shapes its images.
Hash128 FrontFingerprint(ir::Language language);

// Everything behind the images: resolve, layout, emission, metadata.
Hash128 BackFingerprint();

// Whether a component was built from sources with changes that are not committed. Its fingerprint
// is random, and what it makes stays on this machine (spec/cache 2.5.2).
bool IsPrivateFront(ir::Language language);
bool IsPrivateBack();

}  // namespace kiln::driver
