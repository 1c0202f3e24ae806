// SPDX-License-Identifier: MIT
#include "server/rpc/fetch_messages.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "server/rpc/convert.h"
#include "server/rpc/wire.h"

namespace kiln::rpc {
namespace {

const Digest kDigest = DigestOf(std::string_view("any"));

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(slice.begin(), slice.end());
  }
  return bytes;
}

TEST(ChunkMessage, AnyPartOfABlob_IsWhatTheMessageWouldBe) {
  std::string text;
  for (int i = 0; i < 70'000; ++i) {
    text += static_cast<char>(i * 7);
  }
  const cache::Blob blob = cache::CopiedBlob(AsBytes(text));
  for (const auto& [offset, size] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 0}, {0, 1}, {0, 127}, {0, 128}, {0, 70'000}, {1, 16'384}, {65'535, 4'465}}) {
    v1::FetchReply reply;
    ToProto(kDigest, *reply.mutable_blob()->mutable_digest());
    reply.mutable_blob()->set_offset(offset);
    reply.mutable_blob()->set_data(text.substr(offset, size));
    v1::FetchReply read;
    ASSERT_TRUE(read.ParseFromString(BytesOf(ChunkMessage(kDigest, blob, offset, size))))
        << offset << " " << size;
    EXPECT_EQ(read.SerializeAsString(), reply.SerializeAsString()) << offset << " " << size;
  }
}

TEST(ChunkMessage, BlobIsForgotten_LivesUntilTheMessageIsSent) {
  auto message = std::make_unique<grpc::ByteBuffer>();
  std::weak_ptr<const void> alive;
  {
    const cache::Blob blob = cache::CopiedBlob(AsBytes(std::string(5'000, 'x')));
    alive = blob.owner;
    *message = ChunkMessage(kDigest, blob, 0, 5'000);
  }
  EXPECT_FALSE(alive.expired());
  message.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(OutcomeMessage, AnySize_IsWhatTheMessageWouldBe) {
  for (const size_t size : {0, 100, 20'000}) {
    v1::FetchReply reply;
    reply.mutable_outcome()->add_artifacts()->set_target(std::string(size, 'x'));
    EXPECT_EQ(BytesOf(OutcomeMessage(reply.outcome())), reply.SerializeAsString()) << size;
  }
}

TEST(DoneMessage, Root_IsWhatTheMessageWouldBe) {
  v1::FetchReply reply;
  reply.mutable_done()->set_root("root");
  reply.mutable_done()->mutable_counts()->set_outcomes(7);
  EXPECT_EQ(BytesOf(DoneMessage(reply.done())), reply.SerializeAsString());
}

TEST(MessageFrom, BytesOfNoMessage_AreMalformed) {
  v1::FetchRequest request;
  request.set_pin("nightly");
  const auto buffer_of = [](const std::string& bytes) {
    const grpc::Slice slice(bytes);
    return grpc::ByteBuffer(&slice, 1);
  };
  const Result<v1::FetchRequest> read =
      MessageFrom<v1::FetchRequest>(buffer_of(request.SerializeAsString()));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->pin(), "nightly");
  const Result<v1::FetchRequest> wrong = MessageFrom<v1::FetchRequest>(buffer_of("\xff\xff\xff"));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln::rpc
