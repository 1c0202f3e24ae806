// SPDX-License-Identifier: MIT
#include "server/rpc/messages/parsed_size.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

using MessageType = google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr uint64_t kAllocation = 16;   // of the heap's own
constexpr uint64_t kPlace = 16;        // in a list, which doubles when it grows
constexpr uint64_t kText = 32;         // that is empty
constexpr uint64_t kTextInPlace = 15;  // bytes of one that needs no room of its own
constexpr uint64_t kUnknown = 2 * 16;  // of a field that the type does not have
constexpr uint64_t kFewBytes = 4096;   // at most a megabyte
constexpr size_t kMostNested = 100;    // the parser goes no deeper

enum Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads what the parser will read. False at the end, or where that would stop.
class Cursor {
 public:
  explicit Cursor(ByteView bytes) : bytes_(bytes) {}

  bool Number(uint64_t& value) {
    value = 0;
    for (uint32_t shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    return false;
  }
  bool Skip(uint64_t size) {
    const bool there = size <= bytes_.size() - at_;
    at_ += there ? size : 0;
    return there;
  }
  size_t at() const { return at_; }
  bool done() const { return at_ == bytes_.size(); }

 private:
  ByteView bytes_;
  size_t at_ = 0;
};

// Of an empty message, by its type: asking protobuf takes a lock.
class EmptySizes {
 public:
  uint64_t Of(const MessageType* type) {
    const auto [known, is_new] = sizes_.try_emplace(type, 0);
    if (is_new) {
      const auto* made = google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
      known->second = made == nullptr ? kUnknown : made->SpaceUsedLong();
    }
    return known->second;
  }

 private:
  std::unordered_map<const MessageType*, uint64_t> sizes_;
};

uint64_t TextBytes(uint64_t size) { return kText + (size > kTextInPlace ? size + kAllocation : 0); }

// Where a message ends that is being read, and of which type it is.
struct Nested {
  size_t end;
  const MessageType* type;
};

}  // namespace

// Messages in messages stand on a stack and not in calls of this function: how deep they are is the
// sender's choice.
uint64_t ParsedBytes(ByteView wire, const MessageType& type, uint64_t most) {
  EmptySizes empty;
  Cursor cursor(wire);
  std::vector<Nested> within = {{.end = wire.size(), .type = &type}};
  uint64_t bytes = empty.Of(&type);
  while (bytes <= most) {
    while (!within.empty() && cursor.at() >= within.back().end) {
      within.pop_back();
    }
    uint64_t tag = 0;
    if (within.empty() || !cursor.Number(tag)) {
      break;
    }
    const MessageType* const of = within.back().type;
    const FieldDescriptor* const field = tag >> 3 > FieldDescriptor::kMaxNumber
                                             ? nullptr
                                             : of->FindFieldByNumber(static_cast<int>(tag >> 3));
    bytes += field == nullptr ? kUnknown : field->is_repeated() ? kPlace : 0;
    uint64_t value = 0;
    switch (tag & 7) {
      case kVarint:
        if (!cursor.Number(value)) {
          return bytes;
        }
        continue;
      case kFixed64:
      case kFixed32:
        if (!cursor.Skip((tag & 7) == kFixed64 ? 8 : 4)) {
          return bytes;
        }
        continue;
      case kBytes:
        break;
      default:  // a group begins or ends; what is in it is unknown as well
        continue;
    }
    if (!cursor.Number(value) || value > wire.size() - cursor.at()) {
      return bytes;
    }
    const bool is_message =
        field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (is_message && within.size() < kMostNested) {
      bytes += empty.Of(field->message_type()) + kAllocation;
      within.push_back({.end = cursor.at() + value, .type = field->message_type()});
      continue;
    }
    const bool is_text = field == nullptr || field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    bytes += is_text ? TextBytes(value) + kAllocation : value * sizeof(uint64_t);  // packed numbers
    (void)cursor.Skip(value);
  }
  return bytes;
}

Result<void> CheckParts(ByteView wire, const MessageType& type) {
  if (wire.size() <= kFewBytes) {
    return {};  // whatever they are, and the calls that are made most often are among them
  }
  const uint64_t most = MostParsed(wire.size());
  return ParsedBytes(wire, type, most) <= most
             ? Result<void>()
             : Result<void>(Malformed(
                   "message", fmt::format("its {} bytes have so many empty parts that they would "
                                          "take more than {} bytes of memory",
                                          wire.size(), most)));
}

}  // namespace kiln::rpc
