// SPDX-License-Identifier: MIT
// What ListOptions says of programs: their options with defaults, places and, if asked, who reads
// them. Runs inside jobs. See spec/daemon 4.1
#pragma once

#include <optional>
#include <string_view>

#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

// An option at its declared default; nothing if the program has none of this name.
std::optional<resolve::OptionSetting> DefaultOf(const resolve::Program& program,
                                                std::string_view name);

// Errors: as CompileVariant. Sources that do not parse are diagnostics of the reply.
Result<void> ListOptions(Engine& engine, const v1::ListOptionsRequest& request,
                         const cache::Call& call, v1::ListOptionsReply& reply,
                         v1::ErrorDetail& detail);

}  // namespace kiln::rpc
