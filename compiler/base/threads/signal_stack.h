// SPDX-License-Identifier: MIT
// Where a thread's signal handlers run when its own stack is used up: without it a stack overflow
// ends the process before anything can be written about it. See spec/daemon 14.9
#pragma once

namespace kiln {

// Gives the calling thread such a stack, until it ends; nothing if it has one already. Without
// memory for it the thread goes on without.
void UseSignalStack();

}  // namespace kiln
