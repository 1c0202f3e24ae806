// SPDX-License-Identifier: MIT
// The worst that somebody outside can ask for by each method: whatever a call does, it looks often
// whether anybody still wants it, and when nobody does it is over. Both are told in time of the
// processor, which other work on the machine does not spend. See spec/daemon 9.1, 9.2.
#include <array>
#include <atomic>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "compiler/base/mutex.h"
#include "compiler/base/test_wait.h"
#include "server/test_server.h"
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
// zstd trains the dictionary of a pack from eight mebibytes in one piece.
constexpr milliseconds kTraining = 10 * kPromise;
// protobuf prints metadata as JSON in one piece, of 4 MiB at most.
constexpr milliseconds kPrinting = 10 * kPromise;

Duration CpuOf(clockid_t clock) {
  timespec time{};
  (void)clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// The clock of the machine. Whoever works for a call, a thread called "worker" or "batch worker",
// asks it while it looks whether the call is still wanted (compiler/base/stop), so what a thread
// spends between two questions is the longest that it would not have noticed.
class LooksClock final : public Clock {
 public:
  Duration Monotonic() override {
    thread_local const bool works = IsWorker();
    if (!works) {
      return real_.Monotonic();
    }
    thread_local Duration last = CpuOf(CLOCK_THREAD_CPUTIME_ID);
    const Duration now = CpuOf(CLOCK_THREAD_CPUTIME_ID);
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

// ---- what is asked for
// ---------------------------------------------------------------------------

constexpr char kEnd[] = "vertex_stage_output_position (f4 {x}); }\n";

// A function whose body is `statement(0)`, `statement(1)`, … behind `before`.
std::string Many(int count, const std::string& before,
                 const std::function<std::string(int)>& statement) {
  std::string text = before + "void v (void) { f1 x = 0.0;\n";
  for (int i = 0; i < count; ++i) {
    text += statement(i);
  }
  return text + kEnd;
}

std::string ManyStatements(int count) {
  return Many(count, {}, [](int i) { return fmt::format("x = x + {}.0;\n", i); });
}

std::string ManyMistakes(int count) {
  return Many(count, {}, [](int i) { return fmt::format("x = q{};\n", i); });
}

// Each with its declaration, its place and its record in the metadata.
std::string ManyBuffers(int count) {
  std::string buffers;
  for (int i = 0; i < count; ++i) {
    buffers += fmt::format("set_material read_only_storage_buffer b{} {{ f4 m; }};\n", i);
  }
  return Many(count, buffers, [](int i) { return fmt::format("x = x + b{}.m.x;\n", i); });
}

std::string ManyFields(int buffers, int fields) {
  std::string text;
  for (int b = 0; b < buffers; ++b) {
    text += fmt::format("set_material read_only_storage_buffer b{} {{\n", b);
    for (int i = 0; i < fields; ++i) {
      text += fmt::format("f4 m{}_{};\n", b, i);
    }
    text += "};\n";
  }
  return Many(buffers, text, [](int i) { return fmt::format("x = x + b{0}.m{0}_0.x;\n", i); });
}

std::string Flags(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += fmt::format("global f{}: flag false;\n", i);
  }
  return text;
}

std::string ManyOptions(int count) {
  return Many(count, Flags(count),
              [](int i) { return fmt::format("conditional (f{0}) {{ x = x + {0}.0; }}\n", i); });
}

// Every function reads every option.
std::string WidelyRead(int options, int functions) {
  std::string any = "false";
  for (int i = 0; i < options; ++i) {
    any += fmt::format(" || f{}", i);
  }
  std::string text = Flags(options) + "constant any = " + any + ";\n";
  for (int i = 0; i < functions; ++i) {
    text += fmt::format(
        "f1 g{} (void) {{ f1 x = 0.0; conditional (any) {{ x = 1.0; }} return x; }}\n", i);
  }
  return Many(functions, text, [](int i) { return fmt::format("x = g{} ();\n", i); });
}

// Of one function, v.
v1::Program ProgramFrom(const std::string& text, bool inline_text) {
  v1::Program program = ProgramOf(text, inline_text);
  program.clear_entry_points();
  v1::EntryPoint& entry = *program.add_entry_points();
  entry.set_stage(v1::EntryPoint::VERTEX);
  entry.set_function("v");
  return program;
}

// Points that are all built; `lines` of each are its own.
v1::StartBatchRequest ManyResults(int flags, int lines) {
  v1::StartBatchRequest request;
  request.set_project("results");
  request.set_detach(true);
  v1::ProgramSpace& space = *request.add_spaces();
  const std::string text = Many(flags, Flags(flags), [&](int i) {
    std::string body;
    for (int k = 0; k < lines; ++k) {
      body += fmt::format("x = x + {}.0;\n", i * lines + k);
    }
    return fmt::format("conditional (f{}) {{ {} }}\n", i, body);
  });
  *space.mutable_program() = ProgramFrom(text, true);
  for (int i = 0; i < flags; ++i) {
    v1::Axis& axis = *space.add_axes();
    axis.set_name(fmt::format("f{}", i));
    axis.set_all(true);
  }
  return request;
}

// Exclusions that no order of the axes takes apart, and a space that can only be walked.
v1::ProgramSpace Tangled(int flags, int exclusions) {
  v1::ProgramSpace space;
  *space.mutable_program() = ProgramFrom(ManyOptions(flags), true);
  for (int i = 0; i < flags; ++i) {
    v1::Axis& axis = *space.add_axes();
    axis.set_name(fmt::format("f{}", i));
    axis.set_all(true);
  }
  std::mt19937 random(7);
  const auto literal = [&] {
    return fmt::format("{}f{}", random() % 2 == 0 ? "!" : "",
                       random() % static_cast<uint32_t>(flags));
  };
  for (int i = 0; i < exclusions; ++i) {
    space.add_exclude()->set_text(
        fmt::format("{} && {} && {} && {}", literal(), literal(), literal(), literal()));
  }
  return space;
}

// As a shader compiler's output compresses: not well, but by more than a tenth.
std::string LongBlob(size_t size) {
  std::mt19937 random(3);
  std::string blob;
  blob.reserve(size + 4);
  while (blob.size() < size) {
    const uint32_t word = random() % 977;
    blob.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  blob.resize(size);
  return blob;
}

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
         .send =
             [id, mode](Stubs& stubs, grpc::ClientContext& context) {
               v1::BuildPackRequest request;
               request.set_batch_id(id);
               request.set_mode(mode);
               return ReadAll(stubs.pack->BuildPack(&context, request), v1::BuildPackReply());
             },
         .renew = [] {},
         .longest = kTraining});
  }
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
  calls.push_back({.name = "Explain",
                   .method = "Explain",
                   .send = [](Stubs& stubs, grpc::ClientContext& context) {
                     v1::ExplainRequest request;
                     request.set_last(1'000);
                     v1::ExplainReply reply;
                     return stubs.compile->Explain(&context, request, &reply);
                   }});
  v1::CompileRequest fields;
  *fields.mutable_variant()->mutable_inline_program() = Uploaded(ManyFields(3, 16'000));
  ASSERT_EQ(Compile(fields).kind(), v1::Outcome::OK);
  for (const v1::InspectRequest::View view :
       {v1::InspectRequest::IR, v1::InspectRequest::META, v1::InspectRequest::LAYOUT}) {
    calls.push_back(
        {.name = "Inspect",
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
    EXPECT_LT(std::chrono::duration_cast<milliseconds>(looks.TakeWorst()), call.longest)
        << call.name;
  }
}

enum class Way { kCancel, kDeadline, kDisconnect };
constexpr std::array kWays = {Way::kCancel, Way::kDeadline, Way::kDisconnect};

// The processor's time between the moment at which nobody waits any more and the one at which the
// daemon has nothing to do. It is this process, with the calls that look at it.
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
      const Duration begun = CpuOf(CLOCK_PROCESS_CPUTIME_ID);
      EXPECT_TRUE(WaitUntil([&] { return IsIdle(); }));
      const Duration spent = CpuOf(CLOCK_PROCESS_CPUTIME_ID) - begun;
      caller.join();
      EXPECT_LT(std::chrono::duration_cast<milliseconds>(spent), call.longest + 4 * kPromise);
    }
  }
}

}  // namespace
}  // namespace kiln::server
