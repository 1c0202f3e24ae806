// SPDX-License-Identifier: MIT
// A reply to Compile whose blobs are inserted between parts that were serialized once
// (spec/daemon 2). The bytes are those that the message would have; its test compares them. It
// saves two copies of each module for a hit.
#include "server/rpc/messages/compile_message.h"

#include <utility>
#include <vector>

#include "compiler/base/check.h"
#include "server/rpc/messages/wire.h"

namespace kiln::rpc {
namespace {

std::string_view TextOf(const WireHead& head) {
  return {reinterpret_cast<const char*>(head.bytes().data()), head.bytes().size()};
}

uint64_t SizeOf(std::span<const cache::Blob> blobs) {
  uint64_t size = 0;
  for (const cache::Blob& blob : blobs) {
    size += blob.bytes.size();
  }
  return size;
}

// The tag and length before a field of `size` bytes; nothing for an empty field.
std::string HeadOf(int field, uint64_t size) {
  return size == 0 ? std::string() : std::string(TextOf(WireHead().Length(field, size)));
}

}  // namespace

// Requires an outcome with one artifact that is no failure. Failures go through the message.
CompileMessage::CompileMessage(v1::Outcome outcome) {
  // The outcome is taken apart at the places where something is inserted later. Fields are
  // serialized in the order of their numbers, so each part is a message with the other fields
  // cleared, and the parts one behind the other are the whole.
  KILN_CHECK(outcome.artifacts_size() == 1);
  v1::Artifact after = std::move(*outcome.mutable_artifacts(0));
  v1::Outcome kind;
  kind.set_kind(outcome.kind());
  kind_ = kind.SerializeAsString();
  outcome.clear_artifacts();
  outcome.clear_kind();
  KILN_CHECK(!outcome.from_negative_cache());  // would be behind the number
  outcome.clear_explain_seq();
  rest_ = outcome.SerializeAsString();
  v1::Artifact before;
  before.set_target(after.target());
  before.mutable_code()->Swap(after.mutable_code());
  if (after.has_metadata()) {
    before.mutable_metadata()->Swap(after.mutable_metadata());
  }
  before_ = before.SerializeAsString();
  after.clear_target();
  after.clear_code();
  after.clear_metadata();
  after.clear_data();
  after.clear_metadata_data();
  after_ = after.SerializeAsString();
}

grpc::ByteBuffer CompileMessage::With(std::span<const cache::Blob> code, ByteView metadata,
                                      uint64_t explain_seq) const {
  // Lengths stand before what they measure, and each contains those inside of it. So they are
  // computed from the inside out, before the first byte is written.
  const uint64_t data = SizeOf(code);
  const std::string data_head = HeadOf(v1::Artifact::kDataFieldNumber, data);
  const std::string metadata_head = HeadOf(v1::Artifact::kMetadataDataFieldNumber, metadata.size());
  const uint64_t artifact = before_.size() + data_head.size() + data + metadata_head.size() +
                            metadata.size() + after_.size();
  WireHead artifact_head, number;
  artifact_head.Length(v1::Outcome::kArtifactsFieldNumber, artifact);
  if (explain_seq != 0) {
    number.Number(v1::Outcome::kExplainSeqFieldNumber, explain_seq);
  }
  WireHead outcome_head;
  outcome_head.Length(v1::CompileReply::kOutcomeFieldNumber,
                      kind_.size() + artifact_head.bytes().size() + artifact + rest_.size() +
                          number.bytes().size());
  const auto joined = [](std::initializer_list<std::string_view> parts) {
    std::string bytes;
    for (const std::string_view part : parts) {
      bytes += part;
    }
    return grpc::Slice(bytes);
  };
  // Blobs are referred to and not copied. What is between them is joined, because a slice costs
  // gRPC more than the copy of a few bytes.
  std::vector<grpc::Slice> slices;
  slices.reserve(code.size() + 2);
  slices.push_back(
      joined({TextOf(outcome_head), kind_, TextOf(artifact_head), before_, data_head}));
  for (const cache::Blob& blob : code) {
    slices.push_back(SliceOf(blob.bytes, blob.owner));
  }
  slices.push_back(joined({metadata_head, AsText(metadata), after_, rest_, TextOf(number)}));
  return {slices.data(), slices.size()};
}

}  // namespace kiln::rpc
