// SPDX-License-Identifier: MIT
// `kiln doctor` (spec/cli 6.11): a list of checks, each with what it found and what to do. A check
// never changes anything and never throws. A failure of one does not keep the next from being made,
// because a person wants to see all that is wrong at once.
#include "client/cli/daemon/doctor.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spirv-tools/libspirv.hpp>

#include "cache/sqlite/data_dir.h"
#include "client/autostart.h"
#include "client/cli/add_verb.h"
#include "client/cli/daemon/daemon_config.h"
#include "client/cli/daemon/driver_cache.h"
#include "client/cli/exit_order.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/shell_word.h"
#include "client/cli/output/units.h"
#include "client/daemon_socket.h"
#include "compiler/base/files/file.h"
#include "compiler/base/files/own_folder.h"
#include "runtime/vk/device.h"

namespace kiln::cli {
namespace {

struct DoctorArguments {
  std::string bundle;  // file to write a report to
};

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

enum class State : uint8_t { kOk, kWarn, kFail };

// A check is one of these; the exit code is that of the worst failure (spec/cli 4.1).
struct Check {
  std::string name;
  State state = State::kOk;
  std::string detail;
  std::string fix;      // what to do; empty if nothing is to be done
  int exit = kSuccess;  // of a failure
};

// What all checks look at.
// Everything that several checks need is asked for once, before the first of them. A check only
// reads it, so the checks are independent of each other and of their order.
struct Patient {
  const Global& global;
  std::string cache_dir;
  DaemonConfig config;
  std::unique_ptr<client::Client> client;  // null: the address is wrong
  Result<client::ServerInfo> info;
  Result<client::ServerStatus> status;
};

using CheckFunction = Check (*)(Patient&);

Check Good(std::string name, std::string detail) {
  return {.name = std::move(name), .detail = std::move(detail), .fix = {}};
}

Check Warn(std::string name, std::string detail, std::string fix) {
  return {.name = std::move(name),
          .state = State::kWarn,
          .detail = std::move(detail),
          .fix = std::move(fix)};
}

Check Bad(std::string name, std::string detail, std::string fix, int exit) {
  return {.name = std::move(name),
          .state = State::kFail,
          .detail = std::move(detail),
          .fix = std::move(fix),
          .exit = exit};
}

// An empty text stands for a file that cannot be read. All callers take that as "the kernel does
// not tell".
std::string FirstLine(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

Check CheckVersions(Patient& patient) {
  // The program that the next command would start, not the one that runs.
  const auto version = OutputOf(ShellWord(client::DaemonProgram()) + " --version 2>/dev/null");
  if (!version.has_value()) {
    return Bad("versions", fmt::format("'{}' does not run", client::DaemonProgram()),
               "install kilnd beside kiln", kUnreachable);
  }
  std::string installed = version->substr(0, version->find('\n'));
  if (patient.info.ok()) {
    const std::string running = "kilnd " + patient.info->version;
    // After an upgrade the old daemon goes on until it is stopped. It works, so this is a warning.
    if (running != installed) {
      return Warn("versions", fmt::format("{} runs, {} is installed", running, installed),
                  "kiln stop; the next command starts the installed one");
    }
    return Good("versions",
                fmt::format("{}, build {}", running, patient.info->build_id.substr(0, 12)));
  }
  return Good("versions", installed + " is installed");
}

Check CheckConfig(Patient& patient) {
  return patient.config.error.empty()
             ? Good("config", fmt::format("{} keys", patient.config.values.size()))
             : Bad("config", patient.config.error, "repair that key, then kiln config check FILE",
                   kUsage);
}

Check CheckDaemon(Patient& patient) {
  const std::string address = DaemonAddress(patient.global);
  if (!patient.info.ok()) {
    const Error& error = patient.info.error();
    // The most specific cause first: a socket that is not ours, then a refusal, then silence. Each
    // has another remedy.
    if (error.reason == kNotOwn || error.reason == client::kForeignSocket) {
      return Bad("daemon", error.context,
                 "set XDG_RUNTIME_DIR to a folder of yours, or make that one yours alone",
                 kNotPermitted);
    }
    const bool refused =
        error.code == ErrorCode::kUnauthenticated || error.code == ErrorCode::kPermissionDenied;
    if (refused && !error.reason.ends_with("_CERTIFICATE")) {
      return Bad("daemon", error.context, "kiln token create on the daemon's machine makes a token",
                 kNotPermitted);
    }
    return address.starts_with("unix:")
               ? Bad("daemon", fmt::format("nobody answers at {}", address), "kiln start",
                     kUnreachable)
               : Bad("daemon", error.context, "what the cause names", ExitCodeOf(error));
  }
  if (!patient.status.ok()) {
    return Bad("daemon", patient.status.error().context, "kiln stop, then kiln start",
               kUnreachable);
  }
  if (patient.status->health != "SERVING") {
    std::string reasons;
    for (const std::string& reason : patient.status->reasons) {
      reasons += (reasons.empty() ? "" : "; ") + reason;
    }
    const bool tokens = reasons.find("tokens-unreadable") != std::string::npos;
    return Warn("daemon", fmt::format("{}: {}", patient.status->health, reasons),
                tokens ? fmt::format("repair '{}'; kiln token list --config FILE names the line",
                                     patient.info->tokens_file)
                       : "the reason names what to make room for or to repair");
  }
  return Good("daemon",
              fmt::format("SERVING at {} for {} s", address, patient.info->uptime_ms / 1000));
}

Check CheckSocket(Patient& patient) {
  const std::string address = DaemonAddress(patient.global);
  if (!address.starts_with("unix:")) {
    return Good("socket", "none: " + address);
  }
  const std::string path = address.substr(5);
  const std::string folder = fs::path(path).parent_path().string();
  // A socket somewhere else than the default may be somebody else's on purpose, as that of a shared
  // daemon is. It is told, since sources go there.
  const std::optional<uid_t> listener = client::ListenerAt(path);
  if (path != client::DefaultSocket() && listener.has_value() && *listener != ::geteuid()) {
    return Warn("socket", fmt::format("'{}' is answered by a process of user {}", path, *listener),
                "sources go to that user and results come from there; if that is not meant, "
                "name another socket");
  }
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) {
    return Good("socket", fmt::format("'{}' is not there yet", folder));
  }
  // Neighbours who are allowed must reach the socket, without being able to list or change its
  // folder: 0711 instead of 0700.
  const bool shared = !patient.config.Or("security.allow_uids", "").empty();
  const mode_t mode = shared ? 0711 : 0700;
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 0777) != mode) {
    return Bad("socket",
               fmt::format("'{}' is not a directory of this user with mode {:04o}", folder, mode),
               fmt::format("chmod {:04o} {}", mode, ShellWord(folder)), kUsage);
  }
  const mode_t socket_mode = shared ? 0666 : 0600;
  if (::lstat(path.c_str(), &found) == 0 && (found.st_mode & 0777) != socket_mode) {
    return Bad("socket", fmt::format("'{}' has mode {:04o}", path, found.st_mode & 0777),
               "kiln stop, then kiln start", kUsage);
  }
  return Good("socket", path);
}

// The folder of the cache is not known where kilnd is missing or its configuration is wrong, which
// other checks tell.
Check NotLookedAt(std::string name) {
  return Warn(std::move(name), "not looked at: nobody says where the cache is",
              "repair what 'versions' or 'config' says");
}

// The lock is looked at from outside, through the file that its holder wrote, so the check does not
// disturb it.
Check CheckLock(Patient& patient) {
  if (patient.cache_dir.empty()) {
    return NotLookedAt("lock");
  }
  const std::optional<pid_t> owner = cache::sqlite::FindOwner(patient.cache_dir);
  if (!owner.has_value()) {
    return Good("lock", "nobody has the cache");
  }
  const bool ours = patient.info.ok() && patient.info->pid == static_cast<uint64_t>(*owner);
  return ours ? Good("lock", fmt::format("this daemon (pid {})", *owner))
              : Warn("lock", fmt::format("'{}' is held by pid {}", patient.cache_dir, *owner),
                     "use that process, stop it, or choose another cache.dir");
}

Check CheckDisk(Patient& patient) {
  if (patient.cache_dir.empty()) {
    return NotLookedAt("disk");
  }
  fs::path at = patient.cache_dir;
  std::error_code error;
  // The folder of the cache may not be there yet. The nearest one above decides whether it can be
  // made.
  while (!fs::exists(at, error) && at.has_parent_path() && at != at.parent_path()) {
    at = at.parent_path();
  }
  struct statvfs disk {};
  if (::statvfs(at.c_str(), &disk) != 0 || ::access(at.c_str(), W_OK) != 0) {
    return Bad("disk", fmt::format("'{}' cannot be written", at.string()),
               "repair its rights, or choose another cache.dir", kUsage);
  }
  // f_bavail is what this user may fill; f_bfree has the reserve of root in it.
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  const std::string detail = fmt::format("{} free at '{}'", SizeText(free), at.string());
  // The default of cache.min_free.
  return free < uint64_t{2} << 30
             ? Warn("disk", detail, "make room: below cache.min_free results are not stored")
             : Good("disk", detail);
}

Check CheckIntegrity(Patient& patient) {
  if (!patient.info.ok()) {
    return Good("integrity", "not looked at: no daemon");
  }
  std::string first;
  // The fast form, which looks at structure and not at every byte: a doctor who takes minutes is
  // not asked.
  const auto done = patient.client->VerifyCache(
      true, 0, [&](const std::string& text) { first = first.empty() ? text : first; });
  if (!done.ok()) {
    return Warn("integrity", done.error().context, "kiln cache verify says more");
  }
  return done->damaged == 0
             ? Good("integrity", fmt::format("{} records", done->records))
             : Bad("integrity", fmt::format("{} faults, first: {}", done->damaged, first),
                   "kiln cache repair", kIntegrity);
}

Check CheckInotify(Patient& /*patient*/) {
  const std::string text = FirstLine("/proc/sys/fs/inotify/max_user_watches");
  const long watches = std::strtol(text.c_str(), nullptr, 10);
  // One watch for each folder of a project; many distributions start with this number.
  constexpr long kWanted = 8'192;
  return watches >= kWanted
             ? Good("inotify", fmt::format("{} watches", watches))
             : Warn(
                   "inotify", fmt::format("{} watches", watches),
                   fmt::format("sysctl fs.inotify.max_user_watches={}; kiln watch polls until then",
                               kWanted));
}

Check CheckClock(Patient& /*patient*/) {
  // No file of kiln is older, so a clock before that is wrong for certain. A machine without a
  // battery starts in 1970.
  constexpr std::time_t kFirstRelease = 1'767'225'600;  // 2026-01-01
  return std::time(nullptr) >= kFirstRelease
             ? Good("clock", "plausible")
             : Bad("clock", "the clock is before the first release of kiln",
                   "set it: ages, expiry of tokens and certificates depend on it", kUsage);
}

Check CheckVulkan(Patient& /*patient*/) {
  // Without a device everything works but drawing, so it is a warning.
  const Result<runtime::Device> device = runtime::Device::Create({});
  if (!device.ok()) {
    return Warn("vulkan", device.error().context,
                "only kiln preview and engines need it: apt install mesa-vulkan-drivers");
  }
  const runtime::DeviceIdentity& identity = device->identity();
  const auto environment = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  return Good("vulkan",
              fmt::format("{} ({}), Vulkan {}.{}; the driver's own cache is {}", identity.name,
                          identity.driver_name, VK_API_VERSION_MAJOR(identity.api_version),
                          VK_API_VERSION_MINOR(identity.api_version),
                          DriverCacheText(identity.driver_id, environment)));
}

Check CheckSpirvTools(Patient& /*patient*/) {
  return Good("spirv-tools", spvSoftwareVersionDetailsString());
}

Check CheckTls(Patient& patient) {
  const std::string address = DaemonAddress(patient.global);
  if (address.starts_with("unix:")) {
    return Good("tls", "not used: " + address.substr(0, 5));
  }
  // Looked at before the answer of the daemon: a file that cannot be read is the cause that a
  // person can mend here.
  for (const std::string* file : {&patient.global.token_file, &patient.global.tls_ca,
                                  &patient.global.tls_cert, &patient.global.tls_key}) {
    if (!file->empty() && ::access(file->c_str(), R_OK) != 0) {
      return Bad("tls", fmt::format("'{}' cannot be read", *file),
                 "name the files with --token-file, --tls-ca, --tls-cert and --tls-key", kUsage);
    }
  }
  return patient.info.ok() ? Good("tls", "certificates and token are taken")
                           : Bad("tls", patient.info.error().context, "what the cause names",
                                 ExitCodeOf(patient.info.error()));
}

// What the daemon says of those that it asks. Only a row with a cause is bad. One that was not
// asked yet says nothing about itself.
Check UpstreamsOf(const client::ServerStatus& status) {
  if (status.upstreams.empty()) {
    return Good("upstream", "none is configured");
  }
  std::string good;
  std::string bad;
  for (const client::ServerStatus::Upstream& row : status.upstreams) {
    std::string& said = row.cause.empty() ? good : bad;
    said += fmt::format("{}{} {}", said.empty() ? "" : "; ", row.url,
                        !row.cause.empty() ? "fails: " + row.cause
                        : row.answers      ? fmt::format("answers in {:.1f} ms",
                                                         static_cast<double>(row.latency_us) / 1000)
                                           : std::string("was not asked yet"));
  }
  return bad.empty()
             ? Good("upstream", good)
             : Bad("upstream", bad, "what the cause names; until then every miss is compiled here",
                   kUnreachable);
}

// Without a daemon: the nearest one that is configured, asked as a daemon would ask it.
Check CheckUpstream(Patient& patient) {
  if (patient.status.ok()) {
    return UpstreamsOf(*patient.status);
  }
  const std::string url = patient.config.Or("upstream.url", "");
  if (url.empty()) {
    return Good("upstream", "none is configured");
  }
  // As the daemon would connect: with its token and certificates, not with those of this command.
  const Result<std::unique_ptr<client::Client>> upstream = client::Client::Open(
      client::Endpoint{.address = url,
                       .token_file = patient.config.Or("upstream.token_file", ""),
                       .tls_ca = patient.config.Or("upstream.tls_ca", ""),
                       .tls_cert = patient.config.Or("upstream.tls_cert", ""),
                       .tls_key = patient.config.Or("upstream.tls_key", "")});
  if (!upstream.ok()) {
    return Bad("upstream", upstream.error().context, "repair upstream.* of the configuration",
               kUsage);
  }
  const auto begun = std::chrono::steady_clock::now();
  const Result<client::ServerInfo> info = (*upstream)->Ping(std::chrono::seconds(2));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
  if (!info.ok()) {
    return Bad("upstream", fmt::format("{}: {}", url, info.error().context),
               "repair that, or take upstream.url out: until then every miss is compiled",
               ExitCodeOf(info.error()));
  }
  return Good("upstream",
              fmt::format("{} answers in {:.1f} ms, kilnd {}", url, took.count(), info->version));
}

Check CheckCrash(Patient& patient) {
  if (!patient.status.ok() || patient.status->last_crash.empty()) {
    return Good("crash", "the run before ended well, or there is no daemon");
  }
  return Warn("crash", patient.status->last_crash, "report it with kiln doctor --bundle FILE");
}

// A private build makes results that no other build finds in a shared cache, and this line shows
// why.
Check CheckFingerprints(Patient& patient) {
  if (!patient.info.ok()) {
    return Good("fingerprints", "not looked at: no daemon");
  }
  std::string names;
  bool release = true;
  for (const client::ServerInfo::Fingerprint& row : patient.info->fingerprints) {
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", row.component, row.id.substr(0, 8));
    release = release && row.release;
  }
  return Good("fingerprints", fmt::format("{} ({})", names, release ? "release" : "private build"));
}

// Only the line "some" is read: the share of time in which at least one task waited. "full" is not
// there for the CPU on older kernels.
Check CheckPressure(Patient& /*patient*/) {
  std::string detail;
  bool high = false;
  for (const char* resource : {"cpu", "memory", "io"}) {
    constexpr std::string_view kFirst = "some avg10=";
    const std::string line = FirstLine(std::string("/proc/pressure/") + resource);
    if (line.starts_with(kFirst)) {
      const double percent = std::strtod(line.c_str() + kFirst.size(), nullptr);
      detail += fmt::format("{}{} {:.0f} %", detail.empty() ? "" : ", ", resource, percent);
      // From here on the batch throttle is likely to act. The kernel's figure is the share of the
      // last ten seconds in which work waited.
      high = high || percent > 40;
    }
  }
  if (detail.empty()) {
    return Good("pressure", "the kernel does not tell");
  }
  return high ? Warn("pressure", detail, "batches take longer while other work presses")
              : Good("pressure", detail);
}

// In the order in which they are shown.
constexpr CheckFunction kChecks[] = {CheckVersions, CheckConfig, CheckDaemon,       CheckSocket,
                                     CheckLock,     CheckDisk,   CheckIntegrity,    CheckInotify,
                                     CheckClock,    CheckVulkan, CheckSpirvTools,   CheckTls,
                                     CheckUpstream, CheckCrash,  CheckFingerprints, CheckPressure};

const char* StateName(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kWarn:
      return "warn";
    case State::kFail:
      return "fail";
  }
  return "";
}

Json CheckJson(const Check& check) {
  return {{"v", 1},
          {"type", "check"},
          {"name", check.name},
          {"state", StateName(check.state)},
          {"detail", check.detail},
          {"fix", check.fix}};
}

// Everything that a report needs, and no secret: the configuration names files, not what is in
// them.
Result<void> WriteBundle(const std::string& path, Patient& patient,
                         const std::vector<Check>& checks) {
  Json bundle{{"v", 1}, {"checks", Json::array()}, {"config", patient.config.values}};
  for (const Check& check : checks) {
    bundle["checks"].push_back(CheckJson(check));
  }
  if (patient.status.ok()) {
    bundle["warnings"] = Json::array();
    for (const client::ServerStatus::Warning& warning : patient.status->warnings) {
      bundle["warnings"].push_back(warning.text);
    }
    bundle["last_crash"] = patient.status->last_crash;
  }
  // The daemon is gone or silent in many reports, so each part is there only if it could be had.
  if (patient.client != nullptr) {
    if (const auto stats = patient.client->CacheStatistics(); stats.ok()) {
      bundle["cache"] = {{"used_bytes", stats->used_bytes},
                         {"file_bytes", stats->file_bytes},
                         {"signatures", stats->signatures},
                         {"corrupt", stats->corrupt}};
    }
  }
  const std::string address = DaemonAddress(patient.global);
  if (address.starts_with("unix:")) {
    // Where a daemon that was started in the background writes its log.
    const fs::path log = fs::path(address.substr(5)).parent_path() / "kilnd.log";
    // The end of the log is what happened last.
    if (const Result<std::string> text = ReadFile(log.string()); text.ok()) {
      constexpr size_t kMostLog = 256 << 10;
      bundle["log"] = text->size() > kMostLog ? text->substr(text->size() - kMostLog) : *text;
    }
  }
  // A log may hold bytes that are no UTF-8. They are replaced, since a report with a gap is better
  // than none.
  const std::string text = bundle.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return WriteFile(path, AsBytes(text));
}

// Warnings do not count: a script that runs the doctor should fail only where something does not
// work.
int WorstOf(const std::vector<Check>& checks) {
  int worst = kSuccess;
  for (const Check& check : checks) {
    worst = check.state == State::kFail ? WorseExit(worst, check.exit) : worst;
  }
  return worst;
}

// The order of the work: configuration, ping, status, then the checks. The status is asked for only
// after a ping, because a daemon that hangs would hold it up to the deadline of the command.
int RunDoctor(const Global& global, const DoctorArguments& arguments) {
  // A status that was not asked for fails like one that was refused, so checks have one case.
  const Error unasked{.code = ErrorCode::kUnavailable, .context = "not asked", .reason = {}};
  Patient patient{.global = global, .info = unasked, .status = unasked};
  patient.config = ReadDaemonConfig();
  patient.cache_dir = patient.config.Or("cache.dir", "");
  Result<std::unique_ptr<client::Client>> client = OpenDaemon(global);
  if (client.ok()) {
    patient.client = std::move(client).value();
    patient.info = patient.client->Ping(client::kPing);
    if (patient.info.ok()) {
      patient.status = patient.client->Status(client::Client::Upstreams::kCheck);
    }
  } else {
    patient.info = client.error();
  }
  std::vector<Check> checks;
  for (const CheckFunction check : kChecks) {
    checks.push_back(check(patient));
    const Check& row = checks.back();
    if (global.json) {
      PrintLine(CheckJson(row));
    } else {
      Print("{:<4}  {:<13} {}\n", row.state == State::kFail ? "FAIL" : StateName(row.state),
            row.name, Lines{row.detail});
    }
    // Some checks take seconds, and each line is to be seen when its check is done.
    (void)std::fflush(stdout);
  }
  for (const Check& row : checks) {
    if (!global.json && !row.fix.empty()) {
      Print("fix {}: {}\n", row.name, row.fix);
    }
  }
  if (!arguments.bundle.empty()) {
    if (const Result<void> written = WriteBundle(arguments.bundle, patient, checks);
        !written.ok()) {
      return Fail(global, written.error());
    }
  }
  const int exit = WorstOf(checks);
  NoteResult("doctor", 0, {});
  return exit;
}

}  // namespace

void AddDoctor(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* doctor = AddVerb(app, line,
                             {"doctor", "Check the installation and say what to do",
                              "  kiln doctor\n  kiln doctor --bundle report.json"},
                             [&line, arguments] { return RunDoctor(line.global, *arguments); });
  doctor->add_option("--bundle", arguments->bundle,
                     "Write log, configuration and figures to a file");
}

}  // namespace kiln::cli
