// SPDX-License-Identifier: MIT
#include "compiler/artifact/wire_reader.h"

#include <vector>

namespace kiln::artifact {
namespace {

// The lower bits of a tag are the type, the rest is the number of the field.
constexpr uint32_t kTypeBits = 3;
// Ten times seven bits hold 64; five hold the 32 of a tag or length.
constexpr size_t kVarintBytes = 10;
constexpr size_t kShortBytes = 5;  // of tags and lengths

}  // namespace

// Seven bits a byte, the lowest first. Ten bytes hold 64 bits; a longer one is wrong, whatever it
// encodes.
uint64_t WireReader::Varint() {
  uint64_t value = 0;
  // The loop ends at the tenth byte or at the end of the bytes; both are damage.
  for (size_t i = 0; i < kVarintBytes && i < rest_.size(); ++i) {
    const auto byte = static_cast<uint8_t>(rest_[i]);
    value |= uint64_t{byte & 0x7fU} << (7 * i);
    if (byte < 0x80) {
      rest_ = rest_.subspan(i + 1);
      return value;
    }
  }
  Fail();
  return 0;
}

uint32_t WireReader::Fixed32() {
  if (rest_.size() < sizeof(uint32_t)) {
    Fail();
    return 0;
  }
  const auto value = ReadLittle<uint32_t>(rest_);
  rest_ = rest_.subspan(sizeof(uint32_t));
  return value;
}

// The view is checked against what is left, so a length that lies beyond the end is refused before
// anything is made of it.
ByteView WireReader::Delimited() {
  const size_t before = rest_.size();
  const uint64_t size = Varint();
  if (!ok_ || before - rest_.size() > kShortBytes || size > rest_.size()) {
    Fail();
    return {};
  }
  const ByteView bytes = rest_.first(size);
  rest_ = rest_.subspan(size);
  return bytes;
}

// Tags and lengths of more than five bytes are refused, as protobuf's parser refuses them: a test
// compares the two on random bytes.
std::optional<WireField> WireReader::Tag() {
  const size_t before = rest_.size();
  const auto tag = static_cast<uint32_t>(Varint());  // upper bits of the fifth byte mean nothing
  const WireField field{tag >> kTypeBits, static_cast<WireType>(tag & ((1U << kTypeBits) - 1))};
  if (!ok_ || before - rest_.size() > kShortBytes || field.number == 0 ||
      field.type > WireType::kFixed32) {
    Fail();
    return std::nullopt;
  }
  return field;
}

std::optional<WireField> WireReader::Next() {
  if (rest_.empty()) {
    return std::nullopt;
  }
  const std::optional<WireField> field = Tag();
  if (field && field->type == WireType::kGroupEnd) {
    Fail();  // of a group that did not begin
    return std::nullopt;
  }
  return field;
}

// Compared before the view is cut: a length from outside never leads behind the end.
void WireReader::Drop(size_t size) {
  if (size > rest_.size()) {
    Fail();
    return;
  }
  rest_ = rest_.subspan(size);
}

// Groups lie in each other as deep as their author likes, so those that are open are a list.
void WireReader::SkipGroup(uint32_t number) {
  // A list instead of recursion. It holds the numbers, because the end of a group names which one
  // it ends.
  std::vector<uint32_t> open = {number};
  while (ok_ && !open.empty()) {
    // The same bound as for messages, so that neither list nor recursion grows without end.
    if (open.size() > depth_ || rest_.empty()) {
      Fail();
      return;
    }
    const std::optional<WireField> field = Tag();
    if (!field) {
      return;
    }
    if (field->type == WireType::kGroup) {
      open.push_back(field->number);
    } else if (field->type != WireType::kGroupEnd) {
      Skip(*field);
    } else if (field->number == open.back()) {
      open.pop_back();
    } else {
      Fail();
    }
  }
}

// A field that is not known is read over, since a later version may have added it. Its bytes must
// be well formed all the same.
void WireReader::Skip(const WireField& field) {
  switch (field.type) {
    case WireType::kVarint:
      (void)Varint();
      return;
    case WireType::kFixed64:
      return Drop(sizeof(uint64_t));
    case WireType::kDelimited:
      (void)Delimited();
      return;
    case WireType::kGroup:
      return SkipGroup(field.number);
    case WireType::kGroupEnd:
      return Fail();
    case WireType::kFixed32:
      return Drop(sizeof(uint32_t));
  }
}

// Messages nest only so deep; deeper ones are refused like damage, so that no reader recurses
// without a bound.
WireReader WireReader::Inner(ByteView bytes) {
  if (depth_ == 0) {
    Fail();
  }
  return WireReader(ok_ ? bytes : ByteView(), depth_ - (depth_ == 0 ? 0 : 1));
}

}  // namespace kiln::artifact
