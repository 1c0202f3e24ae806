// SPDX-License-Identifier: MIT
// Small pieces of messages as bytes: tags, numbers, lengths and ids. For places where making a
// message would cost more than everything else in the call.
#include "server/rpc/messages/wire.h"

#include <algorithm>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace kiln::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;
using Owner = std::shared_ptr<const void>;

}  // namespace

uint8_t* WireHead::Tag(int field, uint32_t type) {
  return CodedOutputStream::WriteTagToArray(
      WireFormatLite::MakeTag(field, static_cast<WireFormatLite::WireType>(type)),
      bytes_.data() + size_);
}

// Written by protobuf's own functions, so a number has the form that its parsers expect. The buffer
// is not checked: what is put into one head is small and known.
WireHead& WireHead::Number(int field, uint64_t value) {
  uint8_t* const end = Tag(field, WireFormatLite::WIRETYPE_VARINT);
  EndAt(CodedOutputStream::WriteVarint64ToArray(value, end));
  return *this;
}

WireHead& WireHead::Length(int field, uint64_t size) {
  uint8_t* const end = Tag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  EndAt(CodedOutputStream::WriteVarint64ToArray(size, end));
  return *this;
}

WireHead& WireHead::Bytes(int field, std::span<const uint8_t> bytes) {
  Length(field, bytes.size());
  EndAt(std::ranges::copy(bytes, bytes_.data() + size_).out);
  return *this;
}

grpc::Slice SliceOf(ByteView bytes, const Owner& owner) {
  // gRPC keeps a pointer and calls it back, in any of its threads, when the bytes are sent. The
  // owner of the blob lives on the heap until then.
  auto held = std::make_unique<Owner>(owner);
  const auto give_back = [](void* kept) {
    const std::unique_ptr<Owner> ends(static_cast<Owner*>(kept));
  };
  return {const_cast<std::byte*>(bytes.data()), bytes.size(), give_back, held.release()};
}

}  // namespace kiln::rpc
