// SPDX-License-Identifier: MIT
// Reads the configuration (spec/daemon 15). Four places give values: defaults, a file, variables,
// flags. Each is brought to the text of a flag and checked where it stands, so an error names its
// place; then the strongest text of each key is read into the configuration.
#include "server/config.h"

#include <algorithm>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "compiler/base/check.h"
#include "compiler/base/files/file.h"
#include "compiler/base/files/user_folders.h"
#include "compiler/base/printable.h"
#include "compiler/base/text/closest_name.h"
#include "compiler/base/text/toml_bounds.h"
#include "server/config_table.h"

namespace kiln::server {
namespace {

constexpr const char* kSystemFolder = "/etc/kiln";

// Keys and values are what somebody wrote into the file, or the environment has. Their errors are
// told to terminals, to the log and to whoever asks for a reload, so they are spelled out here.
Error Bad(std::string_view context) {
  return {.code = ErrorCode::kInvalidArgument,
          .context = PrintableMessage(context),
          .reason = "BAD_CONFIG"};
}

// The table has about eighty rows and this runs at the start and at a reload, so they are looked
// through in order.
const ConfigKey* FindKey(std::string_view key) {
  const auto table = ConfigTable();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const ConfigKey& row) { return row.key == key; });
  return found == table.end() ? nullptr : &*found;
}

// "; did you mean 'x'?", or nothing.
std::string ClosestKey(std::string_view key) {
  ClosestName search(key);
  for (const ConfigKey& row : ConfigTable()) {
    search.Offer(row.key);
  }
  return search.best().empty() ? std::string() : fmt::format("; did you mean '{}'?", search.best());
}

// Key -> text and where it comes from; later ones replace earlier ones.
using Chosen = std::map<std::string_view, ConfigValue>;

// Errors name the place, the key and the closest one or what it should be.
Result<void> Apply(std::string_view where, std::string_view key, std::string_view text,
                   Chosen& chosen) {
  const ConfigKey* row = FindKey(key);
  if (row == nullptr) {
    return Bad(fmt::format("{}: unknown key '{}'{}", where, key, ClosestKey(key)));
  }
  // The value is tried on a scratch configuration. What a place says is wrong or right whatever
  // stronger places say, and its error names that place.
  Config scratch;
  if (!row->read(text, scratch)) {
    return Bad(fmt::format("{}: '{}' = '{}' is not {}", where, key, text, row->expected));
  }
  chosen[row->key] = {.key = row->key, .text = std::string(text), .origin = std::string(where)};
  return {};
}

// A TOML value as the text of a flag; empty for types that no key takes.
// All places, the file too, are brought to the text of a flag. So each key has one reader, in the
// table.
std::string TextOf(const toml::node& value) {
  if (const auto* string = value.as_string(); string != nullptr) {
    return string->get();
  }
  if (const auto* flag = value.as_boolean(); flag != nullptr) {
    return flag->get() ? "true" : "false";
  }
  if (const auto* integer = value.as_integer(); integer != nullptr) {
    return std::to_string(integer->get());
  }
  std::string text;
  if (const auto* table = value.as_table(); table != nullptr) {
    for (const auto& [key, item] : *table) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", key.str(), TextOf(item));
    }
  }
  if (const auto* array = value.as_array(); array != nullptr) {
    for (const toml::node& item : *array) {
      text += (text.empty() ? "" : ",") + TextOf(item);
    }
  }
  return text;
}

std::string PlaceOf(const std::filesystem::path& path, const toml::node& node) {
  return fmt::format("{}:{}", path.string(), node.source().begin.line);
}

// The place of an error has the line of the value in the file.
Result<void> ApplyTable(const std::filesystem::path& path, std::string_view name,
                        const toml::table& table, Chosen& chosen) {
  for (const auto& [key, value] : table) {
    const std::string full = fmt::format("{}.{}", name, key.str());
    // An empty list means that there are none of them; an empty text is a mistake where a key needs
    // one.
    const bool empty_list = (value.is_array() && value.as_array()->empty()) ||
                            (value.is_table() && value.as_table()->empty());
    const std::string text = TextOf(value);
    if (text.empty() && !empty_list && FindKey(full) != nullptr) {
      return Bad(fmt::format("{}: '{}' = '' is not {}", PlaceOf(path, value), full,
                             FindKey(full)->expected));
    }
    KILN_TRY_VOID(Apply(PlaceOf(path, value), full, text, chosen));
  }
  return {};
}

// [[upstream]], nearest first.
Result<void> ApplyUpstreams(const std::filesystem::path& path, const toml::array& array,
                            Config& config) {
  for (const toml::node& row : array) {
    if (!row.is_table()) {
      return Bad(fmt::format("{}: 'upstream' is a list of tables", PlaceOf(path, row)));
    }
    Chosen of_one;
    KILN_TRY_VOID(ApplyTable(path, "upstream", *row.as_table(), of_one));
    Config one;
    // Each upstream of the file is read into a configuration of its own, as the readers fill the
    // first one of theirs.
    for (const auto& [key, value] : of_one) {
      KILN_CHECK(FindKey(key)->read(value.text, one), "{}", key);
    }
    if (one.upstreams.empty() || one.upstreams.front().url.empty()) {
      return Bad(fmt::format("{}: an upstream needs a url", PlaceOf(path, row)));
    }
    config.upstreams.push_back(std::move(one.upstreams.front()));
  }
  return {};
}

Result<std::string> ReadText(const std::filesystem::path& path) {
  Result<std::string> text = ReadFile(path.string(), kMaxTomlBytes);
  return text.ok() ? std::move(text) : Result<std::string>(Bad(text.error().context));
}

Result<void> ApplyFile(const std::filesystem::path& path, Chosen& chosen, Config& config) {
  KILN_TRY(const std::string text, ReadText(path));
  // The parser recurses, so its depth is bounded before it sees the text.
  if (const auto excess = FindTomlExcess(text); excess.has_value()) {
    return Bad(
        fmt::format("{}:{}:{}: {}", path.string(), excess->line, excess->column, excess->what));
  }
  toml::table tables;
  try {
    // The parser throws, and only it: the exception ends here.
    tables = toml::parse(text, path.string());
  } catch (const toml::parse_error& error) {
    return Bad(
        fmt::format("{}:{}: {}", path.string(), error.source().begin.line, error.description()));
  }
  for (const auto& [table, node] : tables) {
    if (node.is_array() && table == "upstream") {
      KILN_TRY_VOID(ApplyUpstreams(path, *node.as_array(), config));
      continue;
    }
    if (!node.is_table()) {
      const bool is_key = FindKey(table.str()) != nullptr;  // "cache.dir" in quotes is one name
      return Bad(fmt::format(
          "{}: {}", PlaceOf(path, node),
          is_key ? fmt::format("'{}' in quotes is no key of a table", table.str())
                 : fmt::format("unknown key '{}'{}", table.str(), ClosestKey(table.str()))));
    }
    KILN_TRY_VOID(ApplyTable(path, table.str(), *node.as_table(), chosen));
  }
  return {};
}

// The file of the user hides that of the system as a whole; they are not merged.
std::optional<std::filesystem::path> DefaultFile(const Environment& environment) {
  std::vector<std::filesystem::path> candidates;
  if (const std::string folder = UserConfigFolder(environment); !folder.empty()) {
    candidates.emplace_back(folder + "/kilnd.toml");
  }
  candidates.emplace_back(std::string(kSystemFolder) + "/kilnd.toml");
  std::error_code error;
  for (const std::filesystem::path& candidate : candidates) {
    if (std::filesystem::exists(candidate, error)) {
      return candidate;
    }
  }
  return std::nullopt;
}

// A file that was found, not named, must belong to this user or root, and only they may write it. A
// file that is named with --config is the caller's own choice and is not checked.
Result<void> CheckFound(const std::filesystem::path& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 &&
      ((found.st_uid != 0 && found.st_uid != geteuid()) || (found.st_mode & 022) != 0)) {
    return Bad(
        fmt::format("'{}' belongs to user {} and has mode {:04o}: it is read if it belongs "
                    "to this user or root and others may not write it; chmod go-w it, or "
                    "name it with --config",
                    path.string(), found.st_uid, found.st_mode & 07777));
  }
  return {};
}

// The folder of relative file names if the configuration has no file itself.
std::filesystem::path ConfigFolder(const Environment& environment) {
  const std::string folder = UserConfigFolder(environment);
  return folder.empty() ? kSystemFolder : folder;
}

// Defaults that depend on the machine and the user.
std::string FallbackOf(const ConfigKey& key, const Environment& environment) {
  const uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
  if (key.key == "listen.unix") {
    return UserSocket(environment);
  }
  if (key.key == "cache.dir") {
    return UserCacheFolder(environment);
  }
  if (key.key == "jobs.workers") {
    return std::to_string(cores);
  }
  if (key.key == "jobs.express") {
    // A quarter as many threads serve interactive work only, so a batch that fills the others never
    // makes an editor wait.
    return std::to_string(std::max(1u, cores / 4));
  }
  return std::string(key.fallback);
}

// Keys of one upstream that contradict each other.
Result<void> CheckUpstream(const UpstreamConfig& upstream) {
  if (upstream.url.empty()) {
    return Bad("upstream.url is missing: the other keys of upstream need it");
  }
  const bool uses_tls =
      !upstream.tls_ca.empty() || !upstream.tls_cert.empty() || !upstream.tls_key.empty();
  if (uses_tls && !upstream.url.starts_with("https://")) {
    return Bad(fmt::format("upstream.tls_ca, tls_cert and tls_key are of https: '{}' uses no TLS",
                           upstream.url));
  }
  if (upstream.tls_cert.empty() != upstream.tls_key.empty()) {
    return Bad(fmt::format("upstream '{}': tls_cert and tls_key go together", upstream.url));
  }
  return {};
}

// Makes file names absolute, relative to the folder that they belong to. Files that belong to the
// configuration lie beside it, those that the daemon writes lie below its cache.
void ResolvePaths(const std::filesystem::path& folder, Config& config) {
  for (std::string* path :
       {&config.tokens, &config.tls_cert, &config.tls_key, &config.tls_client_ca}) {
    if (!path->empty()) {
      *path = (folder / *path).string();
    }
  }
  for (UpstreamConfig& upstream : config.upstreams) {
    for (std::string* path :
         {&upstream.token_file, &upstream.tls_ca, &upstream.tls_cert, &upstream.tls_key}) {
      if (!path->empty()) {
        *path = (folder / *path).string();
      }
    }
  }
  for (std::string* path : {&config.audit_log, &config.otlp}) {
    if (!path->empty()) {
      *path = (config.cache_dir / *path).string();
    }
  }
}

}  // namespace

// "cache.max_size" is KILN_CACHE_MAX_SIZE.
std::string VariableOf(std::string_view key) {
  std::string name = "KILN_";
  for (const char c : key) {
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

// Nothing is kept of a configuration that has an error: a reload leaves the running one as it was
// (spec/daemon 15).
Result<Config> LoadConfig(const ConfigSources& sources) {
  Chosen chosen;
  for (const ConfigKey& row : ConfigTable()) {
    chosen[row.key] = {
        .key = row.key, .text = FallbackOf(row, sources.environment), .origin = "default"};
  }
  Config config;
  const std::optional<std::filesystem::path> file =
      sources.file.has_value() ? sources.file : DefaultFile(sources.environment);
  if (file.has_value()) {
    if (!sources.file.has_value()) {
      KILN_TRY_VOID(CheckFound(*file));
    }
    KILN_TRY_VOID(ApplyFile(*file, chosen, config));
    config.file = file->string();
  }
  for (const ConfigKey& row : ConfigTable()) {
    // From the weakest place to the strongest: default, file, environment, flags. Each replaces
    // what came before it. See spec/daemon 15.1
    const std::string variable = VariableOf(row.key);
    if (const auto text = sources.environment(variable); text.has_value()) {
      KILN_TRY_VOID(Apply(variable, row.key, *text, chosen));
    }
  }
  for (const auto& [key, text] : sources.flags) {
    KILN_TRY_VOID(Apply("--" + key, key, text, chosen));
  }
  // No default lies where others could have put something before. See spec/daemon 15.2
  for (const std::string_view key : {"cache.dir", "listen.unix"}) {
    if (chosen[key].text.empty()) {
      return Bad(
          fmt::format("{} has no default here, because the environment names no folder of "
                      "this user: set {}, or HOME",
                      key, VariableOf(key)));
    }
  }
  for (const ConfigKey& row : ConfigTable()) {
    // It was read before without an error; defaults are tested.
    KILN_CHECK(row.read(chosen[row.key].text, config), "{}", row.key);
    config.values.push_back(std::move(chosen[row.key]));
  }
  for (const UpstreamConfig& upstream : config.upstreams) {
    KILN_TRY_VOID(CheckUpstream(upstream));
  }
  ResolvePaths(file.has_value() ? file->parent_path() : ConfigFolder(sources.environment), config);
  if (config.memory_soft_percent > config.memory_hard_percent) {
    return Bad("jobs.memory_soft is above jobs.memory_hard");
  }
  return config;
}

// Texts are compared and not values: "1024M" and "1G" count as a change, which costs a line in the
// log.
ConfigChange Compare(const Config& started, const Config& before, const Config& after) {
  ConfigChange change;
  // All lists are in the order of the table.
  for (size_t i = 0; i < before.values.size() && i < after.values.size(); ++i) {
    const ConfigKey* row = FindKey(after.values[i].key);
    const bool at_once = row->applies == Applies::kAtOnce;
    const Config& in_force = at_once ? before : started;
    if (in_force.values[i].text != after.values[i].text) {
      (at_once ? change.at_once : change.at_restart).push_back(row->key);
    }
  }
  return change;
}

}  // namespace kiln::server
