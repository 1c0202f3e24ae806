// SPDX-License-Identifier: MIT
// Handlers of signals that whoever started this program may have it ignore: a shell does so for
// SIGINT of what a script runs in the background, and `nohup` for SIGHUP.
#pragma once

namespace kiln::cli {

// Sets the handler; a signal that is ignored stays ignored.
void HandleUnlessIgnored(int signal, void (*handler)(int));

}  // namespace kiln::cli
