// SPDX-License-Identifier: MIT
// load --kilnd FILE [--seconds N] [--clients N] [--message MIB] [--json]: many clients at once
// against a daemon of its own, among them some that mean harm: they do not read, stop in the
// middle, send rubbish or a message of 1 GiB. Fails if an honest call ends as no document says, if
// the daemon dies, or if its memory grows after the first third. See spec/daemon 9, 10, 16
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <grpcpp/generic/generic_stub.h>
#include <nlohmann/json.hpp>

#include "server/test_server.h"

namespace kiln::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Settings {
  std::string kilnd;
  uint32_t seconds = 5;
  uint32_t clients = 24;
  uint32_t message_mebibytes = 1024;
  bool json = false;
};

uint64_t ResidentOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// kilnd as a process of its own, ended when this goes.
class Process {
 public:
  Process(const Settings& settings, const std::string& folder) : socket_(folder + "/run/k.sock") {
    std::vector<std::string> words = {
        settings.kilnd,       "--listen.unix=" + socket_, "--cache.dir=" + folder + "/cache",
        "--cache.memory=32M", "--cache.min_free=0",       "--log.level=error"};
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    if (::posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
      pid_ = -1;
    }
  }
  ~Process() {
    if (alive()) {
      (void)::kill(pid_, SIGTERM);
      (void)::waitpid(pid_, nullptr, 0);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool alive() const { return pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0; }
  pid_t pid() const { return pid_; }
  const std::string& socket() const { return socket_; }

 private:
  const std::string socket_;
  pid_t pid_ = -1;
};

// What honest clients met.
class Tally {
 public:
  void Add(const std::string& what, milliseconds took) {
    const std::lock_guard lock(mutex_);
    ++counts_[what];
    times_.push_back(static_cast<uint32_t>(took.count()));
  }
  std::map<std::string, uint64_t> counts() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  uint32_t Percentile(double share) {
    const std::lock_guard lock(mutex_);
    if (times_.empty()) {
      return 0;
    }
    const auto at =
        times_.begin() + static_cast<ptrdiff_t>(static_cast<double>(times_.size() - 1) * share);
    std::nth_element(times_.begin(), at, times_.end());
    return *at;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
  std::vector<uint32_t> times_;
};

// The only ways in which a daemon that is busy, or whose store is not open yet, may refuse an
// honest call.
bool IsDocumented(const grpc::Status& status, const v1::ErrorDetail& detail) {
  return status.ok() ||
         (status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED &&
          detail.reason() == "QUEUE_FULL" && detail.retry_after_ms() >= 50) ||
         (status.error_code() == grpc::StatusCode::UNAVAILABLE && detail.reason() == "STARTING" &&
          detail.retry_after_ms() > 0);
}

class Honest {
 public:
  Honest(const std::string& socket, uint32_t seed) : random_(seed) {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel =
        grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), own);
    compile_ = v1::CompileService::NewStub(channel);
    admin_ = v1::AdminService::NewStub(channel);
    batch_ = v1::BatchService::NewStub(channel);
  }

  void Once(Tally& tally) {
    const auto begin = Clock::now();
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const auto [what, status] = Call(context);
    const v1::ErrorDetail detail = DetailOf(context);
    const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
    if (IsDocumented(status, detail)) {
      tally.Add(status.ok() ? what : what + " " + detail.reason(), took);
    } else {
      tally.Add(fmt::format("WRONG {} {} {}", what, static_cast<int>(status.error_code()),
                            status.error_message()),
                took);
    }
    if (!status.ok()) {
      std::this_thread::sleep_for(milliseconds(detail.retry_after_ms()));
    }
  }

 private:
  std::pair<std::string, grpc::Status> Call(grpc::ClientContext& context) {
    switch (random_() % 6) {
      case 0: {
        v1::ServerStatus reply;
        return {"GetStatus", admin_->GetStatus(&context, v1::GetStatusRequest(), &reply)};
      }
      case 1: {
        v1::ListOptionsRequest request;
        *request.mutable_program() = ProgramOf(GoodSource(), true);
        v1::ListOptionsReply reply;
        return {"ListOptions", compile_->ListOptions(&context, request, &reply)};
      }
      case 2: {
        v1::StartBatchReply reply;
        return {"StartBatch", batch_->StartBatch(&context, BatchOf(GoodSource()), &reply)};
      }
      case 3: {
        v1::CompileReply reply;
        return {"Compile wrong source",
                compile_->Compile(&context, RequestOf(WrongSource()), &reply)};
      }
      default: {
        v1::CompileRequest request = RequestOf(GoodSource());
        v1::OptionValue& option = *request.mutable_variant()->add_options();
        option.set_name("cheap");
        option.set_flag(random_() % 2 == 0);
        v1::CompileReply reply;
        const grpc::Status status = compile_->Compile(&context, request, &reply);
        const bool right = !status.ok() || reply.outcome().kind() == v1::Outcome::OK;
        return {right ? "Compile" : "WRONG outcome", status};
      }
    }
  }

  std::mt19937 random_;
  std::unique_ptr<v1::CompileService::Stub> compile_;
  std::unique_ptr<v1::AdminService::Stub> admin_;
  std::unique_ptr<v1::BatchService::Stub> batch_;
};

// A connection that says `bytes` and then nothing; -1 if there is none.
int Speak(const std::string& socket_path, const std::string& bytes) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, socket_path.data(), socket_path.size());
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    (void)::close(fd);
    return -1;
  }
  (void)::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return fd;
}

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Random bytes, some of them behind a right beginning.
void Rubbish(const std::string& socket, const std::atomic<bool>& stop) {
  std::mt19937 random(1);
  while (!stop) {
    std::string bytes(random() % 4096, '\0');
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random()); });
    (void)::close(Speak(socket, (random() % 2 == 0 ? kPreface : "") + bytes));
    std::this_thread::sleep_for(milliseconds(5));
  }
}

// Connections that never finish their first message; at most 64 at a time.
void HalfOpen(const std::string& socket, const std::atomic<bool>& stop) {
  std::vector<int> open;
  while (!stop) {
    open.push_back(Speak(socket, open.size() % 2 == 0 ? "PRI * HT" : kPreface));
    if (open.size() == 64) {
      for (const int fd : open) {
        (void)::close(fd);
      }
      open.clear();
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
  for (const int fd : open) {
    (void)::close(fd);
  }
}

// Asks for a stream of events and never reads it.
void NeverReads(const std::string& socket, const std::atomic<bool>& stop) {
  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  own.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1024);
  const auto compile = v1::CompileService::NewStub(
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), own));
  while (!stop) {
    grpc::ClientContext context;
    v1::FetchRequest request;
    *request.add_variants() = RequestOf(GoodSource()).variant();
    request.set_on_miss(v1::FetchRequest::COMPILE);
    request.set_inline_data(true);
    const auto stream = compile->Fetch(&context, request);
    for (int i = 0; i < 50 && !stop; ++i) {
      std::this_thread::sleep_for(milliseconds(20));
    }
    context.TryCancel();
    (void)stream->Finish();
  }
}

// A message of `mebibytes`, made of one piece of memory. Gives what it ended with. It takes turns
// with the honest clients, so that it needs the longer the more there are.
grpc::StatusCode Enormous(const std::string& socket, uint32_t mebibytes) {
  const auto channel = grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(10));
  grpc::CompletionQueue queue;
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  const std::string text(1 << 20, 'x');
  const grpc::Slice piece(text);
  const std::vector<grpc::Slice> pieces(mebibytes, piece);
  const grpc::ByteBuffer request(pieces.data(), pieces.size());
  const auto call = stub.PrepareCall(&context, "/kiln.v1.CompileService/Compile", &queue);
  call->StartCall(nullptr);
  (void)wait();
  call->WriteLast(request, grpc::WriteOptions(), nullptr);
  (void)wait();
  grpc::Status status;
  call->Finish(&status, nullptr);
  (void)wait();
  queue.Shutdown();
  return status.error_code();
}

struct Report {
  std::map<std::string, uint64_t> counts;
  uint32_t p50_ms = 0, p99_ms = 0, enormous_ms = 0;
  uint64_t early_bytes = 0, late_bytes = 0;  // resident after a third and at the end
  std::string enormous;
  bool alive = false;

  bool Passes() const {
    const bool all_right = std::none_of(counts.begin(), counts.end(), [](const auto& row) {
      return row.first.starts_with("WRONG");
    });
    constexpr uint64_t kSlack = uint64_t{32} << 20;  // allocator, threads that come and go
    return all_right && alive && !counts.empty() && enormous == "RESOURCE_EXHAUSTED" &&
           late_bytes <= early_bytes + early_bytes / 10 + kSlack;
  }
};

Report Run(const Settings& settings) {
  TestFolder folder;
  const Process process(settings, folder.path());
  Report report;
  for (int i = 0; i < 500 && ::access(process.socket().c_str(), F_OK) != 0; ++i) {
    std::this_thread::sleep_for(milliseconds(20));
  }
  Tally tally;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < settings.clients; ++i) {
    threads.emplace_back([&, i] {
      Honest client(process.socket(), i);
      while (!stop) {
        client.Once(tally);
      }
    });
  }
  for (const auto harm : {Rubbish, HalfOpen, NeverReads}) {
    threads.emplace_back([&, harm] { harm(process.socket(), stop); });
  }
  const auto begin = Clock::now();
  const std::chrono::seconds length(settings.seconds);
  const grpc::StatusCode enormous = Enormous(process.socket(), settings.message_mebibytes);
  report.enormous_ms =
      static_cast<uint32_t>(std::chrono::duration_cast<milliseconds>(Clock::now() - begin).count());
  report.enormous = enormous == grpc::StatusCode::RESOURCE_EXHAUSTED
                        ? "RESOURCE_EXHAUSTED"
                        : fmt::format("status {}", static_cast<int>(enormous));
  std::this_thread::sleep_until(begin + length / 3);
  report.early_bytes = ResidentOf(process.pid());
  std::this_thread::sleep_until(begin + length);
  report.late_bytes = ResidentOf(process.pid());
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  report.alive = process.alive();
  report.counts = tally.counts();
  report.p50_ms = tally.Percentile(0.5);
  report.p99_ms = tally.Percentile(0.99);
  return report;
}

int Main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Many clients at once, some of them hostile, against a daemon of its own");
  app.add_option("--kilnd", settings.kilnd, "The program")->required();
  app.add_option("--seconds", settings.seconds, "How long; the long form is 600");
  app.add_option("--clients", settings.clients, "Honest ones; the long form is 200");
  app.add_option("--message", settings.message_mebibytes, "MiB of the message that is too large");
  app.add_flag("--json", settings.json, "One object");
  CLI11_PARSE(app, argc, argv);
  const Report report = Run(settings);
  const nlohmann::ordered_json object{{"seconds", settings.seconds},
                                      {"clients", settings.clients},
                                      {"calls", report.counts},
                                      {"p50_ms", report.p50_ms},
                                      {"p99_ms", report.p99_ms},
                                      {"early_bytes", report.early_bytes},
                                      {"late_bytes", report.late_bytes},
                                      {"enormous_message", report.enormous},
                                      {"enormous_message_ms", report.enormous_ms},
                                      {"alive", report.alive},
                                      {"passes", report.Passes()}};
  fmt::print("{}\n", object.dump(settings.json ? -1 : 2));
  return report.Passes() ? 0 : 1;
}

}  // namespace
}  // namespace kiln::server

int main(int argc, char** argv) {
  const int code = kiln::server::Main(argc, argv);
  (void)std::fflush(stdout);
  _exit(code);  // gRPC may take seconds to end
}
