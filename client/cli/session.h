// SPDX-License-Identifier: MIT
// The daemon of one command: found, started, told about, left. See spec/cli 1.2, 2
#pragma once

#include "client/autostart.h"
#include "client/cli/global.h"
#include "compiler/base/result.h"

namespace kiln::cli {

// What the flags and KILN_LOG say of the log, before anything is connected. Errors:
// kInvalidArgument for another word in KILN_LOG.
Result<void> BeginSession(Global& global);
// Connects, starts the daemon if the flags allow it and says so on stderr.
Result<client::DaemonConnection> ConnectTo(const Global& global);
// Whether the last ConnectTo gave a daemon of this command.
bool IsPrivateDaemonInUse();
// What is left to tell of the daemon's work, then the end of a private one. Nothing is asked of a
// daemon behind it.
void EndSession(const Global& global);
// Ends the process with kDeadline when the time is over; a daemon notices at once. Errors:
// kInvalidArgument for what is not a duration.
Result<void> SetDeadline(const Global& global);

}  // namespace kiln::cli
