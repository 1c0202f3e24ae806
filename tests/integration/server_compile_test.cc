// SPDX-License-Identifier: MIT
// CompileService but for Fetch: what a compile gives, what it refuses, and options (spec/daemon 4).
#include <functional>
#include <map>
#include <string>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "compiler/base/test_wait.h"
#include "compiler/driver/stages.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

class ServerCompile : public ServerTest {};

TEST_F(ServerCompile, CompileTwice_SameBytesAndTheSecondIsAHit) {
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

TEST_F(ServerCompile, Compile_GivesTheBytesOfTheDirectPath) {
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

TEST_F(ServerCompile, WrongSource_IsAnAnswerWithAPlace) {
  Start();
  const v1::Outcome outcome = Compile(RequestOf(WrongSource()));
  EXPECT_EQ(outcome.kind(), v1::Outcome::SOURCE_ERROR);
  ASSERT_GT(outcome.diagnostics_size(), 0);
  EXPECT_EQ(outcome.diagnostics(0).code().substr(0, 3), "RPL");
  EXPECT_EQ(outcome.diagnostics(0).primary().path(), "mist.rpl");
  EXPECT_GT(outcome.diagnostics(0).primary().line(), 0u);
  EXPECT_GT(outcome.diagnostics(0).primary().end(), outcome.diagnostics(0).primary().begin());
}

TEST_F(ServerCompile, UnknownOption_IsRpl2003) {
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

TEST_F(ServerCompile, SourcesThatAreNotThere_AreListedAndMayBeUploaded) {
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

TEST_F(ServerCompile, UploadOfOtherBytes_IsRefused) {
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

TEST_F(ServerCompile, BadRequests_AreToldApart) {
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

TEST_F(ServerCompile, ProjectWithControlCharacters_IsRefused) {
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

TEST_F(ServerCompile, ListOptions_TellsTypesValuesAndPlaces) {
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

TEST_F(ServerCompile, Audit_ValidatesBehindTheAnswerAndFindsNothingWrong) {
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

}  // namespace
}  // namespace kiln::server
