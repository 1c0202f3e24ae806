// SPDX-License-Identifier: MIT
#include "server/rpc/fetch_messages.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include "server/rpc/convert.h"

namespace kiln::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;
using Owner = std::shared_ptr<const void>;

// The few bytes of a message that are before those of a blob.
class Head {
 public:
  void Number(int field, uint64_t value) {
    Tag(field, WireFormatLite::WIRETYPE_VARINT);
    end_ = CodedOutputStream::WriteVarint64ToArray(value, end_);
  }
  // `size` bytes follow.
  void Length(int field, uint64_t size) {
    Tag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
    end_ = CodedOutputStream::WriteVarint64ToArray(size, end_);
  }
  void Bytes(int field, std::span<const uint8_t> bytes) {
    Length(field, bytes.size());
    end_ = std::ranges::copy(bytes, end_).out;
  }
  std::span<const uint8_t> bytes() const { return {bytes_.data(), end_}; }

 private:
  void Tag(int field, WireFormatLite::WireType type) {
    end_ = CodedOutputStream::WriteTagToArray(WireFormatLite::MakeTag(field, type), end_);
  }

  std::array<uint8_t, 128> bytes_;
  uint8_t* end_ = bytes_.data();
};

// The bytes where they are; gRPC gives the owner back when they are sent.
grpc::Slice SliceOf(ByteView bytes, const Owner& owner) {
  auto held = std::make_unique<Owner>(owner);
  const auto give_back = [](void* kept) {
    const std::unique_ptr<Owner> ends(static_cast<Owner*>(kept));
  };
  return {const_cast<std::byte*>(bytes.data()), bytes.size(), give_back, held.release()};
}

// A FetchReply whose `field` is the message.
grpc::ByteBuffer ReplyWith(int field, const google::protobuf::MessageLite& message) {
  const size_t size = message.ByteSizeLong();
  Head head;
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
  Head name;
  name.Bytes(v1::Digest::kIdFieldNumber, digest.id.bytes);
  name.Number(v1::Digest::kSizeFieldNumber, digest.size);
  Head chunk;
  chunk.Bytes(v1::BlobChunk::kDigestFieldNumber, name.bytes());
  chunk.Number(v1::BlobChunk::kOffsetFieldNumber, offset);
  chunk.Length(v1::BlobChunk::kDataFieldNumber, size);
  Head reply;
  reply.Length(v1::FetchReply::kBlobFieldNumber, chunk.bytes().size() + size);
  const grpc::Slice head(reply.bytes().size() + chunk.bytes().size());
  auto* const begin = const_cast<uint8_t*>(head.begin());
  (void)std::ranges::copy(chunk.bytes(), std::ranges::copy(reply.bytes(), begin).out);
  const std::array<grpc::Slice, 2> slices = {head,
                                             SliceOf(blob.bytes.subspan(offset, size), blob.owner)};
  return {slices.data(), slices.size()};
}

Result<v1::FetchRequest> FetchRequestFrom(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer read(bytes);  // reading takes it apart
  v1::FetchRequest request;
  if (!grpc::SerializationTraits<v1::FetchRequest>::Deserialize(&read, &request).ok()) {
    return Malformed("message", "these bytes are no FetchRequest");
  }
  return request;
}

}  // namespace kiln::rpc
