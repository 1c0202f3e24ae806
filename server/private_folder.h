// SPDX-License-Identifier: MIT
// The folder of the daemon that a command starts for itself (`kiln --no-daemon`): socket, perhaps a
// cache. The daemon makes it, and not the command, which may be killed before there is a daemon
// that would remove it; the daemon is told of the death of its command from before it makes the
// folder on. Either removes it at its end. See spec/daemon 14.2
#pragma once

#include <string>

#include "compiler/base/result.h"

namespace kiln::server {

// Makes a folder that nobody can have prepared: `pattern` with other letters for the XXXXXX at its
// end, mode 0700. Errors: FileError.
Result<std::string> MakePrivateFolder(std::string pattern);

// Removes the folder with all that is in it, also while other threads of this process still make
// files there. What is no folder of this user alone stays; empty: does nothing.
//
// Whether the command is gone is not asked, since nobody can tell in time: the signal of its death
// comes with the death of one of its threads, and until the last one has gone it is our parent.
void RemovePrivateFolder(const std::string& folder);

// Removes the folder and ends this process with `code`. While this process has threads, one of them
// may make the folder once more between the removal and the end, as a daemon does that is told to
// end while it starts. So the process first becomes `program`, which has one thread and goes on
// with RemoveAfter; where it cannot, it removes the folder as it is.
[[noreturn]] void LeavePrivateFolder(const std::string& program, const std::string& folder,
                                     int code);

// The words behind the name of `program`: kRemoveAfter, a folder, a code.
inline constexpr char kRemoveAfter[] = "--remove-after";
// The code, when the folder is gone. Only a folder with a name of private ones is removed, so
// that one that somebody names by mistake stays.
int RemoveAfter(const std::string& folder, const std::string& code);

}  // namespace kiln::server
