// SPDX-License-Identifier: MIT
// What is left of a daemon that died by SIGSEGV, SIGABRT, SIGBUS, SIGILL or SIGFPE: a text file
// with build id, signal, the trace of the call and the raw backtrace, written by the dying thread,
// on a stack of its own if it has one (signal_stack.h). The next start reads it. Core dumps are
// off. See spec/daemon 14.9
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kiln::ops {

// For the whole process, once: crash-<pid>.txt goes into the folder, which must exist. The calling
// thread gets a signal stack.
void InstallCrashReport(const std::string& folder, std::string_view build_id);

// The trace id of what this thread works on, for the report; empty when it is done. The first time
// the thread gets a signal stack: whoever works on a call may use up his own.
void SetCrashTrace(std::string_view trace);

// The reports of earlier runs in the folder, the newest one first in the text; each is told once
// and kept as crash-<pid>.told.
std::optional<std::string> TakeCrashReports(const std::string& folder);

}  // namespace kiln::ops
