// SPDX-License-Identifier: MIT
// What hostile code inside of a worker process can do: everything is tried, each in a process of
// its own that is locked in as workers are. See spec/daemon 12.2
#include "server/worker/lock.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <map>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "server/worker/child.h"
#include "server/worker/message.h"

namespace kiln::worker {
namespace {

enum class Fate : uint8_t { kPasses, kRefused, kKilled, kNotLocked };

std::ostream& operator<<(std::ostream& out, Fate fate) {
  constexpr std::array kNames = {"passes", "refused", "killed", "not locked"};
  return out << kNames[static_cast<size_t>(fate)];
}

// What becomes of a process that is locked in and calls that.
template <class Call>
Fate FateOf(const Call& call) {
  constexpr int kRefusal = 1;
  constexpr int kNoLock = 2;
  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)::alarm(60);  // for what waits
    if (!LockIn({}).ok()) {
      ::_exit(kNoLock);
    }
    errno = 0;
    const long result = call();
    ::_exit(result == -1 && errno == EPERM ? kRefusal : 0);
  }
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || (WIFEXITED(status) && WEXITSTATUS(status) == kNoLock)) {
    return Fate::kNotLocked;
  }
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGSYS ? Fate::kKilled : Fate::kPasses;
  }
  return WEXITSTATUS(status) == kRefusal ? Fate::kRefused : Fate::kPasses;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitizer = true;  // there calls end with EPERM, and reports may read files
#else
constexpr bool kSanitizer = false;
#endif

// What may get through whatever its arguments are. Everything else must not, with arguments that
// make no sense; what depends on its arguments is below.
const std::map<long, std::string>& Allowed() {
  static const std::map<long, std::string> allowed = {{SYS_read, "read"},
                                                      {SYS_write, "write"},
                                                      {SYS_writev, "writev"},
                                                      {SYS_pread64, "pread64"},
                                                      {SYS_lseek, "lseek"},
                                                      {SYS_fstat, "fstat"},
                                                      {SYS_close, "close"},
                                                      {SYS_recvmsg, "recvmsg"},
                                                      {SYS_recvfrom, "recvfrom"},
                                                      {SYS_sendmsg, "sendmsg"},
                                                      {SYS_mremap, "mremap"},
                                                      {SYS_munmap, "munmap"},
                                                      {SYS_madvise, "madvise"},
                                                      {SYS_brk, "brk"},
                                                      {SYS_futex, "futex"},
                                                      {SYS_sched_yield, "sched_yield"},
                                                      {SYS_restart_syscall, "restart_syscall"},
                                                      {SYS_rt_sigaction, "rt_sigaction"},
                                                      {SYS_rt_sigprocmask, "rt_sigprocmask"},
                                                      {SYS_rt_sigreturn, "rt_sigreturn"},
                                                      {SYS_sigaltstack, "sigaltstack"},
                                                      {SYS_getpid, "getpid"},
                                                      {SYS_gettid, "gettid"},
                                                      {SYS_getrandom, "getrandom"},
                                                      {SYS_getrusage, "getrusage"},
                                                      {SYS_clock_gettime, "clock_gettime"},
                                                      {SYS_clock_getres, "clock_getres"},
                                                      {SYS_gettimeofday, "gettimeofday"},
                                                      {SYS_exit, "exit"},
                                                      {SYS_exit_group, "exit_group"}};
  return allowed;
}

// Trampolines of the kernel's own probes, which newer kernels show to no filter; for others they
// are a fault.
bool IsOfTheKernel(long number) {
#if defined(__x86_64__)
  return number == 335 || number == 336;
#else
  return false;
#endif
}

long CallWithout(long number) { return ::syscall(number, -1L, -1L, -1L, -1L, -1L, -1L); }

TEST(LockIn, EverySystemCallThatThereIs_IsOnTheListOrDoesNotGetThrough) {
  for (long number = 0; number < 512; ++number) {
    if (IsOfTheKernel(number) ||
        (kSanitizer && (number == SYS_newfstatat || number == SYS_readlinkat))) {
      continue;
    }
    const Fate fate = FateOf([number] { return CallWithout(number); });
    const bool allowed = Allowed().contains(number);
    EXPECT_NE(fate, Fate::kNotLocked) << number;
    EXPECT_EQ(fate == Fate::kPasses, allowed) << "system call " << number << " " << fate;
  }
}

#if defined(__x86_64__)
TEST(LockIn, NumbersOfX32_Kill) {
  for (long number = 0; number < 512; ++number) {
    EXPECT_EQ(FateOf([number] { return CallWithout(0x40000000L | number); }), Fate::kKilled)
        << number;
  }
}

// On kernels without it the instruction is a fault, which is as good.
TEST(LockIn, CallsOfThe32BitInterface_DoNotReturn) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (!LockIn({}).ok()) {
      ::_exit(0);
    }
    long number = 20;  // getpid there, writev here
    asm volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
}
#endif

// Calls as an intruder makes them.
struct Attempt {
  const char* name;
  long (*call)();
};

long Raise(__rlimit_resource what) {
  const rlimit more{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  return ::syscall(SYS_prlimit64, 0, what, &more, nullptr);
}

std::byte page[4096];  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

const Attempt kAttempts[] = {
    {"open", [] { return static_cast<long>(::open("/etc/passwd", O_WRONLY)); }},
    {"open_to_create", [] { return static_cast<long>(::open("/tmp/kiln-x", O_CREAT, 0600)); }},
    {"openat2",
     [] {
       const open_how how{.flags = O_WRONLY, .mode = 0, .resolve = 0};
       return ::syscall(SYS_openat2, AT_FDCWD, "/etc/shadow", &how, sizeof how);
     }},
    {"open_by_handle_at", [] { return ::syscall(SYS_open_by_handle_at, AT_FDCWD, page, O_RDWR); }},
    {"creat_by_mknodat", [] { return ::syscall(SYS_mknodat, AT_FDCWD, "/tmp/x", S_IFREG, 0); }},
    {"symlinkat", [] { return ::syscall(SYS_symlinkat, "/etc", AT_FDCWD, "/tmp/kiln-x"); }},
    {"linkat", [] { return ::syscall(SYS_linkat, AT_FDCWD, "/etc", AT_FDCWD, "/tmp/x", 0); }},
    {"renameat2", [] { return ::syscall(SYS_renameat2, AT_FDCWD, "/x", AT_FDCWD, "/y", 0); }},
    {"unlinkat", [] { return ::syscall(SYS_unlinkat, AT_FDCWD, "/tmp/kiln-x", 0); }},
    {"mkdirat", [] { return ::syscall(SYS_mkdirat, AT_FDCWD, "/tmp/kiln-x", 0700); }},
    {"fchmod", [] { return ::syscall(SYS_fchmod, 0, 0777); }},
    {"fchmodat", [] { return ::syscall(SYS_fchmodat, AT_FDCWD, "/tmp", 0777); }},
    {"fchown", [] { return ::syscall(SYS_fchown, 0, 0, 0); }},
    {"fchownat", [] { return ::syscall(SYS_fchownat, AT_FDCWD, "/tmp", 0, 0, 0); }},
    {"ftruncate", [] { return ::syscall(SYS_ftruncate, 0, 0); }},
    {"truncate", [] { return ::syscall(SYS_truncate, "/tmp/kiln-x", 0); }},
    {"chdir", [] { return ::syscall(SYS_chdir, "/"); }},
    {"chroot", [] { return ::syscall(SYS_chroot, "/"); }},
    {"mount", [] { return ::syscall(SYS_mount, "", "/tmp", "tmpfs", 0, ""); }},
    {"mount_setattr", [] { return ::syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, page, 32); }},
    {"open_tree", [] { return ::syscall(SYS_open_tree, AT_FDCWD, "/", 0); }},
    {"getdents64", [] { return ::syscall(SYS_getdents64, 0, page, sizeof page); }},
    {"io_uring_setup",
     [] {
       io_uring_params parameters{};
       return ::syscall(SYS_io_uring_setup, 8, &parameters);
     }},
    {"socket", [] { return ::syscall(SYS_socket, AF_INET, SOCK_STREAM, 0); }},
    {"socketpair",
     [] {
       std::array<int, 2> both{};
       return ::syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, both.data());
     }},
    {"connect", [] { return ::syscall(SYS_connect, kWorkerSocket, page, 16); }},
    {"bind", [] { return ::syscall(SYS_bind, kWorkerSocket, page, 16); }},
    {"accept4", [] { return ::syscall(SYS_accept4, kWorkerSocket, nullptr, nullptr, 0); }},
    {"send_to_an_address",
     [] { return ::syscall(SYS_sendto, kWorkerSocket, page, 1, 0, page, 16); }},
    {"setsockopt", [] { return ::syscall(SYS_setsockopt, kWorkerSocket, 1, 1, page, 4); }},
    {"fork", [] { return ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); }},
    {"thread",
     [] {
       return ::syscall(SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD,
                        page + sizeof page, nullptr, nullptr, nullptr);
     }},
    {"clone3", [] { return ::syscall(SYS_clone3, page, 64); }},
    {"execve", [] { return ::syscall(SYS_execve, "/bin/true", nullptr, nullptr); }},
    {"execveat", [] { return ::syscall(SYS_execveat, 0, "", nullptr, nullptr, AT_EMPTY_PATH); }},
    {"kill_the_parent", [] { return ::syscall(SYS_kill, ::getppid(), 0); }},
    {"tgkill_the_parent", [] { return ::syscall(SYS_tgkill, ::syscall(SYS_getpid) - 1, 1, 0); }},
    {"tkill", [] { return ::syscall(SYS_tkill, 1, 0); }},
    {"rt_sigqueueinfo", [] { return ::syscall(SYS_rt_sigqueueinfo, 1, 0, page); }},
    {"pidfd_open", [] { return ::syscall(SYS_pidfd_open, 1, 0); }},
    {"pidfd_getfd", [] { return ::syscall(SYS_pidfd_getfd, 0, 0, 0); }},
    {"pidfd_send_signal", [] { return ::syscall(SYS_pidfd_send_signal, 0, 0, nullptr, 0); }},
    {"ptrace", [] { return ::syscall(SYS_ptrace, PTRACE_TRACEME, 0, nullptr, nullptr); }},
    {"process_vm_readv", [] { return ::syscall(SYS_process_vm_readv, 1, page, 0, page, 0, 0); }},
    {"process_vm_writev", [] { return ::syscall(SYS_process_vm_writev, 1, page, 0, page, 0, 0); }},
    {"process_madvise", [] { return ::syscall(SYS_process_madvise, 0, page, 0, 0, 0); }},
    {"kcmp", [] { return ::syscall(SYS_kcmp, 1, 1, 0, 0, 0); }},
    {"unshare", [] { return ::syscall(SYS_unshare, CLONE_NEWUSER); }},
    {"setns", [] { return ::syscall(SYS_setns, 0, 0); }},
    {"keyctl", [] { return ::syscall(SYS_keyctl, 0, 0, 0, 0, 0); }},
    {"add_key", [] { return ::syscall(SYS_add_key, "user", "x", "x", 1, 0); }},
    {"bpf", [] { return ::syscall(SYS_bpf, 0, page, 64); }},
    {"perf_event_open", [] { return ::syscall(SYS_perf_event_open, page, 0, -1, -1, 0); }},
    {"userfaultfd", [] { return ::syscall(SYS_userfaultfd, 0); }},
    {"seccomp", [] { return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, page); }},
    {"prctl", [] { return ::syscall(SYS_prctl, PR_SET_PDEATHSIG, 0); }},
    {"personality", [] { return ::syscall(SYS_personality, 0); }},
    {"setuid", [] { return ::syscall(SYS_setuid, 0); }},
    {"setpriority", [] { return ::syscall(SYS_setpriority, PRIO_PROCESS, 0, -5); }},
    {"raise_address_space", [] { return Raise(RLIMIT_AS); }},
    {"raise_cpu", [] { return Raise(RLIMIT_CPU); }},
    {"raise_files", [] { return Raise(RLIMIT_NOFILE); }},
    {"raise_by_setrlimit",
     [] {
       const rlimit more{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
       return ::syscall(SYS_setrlimit, RLIMIT_NOFILE, &more);
     }},
    {"limits_of_another", [] { return ::syscall(SYS_prlimit64, 1, RLIMIT_AS, nullptr, page); }},
    {"memory_with_code",
     [] {
       return ::syscall(SYS_mmap, nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);
     }},
    {"data_to_code", [] { return ::syscall(SYS_mprotect, page, 4096, PROT_READ | PROT_EXEC); }},
    {"map_a_file", [] { return ::syscall(SYS_mmap, nullptr, 4096, PROT_READ, MAP_PRIVATE, 0, 0); }},
    {"share_memory",
     [] {
       return ::syscall(SYS_mmap, nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
     }},
    {"pkey_mprotect", [] { return ::syscall(SYS_pkey_mprotect, page, 4096, PROT_EXEC, -1); }},
    {"remap_file_pages", [] { return ::syscall(SYS_remap_file_pages, page, 4096, 0, 0, 0); }},
    {"memory_file_that_is_not_sealed", [] { return ::syscall(SYS_memfd_create, "x", 0); }},
    {"memfd_secret", [] { return ::syscall(SYS_memfd_secret, 0); }},
    {"duplicate", [] { return ::syscall(SYS_fcntl, 0, F_DUPFD, 10); }},
    {"signals_of_descriptors", [] { return ::syscall(SYS_fcntl, kWorkerSocket, F_SETOWN, 1); }},
    {"dup3", [] { return ::syscall(SYS_dup3, 0, 9, 0); }},
    {"terminal_input", [] { return ::syscall(SYS_ioctl, 0, 0x5412, "x"); }},
    {"shmget", [] { return ::syscall(SYS_shmget, 0, 4096, 0600); }},
    {"mq_open", [] { return ::syscall(SYS_mq_open, "/x", O_CREAT, 0600, nullptr); }},
    {"inotify_init1", [] { return ::syscall(SYS_inotify_init1, 0); }},
    {"reboot", [] { return ::syscall(SYS_reboot, 0, 0, 0, nullptr); }},
    {"init_module", [] { return ::syscall(SYS_init_module, page, 0, ""); }},
    {"clock_settime", [] { return ::syscall(SYS_clock_settime, 0, nullptr); }},
    {"nanosleep", [] { return ::syscall(SYS_nanosleep, page, nullptr); }},
};

class HostileCall : public testing::TestWithParam<Attempt> {};

TEST_P(HostileCall, DoesNotGetThrough) {
  const Fate fate = FateOf(GetParam().call);
  EXPECT_TRUE(fate == Fate::kKilled || fate == Fate::kRefused) << fate;
}

const auto kNameOf = [](const auto& row) { return std::string(row.param.name); };

INSTANTIATE_TEST_SUITE_P(Table, HostileCall, testing::ValuesIn(kAttempts), kNameOf);

long Good(bool works) { return works ? 0 : throw std::string("does not work"); }

// What a worker does all day, with the arguments that it does it with.
const Attempt kNeeded[] = {
    {"memory",
     [] {
       auto* const block = static_cast<volatile char*>(std::malloc(size_t{64} << 20));
       block[0] = 1;
       std::free(const_cast<char*>(block));
       return Good(block != nullptr);
     }},
    {"sealed_memory_file",
     [] {
       const int file = ::memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
       return Good(file >= 0 && ::write(file, "x", 1) == 1 &&
                   ::fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) == 0 &&
                   ::fcntl(file, F_GET_SEALS) == F_SEAL_WRITE && ::close(file) == 0);
     }},
    {"exceptions",
     [] {
       try {
         throw 1;
       } catch (int) {
         return 0L;
       }
     }},
    {"limits",
     [] {
       rlimit limit{};
       return Good(::getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_cur == limit.rlim_max);
     }},
    {"time", [] { return Good(std::chrono::steady_clock::now().time_since_epoch().count() != 0); }},
    {"standard_output", [] { return Good(std::fputs("", stdout) >= 0); }},
};

class NeededCall : public testing::TestWithParam<Attempt> {};

TEST_P(NeededCall, Works) { EXPECT_EQ(FateOf(GetParam().call), Fate::kPasses); }

INSTANTIATE_TEST_SUITE_P(Table, NeededCall, testing::ValuesIn(kNeeded), kNameOf);

// How a process ends that is locked in and does that.
template <class Act>
int EndOf(const ChildLimits& limits, const Act& act) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (LockIn(limits).ok()) {
      act();
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

TEST(LockIn, Abort_IsStillTheSignalOfAbort) {
  const int status = EndOf({}, [] { std::abort(); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

TEST(LockIn, ProcessorTimeThatIsUsedUp_Kills) {
  const int status = EndOf({.cpu_seconds = 1}, [] {
    (void)::signal(SIGXCPU, SIG_IGN);
    for (volatile bool go_on = true; go_on;) {
    }
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST(LockIn, DescriptorsThatWereLeftOpen_AreClosed) {
  const int left = ::open("/dev/null", O_RDONLY);
  std::array<int, 2> sockets{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  ASSERT_GT(left, kWorkerSocket - 1);
  const int status = EndOf({}, [&] {
    char byte = 0;
    ::_exit(::read(std::max(left, kWorkerSocket + 1), &byte, 1) == -1 && errno == EBADF ? 7 : 0);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  for (const int fd : {left, sockets[0], sockets[1]}) {
    (void)::close(fd);
  }
}

// Makes prctl fail for whoever comes after it.
void ForbidPrctl(int option) {
  std::array<sock_filter, 6> code = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(option), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = code.size(), .filter = code.data()};
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

class NoLock : public testing::TestWithParam<int> {};

TEST_P(NoLock, Worker_SaysSoAndTakesNoWork) {
  std::array<int, 2> sockets{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    (void)::dup2(sockets[1], kWorkerSocket);
    ForbidPrctl(GetParam());
    ::_exit(RunChild(kWorkerSocket));
  }
  (void)::close(sockets[1]);
  const Result<Message> said = Receive(sockets[0], std::chrono::seconds(60));
  ASSERT_TRUE(said.ok()) << said.error().context;
  EXPECT_EQ(said->kind, MessageKind::kUnfit);
  EXPECT_FALSE(said->text.empty());
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  (void)::close(sockets[0]);
}

INSTANTIATE_TEST_SUITE_P(Table, NoLock,
                         testing::Values(PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG));

}  // namespace
}  // namespace kiln::worker
