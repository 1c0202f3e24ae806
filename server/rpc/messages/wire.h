// SPDX-License-Identifier: MIT
// Messages as bytes that gRPC sends: what is before the bytes of a blob, and those where they are.
// A copy of each blob would cost as much as sending it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"
#include "server/rpc/messages/parsed_size.h"
#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {

// The few bytes of a message that are before those of a blob; at most kMaxBytes.
class WireHead {
 public:
  static constexpr size_t kMaxBytes = 128;

  WireHead& Number(int field, uint64_t value);
  // `size` bytes follow.
  WireHead& Length(int field, uint64_t size);
  WireHead& Bytes(int field, std::span<const uint8_t> bytes);

  std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }

 private:
  uint8_t* Tag(int field, uint32_t type);
  void EndAt(const uint8_t* end) { size_ = static_cast<size_t>(end - bytes_.data()); }

  std::array<uint8_t, kMaxBytes> bytes_;
  size_t size_ = 0;
};

// A message of the wire from its bytes. Errors: kInvalidArgument with MALFORMED_REQUEST, also for
// one that has more parts than anybody needs (CheckParts).
template <class Message>
Result<Message> MessageFrom(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer read(bytes);  // reading takes it apart
  grpc::Slice whole;             // the same bytes if they are in one piece, else a copy
  if (!read.TrySingleSlice(&whole).ok() && !read.DumpToSingleSlice(&whole).ok()) {
    return Malformed("message", "these bytes are no " + Message::descriptor()->name());
  }
  const std::span<const uint8_t> wire(whole.begin(), whole.size());
  KILN_TRY_VOID(CheckParts(std::as_bytes(wire), *Message::descriptor()));
  Message message;
  if (!grpc::SerializationTraits<Message>::Deserialize(&read, &message).ok()) {
    return Malformed("message", "these bytes are no " + Message::descriptor()->name());
  }
  return message;
}

// The bytes of a message, in place of what was there.
template <class Message>
void WriteTo(const Message& message, grpc::ByteBuffer& out) {
  bool own = false;
  out.Clear();
  (void)grpc::SerializationTraits<Message>::Serialize(message, &out, &own);
}

// The bytes where they are; gRPC gives the owner back when they are sent.
grpc::Slice SliceOf(ByteView bytes, const std::shared_ptr<const void>& owner);

}  // namespace kiln::rpc
