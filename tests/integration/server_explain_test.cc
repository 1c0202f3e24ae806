// SPDX-License-Identifier: MIT
// Why requests hit and missed, as CompileService.Explain tells it: spec/cache 11, spec/daemon 4.1.
#include <functional>

#include "server/test_server.h"

namespace kiln::server {
namespace {

class ServerExplain : public ServerTest {
 protected:
  v1::ExplainReply Explain(const v1::ExplainRequest& request) {
    grpc::ClientContext context;
    v1::ExplainReply reply;
    const grpc::Status status = compile->Explain(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }
  v1::ExplainRecord ExplainSeq(uint64_t seq) {
    v1::ExplainRequest request;
    request.set_seq(seq);
    const v1::ExplainReply reply = Explain(request);
    EXPECT_EQ(reply.records_size(), 1);
    return reply.records_size() == 1 ? reply.records(0) : v1::ExplainRecord();
  }
  v1::ExplainRecord CompileAndExplain(const v1::CompileRequest& request) {
    return ExplainSeq(Compile(request).explain_seq());
  }
  static v1::CompileRequest With(v1::CompileRequest request, const char* option, bool value) {
    v1::OptionValue& row = *request.mutable_variant()->add_options();
    row.set_name(option);
    row.set_flag(value);
    return request;
  }
};

TEST_F(ServerExplain, EveryRequest_HasItsCause) {
  Start();
  const v1::CompileRequest request = RequestOf(GoodSource());
  const v1::ExplainRecord first = CompileAndExplain(request);
  EXPECT_FALSE(first.hit());
  EXPECT_EQ(first.cause(), "first_seen");
  EXPECT_EQ(first.program(), "mist");
  EXPECT_EQ(first.target(), "vk");
  EXPECT_EQ(first.signature().size(), 16u);
  EXPECT_EQ(first.options_size(), 3);
  EXPECT_EQ(first.options(2).enum_(), "low");
  EXPECT_GT(first.stage_times_size(), 0);

  const v1::ExplainRecord again = CompileAndExplain(request);
  EXPECT_TRUE(again.hit());
  EXPECT_EQ(again.level(), "memory");
  EXPECT_EQ(again.cause(), "same_variant");
  EXPECT_EQ(again.signature(), first.signature());

  const v1::ExplainRecord other = CompileAndExplain(With(request, "cheap", true));
  EXPECT_EQ(other.cause(), "option");
  ASSERT_EQ(other.changes_size(), 1);
  EXPECT_EQ(other.changes(0).field(), "cheap");
  EXPECT_EQ(other.changes(0).old(), "false");
  EXPECT_EQ(other.changes(0).new_(), "true");
  EXPECT_EQ(other.changes(0).detail().find("live (read by "), 0u) << other.changes(0).detail();
  EXPECT_NE(other.changes(0).detail().find(", mist.rpl:"), std::string::npos);

  const v1::ExplainRecord edited =
      CompileAndExplain(RequestOf(GoodSource() + "\nf1 more (in f1 x) { return x * 2.0; }\n"));
  EXPECT_EQ(edited.cause(), "source_changed");
  ASSERT_EQ(edited.changes_size(), 1);
  EXPECT_EQ(edited.changes(0).field(), "mist.rpl");
  EXPECT_EQ(edited.changes(0).cause(), "source_changed");
  EXPECT_EQ(edited.changes(0).detail(), "module re-parsed");
}

// A source has no name among the options that are looked up to say who reads them.
TEST_F(ServerExplain, EditOfASourceAndOfALiveOption_SaysBoth) {
  Start();
  Compile(RequestOf(GoodSource()));
  const v1::ExplainRecord edited = CompileAndExplain(
      With(RequestOf(GoodSource() + "\nf1 more (in f1 x) { return x * 2.0; }\n"), "cheap", true));
  ASSERT_EQ(edited.changes_size(), 2);
  EXPECT_EQ(edited.changes(0).field(), "mist.rpl");
  EXPECT_EQ(edited.changes(1).field(), "cheap");
  EXPECT_EQ(edited.changes(1).detail().find("live (read by "), 0u) << edited.changes(1).detail();
}

TEST_F(ServerExplain, EditOfAComment_IsAHitThatSaysSo) {
  Start();
  Compile(RequestOf(GoodSource()));
  const v1::ExplainRecord edited = CompileAndExplain(RequestOf(GoodSource() + "\n// more\n"));
  EXPECT_TRUE(edited.hit());
  ASSERT_EQ(edited.changes_size(), 1);
  EXPECT_EQ(edited.changes(0).detail(), "IR identical");
}

TEST_F(ServerExplain, OptionThatIsNotRead_IsAHitOfTheSameLiveOptions) {
  const std::string text =
      "instance deep: flag false;\ninstance wide: flag false;\n" + GoodSource() +
      "\nf1 unused (in f1 x) { conditional (deep && wide) { return 1.0; } return x; }\n";
  Start();
  Compile(RequestOf(text));
  const v1::ExplainRecord other = CompileAndExplain(With(RequestOf(text), "deep", true));
  EXPECT_TRUE(other.hit());
  EXPECT_EQ(other.cause(), "same_live_options");
  EXPECT_GE(other.live_options_size(), 1);
  EXPECT_NE(std::find(other.ignored_options().begin(), other.ignored_options().end(), "deep"),
            other.ignored_options().end());
}

TEST_F(ServerExplain, CompileWithWantExplain_BringsTheRecordAlong) {
  Start();
  v1::CompileRequest request = RequestOf(GoodSource());
  request.set_want_explain(true);
  grpc::ClientContext context;
  v1::CompileReply reply;
  ASSERT_TRUE(compile->Compile(&context, request, &reply).ok());
  EXPECT_EQ(reply.explain().cause(), "first_seen");
  EXPECT_EQ(reply.explain().seq(), reply.outcome().explain_seq());
}

TEST_F(ServerExplain, RememberedFailure_IsAHitUntilItIsForced) {
  Start();
  v1::CompileRequest request = RequestOf(
      "instance cheap: flag false;\n"
      "void v (void)\n{\n  vertex_stage_output_position (f4 {0.0});\n"
      "  conditional (cheap) { f1 x = 1u; }\n}\n");
  v1::Program& program = *request.mutable_variant()->mutable_inline_program();
  program.mutable_entry_points()->RemoveLast();
  program.mutable_entry_points(0)->set_function("v");
  request = With(request, "cheap", true);
  EXPECT_EQ(Compile(request).kind(), v1::Outcome::SOURCE_ERROR);
  const v1::Outcome again = Compile(request);
  EXPECT_TRUE(again.from_negative_cache());
  EXPECT_TRUE(ExplainSeq(again.explain_seq()).hit());
  request.set_retry_failed(true);
  const v1::ExplainRecord forced = CompileAndExplain(request);
  EXPECT_FALSE(forced.hit());
  EXPECT_EQ(forced.cause(), "forced");
  EXPECT_EQ(forced.detail(), "--retry-failed");
}

TEST_F(ServerExplain, QuestionAboutAVariant_CompilesNothingAndLeavesNothing) {
  Start();
  v1::ExplainRequest question;
  *question.mutable_variant() = RequestOf(GoodSource()).variant();
  EXPECT_EQ(Explain(question).records(0).cause(), "first_seen");
  EXPECT_EQ(Explain(question).records(0).seq(), 0u);
  v1::ExplainRequest last;
  last.set_last(10);
  EXPECT_EQ(Explain(last).records_size(), 0);
  EXPECT_EQ(Compile(RequestOf(GoodSource())).artifacts(0).origin(), v1::Artifact::COMPILED);
  EXPECT_TRUE(Explain(question).records(0).hit());
  EXPECT_EQ(Explain(last).records_size(), 1);
}

TEST_F(ServerExplain, Key_LeadsToItsRecordAlsoAfterARestart) {
  Start();
  v1::CompileRequest compile = RequestOf(GoodSource());
  compile.set_durability(v1::DURABILITY_LOCAL);
  const v1::Outcome outcome = Compile(compile);
  v1::ExplainRequest request;
  request.set_signature(outcome.artifacts(0).signature());
  EXPECT_EQ(Explain(request).records(0).seq(), outcome.explain_seq());
  Stop();
  Start();
  const v1::ExplainReply reply = Explain(request);
  ASSERT_EQ(reply.records_size(), 1);
  EXPECT_EQ(reply.records(0).seq(), outcome.explain_seq());
  EXPECT_EQ(reply.records(0).program(), "mist");
  const v1::ExplainRecord warm = CompileAndExplain(compile);
  EXPECT_TRUE(warm.hit());
  EXPECT_EQ(warm.level(), "local");
  EXPECT_GT(warm.seq(), outcome.explain_seq());
}

TEST_F(ServerExplain, WhatNobodyRemembers_IsNotFound) {
  Start();
  struct Row {
    const char* what;
    std::function<void(v1::ExplainRequest&)> fill;
    grpc::StatusCode code;
    const char* reason;
  };
  using C = grpc::StatusCode;
  for (const Row& row : {
           Row{"nothing", [](v1::ExplainRequest&) {}, C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
           Row{"seq", [](v1::ExplainRequest& r) { r.set_seq(77); }, C::NOT_FOUND, "UNKNOWN_RESULT"},
           Row{"key", [](v1::ExplainRequest& r) { r.set_signature(std::string(16, 'k')); },
               C::NOT_FOUND, "UNKNOWN_RESULT"},
           Row{"short key", [](v1::ExplainRequest& r) { r.set_signature("k"); },
               C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
           Row{"batch", [](v1::ExplainRequest& r) { r.set_batch_id(std::string(16, 'b')); },
               C::NOT_FOUND, "UNKNOWN_BATCH"},
           Row{"no program", [](v1::ExplainRequest& r) { r.mutable_variant(); },
               C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
           Row{"no source",
               [](v1::ExplainRequest& r) {
                 *r.mutable_variant() = RequestOf(GoodSource(), false).variant();
               },
               C::FAILED_PRECONDITION, "SOURCES_MISSING"},
       }) {
    v1::ExplainRequest request;
    row.fill(request);
    grpc::ClientContext context;
    v1::ExplainReply reply;
    EXPECT_EQ(compile->Explain(&context, request, &reply).error_code(), row.code) << row.what;
    EXPECT_EQ(DetailOf(context).reason(), row.reason) << row.what;
  }
}

TEST_F(ServerExplain, Batch_CountsItsMissesByCause) {
  Start();
  v1::ExplainRequest request;
  request.set_batch_id(Build(GoodSource()));
  const v1::ExplainReply cold = Explain(request);
  ASSERT_EQ(cold.causes_size(), 1);
  EXPECT_EQ(cold.causes(0).cause(), "first_seen");
  EXPECT_GE(cold.causes(0).count(), 3u);
  EXPECT_LE(cold.causes(0).count(), cold.results());
  EXPECT_EQ(cold.records_size(), 3);

  const std::string edited = GoodSource() + "\nf1 more (in f1 x) { return x * 2.0; }\n";
  request.set_batch_id(Build(edited));
  const v1::ExplainReply after = Explain(request);
  ASSERT_EQ(after.causes_size(), 1);
  EXPECT_EQ(after.causes(0).cause(), "source_changed");
  ASSERT_EQ(after.records_size(), 3);
  EXPECT_EQ(after.records(0).changes(0).field(), "mist.rpl");

  request.set_batch_id(Build(edited));  // everything is known
  EXPECT_EQ(Explain(request).causes_size(), 0);
  EXPECT_GT(Explain(request).results(), 0u);
}

TEST_F(ServerExplain, StrangeNames_AreKeptAsText) {
  Start();
  v1::CompileRequest request = RequestOf(GoodSource());
  request.set_project("a; \xc3\xa9 $(b)");
  request.mutable_variant()->mutable_inline_program()->set_name(std::string(1024, 'n'));
  const v1::ExplainRecord record = CompileAndExplain(request);
  EXPECT_EQ(record.project(), "a; \xc3\xa9 $(b)");
  EXPECT_EQ(record.program(), std::string(1024, 'n'));
}

}  // namespace
}  // namespace kiln::server
