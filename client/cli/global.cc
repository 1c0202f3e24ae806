// SPDX-License-Identifier: MIT
#include "client/cli/global.h"

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/diag/render.h"

namespace kiln::cli {
namespace {

constexpr size_t kMaxShown = 20;

std::atomic<bool> result_printed = false;

// "500ms", "90s", "5m", "2h"
bool ReadDuration(std::string_view text, std::chrono::milliseconds& out) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 4> kUnits = {
      {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}}};
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  for (const auto& [name, milliseconds] : kUnits) {
    if (error == std::errc() && unit == name && number > 0 && number <= 1'000'000) {
      out = std::chrono::milliseconds(number * milliseconds);
      return true;
    }
  }
  return false;
}

// Without a word about it a command of a build server leaves no daemon behind.
bool WantsPrivate(const Global& global) {
  if (global.no_daemon) {
    return true;
  }
  const char* ci = std::getenv("CI");
  const char* address = std::getenv("KILN_DAEMON");
  const bool named = !global.daemon.empty() || (address != nullptr && *address != '\0');
  return global.autostart == "auto" && !named && ci != nullptr && *ci != '\0' &&
         std::string_view(ci) != "false" && std::string_view(ci) != "0";
}

}  // namespace

std::string DaemonAddress(const Global& global) {
  if (!global.daemon.empty()) {
    return global.daemon;
  }
  const char* environment = std::getenv("KILN_DAEMON");
  if (environment != nullptr && *environment != '\0') {
    return environment;
  }
  return "unix:" + client::DefaultSocket();
}

client::Endpoint EndpointOf(const Global& global) {
  return {.address = DaemonAddress(global),
          .token_file = global.token_file,
          .tls_ca = global.tls_ca,
          .tls_cert = global.tls_cert,
          .tls_key = global.tls_key};
}

Result<std::unique_ptr<client::Client>> OpenDaemon(const Global& global) {
  return client::Client::Open(EndpointOf(global));
}

Result<client::Connected> ConnectTo(const Global& global) {
  if (WantsPrivate(global)) {
    if (global.no_daemon) {
      return client::ConnectPrivately(global.jobs);
    }
    Result<client::Connected> shared = client::Connect(EndpointOf(global), client::Autostart::kNo);
    return shared.ok() ? std::move(shared) : client::ConnectPrivately(global.jobs);
  }
  if (global.jobs != 0) {
    fmt::print(stderr, "kiln: -j is for a private daemon (--no-daemon); ignored\n");
  }
  const auto autostart =
      global.autostart == "no" ? client::Autostart::kNo : client::Autostart::kYes;
  KILN_TRY(client::Connected connected, client::Connect(EndpointOf(global), autostart));
  if (connected.started && !global.quiet) {
    fmt::print(stderr, "kiln: started kilnd {} (pid {})\n", connected.info.version,
               connected.info.pid);
  }
  return connected;
}

int ExitCodeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kUnimplemented:
      return kUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kOutOfRange:
      return kNotFound;
    case ErrorCode::kUnavailable:
      return kUnreachable;
    case ErrorCode::kResourceExhausted:
      return kLimit;
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kCancelled:
      return kDeadline;
    case ErrorCode::kDataLoss:
    case ErrorCode::kAborted:
      return kIntegrity;
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnauthenticated:
      return kNotPermitted;
    case ErrorCode::kInternal:
      return kInternal;
  }
  return kInternal;
}

int Fail(const Global& global, const Error& error) {
  const int code = ExitCodeOf(error);
  if (global.json) {
    const nlohmann::ordered_json object{{"v", 1},
                                        {"type", "error"},
                                        {"reason", error.reason},
                                        {"message", error.context},
                                        {"exit", code}};
    fmt::print("{}\n", object.dump());
  } else {
    fmt::print(stderr, "error: {}\n", error.context);
  }
  return code;
}

bool WantsColour(const Global& global, int descriptor) {
  if (global.color != "auto") {
    return global.color == "always";
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

size_t ShowDiagnostics(const Global& global, std::span<const PlacedDiagnostic> diagnostics,
                       std::span<const client::Source> sources, const std::string& program) {
  size_t errors = 0;
  SourceSet set;
  for (const client::Source& source : sources) {
    set.Add(SourceFile(source.path, source.text));
  }
  for (const PlacedDiagnostic& diagnostic : diagnostics) {
    errors += diagnostic.severity == Severity::kError ? 1 : 0;
    if (global.json) {
      nlohmann::ordered_json object{{"v", 1}, {"type", "diagnostic"}};
      object.update(nlohmann::ordered_json::parse(RenderJson(diagnostic, program)));
      fmt::print("{}\n", object.dump());
    }
  }
  if (!global.json && !diagnostics.empty()) {
    const TextStyle style{.colour =
                              WantsColour(global, STDERR_FILENO) ? Colour::kOn : Colour::kOff};
    fmt::print(stderr, "{}", RenderReport(diagnostics, set, style, kMaxShown));
  }
  return errors;
}

bool ResultWasPrinted() { return result_printed; }

Result<void> SetDeadline(const Global& global) {
  if (global.deadline.empty()) {
    return {};
  }
  std::chrono::milliseconds time{};
  if (!ReadDuration(global.deadline, time)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = fmt::format("--deadline '{}' is no duration: 500ms, 90s, 5m, 2h",
                                        global.deadline),
                 .reason = "USAGE"};
  }
  std::thread([global, time] {
    std::this_thread::sleep_for(time);
    (void)Fail(global, {.code = ErrorCode::kDeadlineExceeded,
                        .context = "the deadline of the command (" + global.deadline +
                                   ") has passed; what is finished is cached",
                        .reason = "DEADLINE"});
    PrintResult(global, {}, kDeadline, 0, {});
    (void)std::fflush(stdout);
    if (::isatty(STDERR_FILENO) != 0) {
      fmt::print(stderr, "\x1b[?25h");  // a bar may have hidden the cursor
    }
    std::_Exit(kDeadline);
  }).detach();
  return {};
}

void PrintResult(const Global& global, const std::string& verb, int exit, double seconds,
                 std::span<const std::pair<std::string, uint64_t>> counts) {
  result_printed = true;
  if (!global.json) {
    return;
  }
  nlohmann::ordered_json numbers = nlohmann::ordered_json::object();
  for (const auto& [name, value] : counts) {
    numbers[name] = value;
  }
  const nlohmann::ordered_json object{{"v", 1},          {"type", "result"},  {"verb", verb},
                                      {"ok", exit == 0}, {"counts", numbers}, {"seconds", seconds},
                                      {"exit", exit}};
  fmt::print("{}\n", object.dump());
}

int RunTimed(const Global& global, const std::string& verb,
             const std::function<Result<int>()>& run) {
  const auto start = std::chrono::steady_clock::now();
  const Result<int> exit = run();
  if (!exit.ok()) {
    return Fail(global, exit.error());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  PrintResult(global, verb, *exit, seconds.count(), {});
  return *exit;
}

}  // namespace kiln::cli
