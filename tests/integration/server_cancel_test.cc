// SPDX-License-Identifier: MIT
// The worst that somebody outside can ask for by each method: whatever a call does, it looks often
// whether anybody still wants it, and when nobody does it is over. Both are told in time of the
// processor, which other work on the machine does not spend. See spec/daemon 9.1, 9.2.
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/base/mutex.h"
#include "compiler/base/test_cpu_time.h"
#include "compiler/base/test_wait.h"
#include "server/test_server.h"
#include "tests/integration/heavy_requests.h"
#include "tests/support/faulty_relay.h"

namespace kiln::server {
namespace {

using std::chrono::milliseconds;

// The promise is a tenth of a second; sanitizers do several times the work.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr milliseconds kPromise{1000};
#else
constexpr milliseconds kPromise{100};
#endif
// protobuf prints metadata as JSON in one piece, of 4 MiB at most.
constexpr milliseconds kPrinting = 10 * kPromise;

// The clock of the machine. Whoever works for a call, a thread called "worker" or "batch worker",
// asks it while it looks whether the call is still wanted (compiler/base/threads/stop), so what a
// thread spends between two questions is the longest that it would not have noticed.
class LooksClock final : public Clock {
 public:
  Duration Monotonic() override {
    thread_local const bool works = IsWorker();
    if (!works) {
      return real_.Monotonic();
    }
    thread_local Duration last = CpuOfThisThread();
    const Duration now = CpuOfThisThread();
    const Duration::rep spent = (now - last).count();
    last = now;
    Duration::rep worst = worst_;
    while (spent > worst && !worst_.compare_exchange_weak(worst, spent)) {
    }
    return real_.Monotonic();
  }
  Duration UnixTime() override { return real_.UnixTime(); }

  // Since the last time.
  Duration TakeWorst() { return Duration(worst_.exchange(0)); }

 private:
  static bool IsWorker() {
    std::array<char, 16> name{};
    (void)pthread_getname_np(pthread_self(), name.data(), name.size());
    return std::string_view(name.data()).find("worker") != std::string_view::npos;
  }

  SystemClock real_;
  std::atomic<Duration::rep> worst_ = 0;
};

// ---- the calls
// -----------------------------------------------------------------------------------

// How a call is made in the test: over stubs of a channel of its own, so that the channel can go.
struct Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : compile(v1::CompileService::NewStub(channel)),
        batch(v1::BatchService::NewStub(channel)),
        pack(v1::PackService::NewStub(channel)),
        cache(v1::CacheService::NewStub(channel)),
        admin(v1::AdminService::NewStub(channel)) {}
  std::unique_ptr<v1::CompileService::Stub> compile;
  std::unique_ptr<v1::BatchService::Stub> batch;
  std::unique_ptr<v1::PackService::Stub> pack;
  std::unique_ptr<v1::CacheService::Stub> cache;
  std::unique_ptr<v1::AdminService::Stub> admin;
};

struct HeavyCall {
  const char* name;
  const char* method;  // what its jobs are called
  std::function<grpc::Status(Stubs&, grpc::ClientContext&)> send;
  // What is already there is answered at once: made anew before each time.
  std::function<void()> renew = [] {};
  milliseconds longest = kPromise;  // between two looks
};

template <class Stream, class Reply>
grpc::Status ReadAll(const std::unique_ptr<Stream>& stream, Reply reply) {
  while (stream->Read(&reply)) {
  }
  return stream->Finish();
}

class Cancel : public ServerTest {
 protected:
  void SetUp() override {
    StartWith(OptionsIn(folder.path()), looks);
    ASSERT_NE(daemon, nullptr);
    operating = v1::AdminService::NewStub(NewChannel(daemon->socket()));
  }
  void TearDown() override { Stop(); }

  static std::shared_ptr<grpc::Channel> NewChannel(const std::string& socket) {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    own.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), own);
  }

  v1::Program Uploaded(const std::string& text) {
    v1::Program program = ProgramFrom(text, false);
    grpc::ClientContext context;
    v1::PutSourcesReply reply;
    const auto writer = compile->PutSources(&context, &reply);
    v1::PutSourcesRequest message;
    *message.mutable_digest() = program.sources(0).digest();
    constexpr size_t kChunk = 1 << 19;
    for (size_t at = 0; at < text.size(); at += kChunk) {
      message.set_data(text.substr(at, kChunk));
      message.set_last(at + kChunk >= text.size());
      EXPECT_TRUE(writer->Write(message));
    }
    writer->WritesDone();
    EXPECT_TRUE(writer->Finish().ok());
    return program;
  }

  // A source that nobody has sent before.
  std::string Fresh(const std::string& text) { return fmt::format("{}// {}\n", text, ++fresh_); }

  bool IsIdle() {
    grpc::ClientContext context;
    v1::ListJobsReply jobs;
    EXPECT_TRUE(operating->ListJobs(&context, v1::ListJobsRequest(), &jobs).ok());
    return jobs.jobs().empty();
  }
  bool Runs(const std::string& method) {
    grpc::ClientContext context;
    v1::ListJobsReply jobs;
    EXPECT_TRUE(operating->ListJobs(&context, v1::ListJobsRequest(), &jobs).ok());
    return std::any_of(jobs.jobs().begin(), jobs.jobs().end(),
                       [&](const v1::JobInfo& job) { return job.stage() == "runs " + method; });
  }

  // The rows of the table.
  std::vector<HeavyCall> Calls();
  HeavyCall CompileOf(const char* name, const std::string& text);
  void AddOfPrograms(std::vector<HeavyCall>& calls);
  void AddOfResults(std::vector<HeavyCall>& calls);
  void AddOfVariants(std::vector<HeavyCall>& calls);
  void AddOfExplain(std::vector<HeavyCall>& calls, const std::string& batch);
  void AddOfViews(std::vector<HeavyCall>& calls);
  void AddOfTheCache(std::vector<HeavyCall>& calls);

  LooksClock looks;
  std::unique_ptr<v1::AdminService::Stub> operating;

 private:
  int fresh_ = 0;
};

HeavyCall Cancel::CompileOf(const char* name, const std::string& text) {
  auto request = std::make_shared<v1::CompileRequest>();
  return {.name = name,
          .method = "Compile",
          .send =
              [request](Stubs& stubs, grpc::ClientContext& context) {
                v1::CompileReply reply;
                return stubs.compile->Compile(&context, *request, &reply);
              },
          .renew =
              [this, request, text] {
                *request->mutable_variant()->mutable_inline_program() = Uploaded(Fresh(text));
              }};
}

void Cancel::AddOfPrograms(std::vector<HeavyCall>& calls) {
  calls.push_back(CompileOf("Compile, statements", ManyStatements(100'000)));
  calls.push_back(CompileOf("Compile, mistakes", ManyMistakes(100'000)));
  calls.push_back(CompileOf("Compile, buffers", ManyBuffers(8'000)));
  calls.push_back(CompileOf("Compile, fields", ManyFields(8, 16'000)));
  auto options = std::make_shared<v1::ListOptionsRequest>();
  options->set_with_liveness(true);
  calls.push_back({.name = "ListOptions",
                   .method = "ListOptions",
                   .send =
                       [options](Stubs& stubs, grpc::ClientContext& context) {
                         v1::ListOptionsReply reply;
                         return stubs.compile->ListOptions(&context, *options, &reply);
                       },
                   .renew =
                       [this, options] {
                         *options->mutable_program() = Uploaded(Fresh(WidelyRead(1'000, 5'000)));
                       }});
  calls.push_back({.name = "CountVariants",
                   .method = "CountVariants",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     v1::CountVariantsRequest request;
                     for (int i = 0; i < 4; ++i) {
                       *request.add_spaces() = Tangled(60, 200);
                     }
                     v1::CountVariantsReply reply;
                     return stubs.compile->CountVariants(&context, request, &reply);
                   }});
  calls.push_back({.name = "ListVariants",
                   .method = "ListVariants",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     v1::ListVariantsRequest request;
                     *request.mutable_space() = Tangled(40, 150);
                     v1::ListVariantsReply reply;
                     return stubs.compile->ListVariants(&context, request, &reply);
                   }});
  calls.push_back({.name = "StartBatch",
                   .method = "StartBatch",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     v1::StartBatchRequest request;
                     for (int i = 0; i < 4; ++i) {
                       *request.add_spaces() = Tangled(60, 200);
                     }
                     v1::StartBatchReply reply;
                     return stubs.batch->StartBatch(&context, request, &reply);
                   }});
}

// What others have built: many results, which together are long.
void Cancel::AddOfResults(std::vector<HeavyCall>& calls) {
  const std::string id = StartBatch(ManyResults(/*flags=*/9, /*lines=*/60)).batch_id();
  std::map<int, int> seen;
  ASSERT_EQ(Watch(id, seen).final().state(), v1::Batch::DONE);
  calls.push_back({.name = "Fetch",
                   .method = "Fetch",
                   .send = [id](Stubs& stubs, grpc::ClientContext& context) {
                     v1::FetchRequest request;
                     request.set_batch_id(id);
                     for (int i = 0; i < 80'000; ++i) {
                       v1::Digest& have = *request.add_have();
                       have.set_id(Id(HashBytes(AsBytes(std::to_string(i)))));
                       have.set_size(1);
                     }
                     return ReadAll(stubs.compile->Fetch(&context, request), v1::FetchReply());
                   }});
  for (const v1::BuildPackRequest::Mode mode :
       {v1::BuildPackRequest::FAST, v1::BuildPackRequest::SMALL}) {
    calls.push_back(
        {.name = mode == v1::BuildPackRequest::FAST ? "BuildPack, fast" : "BuildPack, small",
         .method = "BuildPack",
         .send = [id, mode](Stubs& stubs, grpc::ClientContext& context) {
           v1::BuildPackRequest request;
           request.set_batch_id(id);
           request.set_mode(mode);
           return ReadAll(stubs.pack->BuildPack(&context, request), v1::BuildPackReply());
         }});
  }
  AddOfVariants(calls);
  AddOfExplain(calls, id);
  for (int i = 0; i < 50; ++i) {
    grpc::ClientContext context;
    v1::PinRequest request;
    request.set_name(fmt::format("pin{}", i));
    request.set_batch_id(id);
    v1::PinInfo info;
    const grpc::Status pinned = admin->Pin(&context, request, &info);
    ASSERT_TRUE(pinned.ok()) << pinned.error_message();
  }
  calls.push_back({.name = "ListPins",
                   .method = "ListPins",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     v1::ListPinsReply reply;
                     return stubs.admin->ListPins(&context, v1::ListPinsRequest(), &reply);
                   }});
  AddOfViews(calls);
}

// What somebody names one by one and nobody has built.
void Cancel::AddOfVariants(std::vector<HeavyCall>& calls) {
  constexpr int kFlags = 300, kCount = 500;
  const auto variants = std::make_shared<std::vector<v1::Variant>>();
  const auto renew = [this, variants] {
    *variants = Combinations(Uploaded(Fresh(ManyOptions(kFlags))), kCount);
  };
  for (const bool compile_them : {true, false}) {
    calls.push_back({.name = compile_them ? "Fetch, variants" : "Fetch, variants that are missed",
                     .method = "Fetch",
                     .send =
                         [variants, compile_them](Stubs& stubs, grpc::ClientContext& context) {
                           v1::FetchRequest request;
                           request.mutable_variants()->Assign(variants->begin(), variants->end());
                           request.set_on_miss(compile_them ? v1::FetchRequest::COMPILE
                                                            : v1::FetchRequest::SKIP);
                           return ReadAll(stubs.compile->Fetch(&context, request),
                                          v1::FetchReply());
                         },
                     .renew = renew});
  }
  calls.push_back({.name = "BuildPack, variants",
                   .method = "BuildPack",
                   .send =
                       [variants](Stubs& stubs, grpc::ClientContext& context) {
                         v1::BuildPackRequest request;
                         request.mutable_variants()->Assign(variants->begin(), variants->end());
                         return ReadAll(stubs.pack->BuildPack(&context, request),
                                        v1::BuildPackReply());
                       },
                   .renew = renew});
}

// What is known of all that was asked for, of a batch, and of a variant of which nothing is.
void Cancel::AddOfExplain(std::vector<HeavyCall>& calls, const std::string& batch) {
  const auto explain = [](v1::ExplainRequest request) {
    return [request = std::move(request)](Stubs& stubs, grpc::ClientContext& context) {
      v1::ExplainReply reply;
      return stubs.compile->Explain(&context, request, &reply);
    };
  };
  v1::ExplainRequest last, of_batch;
  last.set_last(1'000);
  of_batch.set_batch_id(batch);
  calls.push_back({.name = "Explain, last", .method = "Explain", .send = explain(last)});
  calls.push_back({.name = "Explain, batch", .method = "Explain", .send = explain(of_batch)});
  const auto variant = std::make_shared<v1::ExplainRequest>();
  calls.push_back({.name = "Explain, variant",
                   .method = "Explain",
                   .send =
                       [variant](Stubs& stubs, grpc::ClientContext& context) {
                         v1::ExplainReply reply;
                         return stubs.compile->Explain(&context, *variant, &reply);
                       },
                   .renew =
                       [this, variant] {
                         *variant->mutable_variant()->mutable_inline_program() =
                             Uploaded(Fresh(ManyOptions(4'000)));
                       }});
}

void Cancel::AddOfViews(std::vector<HeavyCall>& calls) {
  v1::CompileRequest fields, statements;
  *fields.mutable_variant()->mutable_inline_program() = Uploaded(ManyFields(3, 16'000));
  ASSERT_EQ(Compile(fields).kind(), v1::Outcome::OK);
  *statements.mutable_variant()->mutable_inline_program() = Uploaded(ManyStatements(60'000));
  ASSERT_EQ(Compile(statements).kind(), v1::Outcome::OK);
  calls.push_back(
      {.name = "Inspect, module",
       .method = "Inspect",
       .send = [variant = statements.variant()](Stubs& stubs, grpc::ClientContext& context) {
         v1::InspectRequest request;
         *request.mutable_variant() = variant;
         request.add_views(v1::InspectRequest::DISASM);
         request.add_views(v1::InspectRequest::STATS);
         return ReadAll(stubs.compile->Inspect(&context, request), v1::InspectReply());
       }});
  for (const v1::InspectRequest::View view :
       {v1::InspectRequest::IR, v1::InspectRequest::META, v1::InspectRequest::LAYOUT}) {
    calls.push_back(
        {.name = view == v1::InspectRequest::IR     ? "Inspect, IR"
                 : view == v1::InspectRequest::META ? "Inspect, metadata"
                                                    : "Inspect, layout",
         .method = "Inspect",
         .send =
             [variant = fields.variant(), view](Stubs& stubs, grpc::ClientContext& context) {
               v1::InspectRequest request;
               *request.mutable_variant() = variant;
               request.add_views(view);
               return ReadAll(stubs.compile->Inspect(&context, request), v1::InspectReply());
             },
         .renew = [] {},
         .longest = view == v1::InspectRequest::META ? kPrinting : kPromise});
  }
}

// What a store has, and what comes into it.
void Cancel::AddOfTheCache(std::vector<HeavyCall>& calls) {
  constexpr size_t kLong = size_t{96} << 20;
  const auto blob = std::make_shared<const std::string>(LongBlob(kLong));
  v1::Digest name;
  const Digest digest = DigestOf(std::string_view(*blob));
  name.set_id(Id(digest.id));
  name.set_size(digest.size);
  const auto put = [blob, name](Stubs& stubs, grpc::ClientContext& context) {
    v1::PutBlobsReply reply;
    const auto writer = stubs.cache->PutBlobs(&context, &reply);
    v1::PutBlobsRequest message;
    *message.mutable_digest() = name;
    constexpr size_t kChunk = 1 << 19;
    for (size_t at = 0; at < blob->size(); at += kChunk) {
      message.set_offset(at);
      message.set_data(blob->substr(at, kChunk));
      message.set_last(at + kChunk >= blob->size());
      if (!writer->Write(message)) {
        break;
      }
    }
    writer->WritesDone();
    return writer->Finish();
  };
  calls.push_back({.name = "PutBlobs", .method = "PutBlobs", .send = put});
  calls.push_back({.name = "GetBlobs",
                   .method = "GetBlobs",
                   .send = [name](Stubs& stubs, grpc::ClientContext& context) {
                     v1::GetBlobsRequest request;
                     *request.add_digests() = name;
                     request.add_accept_codecs(v1::CODEC_ZSTD);
                     return ReadAll(stubs.cache->GetBlobs(&context, request), v1::GetBlobsReply());
                   }});
  calls.push_back({.name = "VerifyCache",
                   .method = "VerifyCache",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     return ReadAll(stubs.admin->VerifyCache(&context, v1::VerifyCacheRequest()),
                                    v1::CacheMaintenance());
                   }});
  calls.push_back({.name = "RepairCache",
                   .method = "RepairCache",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     return ReadAll(stubs.admin->RepairCache(&context, v1::RepairCacheRequest()),
                                    v1::CacheMaintenance());
                   }});
  calls.push_back({.name = "GetCacheStats",
                   .method = "GetCacheStats",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     v1::CacheStats stats;
                     return stubs.admin->GetCacheStats(&context, v1::GetCacheStatsRequest(),
                                                       &stats);
                   }});
  calls.push_back({.name = "GcCache",
                   .method = "GcCache",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     v1::GcCacheRequest request;
                     request.set_to_bytes(1);
                     return ReadAll(stubs.admin->GcCache(&context, request),
                                    v1::CacheMaintenance());
                   }});
  calls.push_back({.name = "ClearNegative",
                   .method = "ClearNegative",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     v1::ClearNegativeRequest request;
                     request.set_program("*");
                     v1::ClearNegativeReply reply;
                     return stubs.admin->ClearNegative(&context, request, &reply);
                   }});
}

std::vector<HeavyCall> Cancel::Calls() {
  std::vector<HeavyCall> calls;
  AddOfPrograms(calls);
  AddOfResults(calls);
  AddOfTheCache(calls);
  return calls;
}

// ---- the tests
// -----------------------------------------------------------------------------------

// Each is done whole, or for three seconds: between any two looks it spends less than was promised.
TEST_F(Cancel, WhateverACallDoes_ItLooksWhetherItIsWanted) {
  for (const HeavyCall& call : Calls()) {
    call.renew();
    EXPECT_TRUE(WaitUntil([&] { return IsIdle(); }));
    (void)looks.TakeWorst();
    Stubs stubs(channel);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(3));
    (void)call.send(stubs, context);
    EXPECT_TRUE(WaitUntil([&] { return IsIdle(); })) << call.name;
    const Duration worst = looks.TakeWorst();
    // For whoever looks for the next one: at quiet none but kPrinting's is above 30 ms.
    fmt::print("{:<36} {:5.1f} ms\n", call.name, static_cast<double>(worst.count()) / 1e6);
    EXPECT_LT(std::chrono::duration_cast<milliseconds>(worst), call.longest) << call.name;
  }
}

enum class Way { kCancel, kDeadline, kDisconnect };
constexpr std::array kWays = {Way::kCancel, Way::kDeadline, Way::kDisconnect};

// What threads that work spend between the moment at which nobody waits any more and the one at
// which the daemon has nothing to do. Those that only look at it, and gRPC's, do not count: on a
// machine with other work they look for as long as it takes.
TEST_F(Cancel, CallThatNobodyWaitsFor_IsOver) {
  size_t number = 0;
  for (const HeavyCall& call : Calls()) {
    for (const Way way : kWays) {
      SCOPED_TRACE(fmt::format("{}, way {}", call.name, static_cast<int>(way)));
      call.renew();
      // Of a connection that can be cut off, though client and daemon are one process.
      auto relay = std::make_unique<tests::FaultyRelay>(folder.path() + "/relay", daemon->socket(),
                                                        tests::RelayFaults{});
      Stubs stubs(NewChannel(way == Way::kDisconnect ? relay->path() : daemon->socket()));
      grpc::ClientContext context;
      // Somewhere in the middle, elsewhere each time.
      const milliseconds moment(20 + 37 * (number++ % 10));
      if (way == Way::kDeadline) {
        context.set_deadline(std::chrono::system_clock::now() + moment);
      }
      std::atomic<bool> ended = false;
      std::thread caller([&] {
        (void)call.send(stubs, context);
        ended = true;
      });
      EXPECT_TRUE(WaitUntil([&] { return ended || Runs(call.method); }));
      LetPass(moment);
      if (way == Way::kCancel) {
        context.TryCancel();
      } else if (way == Way::kDisconnect) {
        relay.reset();
      }
      const Duration begun = CpuOfThreads("worker");
      EXPECT_TRUE(WaitUntil([&] { return IsIdle(); }));
      const Duration spent = CpuOfThreads("worker") - begun;
      caller.join();
      EXPECT_LT(std::chrono::duration_cast<milliseconds>(spent), call.longest + kPromise);
    }
  }
}

}  // namespace
}  // namespace kiln::server
