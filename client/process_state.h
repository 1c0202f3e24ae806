// SPDX-License-Identifier: MIT
// What a process has once, and why it is never destroyed. Threads of gRPC, of streams and of a
// command's deadline may outlive main: whatever they touch must not be gone by then. So the few
// things of this library that belong to a process and not to a Client are made here, at their first
// use, and stay until the process ends:
//
//   trace          the id of the command, which all its calls carry, whichever client makes them
//   call log       whom -vv tells of calls
//   error details  what daemons said of errors that are still on their way to where they are shown
//   pinned folders two clients of one folder must give gRPC the same name of a socket
//   daemons        those that this process started for itself and ends when it ends
//
// Private to client/*.cc.
#pragma once

namespace kiln::client {

// One `State` for each type; the type of each of those above is local to its file.
template <class State>
State& OfProcess() {
  static auto* const state = new State;
  return *state;
}

}  // namespace kiln::client
