// SPDX-License-Identifier: MIT
// Methods of images that take a sampler. See spec/hlsl 19
#pragma once

#include "compiler/front/hlsl/check/resources/method_site.h"

namespace kiln::hlsl {

// Diagnostics: HLSL2010, HLSL2021, HLSL4005, HLSL4007, HLSL8004.
ExprId SampleMethod(const MethodSite& site, Method method, std::span<const ExprId> arguments);

}  // namespace kiln::hlsl
