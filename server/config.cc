// SPDX-License-Identifier: MIT
#include "server/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace kiln::server {
namespace {

Error Bad(std::string context) {
  return {
      .code = ErrorCode::kInvalidArgument, .context = std::move(context), .reason = "BAD_CONFIG"};
}

// Digits and what follows them.
std::optional<std::pair<uint64_t, std::string_view>> NumberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  return std::pair(number, text.substr(static_cast<size_t>(end - text.data())));
}

bool ReadSize(std::string_view text, uint64_t& out) {
  const auto number = NumberOf(text);
  constexpr std::string_view kUnits = "KMGT";
  if (!number.has_value() || number->second.size() > 1) {
    return false;
  }
  const size_t unit = number->second.empty() ? 0 : kUnits.find(number->second[0]) + 1;
  const auto shift = static_cast<uint32_t>(10 * unit);  // npos + 1 is 0
  if ((unit == 0 && !number->second.empty()) || number->first > UINT64_MAX >> shift) {
    return false;
  }
  out = number->first << shift;
  return true;
}

bool ReadDuration(std::string_view text, Duration& out) {
  struct Unit {
    std::string_view name;
    uint64_t milliseconds;
  };
  constexpr std::array<Unit, 5> kUnits = {
      {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
  const auto number = NumberOf(text);
  if (!number.has_value() || number->first > 1'000'000) {
    return false;
  }
  for (const Unit& unit : kUnits) {
    if (number->second == unit.name || (number->first == 0 && number->second.empty())) {
      out = std::chrono::milliseconds(number->first * unit.milliseconds);
      return true;
    }
  }
  return false;
}

template <class T>
bool ReadCount(std::string_view text, uint64_t least, uint64_t most, T& out) {
  const auto number = NumberOf(text);
  if (!number.has_value() || !number->second.empty() || number->first < least ||
      number->first > most) {
    return false;
  }
  out = static_cast<T>(number->first);
  return true;
}

bool ReadLevel(std::string_view text, LogLevel& out) {
  constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLevels = {
      {{"debug", LogLevel::kDebug},
       {"info", LogLevel::kInfo},
       {"warn", LogLevel::kWarning},
       {"error", LogLevel::kError}}};
  for (const auto& [name, level] : kLevels) {
    if (name == text) {
      out = level;
      return true;
    }
  }
  return false;
}

struct KeyRow {
  std::string_view key;
  std::string_view expected;
  bool (*read)(std::string_view, Config&);
};

using Text = std::string_view;
// Sorted by key.
constexpr std::array<KeyRow, 14> kKeys = {{
    {"cache.dir", "a path",
     [](Text t, Config& c) { return c.cache_dir = std::string(t), !t.empty(); }},
    {"cache.max_size", "a size like 20G",
     [](Text t, Config& c) { return ReadSize(t, c.cache_max_bytes); }},
    {"cache.memory", "a size like 256M",
     [](Text t, Config& c) { return ReadSize(t, c.cache_memory_bytes); }},
    {"cache.min_free", "a size like 2G",
     [](Text t, Config& c) { return ReadSize(t, c.cache_min_free_bytes); }},
    {"cache.negative_ttl", "a duration like 24h",
     [](Text t, Config& c) { return ReadDuration(t, c.negative_ttl); }},
    {"jobs.express", "a number from 1 to 1024",
     [](Text t, Config& c) { return ReadCount(t, 1, 1024, c.express); }},
    {"jobs.workers", "a number from 1 to 1024",
     [](Text t, Config& c) { return ReadCount(t, 1, 1024, c.workers); }},
    {"lifecycle.drain_timeout", "a duration like 20s",
     [](Text t, Config& c) { return ReadDuration(t, c.drain_timeout); }},
    {"lifecycle.idle_timeout", "a duration like 3h",
     [](Text t, Config& c) { return ReadDuration(t, c.idle_timeout.emplace()); }},
    {"listen.unix", "a path",
     [](Text t, Config& c) { return c.socket = std::string(t), !t.empty(); }},
    {"log.format", "auto, text or json",
     [](Text t, Config& c) {
       c.log_format = std::string(t);
       return t == "auto" || t == "text" || t == "json";
     }},
    {"log.level", "error, warn, info or debug",
     [](Text t, Config& c) { return ReadLevel(t, c.log_level); }},
    {"queue.batch", "a number from 1 to 1000000",
     [](Text t, Config& c) { return ReadCount(t, 1, 1'000'000, c.queue_batch); }},
    {"queue.interactive", "a number from 1 to 1000000",
     [](Text t, Config& c) { return ReadCount(t, 1, 1'000'000, c.queue_interactive); }},
}};

const KeyRow* FindKey(std::string_view key) {
  const auto found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const KeyRow& row) { return row.key == key; });
  return found == kKeys.end() ? nullptr : found;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

std::string_view ClosestKey(std::string_view key) {
  return std::min_element(kKeys.begin(), kKeys.end(),
                          [&](const KeyRow& a, const KeyRow& b) {
                            return EditDistance(a.key, key) < EditDistance(b.key, key);
                          })
      ->key;
}

Result<void> Apply(std::string_view where, std::string_view key, std::string_view text,
                   Config& config) {
  const KeyRow* row = FindKey(key);
  if (row == nullptr) {
    return Bad(
        fmt::format("{}: unknown key '{}'; the closest is '{}'", where, key, ClosestKey(key)));
  }
  if (!row->read(text, config)) {
    return Bad(fmt::format("{}: '{}' = '{}' is not {}", where, key, text, row->expected));
  }
  return {};
}

// "cache.max_size" -> "KILN_CACHE_MAX_SIZE"
std::string VariableOf(std::string_view key) {
  std::string name = "KILN_";
  for (const char c : key) {
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

Result<void> ApplyFile(const std::filesystem::path& path, Config& config) {
  toml::table tables;
  try {
    tables = toml::parse_file(path.string());
  } catch (const toml::parse_error& error) {
    return Bad(
        fmt::format("{}:{}: {}", path.string(), error.source().begin.line, error.description()));
  }
  for (const auto& [table, node] : tables) {
    const auto line = [&](const toml::node& at) {
      return fmt::format("{}:{}", path.string(), at.source().begin.line);
    };
    if (!node.is_table()) {
      return Apply(line(node), table.str(), {}, config);
    }
    for (const auto& [key, value] : *node.as_table()) {
      std::string text;
      if (const auto* string = value.as_string(); string != nullptr) {
        text = string->get();
      } else if (const auto* integer = value.as_integer(); integer != nullptr) {
        text = std::to_string(integer->get());
      }
      KILN_TRY_VOID(Apply(line(value), fmt::format("{}.{}", table.str(), key.str()), text, config));
    }
  }
  return {};
}

std::optional<std::filesystem::path> DefaultFile(const Environment& environment) {
  std::vector<std::filesystem::path> candidates;
  if (const auto base = environment("XDG_CONFIG_HOME"); base.has_value()) {
    candidates.emplace_back(*base + "/kiln/kilnd.toml");
  } else if (const auto home = environment("HOME"); home.has_value()) {
    candidates.emplace_back(*home + "/.config/kiln/kilnd.toml");
  }
  candidates.emplace_back("/etc/kiln/kilnd.toml");
  std::error_code error;
  for (const std::filesystem::path& candidate : candidates) {
    if (std::filesystem::exists(candidate, error)) {
      return candidate;
    }
  }
  return std::nullopt;
}

Config Defaults(const Environment& environment) {
  Config config;
  const auto runtime = environment("XDG_RUNTIME_DIR");
  config.socket = runtime.has_value() ? *runtime + "/kiln/kilnd.sock"
                                      : fmt::format("/tmp/kiln-{}/kilnd.sock", geteuid());
  if (const auto cache = environment("XDG_CACHE_HOME"); cache.has_value()) {
    config.cache_dir = *cache + "/kiln";
  } else {
    config.cache_dir = environment("HOME").value_or("/tmp") + "/.cache/kiln";
  }
  config.workers = std::max(1u, std::thread::hardware_concurrency());
  config.express = std::max(1u, config.workers / 4);
  return config;
}

}  // namespace

std::vector<std::string_view> ConfigKeys() {
  std::vector<std::string_view> keys;
  keys.reserve(std::size(kKeys));
  for (const KeyRow& row : kKeys) {
    keys.push_back(row.key);
  }
  return keys;
}

Result<Config> LoadConfig(const ConfigSources& sources) {
  Config config = Defaults(sources.environment);
  const std::optional<std::filesystem::path> file =
      sources.file.has_value() ? sources.file : DefaultFile(sources.environment);
  if (file.has_value()) {
    KILN_TRY_VOID(ApplyFile(*file, config));
  }
  for (const KeyRow& row : kKeys) {
    const std::string variable = VariableOf(row.key);
    if (const auto text = sources.environment(variable); text.has_value()) {
      KILN_TRY_VOID(Apply(variable, row.key, *text, config));
    }
  }
  for (const auto& [key, text] : sources.flags) {
    KILN_TRY_VOID(Apply("--" + key, key, text, config));
  }
  return config;
}

}  // namespace kiln::server
