// SPDX-License-Identifier: MIT
// The keys of the configuration, one row each: what a key is called, what it means, what it is by
// default, how it is read and whether a running daemon takes a change. Flags, help, man page and
// `config show` come from here, so a key that has no row does not exist. See spec/daemon 15
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "server/config.h"

namespace kiln::server {

enum class Applies : uint8_t { kAtStart, kAtOnce };

struct ConfigKey {
  std::string_view key;       // "cache.max_size"
  std::string_view fallback;  // its default as text; empty if the environment decides
  std::string_view expected;  // "a size like 20G"
  std::string_view meaning;
  Applies applies;
  bool (*read)(std::string_view text, Config& config);
};

// Every key, sorted.
std::span<const ConfigKey> ConfigTable();

}  // namespace kiln::server
