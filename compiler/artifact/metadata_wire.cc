// SPDX-License-Identifier: MIT
#include "compiler/artifact/metadata_wire.h"

#include <bit>

#include "compiler/artifact/wire_reader.h"
#include "compiler/base/text/utf8.h"

namespace kiln::artifact::wire {
namespace {

// Declared before the reader of fields, because messages within messages make the two call each
// other.
template <class Message>
void Read(WireReader in, Message& out, bool& ok);

// What a field of each type is sent as, and its value. A field that occurs again replaces a value,
// is merged into a message and added to a list.
struct FieldReader {
  WireReader& in;

  // A known number with another type is skipped as an unknown field, as protobuf does it.
  // The overloads take a pointer, so that none of them needs a value of its type.
  static bool Fits(WireType type, const uint32_t*) { return type == WireType::kVarint; }
  static bool Fits(WireType type, const bool*) { return type == WireType::kVarint; }
  static bool Fits(WireType type, const float*) { return type == WireType::kFixed32; }
  static bool Fits(WireType type, const std::vector<uint32_t>*) {
    return type == WireType::kVarint || type == WireType::kDelimited;
  }
  template <class Value>
  static bool Fits(WireType type, const Value*) {
    return type == WireType::kDelimited;
  }

  // Numbers of 32 bits keep the lower ones, as protobuf's parser does.
  void Take(WireType, uint32_t& value) { value = static_cast<uint32_t>(in.Varint()); }
  void Take(WireType, bool& value) { value = in.Varint() != 0; }
  void Take(WireType, float& value) { value = std::bit_cast<float>(in.Fixed32()); }
  void Take(WireType, RawBytes& value) { value.bytes = in.Delimited(); }
  void Take(WireType, Text& value) {
    value = Text(AsText(in.Delimited()));
    // proto3 texts are UTF-8, and protobuf's parser refuses others.
    if (FindInvalidUtf8(value) != value.size()) {
      in.Fail();
    }
  }
  // Packed, or one at a time.
  void Take(WireType type, std::vector<uint32_t>& values) {
    if (type == WireType::kVarint) {
      values.push_back(static_cast<uint32_t>(in.Varint()));
      return;
    }
    WireReader packed(in.Delimited());
    while (!packed.done()) {
      values.push_back(static_cast<uint32_t>(packed.Varint()));
    }
    if (!packed.ok()) {
      in.Fail();
    }
  }
  template <class Message>
  void Take(WireType type, std::optional<Message>& message) {
    // A message that occurs twice is merged field by field, which is what the rule of protobuf
    // says.
    Take(type, message.has_value() ? *message : message.emplace());
  }
  template <class Item>
  void Take(WireType type, List<Item>& list) {
    // Beyond the limit items are still read, for the check of their bytes and for the count, and
    // thrown away: memory stays bounded.
    if (++list.count <= kMaxItems) {
      return Take(type, list.items.emplace_back());
    }
    Item beyond;
    Take(type, beyond);
  }
  template <class Message>
  void Take(WireType, Message& message) {
    const ByteView bytes = in.Delimited();
    bool ok = true;
    // The inner reader has one level less of depth, so the recursion ends however the bytes nest.
    Read(in.Inner(bytes), message, ok);
    if (!ok) {
      in.Fail();
    }
  }
};

template <class Message>
void Read(WireReader in, Message& out, bool& ok) {
  // Fields may come in any order. The list of a message is searched linearly, unrolled by the
  // compiler; messages have some twenty fields.
  while (const std::optional<WireField> found = in.Next()) {
    const auto take = [&](const auto& field) {
      auto& value = out.*field.member;
      if (field.number != found->number || !FieldReader::Fits(found->type, &value)) {
        return false;
      }
      FieldReader{in}.Take(found->type, value);
      return true;
    };
    // The first field that takes it ends the search.
    const bool known = std::apply([&](const auto&... fields) { return (take(fields) || ...); },
                                  FieldsOf<Message>::All());
    if (!known) {
      in.Skip(*found);
    }
  }
  ok = in.ok();
}

}  // namespace

std::optional<Pipeline> ReadPipeline(ByteView bytes) {
  Pipeline pipeline;
  bool ok = true;
  Read(WireReader(bytes), pipeline, ok);
  if (!ok) {
    return std::nullopt;
  }
  return pipeline;
}

}  // namespace kiln::artifact::wire
