// SPDX-License-Identifier: MIT
#include "client/autostart.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/daemon_socket.h"
#include "client/process_state.h"
#include "client/program_exec.h"
#include "compiler/base/files/descriptor.h"
#include "compiler/base/files/file_lock.h"
#include "compiler/base/files/own_folder.h"
#include "compiler/base/files/user_folders.h"
#include "compiler/base/mutex.h"
#include "compiler/base/printable.h"
#include "compiler/base/threads/thread.h"

namespace kiln::client {
namespace {

constexpr int kPatienceMs = 5'000;  // then it is said that the daemon is silent
// A cold start of the daemon takes a fraction of a second. Ten seconds are for a store that has to
// be looked through after a crash.
constexpr int kReadyTimeoutMs = 10'000;
constexpr size_t kLogLines = 20;
// A daemon that was told to end finishes running jobs first; after this it is killed.
constexpr auto kEndTime = std::chrono::seconds(30);
constexpr auto kLeavingTime = std::chrono::seconds(3);
constexpr std::string_view kUnixPrefix = "unix:";

constexpr const char* kUnreachable = "DAEMON_UNREACHABLE";

Error Unreachable(std::string text) {
  return {.code = ErrorCode::kUnavailable, .context = std::move(text), .reason = kUnreachable};
}

// The one line that a starting daemon writes.
Result<std::string> ReadLine(int descriptor, const std::string& log_path) {
  std::string line;
  char buffer[1024];
  while (line.find('\n') == std::string::npos) {
    pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
    int ready = ::poll(&wait, 1, kPatienceMs);
    if (ready == 0) {
      fmt::print(stderr, "kiln: kilnd has said nothing for {} s{}\n", kPatienceMs / 1000,
                 log_path.empty() ? "" : fmt::format("; log in '{}'", Printable(log_path)));
      ready = ::poll(&wait, 1, kReadyTimeoutMs - kPatienceMs);
    }
    if (ready == 0) {
      return Unreachable(fmt::format("kilnd said nothing for {} s", kReadyTimeoutMs / 1000));
    }
    const ssize_t count = ready < 0 ? -1 : ::read(descriptor, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    // The end of the pipe without a line: the process died before it could say why.
    if (count <= 0) {
      return Unreachable("kilnd ended before it was ready; run 'kiln serve' to see its log");
    }
    line.append(buffer, static_cast<size_t>(count));
  }
  return line;
}

// What a daemon said that does not start; empty component: nothing.
struct Refusal {
  std::string component;
  Error error;
};

// The words of a daemon that starts.
struct StartLine {
  std::optional<Refusal> refusal;
  std::string folder;  // that it made for itself, or empty
};

// One object of JSON, as server/main.cc writes it: ready, or the part that failed, why and what to
// do.
StartLine JudgeLine(const std::string& line) {
  const nlohmann::json said = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  // Something else than kilnd runs under its name, or its output was cut off.
  if (said.is_discarded() || !said.is_object()) {
    return {.refusal =
                Refusal{.component = {},
                        .error = Unreachable("kilnd said something that is no answer: " + line)}};
  }
  if (said.value("ready", false)) {
    return {.refusal = std::nullopt, .folder = said.value("folder", "")};
  }
  std::string component = said.value("component", "?");
  Error error = Unreachable(fmt::format("kilnd cannot start: {}: {}; {}", component,
                                        said.value("what", "?"), said.value("hint", "")));
  return {.refusal = Refusal{.component = std::move(component), .error = std::move(error)}};
}

// Of this process.
struct PrivateDaemons {
  // Guards the list and the flag. It is held over the spawn of a private daemon, so that no daemon
  // begins behind the moment in which all of them were told to end.
  Mutex mutex;
  std::vector<std::weak_ptr<PrivateDaemon>> daemons KILN_GUARDED_BY(mutex);
  bool ended KILN_GUARDED_BY(mutex) = false;  // no further one is started
};

// The file that a daemon writes its log to.
class DaemonLog {
 public:
  // One that goes with the two processes: of a private daemon, which has no folder yet. Errors:
  // kUnavailable.
  static Result<std::shared_ptr<DaemonLog>> InMemory() {
    const Descriptor low(::memfd_create(kName, MFD_CLOEXEC));
    if (low.get() < 0) {
      return Unreachable(fmt::format("no memory for a log: {}", std::strerror(errno)));
    }
    return std::shared_ptr<DaemonLog>(
        new DaemonLog({}, ::fcntl(low.get(), F_DUPFD_CLOEXEC, kFirstFreeInChild)));
  }
  // Errors: as OwnFolder::OpenFile.
  static Result<std::shared_ptr<DaemonLog>> Open(const OwnFolder& folder) {
    KILN_TRY(const int file, folder.OpenFile(kName, O_RDWR | O_APPEND | O_CREAT));
    const Descriptor low(file);
    // Above what the child's own descriptors become.
    return std::shared_ptr<DaemonLog>(new DaemonLog(
        folder.path() + "/" + kName, ::fcntl(file, F_DUPFD_CLOEXEC, kFirstFreeInChild)));
  }
  const std::string& path() const { return path_; }  // empty: in memory
  int descriptor() const { return file_.get(); }
  off_t Size() const {
    struct stat found {};
    return ::fstat(file_.get(), &found) == 0 ? found.st_size : 0;
  }
  // The last lines from an offset on, each behind a line end and two spaces.
  std::string TailFrom(off_t begin) const;

 private:
  static constexpr const char* kName = "kilnd.log";
  static constexpr int kFirstFreeInChild = 4;
  DaemonLog(std::string path, int file) : path_(std::move(path)), file_(file) {}

  const std::string path_;
  const Descriptor file_;
};

std::string DaemonLog::TailFrom(off_t begin) const {
  constexpr off_t kMostBytes = 64 << 10;
  const off_t size = Size();
  // Only what this start wrote is of interest, and of that the end: a log may have grown for
  // months.
  begin = std::max(begin, size - kMostBytes);
  std::string text(static_cast<size_t>(std::max<off_t>(size - begin, 0)), '\0');
  text.resize(static_cast<size_t>(
      std::max<ssize_t>(::pread(file_.get(), text.data(), text.size(), begin), 0)));
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  std::string tail;
  // The lines come with the error, so the cause is seen without opening the log.
  for (size_t i = lines.size() - std::min(lines.size(), kLogLines); i < lines.size(); ++i) {
    tail += fmt::format("\n  {}", lines[i]);
  }
  return tail;
}

// Runs kilnd until it is ready or says why not. Its pid, or what it said.
struct SpawnResult {
  pid_t pid = 0;
  std::optional<Refusal> refusal;
  std::string folder = {};  // that it made for itself
};

// `pid`, of a private daemon, is set as soon as there is a process; there is none once they end.
SpawnResult Spawn(std::vector<std::string> arguments, const DaemonLog& log,
                  std::atomic<int>* pid = nullptr) {
  // The log is appended to by every daemon of the folder; from here on it is this one's.
  const off_t logged = log.Size();
  int ends[2];
  // The pipe closes on exec everywhere but where the child gets it as descriptor 3. So its end
  // means that the child has ended, and a child of another thread cannot keep it open.
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return {.refusal = Refusal{.component = {}, .error = Unreachable(std::strerror(errno))}};
  }
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const std::string program = DaemonProgram();
  arguments.insert(arguments.begin(), program);
  arguments.emplace_back("--ready-fd=3");  // the child's end of the pipe
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), 3);
  // A daemon keeps nothing of the terminal of the command that started it.
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log.descriptor(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID);  // Ctrl-C of the command is not the daemon's
  SpawnResult spawned;
  int failed = ECANCELED;
  {
    PrivateDaemons& all = OfProcess<PrivateDaemons>();
    const MutexLock lock(all.mutex);
    if (pid == nullptr || !all.ended) {
      failed = ::posix_spawnp(&spawned.pid, program.c_str(), &actions, &attributes, argv.data(),
                              environ);
    }
    if (pid != nullptr && failed == 0) {
      *pid = spawned.pid;
    }
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  // Without this the read below would wait for this process itself.
  write_end.Close();
  if (failed != 0) {
    spawned.pid = 0;
    spawned.refusal = Refusal{
        .component = {},
        .error = Unreachable(fmt::format("cannot run '{}': {}; is kilnd installed beside kiln?",
                                         program, std::strerror(failed)))};
    return spawned;
  }
  const Result<std::string> line = ReadLine(read_end.get(), log.path());
  StartLine judged = line.ok()
                         ? JudgeLine(*line)
                         : StartLine{.refusal = Refusal{.component = {}, .error = line.error()}};
  spawned.refusal = std::move(judged.refusal);
  spawned.folder = std::move(judged.folder);
  if (spawned.refusal.has_value()) {
    if (!log.path().empty()) {
      spawned.refusal->error =
          WithContext(spawned.refusal->error, fmt::format("log in '{}'", log.path()));
    }
    spawned.refusal->error.context += log.TailFrom(logged);
  }
  return spawned;
}

// A folder that cannot be made or a file that cannot be opened means: no daemon. What another user
// has prepared is refused as it is.
template <class T>
Result<T> FromFolder(Result<T> result) {
  return result.ok() || result.error().reason == kNotOwn
             ? std::move(result)
             : Result<T>(Unreachable(result.error().context));
}

// Opens and asks who is there.
Result<ServerInfo> Ask(const Endpoint& endpoint, std::unique_ptr<Client>& client) {
  KILN_TRY(client, Client::Open(endpoint));
  return client->Ping(kPing);
}

// Neither a start nor a second try helps.
bool IsFinal(const Error& error) {
  return error.code == ErrorCode::kUnauthenticated || error.code == ErrorCode::kPermissionDenied ||
         error.code == ErrorCode::kInvalidArgument;
}

// A daemon that is ending still has the store for a moment: it is waited for.
SpawnResult SpawnAfterAnother(const std::vector<std::string>& arguments, const DaemonLog& log) {
  const auto until = std::chrono::steady_clock::now() + kLeavingTime;
  for (;;) {
    SpawnResult spawned = Spawn(arguments, log);
    // Two daemons cannot have one store. The one that ends has left its socket already and lets go
    // of the store last.
    const bool store_is_taken =
        spawned.refusal.has_value() && spawned.refusal->component == "store";
    if (!store_is_taken || std::chrono::steady_clock::now() >= until) {
      return spawned;
    }
    (void)waitpid(spawned.pid, nullptr, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// Starts one behind an address. A socket that was named may lie in a folder of another user, where
// this one starts nothing: then the news is that nobody answers, as `silent` says.
Result<void> StartBehind(const std::string& address, const Error& silent) {
  const std::string socket = address.substr(kUnixPrefix.size());
  Result<void> started = StartDaemon(socket);
  const bool elsewhere =
      !started.ok() && socket != DefaultSocket() &&
      (started.error().reason == kNotOwn || started.error().reason == kForeignSocket);
  return elsewhere ? Result<void>(Unreachable(fmt::format(
                         "no daemon answers at {}: {}; and none can be started there: {}", address,
                         silent.context, started.error().context)))
                   : started;
}

}  // namespace

std::string DefaultSocket() { return UserSocket(ProcessVariable); }

std::string DaemonProgram() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  // The daemon of this installation is preferred to one of the search path: the two programs belong
  // together.
  const std::filesystem::path beside = self.parent_path() / "kilnd";
  return !error && std::filesystem::exists(beside, error) ? beside.string() : std::string("kilnd");
}

Result<void> StartDaemon(const std::string& socket) {
  KILN_TRY(OwnFolder folder,
           FromFolder(OwnFolder::Make(std::filesystem::path(socket).parent_path().string())));
  // Whoever can reach the socket can have shaders compiled as this user, so the folder is closed to
  // all others before anything is in it (spec/daemon 11.2).
  KILN_TRY_VOID(folder.SetMode(0700));
  KILN_TRY(const int lock_file, FromFolder(folder.OpenFile("autostart.lock", O_CREAT | O_RDWR)));
  FileLock lock(lock_file);
  (void)lock.Wait();  // two commands at once start one daemon
  KILN_TRY(const std::unique_ptr<Client> other, Client::OpenOwn(std::string(kUnixPrefix) + socket));
  // Asked again under the lock: another command may have started a daemon while this one waited for
  // it.
  if (other->Ping(kPing).ok()) {
    return {};
  }
  KILN_TRY(const std::shared_ptr<DaemonLog> log, FromFolder(DaemonLog::Open(folder)));
  const SpawnResult spawned = SpawnAfterAnother({"--autostart", "--listen.unix=" + socket}, *log);
  if (spawned.pid != 0) {
    // Nobody else asks how it ended; without this it stays a zombie for as long as this process
    // runs.
    Thread({.name = "reaper", .after_throw = Thread::AfterThrow::kEnds},
           [pid = spawned.pid](const std::stop_token&) { (void)waitpid(pid, nullptr, 0); })
        .detach();
  }
  if (spawned.refusal.has_value()) {
    return spawned.refusal->error;
  }
  return {};
}

Result<std::shared_ptr<PrivateDaemon>> PrivateDaemon::Start(const StartOptions& how) {
  const std::shared_ptr<PrivateDaemon> daemon(new PrivateDaemon);
  {
    PrivateDaemons& all = OfProcess<PrivateDaemons>();
    const MutexLock lock(all.mutex);
    if (all.ended) {
      return Unreachable("the command ends");
    }
    all.daemons.push_back(daemon);
  }
  // The daemon makes its folder, once it watches its parent, and removes it. So neither outlives a
  // command that is killed, at whatever moment: this process makes nothing that stays.
  std::vector<std::string> arguments{
      "--with-parent=" + std::to_string(::getpid()),
      "--private-folder=" + std::filesystem::temp_directory_path().string() + "/kiln-XXXXXX"};
  if (how.jobs != 0) {
    arguments.push_back("--jobs.workers=" + std::to_string(how.jobs));
  }
  const std::string own_cache = "--private-cache";
  if (how.own_cache) {
    arguments.push_back(own_cache);
  }
  KILN_TRY(const std::shared_ptr<DaemonLog> log, DaemonLog::InMemory());
  SpawnResult spawned = Spawn(arguments, *log, &daemon->pid_);
  // A private daemon shares the user's cache if nobody else has it, and works with an empty one
  // otherwise: slower, but never refused.
  if (spawned.refusal.has_value() && spawned.refusal->component == "store" && !how.own_cache) {
    (void)waitpid(spawned.pid, nullptr, 0);
    arguments.push_back(own_cache);  // another daemon has the user's
    spawned = Spawn(arguments, *log, &daemon->pid_);
  }
  if (spawned.refusal.has_value()) {
    return spawned.refusal->error;
  }
  daemon->Take(spawned.folder);
  return daemon;
}

// The end may have come from another thread before this one knew what there is to be removed.
void PrivateDaemon::Take(const std::string& folder) {
  const MutexLock lock(mutex_);
  folder_ = folder;
  if (gone_) {
    RemoveFolder();
  }
}

void PrivateDaemon::RemoveFolder() {
  std::error_code ignored;
  if (!folder_.empty()) {
    std::filesystem::remove_all(folder_, ignored);
  }
}

std::string PrivateDaemon::address() const {
  const MutexLock lock(mutex_);
  return std::string(kUnixPrefix) + folder_ + "/kilnd.sock";
}

PrivateDaemon::~PrivateDaemon() { End(kEndTime); }

void PrivateDaemon::End(std::chrono::milliseconds patience) {
  // The destructor and the thread of a deadline may both come here.
  std::call_once(ended_, [this, patience] {
    const pid_t pid = pid_;
    const auto until = std::chrono::steady_clock::now() + patience;
    // The pid cannot have been given to another process: it is a child of this one that nobody has
    // waited for.
    if (pid != 0 && ::kill(pid, SIGTERM) == 0) {
      while (waitpid(pid, nullptr, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() >= until) {
          (void)::kill(pid, SIGKILL);  // nothing that was acknowledged is lost
          (void)waitpid(pid, nullptr, 0);
          break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    }
    const MutexLock lock(mutex_);
    gone_ = true;
    RemoveFolder();  // of a daemon that had to be killed
  });
}

void EndPrivateDaemons(std::chrono::milliseconds patience) {
  std::vector<std::weak_ptr<PrivateDaemon>> daemons;
  {
    PrivateDaemons& all = OfProcess<PrivateDaemons>();
    const MutexLock lock(all.mutex);
    // From here on Spawn starts no private daemon any more, so the copy of the list is complete.
    all.ended = true;
    daemons = all.daemons;
  }
  for (const std::weak_ptr<PrivateDaemon>& daemon : daemons) {
    if (const std::shared_ptr<PrivateDaemon> alive = daemon.lock()) {
      alive->End(patience);
    }
  }
}

Result<DaemonConnection> ConnectPrivately(const PrivateDaemon::StartOptions& how) {
  DaemonConnection connected;
  KILN_TRY(connected.own, PrivateDaemon::Start(how));
  KILN_TRY(connected.client, Client::OpenOwn(connected.own->address()));
  KILN_TRY(connected.info, connected.client->Ping(kPing));
  return connected;
}

Result<DaemonConnection> Connect(const Endpoint& endpoint, Autostart autostart) {
  const std::string& address = endpoint.address;
  const bool starts = autostart == Autostart::kYes && address.starts_with(kUnixPrefix);
  DaemonConnection connected;
  Result<ServerInfo> info = Ask(endpoint, connected.client);
  if (!info.ok() && IsFinal(info.error())) {
    return info.error();
  }
  // Nobody answers, and this address is one behind which a daemon may be started.
  if (!info.ok() && starts) {
    KILN_TRY_VOID(StartBehind(address, info.error()));
    info = Ask(endpoint, connected.client);
    connected.started = true;
  }
  // A daemon of another build that runs already makes way if nobody else uses it (program_exec.cc).
  // Then the one that belongs to this program is started.
  if (info.ok() && starts) {
    Handover handover = OfferHandover(*connected.client, *info, DaemonProgram());
    connected.warning = std::move(handover.warning);
    if (handover.drained) {
      KILN_TRY_VOID(StartDaemon(address.substr(kUnixPrefix.size())));
      info = Ask(endpoint, connected.client);
      connected.started = true;
    }
  }
  if (!info.ok() && (IsFinal(info.error()) || info.error().reason == kUnreachable)) {
    return info.error();
  }
  if (!info.ok() && !address.starts_with(kUnixPrefix)) {
    return info.error();  // it names the cause, and what to do
  }
  if (!info.ok()) {
    return Unreachable(fmt::format("no daemon answers at {}: {}; start it with 'kiln start'",
                                   address, info.error().context));
  }
  KILN_TRY_VOID(CheckApi(*info));
  connected.info = std::move(info).value();
  return connected;
}

}  // namespace kiln::client
