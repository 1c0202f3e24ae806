// SPDX-License-Identifier: MIT
// A cache that has reached cache.max_size: nothing is stored, and everything is built.
#include <functional>

#include "server/test_server.h"

namespace kiln::server {
namespace {

class FullCache : public ServerTest {
 protected:
  v1::Digest Upload(const std::string& text) {
    const Digest digest = DigestOf(text);
    v1::PutSourcesRequest message;
    message.mutable_digest()->set_id(digest.id.bytes.data(), digest.id.bytes.size());
    message.mutable_digest()->set_size(digest.size);
    message.set_data(text);
    message.set_last(true);
    grpc::ClientContext context;
    v1::PutSourcesReply reply;
    const auto stream = compile->PutSources(&context, &reply);
    EXPECT_TRUE(stream->Write(message));
    EXPECT_TRUE(stream->WritesDone());
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(reply.stored(), 1u);
    return message.digest();
  }
};

// Sources that the database does not take are in memory, and are not asked for again and again.
TEST_F(FullCache, SourcesThatWereUploaded_AreThere) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.cache_max_bytes = 1;
  ASSERT_NO_FATAL_FAILURE(StartWith(options));
  v1::StartBatchRequest start = BatchOf(GoodSource());
  v1::SourceRef& source = *start.mutable_spaces(0)->mutable_program()->mutable_sources(0);
  *source.mutable_digest() = Upload(GoodSource());
  {
    grpc::ClientContext context;
    v1::StartBatchReply reply;
    const grpc::Status status = batch->StartBatch(&context, start, &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    std::map<int, int> seen;
    const v1::BatchEvent last = Watch(reply.batch_id(), seen);
    EXPECT_EQ(last.final().counts().failed(), 0u) << last.DebugString();
    EXPECT_GT(last.final().counts().results_done(), 0u);
  }
  v1::ServerStatus status;
  grpc::ClientContext context;
  ASSERT_TRUE(admin->GetStatus(&context, v1::GetStatusRequest(), &status).ok());
  EXPECT_NE(status.DebugString().find("cache-full: the cache is at cache.max_size"),
            std::string::npos)
      << status.DebugString();
}

// What memory has of an earlier build is no more stored than it was then.
TEST_F(FullCache, ResultsThatOnlyMemoryHas_AreToldEachTime) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.cache_max_bytes = 1;
  ASSERT_NO_FATAL_FAILURE(StartWith(options));
  std::string told;
  for (const char* build : {"compiled", "from memory", "once more"}) {
    std::map<int, int> seen;
    const v1::BatchEvent last = Watch(StartBatch(BatchOf(GoodSource())).batch_id(), seen);
    const v1::BatchEvent::Final& final = last.final();
    EXPECT_EQ(final.counts().failed(), 0u) << build;
    EXPECT_EQ(final.counts().compiled() == 0, std::string_view(build) != "compiled") << build;
    EXPECT_NE(final.problem().find("built, but not kept in the cache: the cache holds"),
              std::string::npos)
        << build << ": " << final.problem();
    told = told.empty() ? final.problem().substr(0, final.problem().find(' ')) : told;
    EXPECT_EQ(final.problem().substr(0, final.problem().find(' ')), told) << build;
  }
  v1::CompileRequest request = RequestOf(GoodSource());
  request.set_durability(v1::DURABILITY_LOCAL);
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(Compile(request).artifacts(0).stored()) << i;
  }
}

TEST_F(FullCache, ResultsThatAreStored_AreNotTold) {
  ASSERT_NO_FATAL_FAILURE(Start());
  v1::CompileRequest request = RequestOf(GoodSource());
  Compile(request);  // relaxed: on its way to the disk
  for (const char* build : {"first", "again", "with fewer axes"}) {
    v1::StartBatchRequest start = BatchOf(GoodSource());
    if (std::string_view(build) == "with fewer axes") {
      start.mutable_spaces(0)->mutable_axes()->RemoveLast();
    }
    std::map<int, int> seen;
    const v1::BatchEvent last = Watch(StartBatch(start).batch_id(), seen);
    EXPECT_EQ(last.final().problem(), "") << build;
  }
  request.set_durability(v1::DURABILITY_LOCAL);
  EXPECT_TRUE(Compile(request).artifacts(0).stored());
}

// Whatever is kept of a batch has a bound of its own.
TEST_F(FullCache, TagsAndPathsOfABatch_AreShort) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto code = [&](const std::function<void(v1::StartBatchRequest&)>& change) {
    v1::StartBatchRequest start = BatchOf(GoodSource());
    change(start);
    grpc::ClientContext context;
    v1::StartBatchReply reply;
    return batch->StartBatch(&context, start, &reply).error_code();
  };
  using Code = grpc::StatusCode;
  const struct {
    size_t tags, tag, path;
    Code expected;
  } table[] = {{64, 256, 1024, Code::OK},
               {65, 1, 1, Code::RESOURCE_EXHAUSTED},
               {1, 257, 1, Code::INVALID_ARGUMENT},
               {1, 1, 1025, Code::INVALID_ARGUMENT}};
  for (const auto& row : table) {
    EXPECT_EQ(code([&](v1::StartBatchRequest& start) {
                v1::ProgramSpace& space = *start.mutable_spaces(0);
                for (size_t i = 0; i < row.tags; ++i) {
                  space.add_tags(std::string(row.tag, 't'));
                }
                v1::Expression& exclude = *space.add_exclude();
                exclude.set_text("cheap && cut");
                exclude.set_path(std::string(row.path, 'p'));
              }),
              row.expected)
        << row.tags << " " << row.tag << " " << row.path;
  }
}

}  // namespace
}  // namespace kiln::server
