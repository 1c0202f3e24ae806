// SPDX-License-Identifier: MIT
// Subcommands of `kilnd` that need no daemon: configuration and tokens. Results go to stdout,
// everything else to stderr; with --json each is a line (spec/cli 7).
#include "server/admin_subcommands.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sys/random.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/base/bytes.h"
#include "compiler/base/clock.h"
#include "compiler/base/files/file.h"
#include "compiler/base/printable.h"
#include "compiler/base/text/duration_text.h"
#include "compiler/base/text/json_row.h"
#include "server/config_table.h"
#include "server/ops/audit_log.h"
#include "server/ops/stamp.h"
#include "server/ops/tokens.h"
#include "server/rpc/transport/tls_files.h"

namespace kiln::server {
namespace {

// Exit codes of spec/cli 4: these subcommands are what `kiln config` and `kiln token` run.
constexpr int kDone = 0, kUsage = 2, kNotFound = 3, kNoRoom = 5;

using Json = nlohmann::ordered_json;

void Print(const Json& object) { fmt::print("{}\n", JsonLine(object)); }

// A line that is on its way to the reader when this returns. Errors: FileError if stdout takes no
// more, because the disk is full or it is closed.
Result<void> PrintNow(const std::string& line) {
  // A reader that is gone is an error of the write, and must not end the process before it is told.
  (void)std::signal(SIGPIPE, SIG_IGN);
  const bool is_written =
      std::fputs((line + "\n").c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (!is_written) {
    return FileError("stdout", "no token was made, it cannot be told: cannot write", errno);
  }
  return {};
}

int End(const char* verb, int exit, bool json) {
  if (json) {
    Print(JsonOf(ResultRow{.verb = verb, .exit = exit}));
  }
  return exit;
}

// With --json the line of the error and then the line of the result, as every verb of kiln ends:
// `kiln config` and `kiln token` hand this output on as their own.
int Fail(const char* verb, const Error& error, int exit, bool json) {
  if (json) {
    Print(JsonOf(ErrorRowOf(error, exit)));
  } else {
    fmt::print(stderr, "error: {}\n", PrintableMessage(error.context));
  }
  return End(verb, exit, json);
}

int64_t NowSeconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(SystemClock().UnixTime()).count();
}

// "30d", "12h", "10m", "90s" -> seconds.
std::optional<int64_t> ParseAge(std::string_view text) {
  const std::optional<Duration> age = ReadDuration(text);
  return age >= std::chrono::seconds(1) ? std::optional<int64_t>(*age / std::chrono::seconds(1))
                                        : std::nullopt;
}

// Whoever may change the file of tokens is the owner. The line is written by this process and not
// by the daemon, which may not run; both append, and a line is one write.
void AuditToken(const Config& config, std::string_view what, const std::string& id) {
  if (config.audit_log.empty()) {
    return;
  }
  SystemClock clock;
  StreamLog log(stderr, LogLevel::kWarning);
  const auto audit = ops::AuditLog::Open(config.audit_log, clock, log);
  if (audit.ok()) {
    const std::string peer = fmt::format("uid={}", geteuid());
    (*audit)->Write(ops::Party::Owner(),
                    {.event = "token", .peer = peer, .method = what, .object = id, .result = "OK"});
  }
}

// The files that a daemon of this configuration needs; when certificates end. Nothing is opened but
// what a start would open.
Result<std::vector<rpc::TlsExpiry>> CheckNamedFiles(const Config& config, int64_t now_s) {
  std::vector<rpc::TlsExpiry> expiries;
  const bool tls =
      !config.tls_cert.empty() || !config.tls_key.empty() || !config.tls_client_ca.empty();
  if (!config.tcp.empty() || tls) {
    KILN_TRY(rpc::TlsSummary own, rpc::CheckTlsFiles({.cert = config.tls_cert,
                                                      .key = config.tls_key,
                                                      .client_ca = config.tls_client_ca},
                                                     now_s));
    expiries = std::move(own.files);
  }
  if (!config.tcp.empty() && !config.tokens.empty()) {
    KILN_TRY_VOID(ops::ReadTokens(config.tokens));
  }
  for (const UpstreamConfig& upstream : config.upstreams) {  // kiln doctor tries them
    if (!upstream.token_file.empty()) {
      KILN_TRY_VOID(ReadFile(upstream.token_file));
    }
    KILN_TRY(
        std::vector<rpc::TlsExpiry> files,
        rpc::CheckUpstreamTls(
            {.ca = upstream.tls_ca, .cert = upstream.tls_cert, .key = upstream.tls_key}, now_s));
    expiries.insert(expiries.end(), files.begin(), files.end());
  }
  return expiries;
}

// Certificates that end soon; each file once. Warned of two weeks ahead: long enough to renew,
// short enough to be read.
void TellExpiries(const std::vector<rpc::TlsExpiry>& expiries, int64_t now_s, bool json) {
  constexpr int64_t kHour = 3'600, kDay = 24 * kHour, kSoon = 14 * kDay;
  std::set<std::string> told;
  for (const rpc::TlsExpiry& expiry : expiries) {
    const int64_t left = expiry.expires_s - now_s;
    if (left >= kSoon || !told.insert(expiry.path).second) {
      continue;
    }
    // Below two days hours are told: "1 day" may mean one hour or forty-seven.
    const int64_t count = left < 2 * kDay ? left / kHour : left / kDay;
    const std::string text =
        fmt::format("'{}' is a certificate that expires in {} {}{}", expiry.path, count,
                    left < 2 * kDay ? "hour" : "day", count == 1 ? "" : "s");
    if (json) {
      Print({{"v", 1},
             {"type", "check"},
             {"name", "certificate"},
             {"state", "warn"},
             {"detail", text},
             {"fix", "renew it"}});
    } else {
      fmt::print(stderr, "warning: {}; renew it\n", PrintableMessage(text));
    }
  }
}

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code missing;
  const auto absolute = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(path, ignored);
  };
  // Two names of one file that is there are equal by the file. Where there is none yet the names
  // are compared, with links resolved as far as they exist.
  return std::filesystem::equivalent(a, b, missing) || absolute(a) == absolute(b);
}

// To stderr: stdout has the token, or objects. The daemon that runs may have another configuration
// than this command; tokens in a file that it does not read would do nothing.
void TellFile(const Config& config, const TokenArguments& arguments, std::string_view what,
              bool json) {
  if (!json) {
    fmt::print(stderr, "{} {}\n", what, config.tokens);
  }
  if (!arguments.running_tokens.empty() && !IsSameFile(config.tokens, arguments.running_tokens)) {
    fmt::print(stderr, "warning: the daemon that runs reads {}; kiln token --config {}\n",
               arguments.running_tokens,
               arguments.running_config.empty() ? std::string("FILE, with security.tokens")
                                                : arguments.running_config);
  }
}

std::string ExpiryText(int64_t expires_s) {
  return expires_s == 0 ? std::string("never")
                        : ops::StampOf(std::chrono::seconds(expires_s)) +
                              (expires_s <= NowSeconds() ? " (expired)" : "");
}

// A malformed file is the user's to repair, a full disk passes; each has an exit code of its own.
int FailOnTokens(const Error& error, bool json) {
  const int exit = error.reason == "BAD_TOKENS"     ? kUsage
                   : error.code == ErrorCode::kFull ? kNoRoom
                                                    : kNotFound;
  return Fail("token", error, exit, json);
}

}  // namespace

// Secrets are in files that keys name, never in values, so all of them may be shown
// (spec/daemon 11.8).
int ShowConfig(const Result<Config>& config, const ConfigArguments& arguments, bool json) {
  if (!config.ok()) {
    return Fail("config", config.error(), kUsage, json);
  }
  for (const ConfigValue& value : config->values) {
    if (json) {
      Json object{{"v", 1}, {"type", "config"}, {"key", value.key}, {"value", value.text}};
      if (arguments.origin) {
        object["origin"] = value.origin;
      }
      Print(object);
    } else if (arguments.origin) {
      fmt::print("{:<26} {:<32} {}\n", value.key, Printable(value.text), Printable(value.origin));
    } else {
      fmt::print("{:<26} {}\n", value.key, Printable(value.text));
    }
  }
  return End("config", kDone, json);
}

// The file was read before, with every key in it. What is left are the files that it names, which a
// daemon opens only when it starts or reloads.
int CheckConfig(const Result<Config>& config, const ConfigArguments& arguments, bool json) {
  if (!config.ok()) {
    return Fail("config", config.error(), kUsage, json);
  }
  const int64_t now_s = NowSeconds();
  const Result<std::vector<rpc::TlsExpiry>> expiries = CheckNamedFiles(*config, now_s);
  if (!expiries.ok()) {
    return Fail("config", expiries.error(), kUsage, json);
  }
  TellExpiries(*expiries, now_s, json);
  if (!json) {
    fmt::print("{}: ok\n", Printable(arguments.file));
  }
  return End("config", kDone, json);
}

// The secret leaves this process once, on stdout. The file gets a hash of it, so nobody who reads
// the file later has a token (spec/daemon 11.4).
int CreateToken(const Config& config, const TokenArguments& arguments, bool json) {
  const auto scope = ops::ParseScope(arguments.scope);
  const std::optional<int64_t> age =
      arguments.expires.empty() ? std::optional<int64_t>(0) : ParseAge(arguments.expires);
  if (!scope.has_value() || !age.has_value()) {
    return Fail("token",
                {.code = ErrorCode::kInvalidArgument,
                 .context = !scope.has_value()
                                ? fmt::format("'{}' is not a scope: read, write, peer or admin",
                                              arguments.scope)
                                : fmt::format("'{}' is not a duration like 30d", arguments.expires),
                 .reason = "USAGE"},
                kUsage, json);
  }
  std::array<uint8_t, ops::kTokenRandomBytes> random{};
  // All bytes or none: requests of up to 256 bytes are never cut short.
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return Fail("token",
                {.code = ErrorCode::kUnavailable,
                 .context = "the system gives no random numbers",
                 .reason = "RANDOM"},
                kUsage, json);
  }
  ops::NewToken made = ops::MakeToken(random);
  made.token.scope = *scope;
  made.token.note = arguments.note;
  made.token.tenant = arguments.tenant;
  made.token.expires_s = *age == 0 ? 0 : NowSeconds() + *age;
  // Under the lock of the file, and written as a whole under another name first, so a daemon never
  // reads half of it.
  const Result<void> written =
      ops::ChangeTokens(config.tokens, [&](std::vector<ops::Token>& tokens) -> Result<void> {
        tokens.push_back(made.token);
        return {};
      });
  if (!written.ok()) {
    return FailOnTokens(written.error(), json);
  }
  AuditToken(config, "create", made.token.id);
  const Result<void> told = PrintNow(json ? JsonLine(Json{{"v", 1},
                                                          {"type", "token"},
                                                          {"id", made.token.id},
                                                          {"scope", arguments.scope},
                                                          {"expires", made.token.expires_s},
                                                          {"file", config.tokens},
                                                          {"token", made.text}})
                                          : made.text);
  // Only what was written is told, and the text of the token is kept nowhere. So one that could not
  // be told would count and be known to nobody: it goes again.
  if (!told.ok()) {
    (void)ops::ChangeTokens(config.tokens, [&](std::vector<ops::Token>& tokens) -> Result<void> {
      std::erase_if(tokens, [&](const auto& row) { return row.id == made.token.id; });
      return {};
    });
    AuditToken(config, "revoke", made.token.id);
    return Fail("token", told.error(), kNoRoom, json);
  }
  TellFile(config, arguments, "wrote", json);
  if (!json) {
    fmt::print(stderr, "scope {}, expires {}; it is not shown again\n", arguments.scope,
               ExpiryText(made.token.expires_s));
  }
  return End("token", kDone, json);
}

// A file that is not there has no tokens: that is no error, and TellFile says which file was looked
// at.
int ListTokens(const Config& config, const TokenArguments& arguments, bool json) {
  const Result<std::vector<ops::Token>> tokens = ops::ReadTokens(config.tokens);
  if (!tokens.ok()) {
    return Fail("token", tokens.error(), kUsage, json);
  }
  TellFile(config, arguments, "tokens of", json);
  for (const ops::Token& token : *tokens) {
    if (json) {
      Print({{"v", 1},
             {"type", "token"},
             {"id", token.id},
             {"scope", ops::ScopeName(token.scope)},
             {"tenant", token.tenant},
             {"expires", token.expires_s},
             {"note", token.note}});
    } else {
      fmt::print("{}  {:<5}  {:<24}  {}\n", Printable(token.id), ops::ScopeName(token.scope),
                 ExpiryText(token.expires_s), Printable(token.note));
    }
  }
  return End("token", kDone, json);
}

// Both pages have the same list of keys: in kilnd.toml(5) they are keys, in kilnd(8) flags.
int WriteManual(const std::string& folder, std::string_view version, bool json) {
  // A plain "-" is a hyphen for the formatter of manuals, which cannot be copied into a command
  // line.
  const auto plain = [](std::string_view text) {
    std::string out;
    for (const char c : text) {
      out += c == '-' ? std::string("\\-") : std::string(1, c);
    }
    return out;
  };
  std::string keys;
  // The table that reads the configuration also writes its manual, so no key can be missing there.
  for (const ConfigKey& row : ConfigTable()) {
    keys += fmt::format(".TP\n.B {}\n{} ({}{}{}){}\n", plain(row.key), plain(row.meaning),
                        plain(row.expected), row.fallback.empty() ? "" : "; default ",
                        plain(row.fallback),
                        row.applies == Applies::kAtOnce ? ". Taken on SIGHUP." : ".");
  }
  const std::string toml = fmt::format(
      ".TH KILND.TOML 5 \"\" \"kilnd {}\" \"kiln\"\n.SH NAME\nkilnd.toml \\- configuration of the "
      "kiln daemon\n.SH DESCRIPTION\nThe first of the file of \\-\\-config, "
      "$XDG_CONFIG_HOME/kiln/kilnd.toml and /etc/kiln/kilnd.toml is read. Each key is also a flag, "
      "\\-\\-cache.max_size=50G, and a variable, KILN_CACHE_MAX_SIZE=50G; a flag is stronger than "
      "a "
      "variable, which is stronger than the file. An unknown key or a value of a wrong type is "
      "refused.\n.SH KEYS\n{}.SH SEE ALSO\n.BR kilnd (8),\n.BR kiln\\-config (1)\n",
      version, keys);
  const std::string daemon = fmt::format(
      ".TH KILND 8 \"\" \"kilnd {}\" \"kiln\"\n.SH NAME\nkilnd \\- compiles and caches shader "
      "variants\n.SH SYNOPSIS\n.B kilnd\n[\\-\\-config FILE] [\\-\\-KEY=VALUE ...]\n.br\n.B kilnd "
      "config\nshow [\\-\\-origin] | check FILE\n.br\n.B kilnd token\ncreate \\-\\-scope SCOPE | "
      "list | "
      "revoke ID\n.SH DESCRIPTION\nServes on a unix socket that only its user may open, and on TCP "
      "behind mutual TLS and tokens if listen.tcp is set.\n.SH SIGNALS\n.TP\n.B SIGTERM, "
      "SIGINT\nfinishes running work, then ends; a second one ends at once.\n.TP\n.B "
      "SIGHUP\nreads the configuration, tokens and certificates again.\n.SH FLAGS\n{}.SH SEE "
      "ALSO\n.BR kiln (1),\n.BR kilnd.toml (5)\n",
      version, keys);
  for (const auto& [name, text] :
       {std::pair{"kilnd.toml.5", &toml}, std::pair{"kilnd.8", &daemon}}) {
    if (const Result<void> written = WriteFile(folder + "/" + name, AsBytes(*text));
        !written.ok()) {
      return Fail("manual", written.error(), kNotFound, json);
    }
  }
  return kDone;
}

// The row is removed. A daemon that runs sees the change of the file with the next call and refuses
// the token from then on.
int RevokeToken(const Config& config, const TokenArguments& arguments, bool json) {
  const Result<void> written =
      ops::ChangeTokens(config.tokens, [&](std::vector<ops::Token>& tokens) -> Result<void> {
        if (std::erase_if(tokens, [&](const auto& row) { return row.id == arguments.id; }) != 0) {
          return {};
        }
        return Error{.code = ErrorCode::kNotFound,
                     .context = fmt::format("there is no token '{}' in '{}'; kiln token list shows "
                                            "them",
                                            arguments.id, config.tokens),
                     .reason = "UNKNOWN_TOKEN"};
      });
  if (!written.ok()) {
    return FailOnTokens(written.error(), json);
  }
  AuditToken(config, "revoke", arguments.id);
  TellFile(config, arguments, "wrote", json);
  if (!json) {
    fmt::print("revoked {}\n", arguments.id);
  }
  return End("token", kDone, json);
}

}  // namespace kiln::server
