// SPDX-License-Identifier: MIT
// Encoder and strict decoder of the canonical encoding.
#include "compiler/base/hash/canonical.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "compiler/base/text/utf8.h"

namespace kiln {
namespace {

constexpr size_t kUsualBytes = 128;

Error Corrupt(std::string_view what) {
  return {.code = ErrorCode::kCorrupt, .context = "canonical encoding: " + std::string(what)};
}

// Fields and items are always sized, even where the type fixes the size: the reader can step over
// what it does not know, and two encodings never meet by running into each other.
ByteView ViewOf(const Hash128& id) { return std::as_bytes(std::span(id.bytes)); }

using ContentBytes = std::array<std::byte, sizeof(Hash128::bytes) + sizeof(uint64_t)>;

ContentBytes EncodeContent(const Digest& digest) {
  ContentBytes value;
  std::memcpy(value.data(), digest.id.bytes.data(), digest.id.bytes.size());
  std::memcpy(value.data() + digest.id.bytes.size(), &digest.size, sizeof(digest.size));
  return value;
}

// Little-endian with all its bytes: numbers have one width each and one spelling.
template <class T>
ByteView EncodeInteger(const T& number) {
  return std::as_bytes(std::span(&number, 1));
}

// Room for so many bytes more, and where they begin. Keys are made for every look-up, so that each
// part of them is not a vector that grows.
std::byte* Grow(Bytes& out, size_t more) {
  const size_t end = out.size();
  if (out.capacity() - end < more) {
    out.reserve(std::max(2 * out.capacity(), end + more));
  }
  out.resize(end + more);
  return out.data() + end;
}

std::byte* WriteU32(std::byte* to, size_t number) {
  const auto value = static_cast<uint32_t>(number);
  std::memcpy(to, &value, sizeof(value));
  return to + sizeof(value);
}

std::byte* WriteSized(std::byte* to, ByteView value) {
  to = WriteU32(to, value.size());
  return std::copy(value.begin(), value.end(), to);
}

void AppendSized(Bytes& out, ByteView value) {
  // Sizes are written in 32 bits. A cut size would make two values look like one.
  KILN_CHECK(value.size() <= 0xffffffffu, "{} bytes", value.size());
  WriteSized(Grow(out, sizeof(uint32_t) + value.size()), value);
}

// Takes a u32 length and that many bytes off the front.
std::optional<ByteView> TakeSized(ByteView& rest) {
  if (rest.size() < 4) {
    return std::nullopt;
  }
  const auto size = ReadLittle<uint32_t>(rest);
  // Subtracting is safe after the test above; adding 4 to the size might overflow.
  if (rest.size() - 4 < size) {
    return std::nullopt;
  }
  const ByteView value = rest.subspan(4, size);
  rest = rest.subspan(4 + size_t{size});
  return value;
}

}  // namespace

CanonicalList& CanonicalList::Raw(ByteView item) {
  AppendSized(items_, item);
  ++count_;
  return *this;
}

// A NUL would make a text that C programs read differently from what the key says.
CanonicalList& CanonicalList::Text(std::string_view text) {
  KILN_CHECK(text.find('\0') == std::string_view::npos, "{}", text);
  return Raw(AsBytes(text));
}
CanonicalList& CanonicalList::U32(uint32_t value) { return Raw(EncodeInteger(value)); }
CanonicalList& CanonicalList::U64(uint64_t value) { return Raw(EncodeInteger(value)); }
CanonicalList& CanonicalList::Hash(const Hash128& id) { return Raw(ViewOf(id)); }
CanonicalList& CanonicalList::Content(const Digest& digest) { return Raw(EncodeContent(digest)); }
CanonicalList& CanonicalList::List(const CanonicalList& list) { return Raw(list.Encode()); }
CanonicalList& CanonicalList::NamedContent(std::string_view name, const Digest& digest) {
  KILN_CHECK(name.find('\0') == std::string_view::npos, "{}", name);
  return Tuple({AsBytes(name), EncodeContent(digest)});
}

// The size is computed first and the parts are appended where they end up: a list may have many
// tuples, and a temporary for each would cost an allocation.
CanonicalList& CanonicalList::Tuple(std::initializer_list<ByteView> parts) {
  size_t size = 4;
  for (const ByteView part : parts) {
    size += 4 + part.size();
  }
  KILN_CHECK(size <= 0xffffffffu, "{} bytes", size);
  std::byte* to = Grow(items_, sizeof(uint32_t) + size);
  to = WriteU32(to, size);
  to = WriteU32(to, parts.size());
  for (const ByteView part : parts) {
    to = WriteSized(to, part);
  }
  ++count_;
  return *this;
}

Bytes CanonicalList::Encode() const {
  // The count stands in front, so that a reader can refuse a cut list before it takes any item.
  Bytes out;
  std::byte* const to = Grow(out, sizeof(count_) + items_.size());
  std::copy(items_.begin(), items_.end(), WriteU32(to, count_));
  return out;
}

// The domain comes first, so that encodings of two kinds of records never are the same bytes, and
// neither are their keys.
CanonicalWriter::CanonicalWriter(std::string_view domain) {
  KILN_CHECK(!domain.empty() && domain.size() <= 255, "domain '{}'", domain);
  out_.reserve(kUsualBytes);
  out_.push_back(static_cast<std::byte>(domain.size()));
  Append(out_, AsBytes(domain));
}

// Requires ascending tags, which makes the order of fields part of the code and not of chance.
void CanonicalWriter::BeginField(uint8_t tag) {
  // Fields in one order only, each at most once: without that two encodings could say the same.
  KILN_CHECK(tag > last_tag_, "tag {} after {}", tag, last_tag_);
  last_tag_ = tag;
  out_.push_back(static_cast<std::byte>(tag));
}

CanonicalWriter& CanonicalWriter::Raw(uint8_t tag, ByteView value) {
  BeginField(tag);
  AppendSized(out_, value);
  return *this;
}

CanonicalWriter& CanonicalWriter::Text(uint8_t tag, std::string_view text) {
  KILN_CHECK(text.find('\0') == std::string_view::npos, "{}", text);
  return Raw(tag, AsBytes(text));
}
CanonicalWriter& CanonicalWriter::U32(uint8_t tag, uint32_t value) {
  return Raw(tag, EncodeInteger(value));
}
CanonicalWriter& CanonicalWriter::U64(uint8_t tag, uint64_t value) {
  return Raw(tag, EncodeInteger(value));
}
CanonicalWriter& CanonicalWriter::Hash(uint8_t tag, const Hash128& id) {
  return Raw(tag, ViewOf(id));
}
CanonicalWriter& CanonicalWriter::Content(uint8_t tag, const Digest& digest) {
  return Raw(tag, EncodeContent(digest));
}
CanonicalWriter& CanonicalWriter::List(uint8_t tag, const CanonicalList& list) {
  // As Raw of its encoding, which may be most of a key, without making it apart.
  const ByteView items = list.items();
  KILN_CHECK(items.size() <= 0xffffffffu - sizeof(uint32_t), "{} bytes", items.size());
  BeginField(tag);
  std::byte* to = Grow(out_, 2 * sizeof(uint32_t) + items.size());
  to = WriteU32(to, sizeof(uint32_t) + items.size());
  to = WriteU32(to, list.count());
  std::copy(items.begin(), items.end(), to);
  return *this;
}

// What Text of both writers requires of its caller.
bool IsCanonicalText(std::string_view text) {
  return text.find('\0') == std::string_view::npos && FindInvalidUtf8(text) == text.size();
}

Result<std::string_view> DecodeText(ByteView value) {
  const std::string_view text = AsText(value);
  if (!IsCanonicalText(text)) {
    return Corrupt("text is not UTF-8 or has a NUL");
  }
  return text;
}

Result<uint32_t> DecodeU32(ByteView value) {
  // The size is part of the encoding: a number with zeros behind it would be a second spelling of
  // the same value.
  if (value.size() != 4) {
    return Corrupt("u32 has another size");
  }
  return ReadLittle<uint32_t>(value);
}

Result<uint64_t> DecodeU64(ByteView value) {
  if (value.size() != 8) {
    return Corrupt("u64 has another size");
  }
  return ReadLittle<uint64_t>(value);
}

Result<Hash128> DecodeHash(ByteView value) {
  Hash128 id;
  if (value.size() != id.bytes.size()) {
    return Corrupt("id has another size");
  }
  std::memcpy(id.bytes.data(), value.data(), id.bytes.size());
  return id;
}

Result<Digest> DecodeContent(ByteView value) {
  // The 16 bytes of the id and the 8 of the size.
  if (value.size() != 24) {
    return Corrupt("digest has another size");
  }
  KILN_TRY(const Hash128 id, DecodeHash(value.first(16)));
  return Digest{.id = id, .size = ReadLittle<uint64_t>(value, 16)};
}

Result<std::vector<ByteView>> DecodeList(ByteView value) {
  if (value.size() < 4) {
    return Corrupt("list has no count");
  }
  const auto count = ReadLittle<uint32_t>(value);
  ByteView rest = value.subspan(4);
  // Each item has at least the four bytes of its size. The test comes before `reserve`, so that a
  // few hostile bytes cannot ask for gigabytes.
  if (count > rest.size() / 4) {
    return Corrupt("list is longer than its bytes");
  }
  std::vector<ByteView> items;
  items.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const std::optional<ByteView> item = TakeSized(rest);
    if (!item) {
      return Corrupt("list item is cut off");
    }
    items.push_back(*item);
  }
  // Whatever is left over would be a second encoding of the same list.
  if (!rest.empty()) {
    return Corrupt("bytes after a list");
  }
  return items;
}

// A tuple is a list of a length that the reader knows.
Result<std::vector<ByteView>> DecodeTuple(ByteView value, size_t count) {
  KILN_TRY(std::vector<ByteView> parts, DecodeList(value));
  if (parts.size() != count) {
    return Corrupt("tuple of another length");
  }
  return parts;
}

// Views of `bytes`, which have to outlive the reader. Cost: one pass over the heads of fields.
Result<CanonicalReader> CanonicalReader::Open(ByteView bytes, std::string_view domain) {
  // One byte holds the length of the domain.
  const size_t head = 1 + domain.size();
  if (bytes.size() < head || std::to_integer<size_t>(bytes[0]) != domain.size() ||
      AsText(bytes.subspan(1, domain.size())) != domain) {
    return Corrupt("domain is not " + std::string(domain));
  }
  CanonicalReader reader;
  // All fields are found once, up front: a malformed tail is refused even if nobody reads it.
  int last_tag = -1;
  for (ByteView rest = bytes.subspan(head); !rest.empty();) {
    const auto tag = std::to_integer<uint8_t>(rest[0]);
    if (tag <= last_tag) {
      return Corrupt("tags do not ascend");
    }
    last_tag = tag;
    rest = rest.subspan(1);
    const std::optional<ByteView> value = TakeSized(rest);
    if (!value) {
      return Corrupt("field is cut off");
    }
    reader.fields_.push_back({.tag = tag, .value = *value});
  }
  return reader;
}

Result<ByteView> CanonicalReader::Raw(uint8_t tag) {
  // Linear; a record has few fields.
  const auto field = std::ranges::find(fields_, tag, &Field::tag);
  if (field == fields_.end()) {
    return Corrupt("field is absent");
  }
  // Reading marks a field; Finish refuses what nobody knew, as a field of a later version changes
  // the meaning of the record.
  field->read = true;
  return field->value;
}

bool CanonicalReader::Has(uint8_t tag) const {
  // Asking does not mark the field as read: a field that is only asked for stays unknown.
  return std::ranges::find(fields_, tag, &Field::tag) != fields_.end();
}

Result<std::string_view> CanonicalReader::Text(uint8_t tag) {
  KILN_TRY(const ByteView value, Raw(tag));
  return DecodeText(value);
}
Result<uint32_t> CanonicalReader::U32(uint8_t tag) {
  KILN_TRY(const ByteView value, Raw(tag));
  return DecodeU32(value);
}
Result<uint64_t> CanonicalReader::U64(uint8_t tag) {
  KILN_TRY(const ByteView value, Raw(tag));
  return DecodeU64(value);
}
Result<Hash128> CanonicalReader::Hash(uint8_t tag) {
  KILN_TRY(const ByteView value, Raw(tag));
  return DecodeHash(value);
}
Result<Digest> CanonicalReader::Content(uint8_t tag) {
  KILN_TRY(const ByteView value, Raw(tag));
  return DecodeContent(value);
}
Result<std::vector<ByteView>> CanonicalReader::List(uint8_t tag) {
  KILN_TRY(const ByteView value, Raw(tag));
  return DecodeList(value);
}

Result<void> CanonicalReader::Finish() const {
  // Only whoever has read all that there is knows what the record says.
  if (!std::ranges::all_of(fields_, &Field::read)) {
    return Corrupt("unknown field");
  }
  return {};
}

}  // namespace kiln
