// SPDX-License-Identifier: MIT
#include "server/rpc/wire.h"

#include <algorithm>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

namespace kiln::rpc {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;
using Owner = std::shared_ptr<const void>;

uint8_t* WriteTag(int field, WireFormatLite::WireType type, uint8_t* end) {
  return CodedOutputStream::WriteTagToArray(WireFormatLite::MakeTag(field, type), end);
}

}  // namespace

WireHead& WireHead::Number(int field, uint64_t value) {
  end_ = WriteTag(field, WireFormatLite::WIRETYPE_VARINT, end_);
  end_ = CodedOutputStream::WriteVarint64ToArray(value, end_);
  return *this;
}

WireHead& WireHead::Length(int field, uint64_t size) {
  end_ = WriteTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, end_);
  end_ = CodedOutputStream::WriteVarint64ToArray(size, end_);
  return *this;
}

WireHead& WireHead::Bytes(int field, std::span<const uint8_t> bytes) {
  Length(field, bytes.size());
  end_ = std::ranges::copy(bytes, end_).out;
  return *this;
}

grpc::Slice SliceOf(ByteView bytes, const Owner& owner) {
  auto held = std::make_unique<Owner>(owner);
  const auto give_back = [](void* kept) {
    const std::unique_ptr<Owner> ends(static_cast<Owner*>(kept));
  };
  return {const_cast<std::byte*>(bytes.data()), bytes.size(), give_back, held.release()};
}

}  // namespace kiln::rpc
