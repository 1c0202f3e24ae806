// SPDX-License-Identifier: MIT
// Who may not write changes nothing, and still gets what is there: with a read token over real TLS,
// every method of scope read. And what two different sources have in common. See spec/daemon 11.4,
// spec/cache 2.1
#include <filesystem>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <sqlite3.h>

#include "compiler/base/checksum.h"
#include "compiler/base/colliding_texts.h"
#include "compiler/base/file.h"
#include "proto/kiln/v1/cache.grpc.pb.h"
#include "server/rpc/method_table.h"
#include "tests/integration/security_case.h"

namespace kiln::server {
namespace {

using Code = grpc::StatusCode;

// Two programs that differ in one digit of a colour and have one XXH3-128.
CollidingTexts CollidingPrograms() {
  std::string rest = GoodSource();
  const std::string_view plain = "target.color.w = 1.0;";
  rest.replace(rest.find(plain), plain.size(), "target.color.w = dim (1.0);");
  CollidingTexts texts = TextsOfOneXxh3("f1 dim (in f1 whole)\n{\n    return whole * 0.", ";\n}\n");
  texts.first += rest;
  texts.second += rest;
  return texts;
}

// A source that nobody has seen, which gives other code.
std::string Fresh(const std::string& name) {
  std::string text = GoodSource();
  const std::string_view plain = "target.color.w = 1.0;";
  uint32_t digits = 0;
  for (const char letter : name) {
    digits = digits * 31 + static_cast<uint8_t>(letter);
  }
  text.replace(text.find(plain), plain.size(), fmt::format("target.color.w = 0.{};", digits));
  return text;
}

// All rows of all tables, those of the explain ring and the order of eviction among them, and the
// packs in the order of their use.
std::string DumpOf(const std::string& cache_dir) {
  std::string text;
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open_v2((cache_dir + "/cache.db").c_str(), &db, SQLITE_OPEN_READWRITE, nullptr),
            SQLITE_OK);
  const auto add = [](void* out, int columns, char** values, char** names) {
    for (int i = 0; i < columns; ++i) {
      *static_cast<std::string*>(out) +=
          std::string(names[i]) + "=" + (values[i] == nullptr ? "null" : values[i]) + " ";
    }
    *static_cast<std::string*>(out) += "\n";
    return 0;
  };
  std::string tables;
  const auto add_name = [](void* out, int, char** values, char**) {
    *static_cast<std::string*>(out) += std::string(values[0]) + "\n";
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(db, "SELECT name FROM sqlite_schema WHERE type='table' ORDER BY name",
                         add_name, &tables, nullptr),
            SQLITE_OK);
  for (size_t at = 0; at < tables.size();) {
    const std::string table = tables.substr(at, tables.find('\n', at) - at);
    at += table.size() + 1;
    text += "== " + table + "\n";
    std::string columns, quoted;
    EXPECT_EQ(sqlite3_exec(db, ("SELECT name FROM pragma_table_info('" + table + "')").c_str(),
                           add_name, &columns, nullptr),
              SQLITE_OK);
    for (size_t c = 0; c < columns.size();) {
      const std::string column = columns.substr(c, columns.find('\n', c) - c);
      c += column.size() + 1;
      quoted += (quoted.empty() ? "quote(" : ", quote(") + column + ")";
    }
    EXPECT_EQ(sqlite3_exec(db, ("SELECT " + quoted + " FROM " + table + " ORDER BY 1, 2").c_str(),
                           add, &text, nullptr),
              SQLITE_OK)
        << table;
  }
  sqlite3_close(db);
  std::error_code none;
  std::map<std::filesystem::file_time_type, std::string> packs;
  for (const auto& file : std::filesystem::directory_iterator(cache_dir + "/packs", none)) {
    packs[file.last_write_time()] = file.path().filename();
  }
  for (const auto& [time, name] : packs) {
    text += name + " " + std::to_string(time.time_since_epoch().count()) + "\n";
  }
  return text;
}

class ReadScope : public SecurityCase {
 protected:
  ReadScope() : token_(tokens[0]), token_id_(rows[0].id) {}

  std::string CacheDir() const { return folder.path() + "/cache"; }

  void StartTcp(const std::string& cache_dir) {
    Daemon::Options options = TcpOptions();
    options.config.cache_dir = cache_dir;
    ASSERT_NO_FATAL_FAILURE(StartWith(options));
    const auto tcp = Tcp();
    read_compile = v1::CompileService::NewStub(tcp);
    read_batch = v1::BatchService::NewStub(tcp);
    read_admin = v1::AdminService::NewStub(tcp);
    read_pack = v1::PackService::NewStub(tcp);
    read_cache = v1::CacheService::NewStub(tcp);
  }

  // One call as the reader.
  struct Reading {
    explicit Reading(const std::string& token) {
      context.AddMetadata("authorization", "Bearer " + token);
    }
    grpc::ClientContext context;
  };
  template <class Stub, class Request, class Reply>
  grpc::Status Call(Stub& stub,
                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                    const Request& request, Reply& reply) {
    Reading reading(token_);
    const grpc::Status status = (stub.*method)(&reading.context, request, &reply);
    detail_ = DetailOf(reading.context);
    return status;
  }
  // All of a stream; the last message is left in `reply`.
  template <class Stub, class Request, class Reply>
  grpc::Status Stream(Stub& stub,
                      std::unique_ptr<grpc::ClientReader<Reply>> (Stub::*method)(
                          grpc::ClientContext*, const Request&),
                      const Request& request, Reply& reply) {
    Reading reading(token_);
    const auto stream = (stub.*method)(&reading.context, request);
    Reply next;
    while (stream->Read(&next)) {
      reply = next;
    }
    const grpc::Status status = stream->Finish();
    detail_ = DetailOf(reading.context);
    return status;
  }

  grpc::Status Compile(const v1::CompileRequest& request, v1::CompileReply& reply) {
    return Call(*read_compile, &v1::CompileService::Stub::Compile, request, reply);
  }
  using ServerTest::Compile;

  grpc::Status ListOptions(const std::string& text, v1::ListOptionsReply& reply) {
    v1::ListOptionsRequest request;
    *request.mutable_program() = ProgramOf(text, true);
    request.set_with_liveness(true);
    return Call(*read_compile, &v1::CompileService::Stub::ListOptions, request, reply);
  }

  // Calls as the reader, by method.
  void AddCompileCalls() {
    calls_["Compile"] = [this] {
      v1::CompileRequest skip = RequestOf(Fresh("compile"));
      skip.set_on_miss(v1::CompileRequest::SKIP);
      skip.set_want_explain(true);
      v1::CompileReply reply;
      const grpc::Status status = Compile(skip, reply);
      EXPECT_EQ(reply.outcome().artifacts_size(), 0);
      EXPECT_EQ(Compile(RequestOf(Fresh("compile")), reply).error_code(), Code::PERMISSION_DENIED);
      EXPECT_TRUE(Compile(RequestOf(GoodSource()), reply).ok());
      EXPECT_TRUE(Compile(RequestOf(GoodSource(), false), reply).ok());
      EXPECT_EQ(reply.outcome().artifacts_size(), 1);
      return status;
    };
    calls_["Fetch"] = [this] {
      v1::FetchRequest request;
      for (const std::string& text : {GoodSource(), Fresh("fetch"), WrongSource()}) {
        *request.add_variants()->mutable_inline_program() = ProgramOf(text, true);
      }
      v1::FetchReply reply;
      const grpc::Status status =
          Stream(*read_compile, &v1::CompileService::Stub::Fetch, request, reply);
      return status;
    };
    calls_["ListOptions"] = [this] {
      v1::ListOptionsReply reply;
      return ListOptions(Fresh("options"), reply);
    };
    calls_["CountVariants"] = [this] {
      v1::CountVariantsRequest request;
      *request.mutable_spaces() = BatchOf(Fresh("count")).spaces();
      request.mutable_spaces()->MergeFrom(BatchOf(GoodSource()).spaces());
      v1::CountVariantsReply reply;
      return Call(*read_compile, &v1::CompileService::Stub::CountVariants, request, reply);
    };
    calls_["ListVariants"] = [this] {
      v1::ListVariantsRequest request;
      *request.mutable_space() = BatchOf(Fresh("list")).spaces(0);
      v1::ListVariantsReply reply;
      return Call(*read_compile, &v1::CompileService::Stub::ListVariants, request, reply);
    };
    calls_["Inspect"] = [this] {
      v1::InspectRequest request;
      *request.mutable_variant()->mutable_inline_program() = ProgramOf(GoodSource(), true);
      request.add_views(v1::InspectRequest::DISASM);
      request.add_views(v1::InspectRequest::IR);
      v1::InspectReply reply;
      return Stream(*read_compile, &v1::CompileService::Stub::Inspect, request, reply);
    };
    calls_["Explain"] = [this] {
      v1::ExplainRequest request;
      *request.mutable_variant()->mutable_inline_program() = ProgramOf(Fresh("explain"), true);
      v1::ExplainReply reply;
      return Call(*read_compile, &v1::CompileService::Stub::Explain, request, reply);
    };
  }

  void AddBatchCalls() {
    calls_["StartBatch"] = [this] {
      v1::StartBatchReply reply;  // the results of the second one are forgotten
      for (const std::string& text : {Fresh("batch"), GoodSource()}) {
        EXPECT_EQ(Call(*read_batch, &v1::BatchService::Stub::StartBatch, BatchOf(text), reply)
                      .error_code(),
                  Code::PERMISSION_DENIED);
      }
      return grpc::Status::OK;
    };
    calls_["WatchBatch"] = [this] {
      v1::WatchBatchRequest request;
      request.set_batch_id(batch_id_);
      v1::BatchEvent reply;
      return Stream(*read_batch, &v1::BatchService::Stub::WatchBatch, request, reply);
    };
    calls_["GetBatch"] = [this] {
      v1::GetBatchRequest request;
      request.set_batch_id(batch_id_);
      v1::Batch reply;
      return Call(*read_batch, &v1::BatchService::Stub::GetBatch, request, reply);
    };
    calls_["ListBatches"] = [this] {
      v1::ListBatchesReply reply;
      return Call(*read_batch, &v1::BatchService::Stub::ListBatches, v1::ListBatchesRequest(),
                  reply);
    };
    calls_["ListBatchItems"] = [this] {
      v1::ListBatchItemsRequest request;
      request.set_batch_id(batch_id_);
      v1::ListBatchItemsReply reply;
      EXPECT_EQ(
          Call(*read_batch, &v1::BatchService::Stub::ListBatchItems, request, reply).error_code(),
          Code::FAILED_PRECONDITION);
      EXPECT_EQ(detail_.reason(), "BATCH_FORGOTTEN");
      return grpc::Status::OK;
    };
  }

  void AddPackCalls() {
    calls_["BuildPack"] = [this] {
      v1::BuildPackRequest request;
      *request.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
      v1::BuildPackReply reply;
      for (const std::string& text : {GoodSource(), Fresh("pack")}) {  // none of these is kept
        *request.mutable_variants(0)->mutable_inline_program() = ProgramOf(text, true);
        EXPECT_EQ(
            Stream(*read_pack, &v1::PackService::Stub::BuildPack, request, reply).error_code(),
            Code::PERMISSION_DENIED);
      }
      const grpc::Status status =
          Stream(*read_pack, &v1::PackService::Stub::BuildPack, build_pack_, reply);
      EXPECT_EQ(reply.done().pack_id(), packs_[1]);
      build_pack_.set_pin("mine");
      EXPECT_EQ(
          Stream(*read_pack, &v1::PackService::Stub::BuildPack, build_pack_, reply).error_code(),
          Code::PERMISSION_DENIED);
      build_pack_.clear_pin();
      return status;
    };
    calls_["ReadPack"] = [this] {
      v1::ReadPackRequest request;
      request.set_pack_id(packs_[1]);
      v1::ReadPackReply reply;
      return Stream(*read_pack, &v1::PackService::Stub::ReadPack, request, reply);
    };
    calls_["DescribePack"] = [this] {
      v1::DescribePackRequest request;
      request.set_pack_id(packs_[1]);
      v1::DescribePackReply reply;
      return Call(*read_pack, &v1::PackService::Stub::DescribePack, request, reply);
    };
  }

  void AddCacheCalls() {
    calls_["FindMissing"] = [this] {
      v1::FindMissingRequest request;
      SourceDigest(*request.add_digests());
      v1::FindMissingReply reply;
      const grpc::Status status =
          Call(*read_cache, &v1::CacheService::Stub::FindMissing, request, reply);
      EXPECT_EQ(reply.missing_size(), 0);
      return status;
    };
    calls_["GetBlobs"] = [this] {
      v1::GetBlobsRequest request;
      SourceDigest(*request.add_digests());
      v1::GetBlobsReply reply;
      const grpc::Status status =
          Stream(*read_cache, &v1::CacheService::Stub::GetBlobs, request, reply);
      EXPECT_EQ(reply.data().size(), GoodSource().size());
      return status;
    };
    calls_["GetRows"] = [this] {
      v1::CompileReply compiled;
      EXPECT_TRUE(Compile(RequestOf(GoodSource()), compiled).ok());
      v1::GetRowsRequest request;
      request.add_items()->set_level(v1::CacheRow::SIGNATURE);
      request.mutable_items(0)->set_key(compiled.outcome().artifacts(0).signature());
      v1::GetRowsReply reply;
      const grpc::Status status =
          Call(*read_cache, &v1::CacheService::Stub::GetRows, request, reply);
      EXPECT_EQ(reply.items_size(), 1);
      return status;
    };
  }

  void AddAdminCalls() {
    calls_["GetServerInfo"] = [this] {
      v1::ServerInfo reply;
      return Call(*read_admin, &v1::AdminService::Stub::GetServerInfo, v1::GetServerInfoRequest(),
                  reply);
    };
    calls_["GetStatus"] = [this] {
      v1::ServerStatus reply;
      return Call(*read_admin, &v1::AdminService::Stub::GetStatus, v1::GetStatusRequest(), reply);
    };
    calls_["GetCacheStats"] = [this] {
      v1::CacheStats reply;
      return Call(*read_admin, &v1::AdminService::Stub::GetCacheStats, v1::GetCacheStatsRequest(),
                  reply);
    };
    calls_["ListPins"] = [this] {
      v1::ListPinsReply reply;
      return Call(*read_admin, &v1::AdminService::Stub::ListPins, v1::ListPinsRequest(), reply);
    };
    calls_["ListQuarantine"] = [this] {
      v1::ListQuarantineReply reply;
      return Call(*read_admin, &v1::AdminService::Stub::ListQuarantine, v1::ListQuarantineRequest(),
                  reply);
    };
    calls_["ListJobs"] = [this] {
      v1::ListJobsReply reply;
      return Call(*read_admin, &v1::AdminService::Stub::ListJobs, v1::ListJobsRequest(), reply);
    };
  }

  void SourceDigest(v1::Digest& digest) const {
    const Digest known = DigestOf(GoodSource());
    digest.set_id(Id(known.id));
    digest.set_size(known.size);
  }

  // A batch and two packs of it, all of them used long ago, so that a use would show.
  void BuildLongAgo() {
    batch_id_ = Build(GoodSource());
    ASSERT_EQ(ServerTest::Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
    build_pack_.set_batch_id(batch_id_);
    for (const auto mode : {v1::BuildPackRequest::SMALL, v1::BuildPackRequest::FAST}) {
      build_pack_.set_mode(mode);
      grpc::ClientContext context;
      const auto stream = pack->BuildPack(&context, build_pack_);
      v1::BuildPackReply reply;
      while (stream->Read(&reply)) {
      }
      ASSERT_TRUE(stream->Finish().ok());
      packs_.push_back(reply.done().pack_id());
    }
    Stop();
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((CacheDir() + "/cache.db").c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, "UPDATE entry SET used_q=used_q-100; DELETE FROM lease", nullptr,
                           nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(db);
  }

  const std::string token_, token_id_;
  v1::ErrorDetail detail_;  // of the last call
  std::map<std::string_view, std::function<grpc::Status()>> calls_;
  std::string batch_id_;
  std::vector<std::string> packs_;        // ids
  v1::BuildPackRequest build_pack_ = {};  // of the last one
  std::unique_ptr<v1::CompileService::Stub> read_compile;
  std::unique_ptr<v1::BatchService::Stub> read_batch;
  std::unique_ptr<v1::AdminService::Stub> read_admin;
  std::unique_ptr<v1::PackService::Stub> read_pack;
  std::unique_ptr<v1::CacheService::Stub> read_cache;
};

std::string CodeOf(const v1::Outcome& outcome) {
  return outcome.artifacts_size() == 0 ? "" : outcome.artifacts(0).data();
}

TEST_F(ReadScope, WhatAReaderBrings_IsServedToNobody) {
  const CollidingTexts texts = CollidingPrograms();
  ASSERT_EQ(Checksum(AsBytes(texts.first)), Checksum(AsBytes(texts.second)));
  EXPECT_NE(DigestOf(texts.first), DigestOf(texts.second));
  ASSERT_NO_FATAL_FAILURE(StartTcp(folder.path() + "/undisturbed"));
  const std::string expected = CodeOf(Compile(RequestOf(texts.first)));
  ASSERT_FALSE(expected.empty());
  EXPECT_NE(CodeOf(Compile(RequestOf(texts.second))), expected);
  Stop();
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::ListOptionsReply options;
  ASSERT_TRUE(ListOptions(texts.second, options).ok());
  EXPECT_EQ(options.options_size(), 3);
  EXPECT_EQ(CodeOf(Compile(RequestOf(texts.first))), expected);
  v1::FindMissingRequest ask;
  const Digest brought = DigestOf(texts.second);
  ask.add_digests()->set_id(Id(brought.id));
  ask.mutable_digests(0)->set_size(brought.size);
  v1::FindMissingReply missing;
  grpc::ClientContext context;
  ASSERT_TRUE(cache->FindMissing(&context, ask, &missing).ok());
  EXPECT_EQ(missing.missing_size(), 1);
}

TEST_F(ReadScope, EveryMethodOfScopeRead_LeavesTheStoreAsItWas) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  ASSERT_NO_FATAL_FAILURE(BuildLongAgo());
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  Stop();  // what a daemon does by itself when it starts and ends is no reader's doing
  const std::string before = DumpOf(CacheDir());
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  AddCompileCalls();
  AddBatchCalls();
  AddPackCalls();
  AddCacheCalls();
  AddAdminCalls();
  for (const rpc::MethodRow& row : rpc::kMethods) {
    if (row.scope != ops::Scope::kRead) {
      EXPECT_FALSE(calls_.contains(row.method)) << row.method;
      continue;
    }
    ASSERT_TRUE(calls_.contains(row.method)) << row.method << " may be called to read: add it here";
    for (int twice = 0; twice < 2; ++twice) {  // what the first call learned must not be there
      const grpc::Status status = calls_.at(row.method)();
      EXPECT_TRUE(status.ok()) << row.method << ": " << status.error_message();
    }
  }
  Stop();
  EXPECT_EQ(DumpOf(CacheDir()), before);
}

// A batch whose client went away before the daemon was started again.
TEST_F(ReadScope, BatchThatWaitsForItsClient_IsNotWokenByAReader) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  const std::string id = Build(GoodSource());
  Stop();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((CacheDir() + "/cache.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "UPDATE batch SET state=0", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  Stop();
  const std::string before = DumpOf(CacheDir());
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::WatchBatchRequest watch;
  watch.set_batch_id(id);
  v1::BatchEvent event;
  {
    Reading reading(token_);
    const auto stream = read_batch->WatchBatch(&reading.context, watch);
    ASSERT_TRUE(stream->Read(&event));
    EXPECT_NE(event.message().find("scope write"), std::string::npos) << event.DebugString();
    ASSERT_TRUE(stream->Read(&event));
    EXPECT_TRUE(event.has_progress()) << event.DebugString();
    reading.context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), Code::CANCELLED);
  }
  v1::StartBatchReply start;
  EXPECT_EQ(Call(*read_batch, &v1::BatchService::Stub::StartBatch, BatchOf(GoodSource()), start)
                .error_code(),
            Code::PERMISSION_DENIED);
  EXPECT_EQ(detail_.reason(), "SCOPE");
  v1::GetBatchRequest get;
  get.set_batch_id(id);
  v1::Batch found;
  ASSERT_TRUE(Call(*read_batch, &v1::BatchService::Stub::GetBatch, get, found).ok());
  EXPECT_EQ(found.state(), v1::Batch::QUEUED);
  Stop();
  EXPECT_EQ(DumpOf(CacheDir()), before);
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  grpc::ClientContext context;  // of the owner, for whom it goes on
  const auto stream = batch->WatchBatch(&context, watch);
  while (stream->Read(&event)) {
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(event.final().state(), v1::Batch::DONE);
}

// The control for the one before the last: for whoever may write the same calls leave traces.
TEST_F(ReadScope, TheSameByTheOwner_IsSeenInTheStore) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  Stop();
  const std::string before = DumpOf(CacheDir());
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::ListOptionsRequest request;
  *request.mutable_program() = ProgramOf(Fresh("options"), true);
  v1::ListOptionsReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(compile->ListOptions(&context, request, &reply).ok());
  Stop();
  EXPECT_NE(DumpOf(CacheDir()), before);
}

TEST_F(ReadScope, Misses_SayWhatToDo) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::CompileReply reply;
  const grpc::Status status = Compile(RequestOf(GoodSource()), reply);
  EXPECT_EQ(status.error_code(), Code::PERMISSION_DENIED);
  for (const std::string& part :
       {std::string("'mist'"), std::string("compiled and stored"),
        "Compile needs scope write; token " + token_id_ + " has scope read"}) {
    EXPECT_NE(status.error_message().find(part), std::string::npos) << status.error_message();
  }
  EXPECT_EQ(detail_.reason(), "SCOPE");
  EXPECT_EQ(detail_.field(), "write");
  EXPECT_NE(detail_.help().find("ask for a token"), std::string::npos) << detail_.help();
  EXPECT_NE(detail_.help().find("let a build that has it run first"), std::string::npos);
  v1::FetchRequest fetch;
  *fetch.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
  fetch.set_on_miss(v1::FetchRequest::COMPILE);
  v1::FetchReply page;
  EXPECT_EQ(Stream(*read_compile, &v1::CompileService::Stub::Fetch, fetch, page).error_code(),
            Code::PERMISSION_DENIED);
  EXPECT_EQ(detail_.reason(), "SCOPE");
  ASSERT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);  // the owner
  EXPECT_TRUE(Compile(RequestOf(GoodSource()), reply).ok());
  EXPECT_EQ(CodeOf(reply.outcome()).substr(0, 4), "\x03\x02\x23\x07");
  EXPECT_EQ(reply.outcome().explain_seq(), 0u);
  EXPECT_TRUE(Stream(*read_compile, &v1::CompileService::Stub::Fetch, fetch, page).ok());
  EXPECT_EQ(page.done().counts().outcomes(), 1u);
  EXPECT_EQ(page.done().counts().skipped(), 0u);
}

// What others build is there for a reader as long as the daemon knows it.
TEST_F(ReadScope, BatchOfOthers_IsAttachedToAndFetched) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  const std::string batch_id = Build(GoodSource());
  v1::StartBatchReply started;
  ASSERT_TRUE(
      Call(*read_batch, &v1::BatchService::Stub::StartBatch, BatchOf(GoodSource()), started).ok());
  EXPECT_EQ(started.batch_id(), batch_id);
  EXPECT_TRUE(started.attached());
  v1::FetchRequest fetch;
  fetch.set_batch_id(batch_id);
  v1::FetchReply page;
  EXPECT_TRUE(Stream(*read_compile, &v1::CompileService::Stub::Fetch, fetch, page).ok());
  EXPECT_EQ(page.done().counts().outcomes(), started.counts().results_done());
  EXPECT_GT(page.done().counts().bytes_sent(), 0u);
  v1::ListBatchItemsRequest list;
  list.set_batch_id(batch_id);
  v1::ListBatchItemsReply items;
  EXPECT_TRUE(Call(*read_batch, &v1::BatchService::Stub::ListBatchItems, list, items).ok());
}

// Id and size always travel together: what has another size is not there.
TEST_F(ReadScope, AnotherSize_IsAnotherContent) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::CompileRequest durable = RequestOf(GoodSource());  // its source is stored before the rest
  durable.set_durability(v1::DURABILITY_LOCAL);
  ASSERT_EQ(Compile(durable).kind(), v1::Outcome::OK);
  const Digest known = DigestOf(GoodSource());
  struct Row {
    uint64_t size;
    bool there;
  };
  for (const Row& row : {Row{known.size, true}, Row{known.size + 1, false}, Row{0, false}}) {
    v1::Digest digest;
    digest.set_id(Id(known.id));
    digest.set_size(row.size);
    v1::FindMissingRequest ask;
    *ask.add_digests() = digest;
    v1::FindMissingReply missing;
    grpc::ClientContext ask_context;
    ASSERT_TRUE(cache->FindMissing(&ask_context, ask, &missing).ok());
    EXPECT_EQ(missing.missing_size(), row.there ? 0 : 1) << row.size;
    v1::GetBlobsRequest get;
    *get.add_digests() = digest;
    grpc::ClientContext get_context;
    const auto blobs = cache->GetBlobs(&get_context, get);
    v1::GetBlobsReply blob;
    ASSERT_TRUE(blobs->Read(&blob));
    EXPECT_EQ(blob.status() == v1::GetBlobsReply::OK, row.there) << row.size;
    v1::GetBlobsReply rest;
    while (blobs->Read(&rest)) {
    }
    EXPECT_TRUE(blobs->Finish().ok());
    v1::CompileRequest request = RequestOf(GoodSource(), false);
    *request.mutable_variant()->mutable_inline_program()->mutable_sources(0)->mutable_digest() =
        digest;
    grpc::ClientContext compile_context;
    v1::CompileReply reply;
    const grpc::Status status = compile->Compile(&compile_context, request, &reply);
    EXPECT_EQ(status.ok(), row.there) << row.size;
    EXPECT_EQ(DetailOf(compile_context).reason(), row.there ? "" : "SOURCES_MISSING") << row.size;
  }
}

}  // namespace
}  // namespace kiln::server
