// SPDX-License-Identifier: MIT
#include "compiler/layout/reflection/reflection_wire.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "compiler/base/check.h"

namespace kiln::layout {
namespace {

using Json = nlohmann::ordered_json;

// How a value of JSON becomes a field. Only what the schema uses is here.
enum class Wire : uint8_t {
  kNumber,    // zero is left out
  kOptional,  // also zero is written; a word instead of a number is absence
  kFlag,
  kText,
  kNumbers,
  kMessage,
  kMessages,
  kUsage,  // map<string, Stages>
};

// A row of the tables below. `content` is the table of the message for fields that are
// messages.
struct Field {
  std::string_view name;
  Wire wire = Wire::kNumber;
  std::span<const Field> content{};
};

// The number of a field is its place in the list, from 1. A test compares with layout.proto.
// So a new field of the schema is a new row at the end, and no row is ever taken out.
constexpr Field kMember[] = {{"path", Wire::kText},
                             {"type", Wire::kText},
                             {"offset"},
                             {"size", Wire::kOptional},
                             {"array_stride"},
                             {"matrix_stride"},
                             {"order", Wire::kText},
                             {"as_columns", Wire::kFlag},
                             {"transposed", Wire::kFlag}};
constexpr Field kBlock[] = {{"rules", Wire::kText},
                            {"size", Wire::kOptional},
                            {"align"},
                            {"registers"},
                            {"tail_offset", Wire::kOptional},
                            {"tail_stride"},
                            {"main_size"},
                            {"members", Wire::kMessages, kMember},
                            {"element_stride"}};
constexpr Field kPlace[] = {{"kind", Wire::kText}, {"space"}, {"index"}};
constexpr Field kLeaf[] = {{"path", Wire::kText},
                           {"type", Wire::kText},
                           {"kind", Wire::kText},
                           {"space"},
                           {"index"},
                           {"count", Wire::kOptional},
                           {"strides", Wire::kNumbers},
                           {"elements", Wire::kMessages, kPlace},
                           {"attachment", Wire::kOptional},
                           {"dynamic_offset", Wire::kFlag},
                           {"block", Wire::kMessage, kBlock},
                           {"element", Wire::kMessage, kBlock}};
constexpr Field kSpaces[] = {{"first"}, {"count"}};
constexpr Field kParameter[] = {{"name", Wire::kText},
                                {"unit", Wire::kText},
                                {"type", Wire::kText},
                                {"explicit", Wire::kFlag},
                                {"absent", Wire::kFlag},
                                {"spaces", Wire::kMessage, kSpaces},
                                {"leaves", Wire::kMessages, kLeaf}};
constexpr Field kGlobals[] = {
    {"kind", Wire::kText}, {"space"}, {"index"}, {"block", Wire::kMessage, kBlock}};
constexpr Field kVertexField[] = {{"name", Wire::kText},   {"offset"},   {"size"},
                                  {"format", Wire::kText}, {"location"}, {"count"}};
constexpr Field kVertexBuffer[] = {{"name", Wire::kText},
                                   {"binding"},
                                   {"rate", Wire::kText},
                                   {"size"},
                                   {"fields", Wire::kMessages, kVertexField}};
constexpr Field kPush[] = {{"name", Wire::kText}, {"block", Wire::kMessage, kBlock}};
constexpr Field kSpecialization[] = {{"name", Wire::kText}, {"type", Wire::kText}, {"id"}};
constexpr Field kVarying[] = {{"name", Wire::kText},
                              {"type", Wire::kText},
                              {"location", Wire::kOptional},
                              {"count"},
                              {"builtin", Wire::kText},
                              {"semantic", Wire::kText},
                              {"semantic_index"},
                              {"interpolation", Wire::kText}};
constexpr Field kEntryPoint[] = {{"name", Wire::kText},
                                 {"stage", Wire::kText},
                                 {"in", Wire::kMessages, kVarying},
                                 {"out", Wire::kMessages, kVarying}};
constexpr Field kReflection[] = {{"version"},
                                 {"target", Wire::kText},
                                 {"policy", Wire::kText},
                                 {"pack", Wire::kText},
                                 {"layout_hash", Wire::kText},
                                 {"parameters", Wire::kMessages, kParameter},
                                 {"globals", Wire::kMessage, kGlobals},
                                 {"vertex_buffers", Wire::kMessages, kVertexBuffer},
                                 {"push", Wire::kMessage, kPush},
                                 {"spec", Wire::kMessages, kSpecialization},
                                 {"entry_points", Wire::kMessages, kEntryPoint},
                                 {"usage", Wire::kUsage}};

// The types of the wire that are used: no field has a fixed width.
constexpr uint64_t kVarint = 0;
constexpr uint64_t kLengthDelimited = 2;

// Seven bits a byte, the lowest first; the top bit says that more follow.
void AppendVarint(Bytes& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    // The cast keeps the lower eight bits, of which the top one is set here.
    out.push_back(static_cast<std::byte>(value | 0x80));
  }
  out.push_back(static_cast<std::byte>(value));
}

// A tag is the number of the field and, in the lower three bits, how its value is written.
void AppendNumber(Bytes& out, uint64_t number, uint64_t value) {
  AppendVarint(out, number << 3 | kVarint);
  AppendVarint(out, value);
}

// Texts, messages and packed lists all have their length in front.
void AppendBytes(Bytes& out, uint64_t number, ByteView bytes) {
  AppendVarint(out, number << 3 | kLengthDelimited);
  AppendVarint(out, bytes.size());
  Append(out, bytes);
}

ByteView TextOf(const Json& value) { return AsBytes(value.get_ref<const std::string&>()); }

// The stages of a parameter, by its name: maps are written in the order of their keys.
void AppendUsage(Bytes& out, uint64_t number, const Json& usage) {
  std::map<std::string_view, const Json*> sorted;
  for (const auto& [name, stages] : usage.get_ref<const Json::object_t&>()) {
    sorted.emplace(name, &stages);
  }
  for (const auto& [name, stages] : sorted) {
    // Each row of a map is a message of key and value, and the value here is a message of its own,
    // since a map cannot hold a list.
    Bytes list;
    for (const Json& stage : *stages) {
      AppendBytes(list, 1, TextOf(stage));
    }
    Bytes entry;
    AppendBytes(entry, 1, AsBytes(name));
    AppendBytes(entry, 2, list);
    AppendBytes(out, number, entry);
  }
}

Bytes MessageOf(const Json& object, std::span<const Field> fields);

// What is the default of proto3 is left out, so that the bytes are those of protobuf's own
// serialiser; a field that may be absent is written even if it is zero.
void AppendField(Bytes& out, uint64_t number, const Field& field, const Json& value) {
  switch (field.wire) {
    case Wire::kNumber:
    case Wire::kFlag: {
      // A flag is a number of one bit.
      const uint64_t raw =
          field.wire == Wire::kFlag ? uint64_t{value.get<bool>()} : value.get<uint64_t>();
      if (raw != 0) {
        AppendNumber(out, number, raw);
      }
      return;
    }
    case Wire::kOptional:
      if (value.is_number()) {
        AppendNumber(out, number, value.get<uint64_t>());
      }
      return;
    case Wire::kText:
      if (!TextOf(value).empty()) {
        AppendBytes(out, number, TextOf(value));
      }
      return;
    case Wire::kNumbers: {
      // Numbers of a list are packed into one field, as proto3 does it.
      Bytes packed;
      for (const Json& item : value) {
        AppendVarint(packed, item.get<uint64_t>());
      }
      if (!packed.empty()) {
        AppendBytes(out, number, packed);
      }
      return;
    }
    case Wire::kMessage:
      if (!value.is_null()) {
        // The size must stand before the content, so each message is made before it is appended.
        // Reflections are some kilobytes.
        AppendBytes(out, number, MessageOf(value, field.content));
      }
      return;
    case Wire::kMessages:
      for (const Json& item : value) {
        AppendBytes(out, number, MessageOf(item, field.content));
      }
      return;
    case Wire::kUsage:
      AppendUsage(out, number, value);
      return;
  }
}

// As deep as the table of fields.
Bytes MessageOf(const Json& object, std::span<const Field> fields) {
  Bytes out;
  size_t known = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto found = object.find(fields[i].name);
    if (found != object.end()) {
      // Members of the JSON and rows of the table must agree: a name that only one of them has
      // would be lost without a word.
      ++known;
      AppendField(out, i + 1, fields[i], *found);
    }
  }
  KILN_CHECK(known == object.size(), "{} of {} members have a field", known, object.size());
  return out;
}

}  // namespace

Bytes ReflectionWire(const Json& reflection) { return MessageOf(reflection, kReflection); }

}  // namespace kiln::layout
