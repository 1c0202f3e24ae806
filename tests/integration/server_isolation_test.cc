// SPDX-License-Identifier: MIT
// Front ends in worker processes: the same bytes, the same words, and a death that costs one
// attempt. See spec/daemon 12.3, 12.4
#include <csignal>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_wait.h"
#include "server/compile/programs/program_pool.h"
#include "server/test_server.h"
#include "server/worker/pool.h"

namespace kiln::server {
namespace {

class Isolation : public ServerTest {
 protected:
  void StartIsolated() {
    Daemon::Options options = OptionsIn(folder.path());
    options.config.isolate_front_ends = true;
    StartWith(options);
  }

  v1::ServerStatus Status() {
    grpc::ClientContext context;
    v1::ServerStatus status;
    EXPECT_TRUE(admin->GetStatus(&context, v1::GetStatusRequest(), &status).ok());
    return status;
  }

  // Kills a process that reads; false if none does within kTestPatience, or before `done`.
  bool KillReader(const std::future<v1::Outcome>& done) {
    const Duration until = clock.Monotonic() + kTestPatience;
    while (clock.Monotonic() < until &&
           done.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
      const v1::ServerStatus status = Status();
      for (const v1::ServerStatus::Worker& worker : status.workers()) {
        if (worker.job() == "rpl mist.rpl" && worker.pid() != killed) {
          killed = worker.pid();
          return kill(static_cast<pid_t>(worker.pid()), SIGKILL) == 0;
        }
      }
    }
    return false;
  }

  // Takes a while to be read.
  static std::string LongSource() {
    std::string text = GoodSource() + "\nf1 long_one (in f1 x)\n{\n";
    for (int i = 0; i < 20'000; ++i) {
      text += "    f1 a" + std::to_string(i) + " = x * " + std::to_string(i) + ".5 + 1.0;\n";
    }
    return text + "    return x;\n}\n";
  }

  std::future<v1::Outcome> CompileLong() {
    return std::async(std::launch::async, [this] {
      v1::CompileRequest request = RequestOf(long_text, false);
      return Compile(request);
    });
  }

  void PutLong() {
    grpc::ClientContext context;
    v1::PutSourcesReply reply;
    const auto writer = compile->PutSources(&context, &reply);
    const Digest digest = DigestOf(std::string_view(long_text));
    constexpr size_t kChunk = size_t{256} << 10;
    for (size_t at = 0; at < long_text.size(); at += kChunk) {
      v1::PutSourcesRequest chunk;
      chunk.mutable_digest()->set_id(Id(digest.id));
      chunk.mutable_digest()->set_size(digest.size);
      chunk.set_data(long_text.substr(at, kChunk));
      chunk.set_last(at + kChunk >= long_text.size());
      ASSERT_TRUE(writer->Write(chunk));
    }
    writer->WritesDone();
    ASSERT_TRUE(writer->Finish().ok());
  }

  const std::string long_text = LongSource();
  uint64_t killed = 0;
};

// Every source of the demo and some wrong ones, read here and in a process.
TEST_F(Isolation, SourcesReadApart_AreTheSameImagesAndDiagnostics) {
  std::vector<std::pair<std::string, std::string>> sources = {
      {"wrong.rpl", WrongSource()},
      {"empty.rpl", ""},
      {"twice.rpl", GoodSource() + GoodSource()},
      {"binary.rpl", std::string("\0\xff\xfe{", 4)},
      {"types.rpl", "f1 f (in f2 x) { return x + 1; }\n"}};
  const std::string demo = std::string(KILN_SOURCE_DIR) + "/examples/demo";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(demo)) {
    if (entry.path().extension() == ".rpl") {
      sources.emplace_back(entry.path().filename().string(), *ReadFile(entry.path().string()));
    }
  }
  ASSERT_GT(sources.size(), 10u);
  cache::MemoryStore here_store{nullptr, nullptr, {}}, apart_store{nullptr, nullptr, {}};
  worker::Pool workers({.program = OptionsIn("").config.worker_program, .workers = 2}, clock);
  compile::ProgramPool here(here_store, uint64_t{1} << 30);
  compile::ProgramPool apart(apart_store, uint64_t{1} << 30, {}, nullptr, &workers);
  for (const auto& [path, text] : sources) {
    const compile::Source source{.path = path,
                                 .digest = DigestOf(std::string_view(text)),
                                 .text = std::make_shared<const std::string>(text)};
    const auto a = here.Parse(source, {}, {});
    const auto b = apart.Parse(source, {}, {});
    ASSERT_TRUE(a.ok() && b.ok()) << path;
    EXPECT_EQ((*a)->diagnostics, (*b)->diagnostics) << path;
    ASSERT_EQ((*a)->module == nullptr, (*b)->module == nullptr) << path;
    if ((*a)->module != nullptr) {
      EXPECT_TRUE(std::ranges::equal((*a)->module->image(), (*b)->module->image())) << path;
      EXPECT_EQ((*a)->semantic_id, (*b)->semantic_id) << path;
    }
  }
  EXPECT_EQ(workers.counters().killed, 0u);
}

TEST_F(Isolation, DaemonWithIsolation_GivesTheSameArtifactsAndMessages) {
  Start();
  const v1::Outcome good = Compile(RequestOf(GoodSource()));
  const v1::Outcome wrong = Compile(RequestOf(WrongSource()));
  Stop();
  TestFolder other;
  Daemon::Options options = OptionsIn(other.path());
  options.config.isolate_front_ends = true;
  StartWith(options);
  const v1::Outcome good_apart = Compile(RequestOf(GoodSource()));
  ASSERT_EQ(good_apart.artifacts_size(), 1);
  EXPECT_EQ(good_apart.artifacts(0).data(), good.artifacts(0).data());
  EXPECT_EQ(good_apart.artifacts(0).metadata_data(), good.artifacts(0).metadata_data());
  const v1::Outcome wrong_apart = Compile(RequestOf(WrongSource()));
  ASSERT_EQ(wrong_apart.diagnostics_size(), wrong.diagnostics_size());
  for (int i = 0; i < wrong.diagnostics_size(); ++i) {
    EXPECT_EQ(wrong_apart.diagnostics(i).SerializeAsString(),
              wrong.diagnostics(i).SerializeAsString());
  }
  EXPECT_EQ(Status().workers_size(), 1);  // one that reads, one source after another
  Stop();
}

TEST_F(Isolation, WorkerIsKilledOnce_TheSourceIsReadAgain) {
  StartIsolated();
  PutLong();
  std::future<v1::Outcome> outcome = CompileLong();
  EXPECT_TRUE(KillReader(outcome));
  EXPECT_EQ(outcome.get().kind(), v1::Outcome::OK);
}

TEST_F(Isolation, WorkerIsKilledThreeTimes_TheSourceIsPoison) {
  StartIsolated();
  PutLong();
  std::future<v1::Outcome> outcome = CompileLong();
  int kills = 0;  // one that comes before the process has the source does not count
  while (kills < 10 && KillReader(outcome)) {
    ++kills;
  }
  EXPECT_GE(kills, 3);
  EXPECT_LE(kills, 6);
  const v1::Outcome poison = outcome.get();
  EXPECT_EQ(poison.kind(), v1::Outcome::POISON);
  ASSERT_EQ(poison.diagnostics_size(), 1);
  EXPECT_EQ(poison.diagnostics(0).code(), "INPUT_POISON");
  EXPECT_EQ(Compile(RequestOf(long_text, false)).kind(), v1::Outcome::POISON);  // from the store
  v1::CompileRequest again = RequestOf(long_text, false);
  again.set_retry_failed(true);
  EXPECT_EQ(Compile(again).kind(), v1::Outcome::OK);
}

}  // namespace
}  // namespace kiln::server
