// SPDX-License-Identifier: MIT
// Configuration of a daemon: flag > environment > file > default, per key. One table says of every
// key what it is called, what it means, what it is by default, how it is read and whether a running
// daemon takes a change; flags, help, man page and `config show` come from it. A file with a key
// that is not known, or a value of a wrong type, is refused with its line. See spec/daemon 15
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/result.h"
#include "server/ops/log_levels.h"
#include "server/rpc/service_limits.h"

namespace kiln::server {

// Another daemon that is asked for what is not here (spec/cache 7).
struct UpstreamConfig {
  std::string url;                        // unix:PATH, https://HOST:PORT
  bool writes = true;                     // mode read_write, or read_only
  std::string token_file;                 // its first line is sent; empty: none
  std::string tls_ca, tls_cert, tls_key;  // of https: PEM files
  Duration deadline = std::chrono::milliseconds(250);
};

// A key as it is in force.
struct ConfigValue {
  std::string_view key;
  std::string text;
  std::string origin;  // default, FILE:LINE, the variable or the flag

  friend bool operator==(const ConfigValue&, const ConfigValue&) = default;
};

struct Config {
  std::string socket;                         // listen.unix
  std::string tcp;                            // listen.tcp: HOST:PORT, or empty
  std::string metrics;                        // metrics.listen: HOST:PORT, unix:PATH, or empty
  std::filesystem::path cache_dir;            // cache.dir
  Duration cache_max_age = Duration::zero();  // zero: never too old
  uint64_t cache_max_bytes = uint64_t{20} << 30;
  uint64_t cache_min_free_bytes = uint64_t{2} << 30;
  uint64_t cache_memory_bytes = uint64_t{64} << 20;
  Duration negative_ttl = std::chrono::hours(24);
  std::vector<UpstreamConfig> upstreams;  // upstream[], nearest first
  Duration group_time = std::chrono::milliseconds(3);
  uint32_t group_rows = 256;
  std::string tls_cert, tls_key, tls_client_ca;
  std::string tokens;  // file; empty: nobody comes in by TCP
  std::vector<uint32_t> allow_uids;
  std::string audit_log;    // file; empty: none
  bool allow_root = false;  // TCP as root; a flag, not a key
  uint32_t workers = 1;
  std::string worker_program;  // what runs third-party code, with --worker; empty: this program
  uint32_t express = 1;
  bool isolate_front_ends = false;  // jobs.isolation: all
  uint32_t twice_percent = 0;       // audit.twice_percent
  uint32_t validate_percent = 0;    // validate.spirv
  enum class Polite : uint8_t { kAuto, kOn, kOff };
  Polite polite = Polite::kAuto;            // kAuto: if a command started the daemon
  std::map<std::string, uint32_t> weights;  // jobs.weights: shares of tenants
  uint64_t queue_interactive = 256;
  uint64_t queue_batch = 10'000;
  uint32_t memory_soft_percent = 60;
  uint32_t memory_hard_percent = 75;
  uint32_t max_connections = 1024;
  uint64_t slow_reader_bytes = uint64_t{256} << 20;  // of all together; not a key
  uint64_t receiving_bytes = 0;                      // 0: half of the memory of the machine
  rpc::ServiceLimits limits;
  LanguageLimits language_limits;        // class D: part of every key
  std::optional<Duration> idle_timeout;  // nothing: 3 h if auto-started, else never
  Duration drain_timeout = std::chrono::seconds(20);
  ops::LogLevels log_levels;
  std::string log_format = "auto";  // text, json
  std::string otlp;                 // file of exported spans; empty: none

  std::vector<ConfigValue> values;  // of every key, in the order of the table
  std::string file;                 // that was read, or empty
};

// "cache.max_size" -> "KILN_CACHE_MAX_SIZE"
std::string VariableOf(std::string_view key);

// Value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct ConfigSources {
  std::map<std::string, std::string> flags;   // key -> text
  std::optional<std::filesystem::path> file;  // named by the user: must be readable
  Environment environment;
};

// Errors: kInvalidArgument with reason BAD_CONFIG; the text names source, line and key.
Result<Config> LoadConfig(const ConfigSources& sources);

// What differs between two configurations, by key.
struct ConfigChange {
  std::vector<std::string_view> at_once;
  std::vector<std::string_view> at_restart;
};
// `started`: with which the daemon began, whose values hold until it is restarted. `before`: the
// one that was read last, whose values that are taken at once hold now.
ConfigChange Compare(const Config& started, const Config& before, const Config& after);

}  // namespace kiln::server
