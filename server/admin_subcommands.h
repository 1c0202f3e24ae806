// SPDX-License-Identifier: MIT
// What kilnd does besides serving: `kilnd config show|check` and `kilnd token create|list|revoke`,
// which `kiln config` and `kiln token` pass on. See spec/cli 6.12, spec/daemon 11.4, 15.2
#pragma once

#include <string>
#include <string_view>

#include "server/config.h"

namespace kiln::server {

struct ConfigArguments {
  bool origin = false;
  std::string file;  // to check
};

struct TokenArguments {
  std::string scope = "read";
  std::string expires;  // a duration; empty: never
  std::string note;
  std::string tenant;
  std::string id;  // to revoke
  // Of the daemon that runs, as it told `kiln`; empty: none runs, or it takes no TCP.
  std::string running_tokens;  // its file
  std::string running_config;  // that it read; empty: none
};

// All of these print to stdout and give the exit code; `json`: one object per line, the last of
// type "result".
int ShowConfig(const Result<Config>& config, const ConfigArguments& arguments, bool json);
// Reads what the configuration names, too: certificates and tokens.
int CheckConfig(const Result<Config>& config, const ConfigArguments& arguments, bool json);
// These say which file they work on, and if the daemon that runs reads another one.
int CreateToken(const Config& config, const TokenArguments& arguments, bool json);
int ListTokens(const Config& config, const TokenArguments& arguments, bool json);
// kilnd.8 and kilnd.toml.5 into a folder: the keys of the configuration with their meaning.
int WriteManual(const std::string& folder, std::string_view version, bool json);
int RevokeToken(const Config& config, const TokenArguments& arguments, bool json);

}  // namespace kiln::server
