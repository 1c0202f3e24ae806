// SPDX-License-Identifier: MIT
// What is wrong with a cache, as lines and as counts: found here, or told by a daemon.
#pragma once

#include <string>

#include "cache/maintenance.h"
#include "client/cli/failure.h"
#include "client/cli/global.h"
#include "client/types.h"

namespace kiln::cli {

// A line for each that the report names.
void PrintFaults(const Global& global, const cache::VerifyReport& report);

// A finding of a daemon: "blob content/0/99aa…: content id differs".
void PrintFinding(const Global& global, const std::string& text);

Counts CountsOf(const client::MaintenanceDone& done);
Counts CountsOf(const cache::VerifyReport& report);

}  // namespace kiln::cli
