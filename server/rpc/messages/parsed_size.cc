// SPDX-License-Identifier: MIT
#include "server/rpc/messages/parsed_size.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <google/protobuf/message.h>
#include <google/protobuf/wire_format.h>

#include "server/rpc/messages/request_error.h"

namespace kiln::rpc {
namespace {

using MessageType = google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr uint64_t kAllocation = 16;     // of the heap's own
constexpr uint64_t kPlace = 16;          // in a list, which doubles when it grows
constexpr uint64_t kText = 32;           // that is empty
constexpr uint64_t kTextInPlace = 15;    // bytes of one that needs no room of its own
constexpr uint64_t kUnknown = 2 * 16;    // of a field that the type does not have, in their list
constexpr uint64_t kUnknownGroup = 96;   // the list of what is in it, which begins with one place
constexpr uint64_t kPackedByte = 2 * 8;  // a number at least, in a list that doubles
constexpr uint64_t kFewBytes = 4096;     // at most a megabyte
constexpr size_t kMostNested = 101;      // the parser goes no deeper

enum Wire : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroup = 3,
  kGroupEnd = 4,
  kFixed32 = 5,
};

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
  size_t left() const { return bytes_.size() - at_; }

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

// A text of a list, of a message, or of an unknown field is an object of its own.
uint64_t TextOnHeap(uint64_t size) { return kAllocation + TextBytes(size); }

// The field of a tag if its type is sent like that. Of any other the parser makes an unknown field,
// as it does of a number that the type does not have.
const FieldDescriptor* FieldOf(const MessageType* type, uint64_t tag) {
  using google::protobuf::internal::WireFormat;
  const uint64_t number = tag >> 3;
  const FieldDescriptor* const field = type == nullptr || number > FieldDescriptor::kMaxNumber
                                           ? nullptr
                                           : type->FindFieldByNumber(static_cast<int>(number));
  if (field == nullptr) {
    return nullptr;
  }
  const bool is_sent_so =
      WireFormat::WireTypeForFieldType(field->type()) ==
      static_cast<google::protobuf::internal::WireFormatLite::WireType>(tag & 7);
  return is_sent_so || (field->is_packable() && (tag & 7) == kBytes) ? field : nullptr;
}

// What is being read: a message, or a group, all of whose fields are unknown.
struct Nested {
  size_t end;               // of the message, or of that which the group is in
  const MessageType* type;  // null: a group, which ends by a tag
};

// One pass over the bytes. Messages in messages stand on a stack and not in calls of functions: how
// deep they are is the sender's choice.
class PartCounter {
 public:
  PartCounter(ByteView wire, const MessageType& type)
      : cursor_(wire), within_{{.end = wire.size(), .type = &type}}, bytes_(empty_.Of(&type)) {}

  uint64_t CountUpTo(uint64_t most) {
    while (bytes_ <= most && Part()) {
    }
    return bytes_;
  }

 private:
  // False at the end, and where the parser would stop.
  bool Part() {
    while (!within_.empty() && cursor_.at() >= within_.back().end) {
      within_.pop_back();  // a group that ends so is none, and refused
    }
    uint64_t tag = 0;
    if (within_.empty() || !cursor_.Number(tag)) {
      return false;
    }
    const FieldDescriptor* const field = FieldOf(within_.back().type, tag);
    uint64_t value = 0;
    switch (tag & 7) {
      case kVarint:
        Add(field);
        return cursor_.Number(value);
      case kFixed64:
        Add(field);
        return cursor_.Skip(8);
      case kFixed32:
        Add(field);
        return cursor_.Skip(4);
      case kBytes:
        Add(field);
        return cursor_.Number(value) && value <= cursor_.left() && Text(field, value);
      case kGroup:
        bytes_ += kUnknown + kUnknownGroup;
        return Enter({.end = within_.back().end, .type = nullptr});
      case kGroupEnd: {
        const bool is_group = within_.back().type == nullptr;
        within_.pop_back();
        return is_group;
      }
      default:
        return false;
    }
  }

  void Add(const FieldDescriptor* field) {
    bytes_ += field == nullptr ? kUnknown : field->is_repeated() ? kPlace : 0;
  }

  bool Text(const FieldDescriptor* field, uint64_t size) {
    if (field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      bytes_ += empty_.Of(field->message_type()) + kAllocation;
      return Enter({.end = cursor_.at() + size, .type = field->message_type()});
    }
    bytes_ += field == nullptr || field->cpp_type() == FieldDescriptor::CPPTYPE_STRING
                  ? TextOnHeap(size)
                  : size * kPackedByte;
    return cursor_.Skip(size);
  }

  bool Enter(const Nested& part) {
    within_.push_back(part);
    return within_.size() <= kMostNested;
  }

  EmptySizes empty_;
  Cursor cursor_;
  std::vector<Nested> within_;
  uint64_t bytes_;
};

}  // namespace

uint64_t ParsedBytes(ByteView wire, const MessageType& type, uint64_t most) {
  return PartCounter(wire, type).CountUpTo(most);
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
