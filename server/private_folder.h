// SPDX-License-Identifier: MIT
// The folder that a command makes for the daemon it starts for itself (`kiln --no-daemon`): socket,
// log, perhaps a cache. The command removes it at its end; one that was killed cannot, so the
// daemon does at its own, which comes because its command is gone. See spec/daemon 14.2
#pragma once

#include <string>

namespace kiln::server {

// Removes the folder with all that is in it, also while other threads of this process still make
// files there. What is no folder of this user alone stays; empty: does nothing.
//
// Whether the command is gone is not asked, since nobody can tell in time: the signal of its death
// comes with the death of one of its threads, and until the last one has gone it is our parent.
void RemovePrivateFolder(const std::string& folder);

}  // namespace kiln::server
