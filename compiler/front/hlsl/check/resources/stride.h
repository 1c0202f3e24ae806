// SPDX-License-Identifier: MIT
// Bytes from one element of a structured buffer to the next, for GetDimensions: the only number of
// a layout that a source may ask for. The rules of record are those of the layout engine
// (spec/layout 4); `hlsl_resource_device_test` has numbers of both. See spec/hlsl 15.1, 19
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/front/hlsl/check/context.h"

namespace kiln::hlsl {

// Nothing if options decide.
std::optional<uint32_t> StrideOf(const CheckContext& context, TypeId type);

}  // namespace kiln::hlsl
