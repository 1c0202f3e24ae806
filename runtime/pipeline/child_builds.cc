// SPDX-License-Identifier: MIT
// Parent to child: u64 size and that many bytes for each job; size 0 is the end. Child to parent:
// one byte when it is ready, one after each job and one after the end.
#include "runtime/pipeline/child_builds.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "runtime/pipeline/create/desc_bytes.h"
#include "runtime/pipeline/driver/driver_identity.h"
#include "runtime/pipeline/memory_source.h"
#include "runtime/pipeline/pipelines/pipelines_build.h"
#include "runtime/pipeline/pipelines/pipelines_first_use.h"
#include "runtime/pipeline/pipelines/pipelines_register.h"
#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {
namespace {

constexpr uint8_t kDone = 1;
constexpr int kChildSocket = 3;
constexpr int kLookMs = 50;  // how soon a wait finds that it was cancelled
constexpr std::chrono::seconds kSaveEvery{2};
// Far above any job, and it keeps a torn size from taking all memory.
constexpr uint64_t kMaxJob = uint64_t{1} << 30;

// MSG_NOSIGNAL, because a child that died must be an answer here and not a signal that ends the
// parent.
bool SendAll(int socket, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  return true;
}

bool ReceiveAll(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    // Zero is the end of the stream: the other side has closed it or has died.
    if (got <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
  return true;
}

bool Send(int socket, ByteView message) {
  Bytes size;
  AppendLittle(size, static_cast<uint64_t>(message.size()));
  return SendAll(socket, size) && SendAll(socket, message);
}

bool Answer(int socket) { return SendAll(socket, std::as_bytes(std::span(&kDone, 1))); }

void AppendSized(Bytes& out, ByteView bytes) {
  AppendLittle(out, static_cast<uint64_t>(bytes.size()));
  Append(out, bytes);
}

// Both sides are one build of kiln on one machine, and so structures may travel as they lie in
// memory.
Bytes Encode(const ChildJob& job) {
  Bytes out;
  AppendSized(out, EncodeDesc(job.desc));
  // Stages and code lie side by side, one of each for every module.
  AppendLittle(out, static_cast<uint32_t>(job.words.size()));
  for (size_t i = 0; i < job.words.size(); ++i) {
    // Zero means no stage.
    AppendLittle(out, job.stages[i] ? static_cast<uint32_t>(*job.stages[i]) + 1 : 0U);
    AppendSized(out, std::as_bytes(job.words[i]));
  }
  AppendSized(out, std::as_bytes(std::span(job.hints)));
  return out;
}

// Of a message that this build of kiln has sent; what does not fit reads as nothing.
class JobReader {
 public:
  explicit JobReader(ByteView bytes) : left_(bytes) {}

  template <class T>
  T Number() {
    const ByteView bytes = Take(sizeof(T));
    return bytes.empty() ? T{} : ReadLittle<T>(bytes);
  }
  ByteView Sized() { return Take(Number<uint64_t>()); }

 private:
  ByteView Take(uint64_t size) {
    const ByteView taken = size <= left_.size() ? left_.first(size) : ByteView();
    // A size beyond the end takes nothing, and so everything behind it reads as nothing, too.
    left_ = left_.subspan(taken.size());
    return taken;
  }
  ByteView left_;
};

// The pipeline is created and drawn once, as a warm start would.
Result<bool> MakePipeline(PipelinesState& state, ByteView message) {
  JobReader reader(message);
  KILN_TRY(PipelineDesc desc, DecodeDesc(reader.Sized()));
  auto source = std::make_shared<MemorySource>();
  std::vector<CodeRef> code;
  for (auto left = reader.Number<uint32_t>(); left > 0; --left) {
    const auto stage = reader.Number<uint32_t>();
    const ByteView words = reader.Sized();
    CodeRef& ref = code.emplace_back();
    // The digest is computed again and not sent: it costs little, and the source refuses bytes that
    // do not have it.
    ref.digest = DigestOf(words);
    if (stage != 0) {
      ref.stage = static_cast<artifact::Stage>(stage - 1);
    }
    KILN_TRY_VOID(source->AddBytes(ref.digest, Bytes(words.begin(), words.end())));
  }
  const ByteView raw = reader.Sized();
  // Bytes behind the last whole hint would be of another build, and are left out.
  std::vector<ImageHint> hints(raw.size() / sizeof(ImageHint));
  std::memcpy(hints.data(), raw.data(), hints.size() * sizeof(ImageHint));
  KILN_TRY(const PipelineId id, RegisterPipeline(state, std::move(desc), std::move(code),
                                                 std::move(source), hints, Lane::kSoon));
  const std::shared_ptr<Build> build = state.slots[id].version.load()->build;
  // The worker number is that behind the last thread; this process has no threads.
  if (build->Claim()) {
    WorkOn(state, build, state.queue.threads());
  }
  // The first use is what crashes some drivers, so creation alone would not be enough.
  return RunFirstUses(state, std::span(&build, 1)).ok();
}

}  // namespace

// The device is chosen in the child again by its name and driver identity. A child that finds
// another driver must not build: its result would say nothing about this one.
StartChild SpawnPipelineChild(const Device& device) {
  return [name = device.identity().name, identity = DriverIdentity(device).hex()](
             const std::string& cache_folder) -> Result<ChildProcess> {
    std::error_code error;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
    // The program lies beside the running one if it was installed that way; otherwise the search
    // path decides.
    const auto beside = self.parent_path() / "kiln_pipeline_child";
    const std::string program = !error && std::filesystem::exists(beside, error)
                                    ? beside.string()
                                    : std::string("kiln_pipeline_child");
    // Both ends are closed on exec; only the copy that the child gets as its third descriptor stays
    // open.
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return Error{ErrorCode::kUnavailable, std::strerror(errno), ""};
    }
    // posix_spawn wants pointers that are not const, so the texts are copies.
    std::string arguments[] = {program, name, identity, cache_folder};
    char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                    arguments[3].data(), nullptr};
    // posix_spawn and not fork: this process has threads and a driver with locks, and between fork
    // and exec hardly anything would be safe.
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], kChildSocket);
    pid_t pid = 0;
    const int failed = posix_spawnp(&pid, program.c_str(), &actions, nullptr, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    // With its end closed here, the socket reports the end of the child.
    close(ends[1]);
    if (failed != 0) {
      close(ends[0]);
      return Error{ErrorCode::kUnavailable,
                   fmt::format("cannot run '{}': {}", program, std::strerror(failed)), ""};
    }
    return ChildProcess{.pid = pid, .socket = ends[0]};
  };
}

// The child says that it is ready before the first job, so that the time for starting a driver does
// not count as that of a pipeline.
Result<void> ChildBuilds::Start() {
  KILN_TRY(child_, config_.start(config_.cache_folder));
  ++children_;
  KILN_TRY(const Fate fate, Await());
  if (fate != Fate::kLived) {
    Kill();
    return Error{ErrorCode::kUnavailable, "the child that makes pipelines ended at its start", ""};
  }
  return {};
}

// SIGKILL, since a child that hangs in a driver hears nothing else. It is waited for, or it would
// stay as a zombie.
void ChildBuilds::Kill() {
  if (child_.socket < 0) {
    return;
  }
  close(child_.socket);
  kill(child_.pid, SIGKILL);
  while (waitpid(child_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = {};
}

// Short waits in a loop: a cancelled warm start is noticed soon, though nothing wakes the socket
// up.
Result<ChildBuilds::Fate> ChildBuilds::Await() {
  const auto deadline = std::chrono::steady_clock::now() + config_.timeout;
  do {
    pollfd ready{child_.socket, POLLIN, 0};
    if (poll(&ready, 1, kLookMs) > 0) {
      uint8_t answer = 0;
      const bool got = ReceiveAll(child_.socket, std::as_writable_bytes(std::span(&answer, 1)));
      // The end of the stream means that the process is gone, whatever ended it.
      return got ? Fate::kLived : Fate::kDied;
    }
    if (config_.stopped && config_.stopped()) {
      return Error{ErrorCode::kCancelled, "the warm start was cancelled", ""};
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return Fate::kHung;
}

// After a death or a hang the child is gone, and the next job starts a new one; so each job is
// tried with a process that was well before.
Result<ChildBuilds::Fate> ChildBuilds::Try(const ChildJob& job) {
  if (child_.socket < 0) {
    KILN_TRY_VOID(Start());
  }
  Fate fate = Fate::kDied;
  if (Send(child_.socket, Encode(job))) {
    KILN_TRY(fate, Await());
  }
  if (fate != Fate::kLived) {
    Kill();
  }
  return fate;
}

// An empty message asks the child to save its cache, which holds what the parent then finds.
void ChildBuilds::End() {
  if (child_.socket >= 0 && Send(child_.socket, {})) {
    (void)Await();  // what was not saved costs time only
  }
  Kill();
}

int ServeChildBuilds(int socket, const Device& device, const PipelinesConfig& config) {
  PipelinesConfig own = config;
  // The child has one job at a time, which its only thread does.
  own.threads = 0;
  auto made = Pipelines::Create(device, own);
  if (!made.ok() || !Answer(socket)) {
    return 1;
  }
  PipelinesState& state = (*made)->state();
  auto saved = std::chrono::steady_clock::now();
  for (;;) {
    uint64_t size = 0;
    if (!ReceiveAll(socket, std::as_writable_bytes(std::span(&size, 1))) || size > kMaxJob) {
      return 1;  // the parent has gone
    }
    // The owner is destroyed before the answer, so the cache is on the disk when the parent reads
    // it.
    if (size == 0) {
      made->reset();  // saves
      return Answer(socket) ? 0 : 1;
    }
    Bytes message(size);
    if (!ReceiveAll(socket, message)) {
      return 1;
    }
    // An error is the parent's to find: here it matters that this process lives.
    (void)MakePipeline(state, message);
    if (std::chrono::steady_clock::now() - saved > kSaveEvery) {  // for those after a crash
      (void)(*made)->SaveCache();
      saved = std::chrono::steady_clock::now();
    }
    if (!Answer(socket)) {
      return 1;
    }
  }
}

}  // namespace kiln::runtime
