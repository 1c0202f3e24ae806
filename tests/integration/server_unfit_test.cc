// SPDX-License-Identifier: MIT
// Rows that are sound and not what their keys stand for: a peer, an upstream or an import put them.
// They are neither served nor believed, and do not stay. See spec/cache 6.7, spec/daemon 11.4
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "cache/record.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

// The same program with an option of another name.
std::string OtherSource() {
  std::string text = GoodSource();
  for (size_t at = text.find("cheap"); at != std::string::npos; at = text.find("cheap", at + 8)) {
    text.replace(at, 5, "cheapest");
  }
  return text;
}

class Unfit : public ServerTest {
 protected:
  static v1::CompileRequest Durably(const std::string& text) {
    v1::CompileRequest request = RequestOf(text);
    request.set_durability(v1::DURABILITY_LOCAL);
    return request;
  }

  v1::CacheRow RowOf(const std::string& signature) {
    v1::GetRowsRequest request;
    v1::CacheRow& wanted = *request.add_items();
    wanted.set_level(v1::CacheRow::SIGNATURE);
    wanted.set_key(signature);
    grpc::ClientContext context;
    v1::GetRowsReply reply;
    EXPECT_TRUE(cache->GetRows(&context, request, &reply).ok());
    return reply.items_size() == 1 ? reply.items(0) : v1::CacheRow();
  }

  // The bytes of all content that a row names.
  std::map<std::string, std::string> ContentOf(const v1::CacheRow& row) {
    v1::GetBlobsRequest request;
    for (const v1::Digest& digest : row.refs()) {
      *request.add_digests() = digest;
    }
    grpc::ClientContext context;
    const auto stream = cache->GetBlobs(&context, request);
    std::map<std::string, std::string> bytes;
    v1::GetBlobsReply reply;
    while (stream->Read(&reply)) {
      bytes[reply.digest().id()] += reply.data();
    }
    EXPECT_TRUE(stream->Finish().ok());
    return bytes;
  }

  void PutContent(const v1::CacheRow& row, const std::map<std::string, std::string>& content) {
    grpc::ClientContext context;
    v1::PutBlobsReply reply;
    const auto writer = cache->PutBlobs(&context, &reply);
    for (const v1::Digest& digest : row.refs()) {
      v1::PutBlobsRequest chunk;
      *chunk.mutable_digest() = digest;
      chunk.set_data(content.at(digest.id()));
      chunk.set_last(true);
      EXPECT_TRUE(writer->Write(chunk));
    }
    writer->WritesDone();
    ASSERT_TRUE(writer->Finish().ok());
    EXPECT_EQ(reply.rejected_size(), 0);
  }

  uint64_t Put(const v1::CacheRow& row) {
    v1::PutRowsRequest request;
    *request.add_items() = row;
    grpc::ClientContext context;
    v1::PutRowsReply reply;
    EXPECT_TRUE(cache->PutRows(&context, request, &reply).ok());
    return reply.stored();
  }

  uint64_t Corrupt() {
    grpc::ClientContext context;
    v1::CacheStats stats;
    EXPECT_TRUE(admin->GetCacheStats(&context, {}, &stats).ok());
    return stats.corrupt();
  }
};

TEST_F(Unfit, RowOfAnotherResult_IsDroppedAndTheResultIsMadeAnew) {
  const auto changed = [](const v1::CacheRow& row,
                          const std::function<void(cache::Record&)>& change) {
    cache::Record record = *cache::DecodeRecord(AsBytes(row.value()));
    change(record);
    v1::CacheRow other = row;
    other.set_value(std::string(AsText(cache::EncodeRecord(record))));
    other.clear_refs();
    for (const cache::Product& product : record.products) {
      v1::Digest& ref = *other.add_refs();
      ref.set_id(Id(product.digest.id));
      ref.set_size(product.digest.size);
    }
    return other;
  };
  struct Row {
    const char* what;
    std::function<v1::CacheRow(const v1::CacheRow& own, const v1::CacheRow& others)> hostile;
  };
  const Row table[] = {
      {"a row of another program", [](const auto&, const auto& others) { return others; }},
      {"an option that nobody declares",
       [&](const auto& own, const auto&) {
         return changed(own, [](cache::Record& record) { record.live_options = {"zzz"}; });
       }},
      {"a stage is missing",
       [&](const auto& own, const auto&) {
         return changed(own, [](cache::Record& record) {
           std::erase_if(record.products, [](const auto& p) { return p.name == "code.vertex"; });
         });
       }},
      {"a stage that is none of the program",
       [&](const auto& own, const auto&) {
         return changed(own, [](cache::Record& record) {
           record.products.insert(record.products.begin(),
                                  {.name = "code.compute", .digest = record.products[0].digest});
         });
       }},
      {"modules in one",
       [&](const auto& own, const auto&) {
         return changed(own, [](cache::Record& record) {
           record.products.insert(record.products.begin(),
                                  {.name = "code", .digest = record.products[0].digest});
         });
       }},
      {"no metadata",
       [&](const auto& own, const auto&) {
         return changed(own, [](cache::Record& record) {
           std::erase_if(record.products, [](const auto& p) { return p.name == "meta"; });
         });
       }},
  };
  for (const Row& row : table) {
    SCOPED_TRACE(row.what);
    std::filesystem::remove_all(folder.path() + "/cache");
    Start();
    const v1::Artifact own = Compile(Durably(GoodSource())).artifacts(0);
    const v1::Artifact others = Compile(Durably(OtherSource())).artifacts(0);
    const v1::CacheRow own_row = RowOf(own.signature());
    const v1::CacheRow others_row = RowOf(others.signature());
    v1::CacheRow hostile = row.hostile(own_row, others_row);
    hostile.set_key(own.signature());
    std::map<std::string, std::string> content = ContentOf(own_row);
    content.merge(ContentOf(others_row));
    Stop();
    std::filesystem::remove_all(folder.path() + "/cache");
    Start();
    PutContent(hostile, content);
    ASSERT_EQ(Put(hostile), 1u);
    for (int life = 0; life < 2; ++life) {
      const v1::Outcome outcome = Compile(Durably(GoodSource()));
      ASSERT_EQ(outcome.artifacts_size(), 1);
      const v1::Artifact& made = outcome.artifacts(0);
      EXPECT_EQ(made.origin(), life == 0 ? v1::Artifact::COMPILED : v1::Artifact::LOCAL);
      EXPECT_EQ(made.signature(), own.signature());
      EXPECT_EQ(made.metadata().id(), own.metadata().id());
      ASSERT_EQ(made.code_size(), own.code_size());
      for (int i = 0; i < own.code_size(); ++i) {
        EXPECT_EQ(made.code(i).digest().id(), own.code(i).digest().id());
      }
      if (life == 0) {
        EXPECT_EQ(Corrupt(), 1u);
        Stop();
        Start();
      }
    }
    Stop();
  }
}

}  // namespace
}  // namespace kiln::server
