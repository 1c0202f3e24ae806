// SPDX-License-Identifier: MIT
// kilnd as its user sees it: its socket, its answer, the program itself. See spec/cli 6.11
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cli/global.h"
#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::cli {

// Where the daemon of the flags listens, or would.
std::string SocketOf(const Global& global);

// Who answers. Errors: as OpenDaemon and Client::Ping.
Result<client::ServerInfo> InfoOf(const Global& global);

// Says what became of the daemon. `state`: started, running, stopped, absent or draining.
void ShowDaemon(const Global& global, std::string_view state, const client::ServerInfo& info,
                const std::string& text);

// Becomes kilnd with these words, such as {"config", "show"}. Does not return on success.
int RunKilnd(const Global& global, std::vector<std::string> words);

}  // namespace kiln::cli
