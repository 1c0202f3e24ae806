// SPDX-License-Identifier: MIT
// Requests that would keep a worker for minutes: whoever asked leaves, its time is over, or an
// operator kills the job, and the worker is free long before that. Nothing here measures how fast:
// a request that is not stopped takes many times what a test waits for. Spec: daemon §9.1, §9.2
#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include <fmt/format.h>

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

// Thousands of functions that read a constant, which mentions thousands of options.
v1::ListOptionsRequest WidelyRead() {
  constexpr int kFlags = 3000;
  constexpr int kSources = 10;
  constexpr int kFunctions = 2000;
  std::string any = "false";
  for (int i = 0; i < kFlags; ++i) {
    any += fmt::format(" || f{}", i);
  }
  std::string main = Flags(kFlags) + "constant any = " + any + ";\nvoid v (void) { f1 x = 0.0;\n";
  std::vector<std::string> texts(1);
  for (int s = 0; s < kSources; ++s) {
    std::string text;
    std::string calls;
    for (int i = 0; i < kFunctions; ++i) {
      text += fmt::format(
          "f1 g{}_{} (void) {{ f1 x = 0.0; conditional (any) {{ x = 1.0; }} return x; }}\n", s, i);
      calls += fmt::format("x = g{}_{} ();\n", s, i);
    }
    texts.push_back(text + fmt::format("f1 h{} (void) {{ f1 x = 0.0;\n{}return x; }}\n", s, calls));
    main += fmt::format("x = h{} ();\n", s);
  }
  texts[0] = main + "vertex_stage_output_position (f4 {x}); }\n";
  v1::ListOptionsRequest request;
  *request.mutable_program() = Inline(texts);
  request.set_with_liveness(true);
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

enum class Way { kCancel, kDeadline, kKill };

struct LongCall {
  const char* method;
  std::function<grpc::Status(grpc::ClientContext&)> send;
};

TEST_F(Bounds, CallsThatNobodyWaitsFor_LeaveTheirWorker) {
  v1::CountVariantsRequest count;
  v1::StartBatchRequest start;
  for (int i = 0; i < 60; ++i) {
    *count.add_spaces() = Tangled(i);
    *start.add_spaces() = Tangled(i);
  }
  const v1::ListVariantsRequest walked = Walked();
  const v1::ListOptionsRequest widely_read = WidelyRead();
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
      {"ListOptions",
       [&](grpc::ClientContext& context) {
         v1::ListOptionsReply reply;
         return compile->ListOptions(&context, widely_read, &reply);
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

}  // namespace
}  // namespace kiln::server
