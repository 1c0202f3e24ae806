// SPDX-License-Identifier: MIT
#include "compiler/base/threads/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kiln {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;  // the shadow of a sanitizer is larger than any limit
#else
constexpr bool kLimitsMemory = true;
#endif

// Frees what posix_spawn is told with.
class Spawning {
 public:
  Spawning() {
    (void)::posix_spawn_file_actions_init(&actions_);
    (void)::posix_spawnattr_init(&attributes_);
  }
  ~Spawning() {
    (void)::posix_spawnattr_destroy(&attributes_);
    (void)::posix_spawn_file_actions_destroy(&actions_);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;

  // The numbers of errno; 0 is success.
  // The rows come first and /dev/null afterwards, only for numbers that no row gave: a program that
  // found 0 to 2 closed would open its first file as its standard output.
  int SetDescriptors(const std::vector<ChildProgram::Descriptor>& descriptors) {
    int last = STDERR_FILENO;
    int error = 0;
    for (const ChildProgram::Descriptor& row : descriptors) {
      error = error != 0 ? error : ::posix_spawn_file_actions_adddup2(&actions_, row.from, row.to);
      last = std::max(last, row.to);
    }
    for (int number = 0; number <= STDERR_FILENO; ++number) {
      const bool given = std::ranges::find(descriptors, number, &ChildProgram::Descriptor::to) !=
                         descriptors.end();
      if (!given && error == 0) {
        error = ::posix_spawn_file_actions_addopen(&actions_, number, "/dev/null", O_RDWR, 0);
      }
    }
    // Everything above is closed in the child, also what another thread of this process opens at
    // the same moment without O_CLOEXEC.
    return error != 0 ? error : ::posix_spawn_file_actions_addclosefrom_np(&actions_, last + 1);
  }

  // Blocked and ignored signals are inherited through exec. The child must end when it is told to
  // and crash where it is wrong.
  int SetSignals() {
    sigset_t none;
    sigset_t all;
    (void)::sigemptyset(&none);
    (void)::sigfillset(&all);
    const std::array<int, 3> errors = {
        ::posix_spawnattr_setsigmask(&attributes_, &none),
        ::posix_spawnattr_setsigdefault(&attributes_, &all),
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)};
    return *std::ranges::max_element(errors);
  }

  int Spawn(const ChildProgram& program, pid_t& pid) {
    // posix_spawn wants writable words, so these are copies.
    std::vector<std::string> words = program.words;
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    // No environment: variables such as LD_PRELOAD or those of a loader decide what a program does.
    const std::array<char*, 1> environment{nullptr};
    return ::posix_spawn(&pid, program.path.c_str(), &actions_, &attributes_, arguments.data(),
                         environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// A limit that could not be set is an error and never a warning: the process would read hostile
// bytes without the fence that its design counts on.
Error Unconfined(std::string_view what) {
  return {.code = ErrorCode::kFailedPrecondition,
          .context = fmt::format("{}: {}", what, std::strerror(errno)),
          .reason = "NOT_CONFINED"};
}

Result<void> Limit(__rlimit_resource what, std::string_view name, std::optional<uint64_t> most) {
  rlimit limit{};
  if (!most.has_value()) {
    return {};
  }
  if (::getrlimit(what, &limit) != 0) {
    return Unconfined(name);
  }
  // Never raised, only lowered: the limits of whoever started this may be narrower.
  limit.rlim_max = std::min<rlim_t>(*most, limit.rlim_max);
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(what, &limit) == 0 ? Result<void>() : Result<void>(Unconfined(name));
}

}  // namespace

Result<pid_t> StartChild(const ChildProgram& program) {
  Spawning spawning;
  pid_t pid = 0;
  int error = spawning.SetDescriptors(program.descriptors);
  error = error != 0 ? error : spawning.SetSignals();
  error = error != 0 ? error : spawning.Spawn(program, pid);
  if (error != 0) {
    return Error{
        .code = ErrorCode::kUnavailable,
        .context = fmt::format("cannot start '{}': {}", program.path, std::strerror(error)),
        .reason = {}};
  }
  return pid;
}

Result<void> ConfineProcess(const ProcessLimits& limits, pid_t parent) {
  // The order matters: first the death with the parent, then the look whether the parent still is
  // there. The other way round it could die between the two and leave this process behind.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    return Unconfined("PR_SET_PDEATHSIG");
  }
  if (parent != 0 && ::getppid() != parent) {  // it was gone before that could be asked for
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "the process that started this one is gone",
                 .reason = "NOT_CONFINED"};
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Unconfined("PR_SET_NO_NEW_PRIVS");
  }
  // No core: it would hold the bytes that were read.
  KILN_TRY_VOID(Limit(RLIMIT_CORE, "RLIMIT_CORE", 0));
  KILN_TRY_VOID(Limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", limits.file_bytes));
  KILN_TRY_VOID(Limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", limits.open_files));
  KILN_TRY_VOID(Limit(RLIMIT_NPROC, "RLIMIT_NPROC", limits.processes));
  KILN_TRY_VOID(Limit(RLIMIT_CPU, "RLIMIT_CPU", limits.cpu_seconds));
  return kLimitsMemory ? Limit(RLIMIT_AS, "RLIMIT_AS", limits.memory_bytes) : Result<void>();
}

}  // namespace kiln
