// SPDX-License-Identifier: MIT
#include "server/rpc/messages/fetch_messages.h"

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "server/rpc/messages/convert_reply.h"
#include "server/rpc/messages/wire.h"

namespace kiln::rpc {
namespace {

using Messages = std::vector<grpc::ByteBuffer>;

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& slice : slices) {
    bytes.append(slice.begin(), slice.end());
  }
  return bytes;
}

std::vector<v1::FetchReply> Read(const Messages& messages) {
  std::vector<v1::FetchReply> replies;
  for (const grpc::ByteBuffer& message : messages) {
    EXPECT_TRUE(replies.emplace_back().ParseFromString(BytesOf(message)));
  }
  return replies;
}

// No part of it is like another one.
std::string TextOf(size_t size) {
  std::string text;
  for (uint32_t i = 0; text.size() < size; ++i) {
    text += std::to_string(i) + ' ';
  }
  text.resize(size);
  return text;
}

cache::Blob BlobOf(std::string_view text) { return cache::CopiedBlob(AsBytes(text)); }

v1::BlobChunk ChunkOf(const Digest& digest, uint64_t offset, const std::string& data) {
  v1::BlobChunk chunk;
  ToProto(digest, *chunk.mutable_digest());
  chunk.set_offset(offset);
  chunk.set_data(data);
  return chunk;
}

v1::Outcome OutcomeOf(size_t size) {
  v1::Outcome outcome;
  outcome.add_artifacts()->set_target(std::string(size, 'x'));
  return outcome;
}

TEST(FetchMessages, AnyPartOfABlob_IsWhatTheMessageWouldBe) {
  const std::string text = TextOf(70'000);
  const Digest digest = DigestOf(std::string_view(text));
  const cache::Blob blob = BlobOf(text);
  for (const bool together : {false, true}) {
    FetchMessages messages(together);
    for (const auto& [offset, size] : std::vector<std::pair<uint64_t, uint64_t>>{
             {0, 0}, {0, 1}, {0, 127}, {0, 128}, {0, 70'000}, {1, 16'384}, {65'535, 4'465}}) {
      messages.AddChunk(digest, blob, offset, size);
      const std::vector<v1::FetchReply> replies = Read(messages.Take());
      ASSERT_EQ(replies.size(), 1u);
      const v1::FetchReply& reply = replies.front();
      ASSERT_EQ(reply.blobs_size(), together ? 1 : 0);
      const v1::BlobChunk& chunk = together ? reply.blobs(0) : reply.blob();
      EXPECT_EQ(chunk.SerializeAsString(),
                ChunkOf(digest, offset, text.substr(offset, size)).SerializeAsString())
          << offset << " " << size;
    }
  }
}

TEST(FetchMessages, BlobIsForgotten_LivesUntilTheMessageIsSent) {
  for (const bool together : {false, true}) {
    FetchMessages messages(together);
    std::weak_ptr<const void> alive;
    {
      const cache::Blob blob = BlobOf(std::string(5'000, 'x'));
      alive = blob.owner;
      messages.AddChunk(DigestOf(blob.bytes), blob, 0, 5'000);
    }
    Messages page = messages.Take();
    EXPECT_FALSE(alive.expired());
    page.clear();
    EXPECT_TRUE(alive.expired());
  }
}

TEST(FetchMessages, EventsAlone_EachIsAMessage) {
  FetchMessages messages(false);
  v1::Progress progress;
  progress.set_done(3);
  v1::FetchDone done;
  done.set_root("root");
  done.mutable_counts()->set_outcomes(7);
  std::string expected;
  for (const size_t size : {0, 100, 20'000}) {
    v1::FetchReply reply;
    *reply.mutable_outcome() = OutcomeOf(size);
    messages.AddOutcome(reply.outcome());
    messages.AddOutcome(reply.outcome().SerializeAsString());
    expected += reply.SerializeAsString() + reply.SerializeAsString();
  }
  messages.AddProgress(progress);
  messages.AddDone(done);
  v1::FetchReply told, ended;
  *told.mutable_progress() = progress;
  *ended.mutable_done() = done;
  expected += told.SerializeAsString() + ended.SerializeAsString();
  EXPECT_EQ(messages.events(), 8u);
  EXPECT_EQ(messages.bytes(), expected.size());
  const Messages page = messages.Take();
  ASSERT_EQ(page.size(), 8u);
  std::string bytes;
  for (const grpc::ByteBuffer& message : page) {
    bytes += BytesOf(message);
  }
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(messages.events(), 0u);
  EXPECT_EQ(messages.bytes(), 0u);
  EXPECT_TRUE(messages.Take().empty());
}

TEST(FetchMessages, RandomEventsTogether_AllArriveInTheirOrderInFewMessages) {
  std::mt19937 random(5);
  FetchMessages messages(true);
  for (int round = 0; round < 20; ++round) {
    std::string blobs, outcomes;
    uint64_t bytes = 0;
    for (int i = 0; i < 60; ++i) {
      if (random() % 3 == 0) {
        const v1::Outcome outcome = OutcomeOf(random() % 500);
        messages.AddOutcome(outcome);
        outcomes += outcome.SerializeAsString();
        continue;
      }
      const std::string text = TextOf(random() % (i % 10 == 0 ? 400'000 : 9'000));
      const Digest digest = DigestOf(std::string_view(text));
      messages.AddChunk(digest, BlobOf(text), 0, text.size());
      blobs += ChunkOf(digest, 0, text).SerializeAsString();
      bytes += text.size();
    }
    const Messages page = messages.Take();
    EXPECT_LE(page.size(), 20 + 2 * bytes / FetchMessages::kTogether);
    for (const v1::FetchReply& reply : Read(page)) {
      EXPECT_TRUE(reply.ByteSizeLong() <= FetchMessages::kTogether ||
                  reply.blobs_size() + reply.outcomes_size() == 1);
      for (const v1::BlobChunk& chunk : reply.blobs()) {
        const std::string part = chunk.SerializeAsString();
        ASSERT_TRUE(blobs.starts_with(part));
        blobs.erase(0, part.size());
      }
      for (const v1::Outcome& outcome : reply.outcomes()) {
        const std::string part = outcome.SerializeAsString();
        ASSERT_TRUE(outcomes.starts_with(part));
        outcomes.erase(0, part.size());
      }
    }
    EXPECT_EQ(blobs + outcomes, "");
  }
}

TEST(FetchMessages, ProgressTogether_EndsAMessageThatHasEventsBeforeIt) {
  FetchMessages messages(true);
  messages.AddOutcome(OutcomeOf(10));
  v1::Progress progress;
  progress.set_done(1);
  messages.AddProgress(progress);
  const std::vector<v1::FetchReply> replies = Read(messages.Take());
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].outcomes_size(), 1);
  EXPECT_EQ(replies[0].progress().done(), 1u);
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
