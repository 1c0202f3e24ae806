// SPDX-License-Identifier: MIT
#include "server/rpc/fetch_messages.h"

#include <algorithm>
#include <array>

#include "server/rpc/wire.h"

namespace kiln::rpc {
namespace {

// A FetchReply whose `field` is the message.
grpc::ByteBuffer ReplyWith(int field, const google::protobuf::MessageLite& message) {
  const size_t size = message.ByteSizeLong();
  WireHead head;
  head.Length(field, size);
  const grpc::Slice slice(head.bytes().size() + size);
  auto* const begin = const_cast<uint8_t*>(slice.begin());
  (void)message.SerializeWithCachedSizesToArray(std::ranges::copy(head.bytes(), begin).out);
  return {&slice, 1};
}

}  // namespace

grpc::ByteBuffer OutcomeMessage(const v1::Outcome& outcome) {
  return ReplyWith(v1::FetchReply::kOutcomeFieldNumber, outcome);
}

grpc::ByteBuffer ProgressMessage(const v1::Progress& progress) {
  return ReplyWith(v1::FetchReply::kProgressFieldNumber, progress);
}

grpc::ByteBuffer DoneMessage(const v1::FetchDone& done) {
  return ReplyWith(v1::FetchReply::kDoneFieldNumber, done);
}

grpc::ByteBuffer ChunkMessage(const Digest& digest, const cache::Blob& blob, uint64_t offset,
                              uint64_t size) {
  WireHead name;
  name.Bytes(v1::Digest::kIdFieldNumber, digest.id.bytes);
  name.Number(v1::Digest::kSizeFieldNumber, digest.size);
  WireHead chunk;
  chunk.Bytes(v1::BlobChunk::kDigestFieldNumber, name.bytes());
  chunk.Number(v1::BlobChunk::kOffsetFieldNumber, offset);
  chunk.Length(v1::BlobChunk::kDataFieldNumber, size);
  WireHead reply;
  reply.Length(v1::FetchReply::kBlobFieldNumber, chunk.bytes().size() + size);
  const grpc::Slice head(reply.bytes().size() + chunk.bytes().size());
  auto* const begin = const_cast<uint8_t*>(head.begin());
  (void)std::ranges::copy(chunk.bytes(), std::ranges::copy(reply.bytes(), begin).out);
  const std::array<grpc::Slice, 2> slices = {head,
                                             SliceOf(blob.bytes.subspan(offset, size), blob.owner)};
  return {slices.data(), slices.size()};
}

}  // namespace kiln::rpc
