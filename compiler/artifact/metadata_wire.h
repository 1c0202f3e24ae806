// SPDX-License-Identifier: MIT
// The messages of proto/kiln/v1/metadata.proto as structs that view the bytes they were read from:
// what metadata.cc makes PipelineMetadata of. A test compares every field of what is read with
// protobuf's own parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/base/bytes.h"

namespace kiln::artifact::wire {

inline constexpr size_t kMaxItems = 65'536;  // of any one list

// Of a repeated field. Items beyond the limit are checked and counted, not kept.
template <class Item>
struct List {
  std::vector<Item> items;
  size_t count = 0;
};

// Of a field of type bytes, which may be no text.
struct RawBytes {
  ByteView bytes;
};

// Of a field of type string.
struct Text : std::string_view {
  using std::string_view::string_view;
  explicit Text(std::string_view text) : std::string_view(text) {}
  // NOLINTNEXTLINE(google-explicit-constructor): PipelineMetadata owns what it says.
  operator std::string() const { return std::string(data(), size()); }
};
using Number = uint32_t;
using Numbers = std::vector<uint32_t>;
using Flag = bool;
using Real = float;
template <class Message>
using Maybe = std::optional<Message>;

// clang-format off
#define KILN_BEGIN(message) struct message {
#define KILN_FIELD(type, name, number) type name{};
#define KILN_END(message) };
// clang-format on
#include "compiler/artifact/metadata_wire.def"

template <class Message, class Value>
struct Field {
  uint32_t number;
  Value Message::*member;
};

// A tuple with a Field for each field of a message.
template <class Message>
struct FieldsOf;

// clang-format off
#define KILN_BEGIN(message)       \
  template <>                     \
  struct FieldsOf<message> {      \
    static constexpr auto All() { \
      using Message = message;    \
      return std::tuple_cat(std::tuple<>()
#define KILN_FIELD(type, name, number) , std::tuple{Field{number, &Message::name}}
#define KILN_END(message) ); } };
// clang-format on
#include "compiler/artifact/metadata_wire.def"

// Nothing if protobuf's parser would refuse the bytes. What is returned views them.
std::optional<Pipeline> ReadPipeline(ByteView bytes);

}  // namespace kiln::artifact::wire
