// SPDX-License-Identifier: MIT
// A daemon behind another one: spec/cache 7, spec/daemon 15.
#include <thread>

#include <sqlite3.h>

#include "compiler/base/test_wait.h"
#include "server/test_server.h"
#include "tests/support/http_get.h"

namespace kiln::server {
namespace {

class Upstream : public ServerTest {
 protected:
  // The upstream: a daemon with its own folder.
  void StartFar() {
    auto started = Daemon::Start(OptionsIn(far_folder.path()), clock, log, failure);
    ASSERT_TRUE(started.ok()) << failure.component << ": " << failure.what;
    far = std::move(started).value();
  }
  std::string FarUrl() const { return "unix:" + far_folder.path() + "/run/kilnd.sock"; }

  // The daemon that tests talk to.
  void StartNear(bool release = true, bool writes = true) {
    Daemon::Options options = OptionsIn(folder.path());
    options.config.upstreams.push_back(
        {.url = FarUrl(), .writes = writes, .deadline = std::chrono::seconds(5)});
    options.writes_upstream = release;
    StartWith(options);
  }
  // Another machine, without a past.
  void Forget() {
    daemon.reset();
    std::filesystem::remove_all(folder.path() + "/cache");
  }
  v1::CompileRequest With(v1::Durability durability) {
    v1::CompileRequest request = RequestOf(GoodSource());
    request.set_durability(durability);
    request.set_want_explain(true);
    return request;
  }
  // Why the daemon is degraded.
  std::string Reasons() {
    grpc::ClientContext context;
    v1::ServerStatus status;
    EXPECT_TRUE(admin->GetStatus(&context, {}, &status).ok());
    std::string reasons;
    for (const std::string& reason : status.reasons()) {
      reasons += reason;
    }
    return reasons;
  }

  TestFolder far_folder;
  std::unique_ptr<Daemon> far;
};

TEST_F(Upstream, WhatOneMachineMade_AnotherFinds) {
  StartFar();
  StartNear();
  const v1::Outcome made = Compile(With(v1::DURABILITY_QUORUM));
  EXPECT_EQ(made.artifacts(0).origin(), v1::Artifact::COMPILED);
  EXPECT_TRUE(made.artifacts(0).stored());
  Forget();
  StartNear();
  const v1::Outcome found = Compile(With(v1::DURABILITY_NONE));
  EXPECT_EQ(found.artifacts(0).origin(), v1::Artifact::UPSTREAM);
  EXPECT_EQ(found.artifacts(0).signature(), made.artifacts(0).signature());
  EXPECT_EQ(found.artifacts(0).data(), made.artifacts(0).data());
  far.reset();  // what was found is here now
  daemon.reset();
  StartNear();
  EXPECT_EQ(Compile(With(v1::DURABILITY_NONE)).artifacts(0).data(), made.artifacts(0).data());
}

TEST_F(Upstream, Requests_AreCountedByOperationAndResult) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.upstreams.push_back({.url = FarUrl(), .deadline = std::chrono::seconds(5)});
  options.config.metrics = "127.0.0.1:0";
  options.writes_upstream = true;
  const auto count = [&](const std::string& op, const std::string& result) {
    const std::string text = HttpGet(daemon->metrics(), "/metrics");
    const std::string series =
        "\nkiln_upstream_requests_total{op=\"" + op + "\",result=\"" + result + "\"} ";
    const size_t at = text.find(series);
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + series.size()));
  };
  StartFar();
  StartWith(options);
  EXPECT_EQ(count("get", "ok"), 0);
  EXPECT_EQ(count("get", "miss"), 0);
  Compile(With(v1::DURABILITY_QUORUM));
  EXPECT_EQ(count("get", "ok"), 0);
  EXPECT_GT(count("get", "miss"), 0);
  EXPECT_GT(count("put", "ok"), 0);
  EXPECT_EQ(count("put", "unavailable"), 0);
  Forget();
  StartWith(options);
  EXPECT_EQ(Compile(With(v1::DURABILITY_NONE)).artifacts(0).origin(), v1::Artifact::UPSTREAM);
  EXPECT_GT(count("get", "ok"), 0);
  EXPECT_EQ(count("put", "ok"), 0);
  Forget();
  far.reset();
  StartWith(options);
  EXPECT_EQ(Compile(With(v1::DURABILITY_NONE)).artifacts(0).origin(), v1::Artifact::COMPILED);
  EXPECT_GT(count("get", "unavailable"), 0);
  EXPECT_EQ(count("get", "ok"), 0);
}

TEST_F(Upstream, RepairFetchesWhatDamageCost) {
  StartFar();
  StartNear();
  const v1::Outcome made = Compile(With(v1::DURABILITY_QUORUM));
  Stop();
  {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((folder.path() + "/cache/cache.db").c_str(), &db), SQLITE_OK);
    EXPECT_EQ(
        sqlite3_exec(db, "UPDATE entry SET sum=zeroblob(16) WHERE level=3; DELETE FROM explain",
                     nullptr, nullptr, nullptr),
        SQLITE_OK);
    sqlite3_close(db);
  }
  StartNear();
  grpc::ClientContext context;
  const auto reader = admin->RepairCache(&context, {});
  v1::CacheMaintenance last;
  for (v1::CacheMaintenance message; reader->Read(&message);) {
    last = message;
  }
  ASSERT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last.done().refetched(), 1u);
  EXPECT_EQ(last.done().recompiled(), 0u);
  far.reset();  // it is here again
  const v1::Outcome found = Compile(With(v1::DURABILITY_NONE));
  EXPECT_EQ(found.artifacts(0).data(), made.artifacts(0).data());
  EXPECT_NE(found.artifacts(0).origin(), v1::Artifact::COMPILED);
}

TEST_F(Upstream, Unreachable_CostsNothingButTheHitAndGetsItLater) {
  StartNear();  // nobody is there
  std::vector<std::string> signatures;
  v1::Outcome last;
  for (const auto& [option, on] : {std::pair("cheap", true), std::pair("cheap", false),
                                   std::pair("cut", true), std::pair("cut", false)}) {
    v1::CompileRequest request = With(v1::DURABILITY_QUORUM);
    v1::OptionValue& value = *request.mutable_variant()->add_options();
    value.set_name(option);
    value.set_flag(on);
    // Nobody asked for this project before.
    request.set_project(option + std::to_string(on ? 1 : 0));
    last = Compile(request);
    ASSERT_EQ(last.kind(), v1::Outcome::OK);
    if (last.artifacts(0).origin() == v1::Artifact::COMPILED) {
      EXPECT_FALSE(last.artifacts(0).stored()) << "nobody acknowledged";
      signatures.push_back(last.artifacts(0).signature());
    }
  }
  ASSERT_GE(signatures.size(), 3u);
  EXPECT_TRUE(Reasons().starts_with("upstream-down: " + FarUrl() + ": upstream: ")) << Reasons();
  v1::CompileRequest request = With(v1::DURABILITY_NONE);
  request.mutable_variant()->mutable_inline_program()->set_name("other");
  v1::OptionValue& quality = *request.mutable_variant()->add_options();
  quality.set_name("quality");
  quality.set_enum_("high");
  grpc::ClientContext compile_context;
  v1::CompileReply missed;
  ASSERT_TRUE(compile->Compile(&compile_context, request, &missed).ok());
  EXPECT_EQ(missed.explain().cause(), "upstream_unreachable");
  StartFar();
  const auto channel_there = grpc::CreateChannel(FarUrl(), grpc::InsecureChannelCredentials());
  const auto there = v1::CacheService::NewStub(channel_there);
  for (const std::string& signature : signatures) {  // from the journal
    EXPECT_TRUE(WaitUntil([&] {
      grpc::ClientContext context;
      v1::GetRowsRequest ask;
      v1::CacheRow& row = *ask.add_items();
      row.set_level(v1::CacheRow::SIGNATURE);
      row.set_key(signature);
      v1::GetRowsReply rows;
      EXPECT_TRUE(there->GetRows(&context, ask, &rows).ok());
      return !rows.items().empty();
    }));
  }
}

TEST_F(Upstream, PrivateBuildAndReadOnlyUpstream_WriteNothing) {
  StartFar();
  for (const auto& [release, writes] : {std::pair(false, true), std::pair(true, false)}) {
    StartNear(release, writes);
    Compile(With(v1::DURABILITY_LOCAL));
    Forget();
    StartNear(release, writes);
    EXPECT_EQ(Compile(With(v1::DURABILITY_LOCAL)).artifacts(0).origin(), v1::Artifact::COMPILED);
    Forget();
  }
}

TEST_F(Upstream, QuorumWithoutUpstream_IsRefused) {
  Start();
  grpc::ClientContext context;
  v1::CompileReply reply;
  EXPECT_EQ(compile->Compile(&context, With(v1::DURABILITY_QUORUM), &reply).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf(context).reason(), "NO_UPSTREAM");
  grpc::ClientContext batch_context;
  v1::StartBatchRequest request = BatchOf(GoodSource());
  request.set_durability(v1::DURABILITY_QUORUM);
  v1::StartBatchReply started;
  EXPECT_EQ(batch->StartBatch(&batch_context, request, &started).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf(batch_context).reason(), "NO_UPSTREAM");
}

// Results that are known here count only when the upstream has acknowledged them, however often
// they are asked for.
TEST_F(Upstream, QuorumOfWhatIsKnown_WaitsForTheUpstream) {
  for (const v1::Durability before : {v1::DURABILITY_NONE, v1::DURABILITY_LOCAL}) {
    Forget();
    StartNear();  // nobody is there
    Compile(With(before));
    for (int round = 0; round < 2; ++round) {
      EXPECT_FALSE(Compile(With(v1::DURABILITY_QUORUM)).artifacts(0).stored()) << round;
      v1::StartBatchRequest request = BatchOf(GoodSource());
      request.set_durability(v1::DURABILITY_QUORUM);
      std::map<int, int> seen;
      const v1::BatchEvent::Final last = Watch(StartBatch(request).batch_id(), seen).final();
      EXPECT_EQ(last.exit_hint(), 8u) << round;
      EXPECT_NE(last.problem(), "") << round;
    }
    EXPECT_TRUE(Compile(With(v1::DURABILITY_LOCAL)).artifacts(0).stored());
    StartFar();
    EXPECT_TRUE(
        WaitUntil([&] { return Compile(With(v1::DURABILITY_QUORUM)).artifacts(0).stored(); }));
    far.reset();
  }
}

TEST_F(Upstream, QuorumOfAnUpstreamThatIsOnlyRead_IsRefused) {
  StartFar();
  StartNear(true, false);
  grpc::ClientContext context;
  v1::CompileReply reply;
  EXPECT_EQ(compile->Compile(&context, With(v1::DURABILITY_QUORUM), &reply).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(DetailOf(context).reason(), "NO_UPSTREAM");
}

// What a batch with quorum has stored is at the upstream when the batch says that it is done.
TEST_F(Upstream, QuorumOfABatch_WaitsForTheUpstream) {
  StartFar();
  StartNear();
  v1::StartBatchRequest request = BatchOf(GoodSource());
  request.set_durability(v1::DURABILITY_QUORUM);
  std::map<int, int> seen;
  const v1::BatchEvent made = Watch(StartBatch(request).batch_id(), seen);
  EXPECT_GT(made.final().counts().compiled(), 0u);
  EXPECT_EQ(made.final().exit_hint(), 0u);
  // Nothing waits in a queue: the machine is lost at once, and another one finds everything.
  Forget();
  StartNear();
  const v1::BatchEvent found = Watch(StartBatch(request).batch_id(), seen);
  EXPECT_EQ(found.final().counts().compiled(), 0u);
  EXPECT_EQ(found.final().counts().results_done(), made.final().counts().results_done());
}

TEST_F(Upstream, QuorumOfABatchWithoutAnswer_EndsWithResultsThatAreNotStored) {
  StartNear();  // nobody is there
  v1::StartBatchRequest request = BatchOf(GoodSource());
  request.set_durability(v1::DURABILITY_QUORUM);
  std::map<int, int> seen;
  const v1::BatchEvent last = Watch(StartBatch(request).batch_id(), seen);
  EXPECT_EQ(last.final().state(), v1::Batch::DONE);
  EXPECT_GT(last.final().counts().compiled(), 0u);
  EXPECT_NE(last.final().exit_hint(), 0u);
}

}  // namespace
}  // namespace kiln::server
