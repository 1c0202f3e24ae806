// SPDX-License-Identifier: MIT
#include "server/worker/system_calls.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace kiln::worker {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr uint32_t kFirstForeign = 0x40000000;  // numbers of x32, which is another interface
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr uint32_t kFirstForeign = 0x80000000;  // none
#else
constexpr uint32_t kArchitecture = 0;
constexpr uint32_t kFirstForeign = 0;
#endif

// Reports of a sanitizer read /proc, and it has calls of its own, which its builds may try.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitizer = true;
constexpr uint32_t kOthers = SECCOMP_RET_ERRNO | EPERM;
#else
constexpr bool kSanitizer = false;
constexpr uint32_t kOthers = SECCOMP_RET_KILL_PROCESS;
#endif
// Refused and not deadly: a library that asks for a file goes on without it.
constexpr uint32_t kProbed = SECCOMP_RET_ERRNO | EPERM;

// Holds if (argument & mask) == value.
struct Condition {
  uint8_t argument = 0;
  uint64_t mask = 0;
  uint64_t value = 0;
};

// A number may have several rules; the first whose conditions hold applies.
struct Rule {
  long number = 0;
  std::vector<Condition> conditions;
};

constexpr Condition Is(uint8_t argument, uint64_t value) {
  return {.argument = argument, .mask = UINT64_MAX, .value = value};
}
constexpr Condition Only(uint8_t argument, uint64_t bits) {
  return {.argument = argument, .mask = ~bits, .value = 0};
}

// Everything that a worker needs: its socket and the memory files that come through it, memory that
// holds data and no code, and what the C library does to wait, to end and to tell the time. Nothing
// here names a file, an address or another process. Arguments are compared where a call could do
// more than that.
std::vector<Rule> Allowed() {
  std::vector<Rule> rules = {
      {SYS_read, {}},
      {SYS_write, {}},
      {SYS_writev, {}},
      {SYS_pread64, {}},
      {SYS_lseek, {}},
      {SYS_fstat, {}},
      {SYS_close, {}},
      {SYS_recvmsg, {}},
      {SYS_recvfrom, {}},
      {SYS_sendmsg, {}},
      {SYS_sendto, {Is(4, 0)}},  // to whom it is connected
      {SYS_fcntl, {Is(1, F_GET_SEALS)}},
      {SYS_fcntl, {Is(1, F_ADD_SEALS)}},
      {SYS_memfd_create, {Is(1, MFD_CLOEXEC | MFD_ALLOW_SEALING)}},
      {SYS_mmap,
       {Only(2, PROT_READ | PROT_WRITE),
        {.argument = 3, .mask = MAP_TYPE | MAP_ANONYMOUS, .value = MAP_PRIVATE | MAP_ANONYMOUS}}},
      {SYS_mprotect, {Only(2, PROT_READ | PROT_WRITE)}},
      {SYS_mremap, {}},
      {SYS_munmap, {}},
      {SYS_madvise, {}},
      {SYS_brk, {}},
      {SYS_futex, {}},
      {SYS_sched_yield, {}},
      {SYS_restart_syscall, {}},
      {SYS_rt_sigaction, {}},
      {SYS_rt_sigprocmask, {}},
      {SYS_rt_sigreturn, {}},
      {SYS_sigaltstack, {}},
      {SYS_tgkill, {Is(0, static_cast<uint64_t>(::getpid()))}},  // abort
      {SYS_getpid, {}},
      {SYS_gettid, {}},
      {SYS_getrandom, {}},
      {SYS_getrusage, {}},
      {SYS_prlimit64, {Is(0, 0), Is(2, 0)}},  // what its own limits are
      {SYS_clock_gettime, {}},
      {SYS_clock_getres, {}},
      {SYS_gettimeofday, {}},
      {SYS_exit, {}},
      {SYS_exit_group, {}}};
  // Sanitizers read /proc and their own symbols when they report.
  if (kSanitizer) {
    rules.push_back({SYS_openat, {Only(2, O_RDONLY | O_CLOEXEC)}});
    rules.push_back({SYS_newfstatat, {}});
    rules.push_back({SYS_readlinkat, {}});
  }
  return rules;
}

// Calls that libraries try and do without: streams ask whether they are terminals and how large
// their blocks are, locales and the C library look for files and for the machine.
std::vector<Rule> Probed() {
  return {
    {SYS_ioctl, {}}, {SYS_openat, {}}, {SYS_newfstatat, {}}, {SYS_statx, {}}, {SYS_faccessat, {}},
        {SYS_readlinkat, {}}, {SYS_uname, {}}, {SYS_sysinfo, {}}, {SYS_sched_getaffinity, {}},
#if defined(__x86_64__)
        {SYS_open, {}}, {SYS_stat, {}}, {SYS_lstat, {}}, {SYS_access, {}}, {
      SYS_readlink, {}
    }
#endif
  };
}

class Program {
 public:
  void Load(uint32_t offset) { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }
  void Return(uint32_t verdict) { code_.push_back(BPF_STMT(BPF_RET | BPF_K, verdict)); }
  // Skips so many instructions if the loaded value equals, differs from, or is below the argument.
  void SkipIf(uint32_t value, uint8_t count) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0));
  }
  void SkipUnless(uint32_t value, uint8_t count) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count));
  }
  void SkipBelow(uint32_t value, uint8_t count) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, 0, count));
  }

  // number, then for each condition both halves: load, mask, compare.
  void Add(const Rule& rule, uint32_t verdict) {
    // Jumps of this machine are relative and count instructions. `left` is always how many follow
    // up to the end of the rule, which is where the next one begins.
    constexpr uint8_t kOfCondition = 6;
    uint8_t left = static_cast<uint8_t>(rule.conditions.size() * kOfCondition + 1);
    Load(offsetof(seccomp_data, nr));
    SkipUnless(static_cast<uint32_t>(rule.number), left);
    for (const Condition& condition : rule.conditions) {
      for (const bool high : {false, true}) {
        // The machine computes with 32 bits, arguments have 64. A test of the low half only would
        // let the high one say anything.
        const auto half = [high](uint64_t value) {
          return static_cast<uint32_t>(high ? value >> 32 : value);
        };
        Load(static_cast<uint32_t>(offsetof(seccomp_data, args) +
                                   condition.argument * sizeof(uint64_t) + (high ? 4 : 0)));
        code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, half(condition.mask)));
        left = static_cast<uint8_t>(left - 3);
        SkipUnless(half(condition.value), left);
      }
    }
    Return(verdict);
  }

  bool Install() {
    const sock_fprog program{.len = static_cast<unsigned short>(code_.size()),
                             .filter = code_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  std::vector<sock_filter> code_;
};

}  // namespace

Result<void> AllowWorkerCallsOnly() {
  if (kArchitecture == 0) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = "there is no list of system calls for this architecture",
                 .reason = "NOT_CONFINED"};
  }
  // First the interface: the numbers of system calls mean other calls in another one, and a 64-bit
  // process may use that of 32 bits.
  Program program;
  program.Load(offsetof(seccomp_data, arch));
  program.SkipIf(kArchitecture, 1);
  program.Return(SECCOMP_RET_KILL_PROCESS);
  program.Load(offsetof(seccomp_data, nr));
  program.SkipBelow(kFirstForeign, 1);
  program.Return(SECCOMP_RET_KILL_PROCESS);
  // A linear list: each call is compared with some fifty numbers in turn. A worker computes and
  // makes few calls.
  for (const Rule& rule : Allowed()) {
    program.Add(rule, SECCOMP_RET_ALLOW);
  }
  for (const Rule& rule : Probed()) {
    program.Add(rule, kProbed);
  }
  // What nobody has listed ends the process: new calls of new kernels are refused without a change
  // here.
  program.Return(kOthers);
  if (!program.Install()) {
    return Error{.code = ErrorCode::kFailedPrecondition,
                 .context = std::string("seccomp: ") + std::strerror(errno),
                 .reason = "NOT_CONFINED"};
  }
  return {};
}

}  // namespace kiln::worker
