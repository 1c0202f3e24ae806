// SPDX-License-Identifier: MIT
// Every key of the configuration as one row (spec/daemon 15): default, words for people, when a
// change applies, and the reader of its text. Flags, variables, the file, `config show` and the
// manual are made from it, so a key is added in one place.
#include "server/config_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "compiler/base/text/byte_size.h"
#include "compiler/base/text/duration_text.h"
#include "server/ops/log_levels.h"

namespace kiln::server {
namespace {

// Digits and what follows them. Errors: nothing if there is no digit or the number does not fit 64
// bits.
std::optional<std::pair<uint64_t, std::string_view>> NumberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  return std::pair(number, text.substr(static_cast<size_t>(end - text.data())));
}

// Readers leave `out` as it was where the text is wrong, or need not care: the scratch
// configuration of a wrong text is thrown away (config.cc). Units are those of ReadByteSize; zero
// is a size, and rows that cannot have it say so by their own bounds.
bool ReadSize(std::string_view text, uint64_t& out) {
  const std::optional<uint64_t> bytes = ReadByteSize(text);
  out = bytes.value_or(out);
  return bytes.has_value();
}

bool ReadTime(std::string_view text, Duration& out) {
  const std::optional<Duration> time = ReadDuration(text);
  out = time.value_or(out);
  return time.has_value();
}

// Bounds are those that the row's text promises to the user. The type of `out` must hold `most`,
// which the caller's bounds make sure of.
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

// A time of zero would end every connection at once, and one of years none.
bool ReadTimeout(std::string_view text, Duration& out) {
  return ReadTime(text, out) && out >= std::chrono::milliseconds(100) &&
         out <= std::chrono::hours(24);
}

// At least an hour: leases and the grace of content are shorter.
bool ReadMaxAge(std::string_view text, Duration& out) {
  return ReadTime(text, out) && (out == Duration::zero() || out >= std::chrono::hours(1));
}

// One kibibyte to one mebibyte: less would refuse the token of a client, more would let a caller
// without one hold memory.
bool ReadHeaderList(std::string_view text, uint32_t& out) {
  uint64_t size = 0;
  if (!ReadSize(text, size) || size < 1024 || size > uint64_t{1} << 20) {
    return false;
  }
  out = static_cast<uint32_t>(size);
  return true;
}

bool ReadRequestMessage(std::string_view text, uint32_t& out) {
  uint64_t size = 0;  // no less than what a message of a stream may have
  if (!ReadSize(text, size) || size < uint64_t{2} << 20 || size > uint64_t{64} << 20) {
    return false;
  }
  out = static_cast<uint32_t>(size);
  return true;
}

// A limit of class D, within the range of its row.
bool ReadLanguageLimit(std::string_view name, std::string_view text, Config& config) {
  const auto rows = LanguageLimitTable();
  const auto row = std::ranges::find(rows, name, &LanguageLimitRow::name);
  uint64_t value = 0;
  const bool reads = row->is_bytes ? ReadSize(text, value) : ReadCount(text, 0, UINT32_MAX, value);
  if (!reads || value < row->least || value > row->most) {
    return false;
  }
  config.language_limits.*row->value = static_cast<uint32_t>(value);
  return true;
}

// A share of 0 % is not taken where a part of the daemon would stop working with it.
bool ReadPercent(std::string_view text, uint32_t& out) {
  return !text.empty() && text.back() == '%' &&
         ReadCount(text.substr(0, text.size() - 1), 1, 100, out);
}

// "1000,1001". The largest uid is reserved: it means that there is none.
bool ReadUids(std::string_view text, std::vector<uint32_t>& out) {
  out.clear();
  while (!text.empty()) {
    const size_t comma = text.find(',');
    uint32_t uid = 0;
    if (!ReadCount(text.substr(0, comma), 0, UINT32_MAX - 1, uid)) {
      return false;
    }
    out.push_back(uid);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return true;
}

// "ci=2,night=1". An empty text takes all weights away.
bool ReadWeights(std::string_view text, std::map<std::string, uint32_t>& out) {
  out.clear();
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view row = text.substr(0, comma);
    const size_t equals = row.find('=');
    uint32_t weight = 0;
    // A tenant is named once. Two weights for one of them are a mistake and not a matter of order.
    if (equals == 0 || equals == std::string_view::npos ||
        !ReadCount(row.substr(equals + 1), 1, 1000, weight) ||
        !out.emplace(row.substr(0, equals), weight).second) {
      return false;
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return true;
}

// Flags and environment know one upstream; in the file there may be several.
UpstreamConfig& Upstream(Config& config) {
  return config.upstreams.empty() ? config.upstreams.emplace_back() : config.upstreams.front();
}

bool ReadMode(std::string_view text, bool& writes) {
  writes = text == "read_write";
  return writes || text == "read_only";
}

bool ReadPolite(std::string_view text, Config::Polite& out) {
  out = text == "true"    ? Config::Polite::kOn
        : text == "false" ? Config::Polite::kOff
                          : Config::Polite::kAuto;
  return text == "auto" || text == "true" || text == "false";
}

// Only these two: a plain connection by TCP would show tokens to the network.
bool IsUrl(std::string_view text) {
  return text.starts_with("unix:") || text.starts_with("https://");
}

using Text = std::string_view;
constexpr Applies kAtStart = Applies::kAtStart;
constexpr Applies kAtOnce = Applies::kAtOnce;

// "off" and "none" mean that there is none.
bool ReadOptional(Text text, std::string& out) {
  out = text == "off" || text == "none" ? std::string() : std::string(text);
  return true;
}

// on, off or a share
bool ReadShare(Text text, uint32_t& out) {
  if (text == "on" || text == "off") {
    out = text == "on" ? 100 : 0;
    return true;
  }
  return ReadPercent(text, out);
}

bool ReadIsolation(Text text, bool& all) {
  all = text == "all";
  return all || text == "third_party";
}

// The same for a file: absolute, or relative without leaving its folder.
bool ReadBeneath(Text text, std::string& out) {
  const std::filesystem::path path(text);
  return ReadOptional(text, out) && !text.empty() && path.has_filename() &&
         (path.is_absolute() || std::ranges::find(path, "..") == path.end());
}

// Sorted by key. A row has the key, its default, what its text must be, what it means, when a
// change applies, and its reader. This one table makes the flags, the variables, the errors, `kiln
// config show` and the manual.
constexpr auto kKeys = std::to_array<ConfigKey>({
    {"audit.twice_percent", "0", "a number from 0 to 100",
     "share of the results that is built a second time behind the answer and compared", kAtStart,
     [](Text t, Config& c) { return ReadCount(t, 0, 100, c.twice_percent); }},
    {"cache.dir", "", "a path", "folder of the cache", kAtStart,
     [](Text t, Config& c) { return c.cache_dir = std::string(t), !t.empty(); }},
    {"cache.group_ms", "3ms", "a duration like 3ms",
     "how long a write waits for others to share its commit", kAtStart,
     [](Text t, Config& c) { return ReadTime(t, c.group_time); }},
    {"cache.group_rows", "256", "a number from 1 to 65536", "rows that end that wait", kAtStart,
     [](Text t, Config& c) { return ReadCount(t, 1, 65'536, c.group_rows); }},
    {"cache.max_age", "0", "0 or a duration from 1h, like 90d",
     "results that were not used for so long are removed; 0: never", kAtStart,
     [](Text t, Config& c) { return ReadMaxAge(t, c.cache_max_age); }},
    {"cache.max_size", "20G", "a size like 20G", "what the file of the cache may grow to", kAtStart,
     [](Text t, Config& c) { return ReadSize(t, c.cache_max_bytes); }},
    {"cache.memory", "64M", "a size like 256M", "results that are held in memory", kAtStart,
     [](Text t, Config& c) { return ReadSize(t, c.cache_memory_bytes); }},
    {"cache.min_free", "2G", "a size like 2G", "what is left free on the disk", kAtStart,
     [](Text t, Config& c) { return ReadSize(t, c.cache_min_free_bytes); }},
    {"cache.negative_ttl", "24h", "a duration like 24h", "how long failures are remembered",
     kAtStart, [](Text t, Config& c) { return ReadTime(t, c.negative_ttl); }},
    {"jobs.express", "", "a number from 1 to 1024", "threads for interactive work only", kAtStart,
     [](Text t, Config& c) { return ReadCount(t, 1, 1024, c.express); }},
    {"jobs.isolation", "third_party", "third_party or all",
     "what runs in worker processes: code that was not written for kiln, or front ends, too",
     kAtStart, [](Text t, Config& c) { return ReadIsolation(t, c.isolate_front_ends); }},
    {"jobs.memory_hard", "75%", "a percentage like 75%",
     "share of the memory at which new batch work is refused", kAtOnce,
     [](Text t, Config& c) { return ReadPercent(t, c.memory_hard_percent); }},
    {"jobs.memory_soft", "60%", "a percentage like 60%",
     "share of the memory at which caches in memory are dropped", kAtOnce,
     [](Text t, Config& c) { return ReadPercent(t, c.memory_soft_percent); }},
    {"jobs.polite", "auto", "auto, true or false",
     "batch work makes way while the machine is under pressure; auto: if a command started kilnd",
     kAtStart, [](Text t, Config& c) { return ReadPolite(t, c.polite); }},
    {"jobs.weights", "", "TENANT=1 to 1000, several with commas; a table in the file",
     "shares of tenants in a lane that all of them want; 1 if not said", kAtOnce,
     [](Text t, Config& c) { return ReadWeights(t, c.weights); }},
    {"jobs.workers", "", "a number from 1 to 1024", "threads that run both lanes", kAtStart,
     [](Text t, Config& c) { return ReadCount(t, 1, 1024, c.workers); }},
    {"lifecycle.drain_timeout", "20s", "a duration like 20s",
     "how long running work may take when the daemon is asked to stop", kAtOnce,
     [](Text t, Config& c) { return ReadTime(t, c.drain_timeout); }},
    {"lifecycle.idle_timeout", "", "a duration like 3h",
     "stops after so long without work; 0: never", kAtOnce,
     [](Text t, Config& c) { return t.empty() || ReadTime(t, c.idle_timeout.emplace()); }},
    // Limits that are part of keys (class D of spec/daemon 10): a daemon with other ones has other
    // keys, so it never serves what its own limits would have refused.
    {"limits.bindings", "1024", "a number from 16 to 1024",
     "bindings of a set of resources; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("bindings", t, c); }},
    {"limits.call_depth", "256", "a number from 16 to 256",
     "calls in each other; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("call_depth", t, c); }},
    {"limits.connections", "1024", "a number from 1 to 65536", "connections at a time", kAtStart,
     [](Text t, Config& c) { return ReadCount(t, 1, 65'536, c.max_connections); }},
    {"limits.enum_values", "256", "a number from 2 to 256",
     "values of an enum option; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("enum_values", t, c); }},
    {"limits.first_call", "30s", "a duration from 100ms to 24h",
     "what a connection by TCP has for its first call with a token", kAtStart,
     [](Text t, Config& c) { return ReadTimeout(t, c.limits.first_call); }},
    {"limits.function_rows", "262144", "a number from 1024 to 262144",
     "instructions of a function; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("function_rows", t, c); }},
    {"limits.functions", "16384", "a number from 64 to 16384",
     "functions of a program; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("functions", t, c); }},
    {"limits.handshake", "10s", "a duration from 100ms to 24h", "how long a handshake may take",
     kAtStart, [](Text t, Config& c) { return ReadTimeout(t, c.limits.handshake); }},
    {"limits.header_list", "16K", "a size from 1K to 1M", "metadata of one call", kAtStart,
     [](Text t, Config& c) { return ReadHeaderList(t, c.limits.header_list); }},
    {"limits.identifier", "1K", "a size from 64 to 1K",
     "an identifier; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("identifier", t, c); }},
    {"limits.idle", "10m", "a duration from 100ms to 24h",
     "how long a connection may be without calls", kAtStart,
     [](Text t, Config& c) { return ReadTimeout(t, c.limits.idle); }},
    {"limits.include_depth", "64", "a number from 4 to 64",
     "includes in each other; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("include_depth", t, c); }},
    {"limits.include_files", "4096", "a number from 16 to 4096",
     "files of a module; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("include_files", t, c); }},
    {"limits.locals", "65536", "a number from 64 to 65536",
     "variables, arguments and aliases of a function; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("locals", t, c); }},
    {"limits.macro_depth", "256", "a number from 16 to 256",
     "expansions of macros in each other; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("macro_depth", t, c); }},
    {"limits.macro_tokens", "2000000", "a number from 1024 to 2000000",
     "tokens that the macros of a module make; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("macro_tokens", t, c); }},
    {"limits.metadata_bytes", "4M", "a size from 4K to 4M",
     "metadata of a variant; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("metadata_bytes", t, c); }},
    {"limits.nesting", "256", "a number from 16 to 256",
     "brackets, scopes, aliases and structs in each other; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("nesting", t, c); }},
    {"limits.nodes", "4000000", "a number from 1024 to 4000000",
     "rows of the syntax tree and the IR of a source; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("nodes", t, c); }},
    {"limits.options", "4096", "a number from 16 to 4096",
     "options of a program; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("options", t, c); }},
    {"limits.parameters", "16384", "a number from 64 to 16384",
     "parameters of a buffer or container; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("parameters", t, c); }},
    {"limits.push_constant", "128", "a size from 16 to 4K",
     "push constants of a program; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("push_constant", t, c); }},
    {"limits.receiving", "", "a size like 2G",
     "memory of messages that are arriving, and half as much of uploads; half of the "
     "machine's if not said", kAtStart,
     [](Text t, Config& c) { return t.empty() || ReadSize(t, c.receiving_bytes); }},
    {"limits.request_message", "4M", "a size from 2M to 64M", "a message of a client", kAtStart,
     [](Text t, Config& c) { return ReadRequestMessage(t, c.limits.request_message); }},
    {"limits.source_bytes", "4M", "a size from 1K to 4M",
     "a source; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("source_bytes", t, c); }},
    {"limits.spirv_bytes", "16M", "a size from 4K to 16M",
     "SPIR-V of a module; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("spirv_bytes", t, c); }},
    {"limits.spirv_ids", "1048576", "a number from 256 to 1048576",
     "SPIR-V ids of a module; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("spirv_ids", t, c); }},
    {"limits.streams", "100", "a number from 1 to 10000", "calls of one connection at a time",
     kAtStart, [](Text t, Config& c) { return ReadCount(t, 1, 10'000, c.limits.streams); }},
    {"limits.string", "64K", "a size from 64 to 64K",
     "a string; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("string", t, c); }},
    {"limits.terms", "65536", "a number from 64 to 65536",
     "operands of a chain of operators; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("terms", t, c); }},
    {"limits.tokens", "2000000", "a number from 1024 to 2000000",
     "tokens of a source; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("tokens", t, c); }},
    {"limits.uniform_buffer", "16K", "a size from 1K to 16M",
     "a uniform buffer; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("uniform_buffer", t, c); }},
    {"limits.upload_idle", "60s", "a duration from 100ms to 24h",
     "how long an upload may be silent", kAtStart,
     [](Text t, Config& c) { return ReadTimeout(t, c.limits.upload_idle); }},
    {"limits.upload_time", "15m", "a duration from 100ms to 24h", "how long an upload may take",
     kAtStart, [](Text t, Config& c) { return ReadTimeout(t, c.limits.upload_time); }},
    {"limits.value_items", "65536", "a number from 64 to 65536",
     "scalars, vectors and matrices of a variable, argument or value; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("value_items", t, c); }},
    {"limits.watch_sessions", "64", "a number from 1 to 10000", "projects that are watched",
     kAtStart, [](Text t, Config& c) { return ReadCount(t, 1, 10'000, c.limits.watch_sessions); }},
    {"limits.watch_subscribers", "64", "a number from 1 to 10000",
     "clients that watch one project", kAtStart,
     [](Text t, Config& c) { return ReadCount(t, 1, 10'000, c.limits.watch_subscribers); }},
    {"limits.workgroup", "128", "a number from 1 to 4096",
     "invocations of a workgroup; part of keys", kAtStart,
     [](Text t, Config& c) { return ReadLanguageLimit("workgroup", t, c); }},
    {"listen.tcp", "none", "HOST:PORT", "TCP, with tls.* and tokens", kAtStart,
     [](Text t, Config& c) { return ReadOptional(t, c.tcp); }},
    {"listen.unix", "", "a path", "the socket; always on", kAtStart,
     [](Text t, Config& c) { return c.socket = std::string(t), !t.empty(); }},
    {"log.format", "auto", "auto, text or json", "auto: text on a terminal", kAtStart,
     [](Text t, Config& c) {
       c.log_format = std::string(t);
       return t == "auto" || t == "text" || t == "json";
     }},
    {"log.level", "info", "error, warn, info or debug, and others for components: info,rpc=debug",
     "what is logged", kAtOnce,
     [](Text t, Config& c) {
       const auto levels = ops::ParseLogLevels(t);
       c.log_levels = levels.value_or(ops::LogLevels());
       return levels.has_value();
     }},
    {"metrics.listen", "off", "off, a loopback HOST:PORT or unix:PATH",
     "Prometheus metrics, /healthz and /readyz over HTTP", kAtStart,
     [](Text t, Config& c) { return ReadOptional(t, c.metrics); }},
    {"queue.batch", "10000", "a number from 1 to 1000000", "jobs of the batch lane that may wait",
     kAtStart, [](Text t, Config& c) { return ReadCount(t, 1, 1'000'000, c.queue_batch); }},
    {"queue.interactive", "256", "a number from 1 to 1000000", "interactive jobs that may wait",
     kAtStart, [](Text t, Config& c) { return ReadCount(t, 1, 1'000'000, c.queue_interactive); }},
    {"security.allow_uids", "", "numbers like 1000,1001",
     "users beside the own one who may read and write over the socket", kAtStart,
     [](Text t, Config& c) { return ReadUids(t, c.allow_uids); }},
    {"security.audit_log", "audit.jsonl", "a path or none",
     "who changed what; relative to the folder of the cache", kAtStart,
     [](Text t, Config& c) { return ReadOptional(t, c.audit_log); }},
    {"security.tokens", "tokens.toml", "a path",
     "tokens of TCP clients; relative to the folder of this file", kAtStart,
     [](Text t, Config& c) { return ReadOptional(t, c.tokens); }},
    {"tls.cert", "none", "a path", "certificate chain of the daemon, PEM", kAtStart,
     [](Text t, Config& c) { return ReadOptional(t, c.tls_cert); }},
    {"tls.client_ca", "none", "a path", "who signs the certificates of clients, PEM", kAtStart,
     [](Text t, Config& c) { return ReadOptional(t, c.tls_client_ca); }},
    {"tls.key", "none", "a path", "private key of the certificate, PEM", kAtStart,
     [](Text t, Config& c) { return ReadOptional(t, c.tls_key); }},
    {"trace.otlp", "off", "off, a path below the folder of the cache, or an absolute one",
     "file of finished spans, OTLP/JSON, for a collector", kAtStart,
     [](Text t, Config& c) { return ReadBeneath(t, c.otlp); }},
    {"upstream.deadline", "", "a duration like 250ms",
     "how long another daemon may take to answer; 250ms if not said", kAtStart,
     [](Text t, Config& c) { return t.empty() || ReadTime(t, Upstream(c).deadline); }},
    {"upstream.mode", "", "read_write or read_only", "whether it is written; read_write if not said",
     kAtStart, [](Text t, Config& c) { return t.empty() || ReadMode(t, Upstream(c).writes); }},
    {"upstream.tls_ca", "", "a path",
     "who signs the certificate of an https upstream, PEM; those of the system if not said",
     kAtStart, [](Text t, Config& c) { return t.empty() || (Upstream(c).tls_ca = t, true); }},
    {"upstream.tls_cert", "", "a path",
     "certificate chain that is shown to an https upstream, PEM; kilnd takes nobody without",
     kAtStart, [](Text t, Config& c) { return t.empty() || (Upstream(c).tls_cert = t, true); }},
    {"upstream.tls_key", "", "a path", "private key of that certificate, PEM", kAtStart,
     [](Text t, Config& c) { return t.empty() || (Upstream(c).tls_key = t, true); }},
    {"upstream.token_file", "", "a path", "its first line is the token that is sent", kAtStart,
     [](Text t, Config& c) { return t.empty() || (Upstream(c).token_file = t, true); }},
    {"upstream.url", "", "unix:PATH or https://HOST:PORT",
     "another daemon that is asked for what is not here; several: [[upstream]] in the file", kAtStart,
     [](Text t, Config& c) { return t.empty() || (Upstream(c).url = t, IsUrl(t)); }},
    {"validate.spirv", "off", "on, off or a percentage like 5%",
     "share of the distinct modules that is validated behind the answer", kAtStart,
     [](Text t, Config& c) { return ReadShare(t, c.validate_percent); }},
});

}  // namespace

std::span<const ConfigKey> ConfigTable() { return kKeys; }

}  // namespace kiln::server
