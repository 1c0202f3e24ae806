// SPDX-License-Identifier: MIT
// Methods and indices of structured buffers and of buffers of bytes. See spec/hlsl 19
#pragma once

#include "compiler/front/hlsl/check/resources/method_site.h"

namespace kiln::hlsl {

// Element `index` of a structured buffer, or word `index` of one of bytes: a place.
ExprId ElementOf(const MethodSite& site, ExprId index);

// Load2, Store, InterlockedAdd and so on, of bytes.
ExprId BytesMethod(const MethodSite& site, Method method, std::span<const ExprId> arguments);

}  // namespace kiln::hlsl
