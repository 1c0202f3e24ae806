// SPDX-License-Identifier: MIT
// An Outcome of the wire from a result, without the message in between: a batch has thousands, and
// making messages costs more than all that is in them.
#pragma once

#include <cstdint>
#include <string>

#include "server/compile/request.h"

namespace kiln::rpc {

// Whether there is an artifact, and nothing to say about it.
bool IsPlain(const compile::Outcome& outcome);

// Appends what ToProto(outcome) with this index serializes to. Requires: IsPlain(outcome).
void AppendOutcome(const compile::Outcome& outcome, uint64_t index, std::string& bytes);

}  // namespace kiln::rpc
