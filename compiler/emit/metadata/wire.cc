// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/wire.h"

#include <array>

namespace kiln::metadata {
namespace {

constexpr uint32_t kVarint = 0;
constexpr uint32_t kLengthDelimited = 2;
constexpr uint32_t kFixed32 = 5;

// A number of 32 bits takes at most five bytes of seven bits each.
struct EncodedVarint {
  std::array<std::byte, 5> bytes;
  size_t size = 0;
};

EncodedVarint Encode(uint32_t value) {
  EncodedVarint encoded;
  for (; value >= 0x80; value >>= 7) {
    encoded.bytes[encoded.size++] = static_cast<std::byte>(value | 0x80);
  }
  encoded.bytes[encoded.size++] = static_cast<std::byte>(value);
  return encoded;
}

}  // namespace

// For parents that copy finished records and must say their length first.
uint32_t WireWriter::PrefixSize(uint32_t field, uint32_t size) {
  return static_cast<uint32_t>(Encode(field << 3 | kLengthDelimited).size + Encode(size).size);
}

void WireWriter::AppendPrefix(Bytes& out, uint32_t field, uint32_t size) {
  const EncodedVarint tag = Encode(field << 3 | kLengthDelimited);
  const EncodedVarint length = Encode(size);
  Append(out, ByteView(tag.bytes).first(tag.size));
  Append(out, ByteView(length.bytes).first(length.size));
}

void WireWriter::Varint(uint32_t value) {
  for (; value >= 0x80; value >>= 7) {
    out_.push_back(static_cast<std::byte>(value | 0x80));
  }
  out_.push_back(static_cast<std::byte>(value));
}

void WireWriter::Tag(uint32_t field, uint32_t wire_type) { Varint(field << 3 | wire_type); }

// Zero is the default of proto3 and is left out; so is an empty text. Items of lists are always
// written.
void WireWriter::Number(uint32_t field, uint32_t value) {
  if (value != 0) {
    Tag(field, kVarint);
    Varint(value);
  }
}

// By its bits: -0.0 is no default and is written.
void WireWriter::Real(uint32_t field, uint32_t bits) {
  if (bits != 0) {
    Tag(field, kFixed32);
    AppendLittle(out_, bits);
  }
}

void WireWriter::Text(uint32_t field, std::string_view text) { Raw(field, AsBytes(text)); }

void WireWriter::Raw(uint32_t field, ByteView bytes) {
  if (!bytes.empty()) {
    RawItem(field, bytes);
  }
}

void WireWriter::TextItem(uint32_t field, std::string_view text) { RawItem(field, AsBytes(text)); }

void WireWriter::RawItem(uint32_t field, ByteView bytes) {
  Tag(field, kLengthDelimited);
  Varint(static_cast<uint32_t>(bytes.size()));
  Append(out_, bytes);
}

// Packed, as proto3 writes lists of numbers.
void WireWriter::Numbers(uint32_t field, std::span<const uint32_t> values) {
  if (!values.empty()) {
    Message(field, [&] {
      for (const uint32_t value : values) {
        Varint(value);
      }
    });
  }
}

// The content goes directly into the output; only its length is missing.
size_t WireWriter::Open(uint32_t field) {
  Tag(field, kLengthDelimited);
  return out_.size();
}

// The length of a message is known behind it, and its own size depends on it. Inserting moves the
// message once; most are small.
void WireWriter::Close(size_t begin) {
  const EncodedVarint length = Encode(static_cast<uint32_t>(out_.size() - begin));
  out_.insert(out_.begin() + static_cast<ptrdiff_t>(begin), length.bytes.begin(),
              length.bytes.begin() + static_cast<ptrdiff_t>(length.size));
}

}  // namespace kiln::metadata
