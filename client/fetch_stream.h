// SPDX-License-Identifier: MIT
// One call of Fetch: its stream -> outcomes and verified blobs. Private to client/*.cc.
#pragma once

#include "client/client.h"
#include "client/state.h"

namespace kiln::client {

// Reads to the end; `context` may be cancelled meanwhile from any thread. Errors: those of the
// daemon; kCorrupt for a blob that is not what its digest says, and for a stream without an end;
// what a handler says.
Result<FetchDone> ReadFetch(Client::State& state, v1::FetchRequest request,
                            const Client::FetchHandlers& handlers, Context& context);

}  // namespace kiln::client
