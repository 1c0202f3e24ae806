// SPDX-License-Identifier: MIT
// A daemon in this process and a client of its socket: what spec/daemon 4 promises, from outside.
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <gtest/gtest.h>

#include "compiler/base/test_wait.h"
#include "compiler/driver/stages.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

class Server : public ServerTest {};

TEST_F(Server, CompileTwice_SameBytesAndTheSecondIsAHit) {
  Start();
  const v1::Outcome cold = Compile(RequestOf(GoodSource()));
  const v1::Outcome warm = Compile(RequestOf(GoodSource()));
  ASSERT_EQ(cold.kind(), v1::Outcome::OK);
  ASSERT_EQ(cold.artifacts_size(), 1);
  ASSERT_EQ(warm.artifacts_size(), 1);
  EXPECT_EQ(cold.artifacts(0).origin(), v1::Artifact::COMPILED);
  EXPECT_EQ(warm.artifacts(0).origin(), v1::Artifact::MEMORY);
  EXPECT_EQ(cold.artifacts(0).code_size(), 2);
  EXPECT_FALSE(cold.artifacts(0).data().empty());
  EXPECT_EQ(cold.artifacts(0).data(), warm.artifacts(0).data());
  EXPECT_EQ(cold.artifacts(0).metadata_data(), warm.artifacts(0).metadata_data());
  grpc::ClientContext context;
  v1::ServerInfo info;
  ASSERT_TRUE(admin->GetServerInfo(&context, v1::GetServerInfoRequest(), &info).ok());
  EXPECT_EQ(cold.artifacts(0).build_id(), info.build_id().substr(0, 12));
  EXPECT_EQ(warm.artifacts(0).build_id(), cold.artifacts(0).build_id());
}

TEST_F(Server, Batch_HasAnOwnerAndAPriorityFrom0To9) {
  Start();
  v1::StartBatchRequest request = BatchOf(GoodSource());
  for (const auto& [priority, code] :
       {std::pair{9u, grpc::StatusCode::OK}, std::pair{10u, grpc::StatusCode::INVALID_ARGUMENT}}) {
    request.set_priority(priority);
    grpc::ClientContext context;
    v1::StartBatchReply reply;
    EXPECT_EQ(batch->StartBatch(&context, request, &reply).error_code(), code) << priority;
  }
  request.set_priority(0);  // it is the same batch
  v1::GetBatchRequest get;
  get.set_batch_id(StartBatch(request).batch_id());
  grpc::ClientContext context;
  v1::Batch started;
  ASSERT_TRUE(batch->GetBatch(&context, get, &started).ok());
  EXPECT_EQ(started.owner(), "local");
}

TEST_F(Server, Compile_GivesTheBytesOfTheDirectPath) {
  Start();
  const v1::Outcome outcome = Compile(RequestOf(GoodSource()));
  ASSERT_EQ(outcome.artifacts_size(), 1);
  const SourceFile file("mist.rpl", GoodSource());
  const auto linked = driver::LinkSources(std::span(&file, 1), ir::PipelineType::kGraphicsClassic);
  ASSERT_TRUE(linked.ok());
  const auto values = resolve::CheckOptions(linked.value->program, {});
  const std::vector<resolve::EntryPoint> entries = {{ir::Stage::kVertex, "mist_vertex"},
                                                    {ir::Stage::kFragment, "mist_fragment"}};
  const driver::BuildResult built = driver::BuildDirect(
      *linked.value, *values.value, entries, target::MakeTarget(target::Environment::kVulkan11));
  ASSERT_TRUE(built.ok());
  std::string code;
  for (const driver::StageCode& stage : built.products->code) {
    code += AsText(std::as_bytes(std::span(stage.words)));
  }
  EXPECT_EQ(outcome.artifacts(0).data(), code);
  EXPECT_EQ(outcome.artifacts(0).metadata_data(), AsText(built.products->metadata));
}

TEST_F(Server, WrongSource_IsAnAnswerWithAPlace) {
  Start();
  const v1::Outcome outcome = Compile(RequestOf(WrongSource()));
  EXPECT_EQ(outcome.kind(), v1::Outcome::SOURCE_ERROR);
  ASSERT_GT(outcome.diagnostics_size(), 0);
  EXPECT_EQ(outcome.diagnostics(0).code().substr(0, 3), "RPL");
  EXPECT_EQ(outcome.diagnostics(0).primary().path(), "mist.rpl");
  EXPECT_GT(outcome.diagnostics(0).primary().line(), 0u);
  EXPECT_GT(outcome.diagnostics(0).primary().end(), outcome.diagnostics(0).primary().begin());
}

TEST_F(Server, UnknownOption_IsRpl2003) {
  Start();
  v1::CompileRequest request = RequestOf(GoodSource());
  v1::OptionValue& option = *request.mutable_variant()->add_options();
  option.set_name("no_such_option");
  option.set_flag(true);
  const v1::Outcome outcome = Compile(request);
  EXPECT_EQ(outcome.kind(), v1::Outcome::SOURCE_ERROR);
  ASSERT_EQ(outcome.diagnostics_size(), 1);
  EXPECT_EQ(outcome.diagnostics(0).code(), "RPL2003");
}

TEST_F(Server, SourcesThatAreNotThere_AreListedAndMayBeUploaded) {
  Start();
  const v1::CompileRequest request = RequestOf(GoodSource(), false);
  {
    grpc::ClientContext context;
    v1::CompileReply reply;
    const grpc::Status status = compile->Compile(&context, request, &reply);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    const v1::ErrorDetail detail = DetailOf(context);
    EXPECT_EQ(detail.reason(), "SOURCES_MISSING");
    ASSERT_EQ(detail.missing_size(), 1);
    EXPECT_EQ(detail.missing(0).id(), Id(DigestOf(std::string_view(GoodSource())).id));
  }
  grpc::ClientContext context;
  v1::PutSourcesReply reply;
  auto stream = compile->PutSources(&context, &reply);
  v1::PutSourcesRequest chunk;
  *chunk.mutable_digest() = request.variant().inline_program().sources(0).digest();
  chunk.set_data(GoodSource().substr(0, 100));
  EXPECT_TRUE(stream->Write(chunk));
  chunk.set_data(GoodSource().substr(100));
  chunk.set_last(true);
  EXPECT_TRUE(stream->Write(chunk));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(reply.stored(), 1u);
  EXPECT_EQ(Compile(request).kind(), v1::Outcome::OK);
}

TEST_F(Server, UploadOfOtherBytes_IsRefused) {
  Start();
  grpc::ClientContext context;
  v1::PutSourcesReply reply;
  auto stream = compile->PutSources(&context, &reply);
  v1::PutSourcesRequest chunk;
  *chunk.mutable_digest() = ProgramOf("instance a: flag false;", false).sources(0).digest();
  chunk.set_data("instance b: flag false;");
  chunk.set_last(true);
  stream->Write(chunk);
  stream->WritesDone();
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(context).reason(), "DIGEST_MISMATCH");
}

TEST_F(Server, BadRequests_AreToldApart) {
  Start();
  struct Row {
    const char* what;
    std::function<void(v1::Program&)> change;
    grpc::StatusCode code;
    const char* reason;
  };
  using C = grpc::StatusCode;
  const std::vector<Row> rows = {
      {"no source", [](v1::Program& p) { p.clear_sources(); }, C::INVALID_ARGUMENT,
       "MALFORMED_REQUEST"},
      {"path", [](v1::Program& p) { p.mutable_sources(0)->set_path("../a.rpl"); },
       C::INVALID_ARGUMENT, "BAD_PATH"},
      {"absolute", [](v1::Program& p) { p.mutable_sources(0)->set_path("/a.rpl"); },
       C::INVALID_ARGUMENT, "BAD_PATH"},
      {"DEL in a path", [](v1::Program& p) { p.mutable_sources(0)->set_path("a\x7f.rpl"); },
       C::INVALID_ARGUMENT, "BAD_PATH"},
      {"C1 in a path", [](v1::Program& p) { p.mutable_sources(0)->set_path("a\u009b.rpl"); },
       C::INVALID_ARGUMENT, "BAD_PATH"},
      {"a path that turns", [](v1::Program& p) { p.mutable_sources(0)->set_path("a\u202e.rpl"); },
       C::INVALID_ARGUMENT, "BAD_PATH"},
      {"program with controls", [](v1::Program& p) { p.set_name("a\nb"); }, C::INVALID_ARGUMENT,
       "MALFORMED_REQUEST"},
      {"entry with controls",
       [](v1::Program& p) { p.mutable_entry_points(0)->set_function("mist\x1b[31m"); },
       C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
      {"digest", [](v1::Program& p) { p.mutable_sources(0)->set_inline_("x"); },
       C::INVALID_ARGUMENT, "DIGEST_MISMATCH"},
      {"pipeline", [](v1::Program& p) { p.set_pipeline("mesh"); }, C::INVALID_ARGUMENT,
       "MALFORMED_REQUEST"},
      {"form", [](v1::Program& p) { p.mutable_targets(0)->set_form(v1::Target::WGSL); }, C::OK, ""},
      {"recipe of text",
       [](v1::Program& p) {
         p.mutable_targets(0)->set_form(v1::Target::WGSL);
         p.mutable_targets(0)->add_recipes("val");
       },
       C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
      {"env", [](v1::Program& p) { p.mutable_targets(0)->set_env("metal"); }, C::INVALID_ARGUMENT,
       "MALFORMED_REQUEST"},
      {"target", [](v1::Program& p) { p.mutable_targets(0)->set_name(std::string(128, 'a')); },
       C::OK, ""},
      {"long target", [](v1::Program& p) { p.mutable_targets(0)->set_name(std::string(129, 'a')); },
       C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
      {"target that leads out", [](v1::Program& p) { p.mutable_targets(0)->set_name("x/../../y"); },
       C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
      {"target with controls", [](v1::Program& p) { p.mutable_targets(0)->set_name("a\x1b[31m"); },
       C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
      {"hidden target", [](v1::Program& p) { p.mutable_targets(0)->set_name(".."); },
       C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
  };
  for (const Row& row : rows) {
    v1::CompileRequest request = RequestOf(GoodSource());
    row.change(*request.mutable_variant()->mutable_inline_program());
    grpc::ClientContext context;
    v1::CompileReply reply;
    EXPECT_EQ(compile->Compile(&context, request, &reply).error_code(), row.code) << row.what;
    EXPECT_EQ(DetailOf(context).reason(), row.reason) << row.what;
  }
}

TEST_F(Server, ProjectWithControlCharacters_IsRefused) {
  Start();
  const std::string project = "x\x1b[31m";
  const auto is_refused = [](const grpc::Status& status, const grpc::ClientContext& context) {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(DetailOf(context).field(), "project");
  };
  grpc::ClientContext compiles, starts;
  v1::CompileRequest compile_request = RequestOf(GoodSource());
  compile_request.set_project(project);
  v1::CompileReply compiled;
  is_refused(compile->Compile(&compiles, compile_request, &compiled), compiles);
  v1::StartBatchRequest batch_request = BatchOf(GoodSource());
  batch_request.set_project(project);
  v1::StartBatchReply started;
  is_refused(batch->StartBatch(&starts, batch_request, &started), starts);
}

TEST_F(Server, Batch_BuildsAllVariantsAndTheSecondRunOnlyHits) {
  Start();
  std::map<int, int> seen;
  const v1::StartBatchReply first = StartBatch(BatchOf(GoodSource()));
  const v1::BatchEvent last = Watch(first.batch_id(), seen);
  ASSERT_EQ(last.event_case(), v1::BatchEvent::kFinal);
  EXPECT_EQ(last.final().state(), v1::Batch::DONE);
  EXPECT_EQ(last.final().exit_hint(), 0u);
  EXPECT_EQ(last.final().counts().variants_total(), "12");
  EXPECT_EQ(last.final().counts().variants_served(), "12");
  EXPECT_GT(last.final().counts().compiled(), 0u);
  EXPECT_GE(seen[v1::BatchEvent::kProgress], 1);
  EXPECT_EQ(seen[v1::BatchEvent::kProgramDone], 1);
  const v1::StartBatchReply second = StartBatch(BatchOf(GoodSource()));
  EXPECT_EQ(second.batch_id(), first.batch_id());
  const v1::BatchEvent again = Watch(second.batch_id(), seen);
  EXPECT_EQ(again.final().counts().compiled(), 0u);
  EXPECT_EQ(again.final().counts().results_done(), last.final().counts().results_done());
}

TEST_F(Server, BatchOfWrongSource_HintsAtExitCode1) {
  Start();
  std::map<int, int> seen;
  const v1::BatchEvent last = Watch(StartBatch(BatchOf(WrongSource())).batch_id(), seen);
  EXPECT_EQ(last.final().exit_hint(), 1u);
  EXPECT_GE(seen[v1::BatchEvent::kItem], 1);
}

TEST_F(Server, UnknownBatch_IsNotFound) {
  Start();
  v1::BatchEvent event;
  v1::WatchBatchRequest watch;
  watch.set_batch_id(std::string(16, 'x'));
  grpc::ClientContext watch_context;
  auto events = batch->WatchBatch(&watch_context, watch);
  EXPECT_FALSE(events->Read(&event));
  EXPECT_EQ(events->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailOf(watch_context).reason(), "UNKNOWN_BATCH");
  v1::FetchReply reply;
  v1::FetchRequest fetch;
  fetch.set_batch_id(watch.batch_id());
  grpc::ClientContext fetch_context;
  auto results = compile->Fetch(&fetch_context, fetch);
  EXPECT_FALSE(results->Read(&reply));
  EXPECT_EQ(results->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

// All that one Fetch sends.
struct Fetched {
  std::map<std::string, std::string> blobs;  // by id
  std::vector<std::string> outcomes;
  v1::FetchDone done;
  int messages = 0;
};

Fetched FetchAll(v1::CompileService::Stub& compile, const v1::FetchRequest& request) {
  grpc::ClientContext context;
  const auto stream = compile.Fetch(&context, request);
  Fetched fetched;
  const auto take_blob = [&](const v1::BlobChunk& chunk) {
    std::string& bytes = fetched.blobs[chunk.digest().id()];
    EXPECT_EQ(bytes.size(), chunk.offset());
    bytes += chunk.data();
  };
  const auto take_outcome = [&](const v1::Outcome& outcome) {
    EXPECT_TRUE(outcome.artifacts_size() == 0 || !request.have_root().empty() ||
                fetched.blobs.contains(outcome.artifacts(0).metadata().id()));
    fetched.outcomes.push_back(outcome.SerializeAsString());
  };
  for (v1::FetchReply reply; stream->Read(&reply); ++fetched.messages) {
    std::ranges::for_each(reply.blobs(), take_blob);
    std::ranges::for_each(reply.outcomes(), take_outcome);
    if (reply.has_blob()) {
      take_blob(reply.blob());
    } else if (reply.has_outcome()) {
      take_outcome(reply.outcome());
    } else if (reply.has_done()) {
      fetched.done = reply.done();
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  return fetched;
}

TEST_F(Server, FetchOfABatch_SendsEveryBlobOnceAndNothingThatTheClientHas) {
  Start();
  std::map<int, int> seen;
  const std::string id = StartBatch(BatchOf(GoodSource())).batch_id();
  Watch(id, seen);
  v1::FetchRequest request;
  request.set_batch_id(id);
  const Fetched first = FetchAll(*compile, request);
  ASSERT_GT(first.blobs.size(), 2u);
  for (const auto& [digest, bytes] : first.blobs) {
    EXPECT_EQ(Id(DigestOf(std::string_view(bytes)).id), digest);
  }
  request.set_have_root(first.done.root());
  const Fetched again = FetchAll(*compile, request);
  EXPECT_TRUE(again.blobs.empty());
  EXPECT_EQ(again.done.counts().blobs_sent(), 0u);
  EXPECT_GT(again.done.counts().blobs_known(), 0u);
}

TEST_F(Server, FetchTogether_SendsTheSameInFewMessages) {
  Start();
  std::map<int, int> seen;
  const std::string id = StartBatch(BatchOf(GoodSource())).batch_id();
  Watch(id, seen);
  v1::FetchRequest request;
  request.set_batch_id(id);
  const Fetched alone = FetchAll(*compile, request);
  request.set_together(true);
  const Fetched together = FetchAll(*compile, request);
  EXPECT_EQ(together.blobs, alone.blobs);
  EXPECT_EQ(together.outcomes, alone.outcomes);
  EXPECT_EQ(together.done.SerializeAsString(), alone.done.SerializeAsString());
  EXPECT_GT(alone.messages, 10);
  EXPECT_LE(together.messages, 2);
}

TEST_F(Server, ProgramsOfHigherPriority_AreBuiltFirst) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.workers = 1;  // so that they end in the order in which they begin
  StartWith(options);
  v1::StartBatchRequest request;
  for (const auto& [name, priority] : {std::pair("usual", 0), std::pair("first", 9),
                                       std::pair("later", 0), std::pair("second", 3)}) {
    v1::ProgramSpace& space = *request.add_spaces();
    *space.mutable_program() = ProgramOf(GoodSource(), true);
    space.mutable_program()->set_name(name);
    space.set_priority(static_cast<uint32_t>(priority));
    space.add_tags("a label");
  }
  const std::string id = StartBatch(request).batch_id();
  grpc::ClientContext context;
  v1::WatchBatchRequest watch;
  watch.set_batch_id(id);
  const auto stream = batch->WatchBatch(&context, watch);
  std::vector<std::string> done;
  for (v1::BatchEvent event; stream->Read(&event);) {
    if (event.event_case() == v1::BatchEvent::kProgramDone) {
      done.push_back(event.program_done().program());
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(done, (std::vector<std::string>{"first", "second", "usual", "later"}));
  request.mutable_spaces(0)->set_priority(10);
  grpc::ClientContext refused;
  v1::StartBatchReply reply;
  EXPECT_EQ(batch->StartBatch(&refused, request, &reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(refused).field(), "spaces.priority");
}

TEST_F(Server, Explore_BuildsWhatTheBudgetRefuses) {
  Start();
  v1::StartBatchRequest request = BatchOf(GoodSource());  // 12 variants
  std::map<int, int> seen;
  const v1::BatchEvent whole = Watch(StartBatch(request).batch_id(), seen);
  const uint64_t results = whole.final().counts().results_done();
  ASSERT_GT(results, 1u);
  request.mutable_budget()->set_results(1);
  {
    grpc::ClientContext context;
    v1::StartBatchReply reply;
    EXPECT_EQ(batch->StartBatch(&context, request, &reply).error_code(),
              grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(DetailOf(context).reason(), "LIMIT_VARIANTS");
  }
  request.set_explore(results);
  const std::string id = StartBatch(request).batch_id();
  const v1::BatchEvent explored = Watch(id, seen);
  EXPECT_EQ(explored.final().state(), v1::Batch::DONE);
  EXPECT_EQ(explored.final().counts().results_done(), results);
  EXPECT_EQ(explored.final().counts().variants_served(), "12");
  request.set_explore(results - 1);
  const v1::BatchEvent beyond = Watch(StartBatch(request).batch_id(), seen);
  EXPECT_EQ(beyond.final().state(), v1::Batch::FAILED);
  EXPECT_EQ(beyond.final().exit_hint(), 5u);
  v1::BuildPackRequest pack_request;  // of what was explored
  pack_request.set_batch_id(id);
  grpc::ClientContext context;
  const auto stream = pack->BuildPack(&context, pack_request);
  v1::BuildPackReply built;
  while (stream->Read(&built)) {
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(built.done().counts().artifacts(), results);
}

TEST_F(Server, LongFetch_TellsBetweenItsPagesHowFarItIs) {
  constexpr int kVariants = 600;  // at most 256 messages are a page
  Start();
  v1::FetchRequest request;
  for (int i = 0; i < kVariants; ++i) {
    *request.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
  }
  request.set_on_miss(v1::FetchRequest::COMPILE);
  grpc::ClientContext context;
  auto stream = compile->Fetch(&context, request);
  uint64_t outcomes = 0, bytes = 0;
  int told = 0;
  v1::FetchReply reply;
  while (stream->Read(&reply)) {
    outcomes += reply.has_outcome() ? 1 : 0;
    bytes += reply.blob().data().size();
    if (reply.has_progress()) {
      ++told;
      EXPECT_EQ(reply.progress().stage(), "fetch");
      EXPECT_EQ(reply.progress().done(), outcomes);
      EXPECT_EQ(reply.progress().total(), kVariants);
      EXPECT_EQ(reply.progress().bytes_done(), bytes);
      EXPECT_GT(bytes, 0u);
    }
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(outcomes, kVariants);
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(reply.has_done());
}

TEST_F(Server, ListOptions_TellsTypesValuesAndPlaces) {
  Start();
  v1::ListOptionsRequest request;
  *request.mutable_program() = ProgramOf(GoodSource(), true);
  grpc::ClientContext context;
  v1::ListOptionsReply reply;
  ASSERT_TRUE(compile->ListOptions(&context, request, &reply).ok());
  ASSERT_EQ(reply.options_size(), 3);
  EXPECT_EQ(reply.options(0).name(), "cheap");
  EXPECT_EQ(reply.options(0).type(), "flag");
  EXPECT_EQ(reply.options(0).declared_at().line(), 7u);
  EXPECT_EQ(reply.options(2).values_size(), 3);
  EXPECT_EQ(reply.options(2).default_().enum_(), "low");
}

TEST_F(Server, Drain_RefusesNewWorkAndSaysSo) {
  Start();
  {
    grpc::ClientContext context;
    v1::DrainReply reply;
    ASSERT_TRUE(admin->Drain(&context, {}, &reply).ok());
  }
  EXPECT_EQ(daemon->Wait(std::chrono::seconds(1)), Daemon::Ask::kDrain);
  grpc::ClientContext context;
  v1::CompileReply reply;
  EXPECT_EQ(compile->Compile(&context, RequestOf(GoodSource()), &reply).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailOf(context).reason(), "DRAINING");
  EXPECT_GT(DetailOf(context).retry_after_ms(), 0u);
  grpc::ClientContext status_context;
  v1::ServerStatus status;
  ASSERT_TRUE(admin->GetStatus(&status_context, {}, &status).ok());
  EXPECT_EQ(status.health(), v1::ServerStatus::DRAINING);
}

TEST_F(Server, SecondLook_ValidatesBehindTheAnswerAndFindsNothingWrong) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.twice_percent = 100;
  options.config.validate_percent = 100;
  StartWith(options);
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
  v1::ServerStatus status;
  EXPECT_TRUE(WaitUntil([&] {  // a worker process looks at both modules, after the answer
    grpc::ClientContext context;
    EXPECT_TRUE(admin->GetStatus(&context, v1::GetStatusRequest(), &status).ok());
    return status.workers_size() != 0 && status.workers(0).jobs_done() >= 2;
  }));
  ASSERT_EQ(status.workers_size(), 1);
  EXPECT_EQ(status.workers(0).jobs_done(), 2u);
  EXPECT_EQ(status.health(), v1::ServerStatus::SERVING);
}

TEST_F(Server, SecondDaemon_IsRefusedWithThePidOfTheFirst) {
  Start();
  const std::string pid = "pid " + std::to_string(getpid());
  StartFailure failure;
  EXPECT_FALSE(Daemon::Start(OptionsIn(folder.path()), clock, log, failure).ok());
  EXPECT_EQ(failure.component, "socket");
  EXPECT_NE(failure.what.find(pid), std::string::npos) << failure.what;
  Daemon::Options other = OptionsIn(folder.path());
  other.config.socket = folder.path() + "/other/kilnd.sock";
  EXPECT_FALSE(Daemon::Start(other, clock, log, failure).ok());
  EXPECT_EQ(failure.component, "store");
  EXPECT_NE(failure.what.find(pid), std::string::npos) << failure.what;
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);  // the first lives on
}

TEST_F(Server, SocketPathTooLong_IsRefusedClearly) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.socket = folder.path() + "/" + std::string(120, 's');
  StartFailure failure;
  EXPECT_FALSE(Daemon::Start(options, clock, log, failure).ok());
  EXPECT_EQ(failure.component, "socket");
  EXPECT_NE(failure.what.find("allows 107"), std::string::npos) << failure.what;
}

TEST_F(Server, CacheDirectoryThatCannotBe_CostsPersistenceOnly) {
  std::ofstream(folder.path() + "/cache") << "a file";
  Start();
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
  grpc::ClientContext context;
  v1::ServerStatus status;
  ASSERT_TRUE(admin->GetStatus(&context, {}, &status).ok());
  EXPECT_EQ(status.health(), v1::ServerStatus::DEGRADED);
  EXPECT_EQ(status.reasons_size(), 1);
}

TEST_F(Server, Restart_FindsWhatWasKept) {
  Start();
  v1::CompileRequest request = RequestOf(GoodSource());
  request.set_durability(v1::DURABILITY_LOCAL);
  const v1::Outcome before = Compile(request);
  daemon.reset();
  Start();
  const v1::Outcome after = Compile(request);
  ASSERT_EQ(after.artifacts_size(), 1);
  EXPECT_EQ(after.artifacts(0).origin(), v1::Artifact::LOCAL);
  EXPECT_EQ(after.artifacts(0).data(), before.artifacts(0).data());
}

TEST_F(Server, Info_NamesVersionsAndTransport) {
  Start();
  grpc::ClientContext context;
  v1::ServerInfo info;
  ASSERT_TRUE(admin->GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.api_max(), 1u);
  EXPECT_EQ(info.pid(), static_cast<uint64_t>(getpid()));
  ASSERT_EQ(info.transports_size(), 1);
  EXPECT_EQ(info.transports(0), "unix:" + daemon->socket());
}

grpc::ByteBuffer BufferOf(std::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return {&slice, 1};
}

std::string TextOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

// Messages by hand: their .proto files are not a dependency of kiln.
TEST_F(Server, HealthAndReflection_Answer) {
  Start();
  grpc::ClientContext context;
  grpc::ByteBuffer health;
  const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
      channel.get(),
      grpc::internal::RpcMethod("/grpc.health.v1.Health/Check",
                                grpc::internal::RpcMethod::NORMAL_RPC, channel),
      &context, BufferOf(""), &health);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(TextOf(health), std::string_view("\x08\x01", 2));  // status: SERVING
  grpc::ClientContext reflection;
  using Factory = grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>;
  const std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream(
      Factory::Create(channel.get(),
                      grpc::internal::RpcMethod(
                          "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                          grpc::internal::RpcMethod::BIDI_STREAMING, channel),
                      &reflection));
  EXPECT_TRUE(stream->Write(BufferOf("\x3a\x01*")));  // list_services: "*"
  grpc::ByteBuffer services;
  ASSERT_TRUE(stream->Read(&services));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_NE(TextOf(services).find("kiln.v1.CompileService"), std::string::npos);
}

}  // namespace
}  // namespace kiln::server
