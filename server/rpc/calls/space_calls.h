// SPDX-License-Identifier: MIT
// CountVariants and ListVariants without the transport: how large an option space is, and any page
// of its allowed variants. Nothing is enumerated where the space can be counted.
// See spec/daemon 4.1, 6.4, 6.5
#pragma once

#include <chrono>

#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

// That all spaces of a request may be counted for: those that come later are bounded only.
inline constexpr Duration kRequestCountingTime = std::chrono::seconds(20);

// One row for each space, in order. Sources, axes and expressions that are wrong are diagnostics of
// its row. Errors: as CompileVariant.
Result<void> CountVariants(Engine& engine, const v1::CountVariantsRequest& request,
                           const cache::Call& call, v1::CountVariantsReply& reply,
                           v1::ErrorDetail& detail);

// Errors: as CompileVariant; kInvalidArgument with BAD_PAGE_TOKEN for the token of another request
// and with SPACE_WRONG for axes and expressions; kResourceExhausted with LIMIT_VARIANTS for a space
// that can only be walked and is too large for it.
Result<void> ListVariants(Engine& engine, const v1::ListVariantsRequest& request,
                          const cache::Call& call, v1::ListVariantsReply& reply,
                          v1::ErrorDetail& detail);

}  // namespace kiln::rpc
