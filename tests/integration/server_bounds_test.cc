// SPDX-License-Identifier: MIT
// Requests that would keep a worker for minutes: whoever asked leaves, its time is over, or an
// operator kills the job, and the worker is free long before that. Nothing here measures how fast:
// a request that is not stopped takes many times what a test waits for. See spec/daemon 9.1, 9.2
#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "compiler/base/test_wait.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

constexpr std::chrono::seconds kWaits{15};

v1::Program Inline(const std::vector<std::string>& texts) {
  v1::Program program = ProgramOf(texts[0], true);
  program.clear_entry_points();
  v1::EntryPoint& entry = *program.add_entry_points();
  entry.set_stage(v1::EntryPoint::VERTEX);
  entry.set_function("v");
  program.clear_sources();
  for (size_t i = 0; i < texts.size(); ++i) {
    v1::SourceRef& source = *program.add_sources();
    source.set_path(fmt::format("s{}.rpl", i));
    source.set_inline_(texts[i]);
  }
  return program;
}

std::string Flags(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("global f{}: flag false;\n", i);
  }
  return text;
}

// All flags are read.
std::string ReadsAll(int count) {
  std::string body;
  for (int i = 0; i < count; ++i) {
    body += fmt::format("conditional (f{0}) {{ x = x + {0}.0; }}\n", i);
  }
  return Flags(count) + "void v (void) { f1 x = 0.0;\n" + body +
         "vertex_stage_output_position (f4 {x}); }\n";
}

void AddFlagAxes(int count, v1::ProgramSpace& space) {
  for (int i = 0; i < count; ++i) {
    v1::Axis& axis = *space.add_axes();
    axis.set_name(fmt::format("f{}", i));
    axis.set_all(true);
  }
}

// Exclusions that no order of the axes takes apart: counting goes on up to its limit of time.
v1::ProgramSpace Tangled(int number) {
  constexpr int kFlags = 60;
  v1::ProgramSpace space;
  *space.mutable_program() = Inline({ReadsAll(kFlags)});
  space.mutable_program()->set_name(fmt::format("tangled{}", number));
  AddFlagAxes(kFlags, space);
  std::mt19937 random(static_cast<uint32_t>(number));
  const auto literal = [&] {
    return fmt::format("{}f{}", random() % 2 == 0 ? "!" : "", random() % kFlags);
  };
  for (int i = 0; i < 200; ++i) {
    space.add_exclude()->set_text(
        fmt::format("{} && {} && {} && {}", literal(), literal(), literal(), literal()));
  }
  return space;
}

// Two equal values make a space that can only be walked; every one of its points is dropped, after
// many conditions were asked.
v1::ListVariantsRequest Walked() {
  constexpr int kFlags = 20;
  v1::ListVariantsRequest request;
  v1::ProgramSpace& space = *request.mutable_space();
  *space.mutable_program() = Inline({ReadsAll(kFlags) + "global n: uint 0;\n"});
  AddFlagAxes(kFlags, space);
  v1::Axis& twice = *space.add_axes();
  twice.set_name("n");
  twice.add_values()->set_uint(1);
  twice.add_values()->set_uint(1);
  for (int i = 0; i < 1000; ++i) {
    space.add_exclude()->set_text(fmt::format("n == {}u", i == 999 ? 1 : i + 2));
  }
  return request;
}

class Bounds : public ServerTest {
 protected:
  Bounds() {
    Start();
    other = grpc::CreateCustomChannel("unix:" + daemon->socket(),
                                      grpc::InsecureChannelCredentials(), ArgumentsOfOther());
    operating = v1::AdminService::NewStub(other);
  }

  static grpc::ChannelArguments ArgumentsOfOther() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return arguments;
  }

  // The job of a method that runs; empty if none does.
  std::string Running(const std::string& method) {
    grpc::ClientContext context;
    v1::ListJobsReply jobs;
    EXPECT_TRUE(operating->ListJobs(&context, v1::ListJobsRequest(), &jobs).ok());
    for (const v1::JobInfo& job : jobs.jobs()) {
      if (job.stage() == "runs " + method) {
        return job.id();
      }
    }
    return {};
  }

  void Kill(const std::string& job) {
    grpc::ClientContext context;
    v1::KillJobRequest request;
    request.set_id(job);
    v1::KillJobReply reply;
    EXPECT_TRUE(operating->KillJob(&context, request, &reply).ok());
  }

  std::shared_ptr<grpc::Channel> other;  // of the operator
  std::unique_ptr<v1::AdminService::Stub> operating;
};

// A short request whose reply would repeat a long path for each option and each reader of it.
TEST_F(Bounds, ReadersOfOptions_AreLeftOutOfALongReply) {
  constexpr int kFlags = 200, kReaders = 64;
  std::string any = "false";
  for (int i = 0; i < kFlags; ++i) {
    any += fmt::format(" || f{}", i);
  }
  std::string text = Flags(kFlags) + "constant any = " + any + ";\n", calls;
  for (int i = 0; i < kReaders; ++i) {
    text += fmt::format(
        "f1 g{} (void) {{ f1 x = 0.0; conditional (any) {{ x = 1.0; }} return x; }}\n", i);
    calls += fmt::format("x = g{} ();\n", i);
  }
  text += "void v (void) { f1 x = 0.0;\n" + calls + "vertex_stage_output_position (f4 {x}); }\n";
  v1::ListOptionsRequest request;
  *request.mutable_program() = Inline({text});
  request.mutable_program()->mutable_sources(0)->set_path(std::string(1000, 'd') + ".rpl");
  request.set_with_liveness(true);
  grpc::ClientContext context;
  v1::ListOptionsReply reply;
  const grpc::Status status = compile->ListOptions(&context, request, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(reply.options_size(), kFlags);
  EXPECT_EQ(reply.options(0).readers_size(), kReaders);
  EXPECT_EQ(reply.options(kFlags - 1).readers_size(), 0);
  EXPECT_GE(reply.options(kFlags - 1).dependents(), static_cast<uint64_t>(kReaders));
  EXPECT_LT(reply.ByteSizeLong(), uint64_t{3} << 20);
}

enum class Way { kCancel, kDeadline, kKill };

struct LongCall {
  const char* method;
  std::function<grpc::Status(grpc::ClientContext&)> send;
};

// Those that count and walk for as long as they may. ListOptions, whose work ends by itself, is in
// server_cancel_test.
TEST_F(Bounds, CallsThatNobodyWaitsFor_LeaveTheirWorker) {
  v1::CountVariantsRequest count;
  v1::StartBatchRequest start;
  for (int i = 0; i < 60; ++i) {
    *count.add_spaces() = Tangled(i);
    *start.add_spaces() = Tangled(i);
  }
  const v1::ListVariantsRequest walked = Walked();
  const LongCall table[] = {
      {"CountVariants",
       [&](grpc::ClientContext& context) {
         v1::CountVariantsReply reply;
         return compile->CountVariants(&context, count, &reply);
       }},
      {"ListVariants",
       [&](grpc::ClientContext& context) {
         v1::ListVariantsReply reply;
         return compile->ListVariants(&context, walked, &reply);
       }},
      {"StartBatch",
       [&](grpc::ClientContext& context) {
         v1::StartBatchReply reply;
         return batch->StartBatch(&context, start, &reply);
       }},
  };
  for (const LongCall& row : table) {
    for (const Way way : {Way::kCancel, Way::kDeadline, Way::kKill}) {
      SCOPED_TRACE(fmt::format("{}, way {}", row.method, static_cast<int>(way)));
      grpc::ClientContext context;
      if (way == Way::kDeadline) {
        context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
      }
      std::atomic<bool> ended = false;
      grpc::Status status;
      std::thread caller([&] {
        status = row.send(context);
        ended = true;
      });
      std::string job;
      while (job.empty() && !ended) {
        job = Running(row.method);
      }
      EXPECT_FALSE(job.empty()) << "it ended before anybody could stop it: "
                                << status.error_message();
      if (way == Way::kCancel) {
        context.TryCancel();
      } else if (way == Way::kKill && !job.empty()) {
        Kill(job);
      }
      const Duration until = clock.Monotonic() + kWaits;
      while (!Running(row.method).empty() && clock.Monotonic() < until) {
      }
      EXPECT_EQ(Running(row.method), "") << "its worker is still busy";
      caller.join();
      EXPECT_EQ(status.error_code(), way == Way::kDeadline ? grpc::StatusCode::DEADLINE_EXCEEDED
                                                           : grpc::StatusCode::CANCELLED)
          << status.error_message();
    }
  }
}

// Those that run and those that wait: all are told as streams are, before the transport goes.
TEST_F(Bounds, CallsThatRunWhenTheDaemonGoes_AreToldWithADetail) {
  v1::CountVariantsRequest count;
  for (int i = 0; i < 60; ++i) {
    *count.add_spaces() = Tangled(i);
  }
  struct Call {
    grpc::ClientContext context;
    grpc::Status status;
    std::thread thread;
  };
  std::vector<std::unique_ptr<Call>> calls;
  constexpr size_t kCalls = 6;  // more than there are workers
  for (size_t i = 0; i < kCalls; ++i) {
    calls.push_back(std::make_unique<Call>());
    Call& call = *calls.back();
    call.thread = std::thread([&] {
      v1::CountVariantsReply reply;
      call.status = compile->CountVariants(&call.context, count, &reply);
    });
  }
  EXPECT_TRUE(WaitUntil([&] {
    grpc::ClientContext context;
    v1::ListJobsReply jobs;
    EXPECT_TRUE(operating->ListJobs(&context, v1::ListJobsRequest(), &jobs).ok());
    return static_cast<size_t>(jobs.jobs_size()) == kCalls;
  }));
  Stop();
  for (const std::unique_ptr<Call>& call : calls) {
    call->thread.join();
    EXPECT_EQ(call->status.error_code(), grpc::StatusCode::UNAVAILABLE)
        << call->status.error_message();
    EXPECT_EQ(DetailOf(call->context).reason(), "DRAINING");
    EXPECT_GT(DetailOf(call->context).retry_after_ms(), 0U);
  }
}

// A batch that counts, and then explores, without end.
TEST_F(Bounds, CancelOfAnEndlessBatch_EndsIt) {
  constexpr int kFlags = 60;
  v1::StartBatchRequest request;
  v1::ProgramSpace& space = *request.add_spaces();
  *space.mutable_program() = Inline({ReadsAll(kFlags) + "global dead: flag false;\n"});
  AddFlagAxes(kFlags, space);
  v1::Axis& dead = *space.add_axes();
  dead.set_name("dead");
  dead.set_all(true);
  space.add_exclude()->set_text("dead && f0");  // so that points have to be listed to be counted
  request.set_explore(100'000);
  request.set_detach(true);
  const std::string id = StartBatch(request).batch_id();
  grpc::ClientContext context;
  v1::CancelBatchRequest cancel;
  cancel.set_batch_id(id);
  v1::Batch reply;
  ASSERT_TRUE(batch->CancelBatch(&context, cancel, &reply).ok());
  std::map<int, int> seen;
  EXPECT_EQ(Watch(id, seen).final().state(), v1::Batch::CANCELLED);
}

// A request may count for so long, not each of its spaces: later ones are bounded only.
TEST_F(Bounds, ManySpacesThatAreHardToCount_ShareTheTimeOfTheRequest) {
  v1::CountVariantsRequest request;
  for (int i = 0; i < 30; ++i) {
    *request.add_spaces() = Tangled(i);
  }
  grpc::ClientContext context;
  v1::CountVariantsReply reply;
  const grpc::Status status = compile->CountVariants(&context, request, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(reply.programs_size(), request.spaces_size());
  for (const v1::VariantCount& count : reply.programs()) {
    EXPECT_FALSE(count.exact());
    EXPECT_EQ(count.variants(), "1152921504606846976");  // 2^60
  }
}

// Two bytes each, and hundreds once they are objects: they are counted in the bytes.
TEST_F(Bounds, RequestsOfEmptyParts_AreRefusedBeforeTheyAreParsed) {
  constexpr int kParts = 100'000;
  v1::CompileRequest one;
  v1::CountVariantsRequest count;
  v1::StartBatchRequest start;
  v1::ListOptionsRequest options;
  v1::ListVariantsRequest variants;
  for (int i = 0; i < kParts; ++i) {
    (void)one.mutable_variant()->mutable_inline_program()->add_targets();
    (void)count.add_spaces();
    (void)start.add_spaces();
    (void)options.add_programs();
    (void)variants.mutable_space()->add_axes();
  }
  const auto check = [](const char* name, auto&& call) {
    grpc::ClientContext context;
    EXPECT_EQ(call(context).error_code(), grpc::StatusCode::INVALID_ARGUMENT) << name;
    EXPECT_EQ(DetailOf(context).reason(), "MALFORMED_REQUEST") << name;
    EXPECT_EQ(DetailOf(context).field(), "message") << name;
  };
  check("Compile", [&](grpc::ClientContext& context) {
    v1::CompileReply reply;
    return compile->Compile(&context, one, &reply);
  });
  check("CountVariants", [&](grpc::ClientContext& context) {
    v1::CountVariantsReply reply;
    return compile->CountVariants(&context, count, &reply);
  });
  check("ListOptions", [&](grpc::ClientContext& context) {
    v1::ListOptionsReply reply;
    return compile->ListOptions(&context, options, &reply);
  });
  check("ListVariants", [&](grpc::ClientContext& context) {
    v1::ListVariantsReply reply;
    return compile->ListVariants(&context, variants, &reply);
  });
  check("StartBatch", [&](grpc::ClientContext& context) {
    v1::StartBatchReply reply;
    return batch->StartBatch(&context, start, &reply);
  });
}

// Names that a request chooses stand in what it is told: in diagnostics, items and errors.
TEST_F(Bounds, LongNamesOfRequests_AreSaidInShortReplies) {
  constexpr size_t kLong = size_t{1} << 20;
  v1::CompileRequest request;
  *request.mutable_variant()->mutable_inline_program() = Inline({ReadsAll(1)});
  for (const char first : {'a', 'b', 'c'}) {
    v1::OptionValue& option = *request.mutable_variant()->add_options();
    option.set_name(first + std::string(kLong, 'n'));
    option.set_flag(true);
  }
  const v1::Outcome outcome = Compile(request);
  EXPECT_EQ(outcome.kind(), v1::Outcome::SOURCE_ERROR);
  EXPECT_EQ(outcome.diagnostics_size(), 3);
  EXPECT_LT(outcome.ByteSizeLong(), size_t{4096});
  grpc::ClientContext context;
  v1::ListBatchItemsRequest list;
  list.set_batch_id(std::string(16, 'b'));
  list.add_kinds(std::string(kLong, 'k'));
  v1::ListBatchItemsReply items;
  const grpc::Status status = batch->ListBatchItems(&context, list, &items);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_code();
  EXPECT_EQ(DetailOf(context).field(), "kinds");
  EXPECT_LE(status.error_message().size(), size_t{2048});
}

// 24 sources of the longest paths, each with a hundred errors at the longest names: the answer, and
// that of who asks again, fit into a message of a stream.
TEST_F(Bounds, ManyWrongSources_AreSaidInOneMessage) {
  std::vector<std::string> texts;
  std::string calls;
  for (int i = 0; i < 24; ++i) {
    calls += fmt::format("w{} ();\n", i);
    std::string text = fmt::format("void w{} (void) {{\n", i);
    for (int k = 0; k < 100; ++k) {
      text += fmt::format("f1 y{} = {}{:04}{:04};\n", k, std::string(1000, 'n'), i, k);
    }
    texts.push_back(text + "}\n");
  }
  texts.back() +=
      "void v (void) {\n" + calls + "vertex_stage_output_position (f4 {0.0, 0.0, 0.0, 1.0}); }\n";
  v1::CompileRequest request;
  v1::Program& program = *request.mutable_variant()->mutable_inline_program();
  program = Inline(texts);
  for (int i = 0; i < program.sources_size(); ++i) {
    program.mutable_sources(i)->set_path(std::string(1000, 'p') + std::to_string(i) + ".rpl");
  }
  for (const bool again : {false, true}) {
    const v1::Outcome outcome = Compile(request);
    EXPECT_EQ(outcome.kind(), v1::Outcome::SOURCE_ERROR);
    EXPECT_EQ(outcome.from_negative_cache(), again);
    EXPECT_GT(outcome.diagnostics_size(), 0);
    EXPECT_LT(outcome.ByteSizeLong(), size_t{1} << 20);
  }
}

}  // namespace
}  // namespace kiln::server
