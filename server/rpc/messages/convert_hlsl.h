// SPDX-License-Identifier: MIT
// The HLSL part of a program's message -> plain types. What comes in is hostile: paths, macros,
// sizes and counts are checked here. See spec/hlsl 1.5, 4.2; spec/daemon 3.2
#pragma once

#include "compiler/base/result.h"
#include "proto/kiln/v1/common.pb.h"
#include "server/compile/request.h"

namespace kiln::rpc {

// Errors: kInvalidArgument with BAD_PATH or MALFORMED_REQUEST; kResourceExhausted with
// LIMIT_EXCEEDED. A list that is named by its digest is not looked at.
Result<compile::HlslInputs> FromProto(const v1::Hlsl& hlsl);

}  // namespace kiln::rpc
