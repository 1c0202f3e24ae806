// SPDX-License-Identifier: MIT
#include "server/rpc/messages/compile_message.h"

#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "server/rpc/messages/convert_reply.h"

namespace kiln::rpc {
namespace {

std::string BytesOf(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
  return {slice.begin(), slice.end()};
}

v1::CompileReply ReplyWith(size_t stages, const char* warning) {
  v1::CompileReply reply;
  v1::Outcome& outcome = *reply.mutable_outcome();
  outcome.set_kind(v1::Outcome::OK);
  v1::Artifact& artifact = *outcome.add_artifacts();
  artifact.set_target("vk");
  for (size_t i = 0; i < stages; ++i) {
    v1::StageCode& code = *artifact.add_code();
    code.set_stage(v1::EntryPoint::VERTEX);
    ToProto(DigestOf(std::to_string(i)), *code.mutable_digest());
  }
  ToProto(DigestOf(std::string_view("metadata")), *artifact.mutable_metadata());
  artifact.add_live_options("fog");
  artifact.set_layout_hash(std::string(16, 'l'));
  artifact.set_signature(std::string(16, 's'));
  artifact.set_origin(v1::Artifact::MEMORY);
  artifact.set_stored(true);
  artifact.set_cpu_us(1'000'000);
  artifact.set_build_id("0123456789ab");
  if (warning != nullptr) {
    outcome.add_diagnostics()->set_message(warning);
  }
  return reply;
}

TEST(CompileMessage, AnyAnswer_IsWhatTheMessageWouldBe) {
  for (const size_t stages : {0, 1, 2}) {
    for (const size_t size : {0, 1, 127, 128, 20'000, 300'000}) {
      for (const uint64_t seq : {uint64_t{0}, uint64_t{1}, uint64_t{300}, UINT64_MAX}) {
        for (const char* warning : {static_cast<const char*>(nullptr), "an unused thing"}) {
          v1::CompileReply reply = ReplyWith(stages, warning);
          const CompileMessage message(reply.outcome());
          std::vector<cache::Blob> code;
          for (size_t i = 0; i < stages; ++i) {
            code.push_back(cache::CopiedBlob(AsBytes(std::string(size + i, 'c'))));
            reply.mutable_outcome()->mutable_artifacts(0)->mutable_data()->append(
                AsText(code.back().bytes));
          }
          const std::string metadata(size / 3, 'm');
          reply.mutable_outcome()->mutable_artifacts(0)->set_metadata_data(metadata);
          reply.mutable_outcome()->set_explain_seq(seq);
          EXPECT_EQ(BytesOf(message.With(code, AsBytes(metadata), seq)), reply.SerializeAsString())
              << stages << " " << size << " " << seq;
        }
      }
    }
  }
}

TEST(CompileMessage, OutcomeWithBytesAndNumber_IsAsWithout) {
  v1::CompileReply reply = ReplyWith(1, nullptr);
  const std::string expected = reply.SerializeAsString();
  reply.mutable_outcome()->set_explain_seq(7);
  reply.mutable_outcome()->mutable_artifacts(0)->set_data("data");
  reply.mutable_outcome()->mutable_artifacts(0)->set_metadata_data("metadata");
  EXPECT_EQ(BytesOf(CompileMessage(reply.outcome()).With({}, {}, 0)), expected);
}

TEST(CompileMessage, BlobIsForgotten_LivesUntilTheMessageIsSent) {
  grpc::ByteBuffer message;
  std::weak_ptr<const void> alive;
  {
    const std::vector<cache::Blob> code = {cache::CopiedBlob(AsBytes(std::string(5'000, 'x')))};
    alive = code[0].owner;
    message = CompileMessage(ReplyWith(1, nullptr).outcome()).With(code, {}, 1);
  }
  EXPECT_FALSE(alive.expired());
  message.Clear();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace kiln::rpc
