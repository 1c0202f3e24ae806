// SPDX-License-Identifier: MIT
// Why something was a hit or a miss, as messages. Runs inside jobs. spec/cache 11, spec/daemon 4.1
#pragma once

#include "cache/explain/explain.h"
#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

// An option of an explain record. Its text tells its type: true, 4u, -3, 0.5, "high".
void ToProto(const cache::NamedText& option, v1::OptionValue& out);

void ToProto(const cache::Explanation& explanation, v1::ExplainRecord& out);

// The same for a record, with who reads the options that made the difference.
void ExplainTo(Engine& engine, const cache::ExplainRecord& record, const cache::Call& call,
               v1::ExplainRecord& out);

// Leaves no record and compiles nothing. Errors: kNotFound for what has no record or batch;
// kInvalidArgument for a request about nothing; kFailedPrecondition with SOURCES_MISSING.
Result<void> Explain(Engine& engine, const v1::ExplainRequest& request, const cache::Call& call,
                     v1::ExplainReply& reply, v1::ErrorDetail& detail);

}  // namespace kiln::rpc
