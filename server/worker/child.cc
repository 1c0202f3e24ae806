// SPDX-License-Identifier: MIT
#include "server/worker/child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler/recipe/recipe.h"
#include "server/worker/message.h"
#include "server/worker/reading.h"

namespace kiln::worker {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimitsMemory = false;  // the shadow of a sanitizer is larger than any limit
#else
constexpr bool kLimitsMemory = true;
#endif

void Limit(decltype(RLIMIT_AS) what, uint64_t soft) {
  rlimit limit{};
  if (::getrlimit(what, &limit) == 0) {
    limit.rlim_cur = std::min<rlim_t>(soft, limit.rlim_max);
    (void)::setrlimit(what, &limit);
  }
}

// Nothing that opens, connects or starts anything gets further than the kernel's door.
void CloseDoors() {
#if defined(__x86_64__)
  constexpr std::array kRefused = {
      SYS_open,   SYS_openat,  SYS_creat,    SYS_socket,   SYS_connect,  SYS_bind,  SYS_listen,
      SYS_accept, SYS_accept4, SYS_execve,   SYS_execveat, SYS_fork,     SYS_vfork, SYS_clone,
      SYS_ptrace, SYS_unlink,  SYS_unlinkat, SYS_rename,   SYS_renameat, SYS_mkdir, SYS_mkdirat,
      SYS_link,   SYS_symlink, SYS_truncate, SYS_chmod,    SYS_chown,    SYS_mount, SYS_kill};
  std::array<sock_filter, kRefused.size() + 6> filter{};
  size_t at = 0;
  filter[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  filter[at++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
  filter[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  filter[at++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (size_t i = 0; i < kRefused.size(); ++i) {
    const auto to_refusal = static_cast<uint8_t>(kRefused.size() - i);
    filter[at++] =
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(kRefused[i]), to_refusal, 0);
  }
  filter[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[at++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  const sock_fprog program{.len = static_cast<unsigned short>(at), .filter = filter.data()};
  (void)::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

uint64_t CpuSeconds() {
  rusage usage{};
  (void)::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
}

// What a front end makes of a source.
Message AnswerToRead(const Message& job) {
  Result<Bytes> read = ReadSource(job.text, job.payload);
  return read.ok()
             ? Message{.kind = MessageKind::kMade, .text = {}, .payload = std::move(read).value()}
             : Message{.kind = MessageKind::kRejected, .text = read.error().context, .payload = {}};
}

// "ENVIRONMENT RECIPE" and a module -> the answer.
Message AnswerTo(const Message& job) {
  if (job.kind == MessageKind::kRead) {
    return AnswerToRead(job);
  }
  const size_t space = job.text.find(' ');
  const auto environment = target::ParseEnvironment(job.text.substr(0, space));
  if (space == std::string::npos || !environment.has_value()) {
    return {.kind = MessageKind::kRejected, .text = "not a job", .payload = {}};
  }
  const Result<recipe::Recipe> parsed =
      recipe::ParseRecipe(job.text.substr(space + 1), *environment);
  if (!parsed.ok()) {
    return {.kind = MessageKind::kRejected, .text = parsed.error().context, .payload = {}};
  }
  recipe::Made made = recipe::Run(*parsed, job.payload);
  return {.kind = made.ok ? MessageKind::kMade : MessageKind::kRejected,
          .text = std::move(made.report),
          .payload = std::move(made.bytes)};
}

}  // namespace

int RunChild(int socket, const ChildLimits& limits) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)::signal(SIGINT, SIG_IGN);  // of the terminal; the daemon decides
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, kMaxPayload + 4096);  // memfds count
  if (kLimitsMemory) {
    Limit(RLIMIT_AS, limits.memory_bytes);
  }
  CloseDoors();
  for (;;) {
    const Result<Message> job = Receive(socket);
    if (!job.ok()) {
      return job.error().code == ErrorCode::kUnavailable ? 0 : 1;
    }
    if (job->kind != MessageKind::kJob && job->kind != MessageKind::kRead) {
      return 1;
    }
    Limit(RLIMIT_CPU, CpuSeconds() + limits.cpu_seconds);
    if (!Send(socket, {.kind = MessageKind::kTaken, .text = {}, .payload = {}}).ok() ||
        !Send(socket, AnswerTo(*job)).ok()) {
      return 0;
    }
  }
}

}  // namespace kiln::worker
