// SPDX-License-Identifier: MIT
// A daemon by TCP, with a token of scope read: what a reader may ask for, asked as the reader and
// as the owner, and all that a cache holds as text, to see that nothing changed.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "compiler/base/files/file.h"
#include "compiler/base/hash/checksum.h"
#include "compiler/base/text/colliding_texts.h"
#include "server/rpc/transport/method_table.h"
#include "tests/integration/security_case.h"

namespace kiln::server {

using Code = grpc::StatusCode;

// Two programs that differ in one digit of a colour and have one XXH3-128.
inline CollidingTexts CollidingPrograms() {
  std::string rest = GoodSource();
  const std::string_view plain = "target.color.w = 1.0;";
  rest.replace(rest.find(plain), plain.size(), "target.color.w = dim (1.0);");
  CollidingTexts texts = TextsOfOneXxh3("f1 dim (in f1 whole)\n{\n    return whole * 0.", ";\n}\n");
  texts.first += rest;
  texts.second += rest;
  return texts;
}

// A source that nobody has seen, which gives other code.
inline std::string Fresh(const std::string& name) {
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
inline std::string DumpOf(const std::string& cache_dir) {
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

}  // namespace kiln::server
