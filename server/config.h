// SPDX-License-Identifier: MIT
// Configuration of a daemon: flag > environment > file > default, per key. A file with a key that
// is not known, or a value of a wrong type, is refused with its line. Spec: daemon §15
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/log.h"
#include "compiler/base/result.h"

namespace kiln::server {

struct Config {
  std::string socket;               // listen.unix
  std::filesystem::path cache_dir;  // cache.dir
  uint64_t cache_max_bytes = uint64_t{20} << 30;
  uint64_t cache_min_free_bytes = uint64_t{2} << 30;
  uint64_t cache_memory_bytes = uint64_t{256} << 20;
  Duration negative_ttl = std::chrono::hours(24);
  uint32_t workers = 1;
  uint32_t express = 1;
  uint64_t queue_interactive = 256;
  uint64_t queue_batch = 10'000;
  std::optional<Duration> idle_timeout;  // nothing: 3 h if auto-started, else never
  Duration drain_timeout = std::chrono::seconds(20);
  LogLevel log_level = LogLevel::kInfo;
  std::string log_format = "auto";  // text, json
};

// Value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct ConfigSources {
  std::map<std::string, std::string> flags;   // key -> text
  std::optional<std::filesystem::path> file;  // named by the user: must be readable
  Environment environment;
};

// "cache.max_size", …: every key, sorted.
std::vector<std::string_view> ConfigKeys();

// Errors: kInvalidArgument with reason BAD_CONFIG; the text names source, line and key.
Result<Config> LoadConfig(const ConfigSources& sources);

}  // namespace kiln::server
