// SPDX-License-Identifier: MIT
// Whatever is thrown anywhere, every call of every kind ends with a status, and so does the daemon.
// See spec/daemon 2.3, 14.5
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>

#include "compiler/base/check.h"
#include "compiler/base/mutex.h"
#include "compiler/base/test_wait.h"
#include "proto/kiln/v1/watch.grpc.pb.h"
#include "server/rpc/transport/method_table.h"
#include "server/test_server.h"
#include "tests/support/call_empty.h"

namespace kiln::server {
namespace {

constexpr int kSeconds = 60;  // of a call that hangs: none does

const struct Kind {
  const char* name;
  void (*thrown)();
  grpc::StatusCode code;
  const char* reason;
} kKinds[] = {
    {"bad_alloc", [] { throw std::bad_alloc(); }, grpc::StatusCode::RESOURCE_EXHAUSTED,
     "OUT_OF_MEMORY"},
    {"runtime_error", [] { throw std::runtime_error("the sky fell"); }, grpc::StatusCode::INTERNAL,
     "BUG"},
    {"InternalError", [] { throw InternalError("a.cc:1: check failed"); },
     grpc::StatusCode::INTERNAL, "BUG"},
    {"no std::exception", [] { throw 7; }, grpc::StatusCode::INTERNAL, "BUG"},
};

std::string PathOf(const rpc::MethodRow& row) {
  return "/kiln.v1." + std::string(row.service) + "/" + std::string(row.method);
}

bool EndsTheDaemon(std::string_view method) { return method == "Drain" || method == "Shutdown"; }

class Fault : public ServerTest {
 protected:
  void SetUp() override {
    Daemon::Options options = OptionsIn(folder.path());
    options.fault = [this](std::string_view where) { At(where); };
    StartWith(options);
    ASSERT_NE(daemon, nullptr);
  }
  void TearDown() override { Stop(); }

  // From now on what happens `where` throws, after it has gone well `first` times.
  void Throw(std::string_view where, const Kind& kind, int first = 0) {
    where_ = where;
    left_ = first;
    kind_ = &kind;
  }
  void ThrowNothing() { kind_ = nullptr; }

  // Until something was done for a call of this method.
  void WaitFor(std::string_view method) {
    const MutexLock lock(mutex_);
    while (!seen_.contains(method)) {
      changed_.Wait(mutex_);
    }
  }

  static v1::ErrorDetail Parsed(const RawAnswer& answer) {
    v1::ErrorDetail detail;
    EXPECT_TRUE(detail.ParseFromString(answer.detail));
    return detail;
  }

 private:
  void At(std::string_view where) {
    {
      const MutexLock lock(mutex_);
      if (seen_.insert(where).second) {
        changed_.NotifyAll();
      }
    }
    const Kind* const kind = kind_;
    if (kind != nullptr && where == where_ && left_.fetch_sub(1) <= 0) {
      kind->thrown();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  std::set<std::string_view> seen_ KILN_GUARDED_BY(mutex_);  // literals
  std::string_view where_;                                   // set before kind_
  std::atomic<int> left_ = 0;
  std::atomic<const Kind*> kind_ = nullptr;
};

TEST_F(Fault, EveryMethod_EndsWithAStatusAndItsDetail) {
  for (const rpc::MethodRow& row : rpc::kMethods) {
    for (const Kind& kind : kKinds) {
      Throw(row.method, kind);
      const RawAnswer answer = CallWith(channel, PathOf(row), {}, {}, kSeconds);
      EXPECT_EQ(answer.status.error_code(), kind.code)
          << row.method << ", " << kind.name << ": " << answer.status.error_message();
      const v1::ErrorDetail detail = Parsed(answer);
      EXPECT_EQ(detail.reason(), kind.reason) << row.method << ", " << kind.name;
      EXPECT_FALSE(detail.trace_id().empty()) << row.method;
    }
  }
  ThrowNothing();
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK) << "the daemon lives";
}

// What is thrown later: in the job instead of the callback before it, in the one after it.
TEST_F(Fault, EveryMethod_LaterStep_EndsAllTheSame) {
  for (const rpc::MethodRow& row : rpc::kMethods) {
    for (const int first : {1, 2, 3}) {
      if (EndsTheDaemon(row.method)) {
        continue;
      }
      Throw(row.method, kKinds[static_cast<size_t>(first) % std::size(kKinds)], first);
      EXPECT_NE(CallWith(channel, PathOf(row), {}, {}, kSeconds).status.error_code(),
                grpc::StatusCode::DEADLINE_EXCEEDED)
          << row.method << " after " << first;
    }
  }
  ThrowNothing();
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK) << "the daemon lives";
}

// A stream that goes on for many steps: whichever of them throws, it ends.
TEST_F(Fault, Fetch_EveryStep_EndsWithAStatus) {
  v1::FetchRequest request;
  for (const char* option : {"cheap", "cut"}) {
    v1::Variant& variant = *request.add_variants();
    variant = RequestOf(GoodSource()).variant();
    v1::OptionValue& value = *variant.add_options();
    value.set_name(option);
    value.set_flag(true);
  }
  request.set_on_miss(v1::FetchRequest::COMPILE);
  bool well = false;
  for (int first = 0; first < 50 && !well; ++first) {
    Throw("Fetch", kKinds[0], first);
    const RawAnswer answer = CallWith(channel, "/kiln.v1.CompileService/Fetch",
                                      request.SerializeAsString(), {}, kSeconds);
    well = answer.status.ok();
    EXPECT_EQ(answer.status.error_code(),
              well ? grpc::StatusCode::OK : grpc::StatusCode::RESOURCE_EXHAUSTED)
        << first << ": " << answer.status.error_message();
  }
  EXPECT_TRUE(well) << "it has an end";
}

TEST_F(Fault, Batch_StoreThrows_FailsAndItsWatcherHears) {
  uint32_t number = 0;
  int failed = 0;
  for (const Kind& kind : kKinds) {
    for (const int first : {1, 5, 10, 20, 40}) {
      ThrowNothing();
      const std::string text = GoodSource() + "\nf1 fresh (in f1 x) { return x + " +
                               std::to_string(++number) + ".0; }\n";
      v1::StartBatchRequest request = BatchOf(text);
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(kSeconds));
      v1::StartBatchReply started;
      Throw("store", kind, first);
      const grpc::Status status = batch->StartBatch(&context, request, &started);
      if (!status.ok()) {  // it was the call that met the fault
        EXPECT_EQ(status.error_code(), kind.code) << kind.name << " after " << first;
        continue;
      }
      grpc::ClientContext watching;
      watching.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(kSeconds));
      v1::WatchBatchRequest watch;
      watch.set_batch_id(started.batch_id());
      const auto stream = batch->WatchBatch(&watching, watch);
      v1::BatchEvent event, last;
      while (stream->Read(&event)) {
        last = event;
      }
      const grpc::Status ended = stream->Finish();
      ASSERT_TRUE(ended.ok()) << kind.name << " after " << first << ": " << ended.error_message();
      ASSERT_TRUE(last.has_final());
      failed += last.final().state() == v1::Batch::FAILED ? 1 : 0;  // else it was over before
    }
  }
  EXPECT_GT(failed, 0);
}

TEST_F(Fault, Watch_StoreThrows_GoesOnAndIsToldOfTheEnd) {
  const auto watch = v1::WatchService::NewStub(channel);
  for (const Kind& kind : kKinds) {
    ThrowNothing();
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(kSeconds));
    const auto stream = watch->Watch(&context);
    v1::WatchRequest open;
    open.mutable_open()->set_project(kind.name);
    open.mutable_open()->set_role(v1::WatchRequest::Open::BOTH);
    *open.mutable_open()->add_spaces() = BatchOf(GoodSource()).spaces(0);
    ASSERT_TRUE(stream->Write(open));
    v1::WatchEvent event;
    ASSERT_TRUE(stream->Read(&event)) << kind.name;
    EXPECT_TRUE(event.has_opened());
    Throw("store", kind);
    v1::WatchRequest push;
    v1::SourceRef& source = *push.mutable_push()->add_changed();
    source.set_path("mist.rpl");
    source.set_inline_(GoodSource() + "\n// " + kind.name + "\n");
    (void)stream->Write(push);
    stream->WritesDone();
    while (stream->Read(&event)) {
    }
    EXPECT_NE(stream->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << kind.name;
  }
}

TEST_F(Fault, AfterAllOfThem_TheDaemonDrainsAndEnds) {
  for (const rpc::MethodRow& row : rpc::kMethods) {
    Throw(row.method, kKinds[0]);
    (void)CallWith(channel, PathOf(row), {}, {}, kSeconds);
  }
  Throw("store", kKinds[3]);
  const auto begun = std::chrono::steady_clock::now();
  daemon->Drain();
  Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kTestPatience);
}

// ---- messages that are none ----

TEST_F(Fault, Malformed_EveryMethod_IsInvalidArgumentWithADetail) {
  for (const rpc::MethodRow& row : rpc::kMethods) {
    const RawAnswer answer = CallWith(channel, PathOf(row), "\xff\xff\xff", {}, kSeconds);
    EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT)
        << row.method << ": " << answer.status.error_message();
    const v1::ErrorDetail detail = Parsed(answer);
    EXPECT_EQ(detail.reason(), "MALFORMED_REQUEST") << row.method;
    EXPECT_EQ(detail.field(), "message") << row.method;
    EXPECT_FALSE(detail.trace_id().empty()) << row.method;
    EXPECT_NE(CallWith(channel, PathOf(row), {}, {}, kSeconds).status.error_code(),
              grpc::StatusCode::UNIMPLEMENTED)
        << row.method;
    if (EndsTheDaemon(row.method)) {  // it did as it was told
      Stop();
      SetUp();
    }
  }
}

// ---- streams that are open when the daemon goes ----

TEST_F(Fault, OpenStreams_TheDaemonGoes_AreToldWithADetail) {
  struct Open {
    const char* method;
    std::unique_ptr<grpc::ClientContext> context = std::make_unique<grpc::ClientContext>();
    std::function<grpc::Status()> end = nullptr;
  };
  std::vector<Open> table;
  v1::PutSourcesReply put_reply;
  table.push_back({.method = "PutSources"});
  {
    std::shared_ptr writer = compile->PutSources(table.back().context.get(), &put_reply);
    table.back().end = [writer] { return writer->Finish(); };
  }
  v1::PutBlobsReply blobs_reply;
  table.push_back({.method = "PutBlobs"});
  {
    std::shared_ptr writer = cache->PutBlobs(table.back().context.get(), &blobs_reply);
    table.back().end = [writer] { return writer->Finish(); };
  }
  table.push_back({.method = "Watch"});
  const auto watch = v1::WatchService::NewStub(channel);
  {
    std::shared_ptr stream = watch->Watch(table.back().context.get());
    table.back().end = [stream] { return stream->Finish(); };
  }
  table.push_back({.method = "WatchBatch"});
  {
    v1::StartBatchRequest paused = BatchOf(GoodSource());
    const v1::StartBatchReply started = StartBatch(paused);
    grpc::ClientContext pausing;
    v1::PauseBatchRequest pause;
    pause.set_batch_id(started.batch_id());
    v1::Batch state;
    ASSERT_TRUE(batch->PauseBatch(&pausing, pause, &state).ok());
    v1::WatchBatchRequest request;
    request.set_batch_id(started.batch_id());
    std::shared_ptr stream = batch->WatchBatch(table.back().context.get(), request);
    table.back().end = [stream] {
      v1::BatchEvent event;
      while (stream->Read(&event)) {
      }
      return stream->Finish();
    };
  }
  for (const Open& open : table) {
    WaitFor(open.method);
  }
  Stop();
  for (Open& open : table) {
    const grpc::Status status = open.end();
    if (status.ok()) {  // the batch was over before it was paused
      EXPECT_STREQ(open.method, "WatchBatch");
      continue;
    }
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE)
        << open.method << ": " << status.error_message();
    EXPECT_EQ(DetailOf(*open.context).reason(), "DRAINING") << open.method;
  }
}

}  // namespace
}  // namespace kiln::server
