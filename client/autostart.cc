// SPDX-License-Identifier: MIT
#include "client/autostart.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kiln::client {
namespace {

constexpr std::chrono::milliseconds kPing{2'000};
constexpr int kReadyTimeoutMs = 10'000;
constexpr std::string_view kUnixPrefix = "unix:";

Error Unreachable(std::string text) {
  return {
      .code = ErrorCode::kUnavailable, .context = std::move(text), .reason = "DAEMON_UNREACHABLE"};
}

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void Close() {
    if (number_ >= 0) {
      (void)::close(number_);
    }
    number_ = -1;
  }

 private:
  int number_;
};

// The one line that a starting daemon writes.
Result<std::string> ReadLine(int descriptor) {
  std::string line;
  char buffer[1024];
  while (line.find('\n') == std::string::npos) {
    pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wait, 1, kReadyTimeoutMs);
    if (ready == 0) {
      return Unreachable(fmt::format("kilnd said nothing for {} s", kReadyTimeoutMs / 1000));
    }
    const ssize_t count = ready < 0 ? -1 : ::read(descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return Unreachable("kilnd ended before it was ready; run 'kiln serve' to see its log");
    }
    line.append(buffer, static_cast<size_t>(count));
  }
  return line;
}

Result<void> JudgeLine(const std::string& line) {
  const nlohmann::json said = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (said.is_discarded() || !said.is_object()) {
    return Unreachable("kilnd said something that is no answer: " + line);
  }
  if (said.value("ready", false)) {
    return {};
  }
  return Unreachable(fmt::format("kilnd cannot start: {}: {}; {}", said.value("component", "?"),
                                 said.value("what", "?"), said.value("hint", "")));
}

}  // namespace

std::string DefaultSocket() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0') {
    return std::string(runtime) + "/kiln/kilnd.sock";
  }
  return fmt::format("/tmp/kiln-{}/kilnd.sock", ::getuid());
}

std::string DaemonProgram() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = self.parent_path() / "kilnd";
  return !error && std::filesystem::exists(beside, error) ? beside.string() : std::string("kilnd");
}

Result<void> StartDaemon(const std::string& socket) {
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(socket).parent_path();
  std::filesystem::create_directories(folder, ignored);
  (void)::chmod(folder.c_str(), 0700);
  const std::string lock_path = (folder / "autostart.lock").string();
  const Descriptor lock(::open(lock_path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (lock.number() < 0) {
    return Unreachable(
        fmt::format("cannot write in '{}': {}", folder.string(), std::strerror(errno)));
  }
  (void)::flock(lock.number(), LOCK_EX);  // two commands at once start one daemon
  if (Client::Open(std::string(kUnixPrefix) + socket)->Ping(std::chrono::milliseconds(300)).ok()) {
    return {};
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Unreachable(std::strerror(errno));
  }
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const std::string program = DaemonProgram();
  const std::string listen = "--listen.unix=" + socket;
  const std::string log_path = (folder / "kilnd.log").string();
  // The child's end of the pipe is descriptor 3.
  const std::string ready = "--ready-fd=3";
  std::string arguments[] = {program, "--autostart", listen, ready};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.number(), 3);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID);  // Ctrl-C of the command is not the daemon's
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, program.c_str(), &actions, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  write_end.Close();
  if (failed != 0) {
    return Unreachable(fmt::format("cannot run '{}': {}; is kilnd installed beside kiln?", program,
                                   std::strerror(failed)));
  }
  // Nobody else asks how it ended; without this it stays a zombie for as long as this process runs.
  std::thread([pid] { (void)waitpid(pid, nullptr, 0); }).detach();
  KILN_TRY(const std::string line, ReadLine(read_end.number()));
  Result<void> judged = JudgeLine(line);
  if (!judged.ok()) {
    return WithContext(judged.error(), fmt::format("log in '{}'", log_path));
  }
  return {};
}

Result<Connected> Connect(const Endpoint& endpoint, Autostart autostart) {
  const std::string& address = endpoint.address;
  Connected connected;
  KILN_TRY(connected.client, Client::Open(endpoint));
  Result<ServerInfo> info = connected.client->Ping(kPing);
  if (!info.ok() && autostart == Autostart::kYes && address.starts_with(kUnixPrefix)) {
    KILN_TRY_VOID(StartDaemon(address.substr(kUnixPrefix.size())));
    KILN_TRY(connected.client, Client::Open(endpoint));
    connected.started = true;
    info = connected.client->Ping(kPing);
  }
  if (!info.ok() && (info.error().code == ErrorCode::kUnauthenticated ||
                     info.error().code == ErrorCode::kPermissionDenied)) {
    return info.error();
  }
  if (!info.ok()) {
    return Unreachable(fmt::format("no daemon answers at {}: {}; start it with 'kiln start'",
                                   address, info.error().context));
  }
  connected.info = std::move(info).value();
  return connected;
}

}  // namespace kiln::client
