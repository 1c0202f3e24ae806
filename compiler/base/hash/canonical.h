// SPDX-License-Identifier: MIT
// The canonical encoding that keys and records are made of, and its strict decoder.
//   encoding = u8 length, domain (ASCII), field*        field = u8 tag, u32 length, bytes
//   list     = u32 count, (u32 length, item)*           pair, tuple = list of its parts
// Integers are little-endian. Tags ascend strictly, an absent optional field is left out. The
// encoding is injective, and the decoder accepts nothing that the encoder does not write.
// See spec/cache 2.2
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln {

// Items of a list, or parts of a pair or tuple. Appending returns *this, for chains.
class CanonicalList {
 public:
  CanonicalList() = default;
  // With room for so many bytes of items.
  explicit CanonicalList(size_t room) { items_.reserve(room); }

  CanonicalList& Text(std::string_view text);  // Requires: no NUL
  CanonicalList& U32(uint32_t value);
  CanonicalList& U64(uint64_t value);
  CanonicalList& Hash(const Hash128& id);
  CanonicalList& Content(const Digest& digest);
  CanonicalList& List(const CanonicalList& list);
  // As List of a list of text and content, which rows of products are.
  CanonicalList& NamedContent(std::string_view name, const Digest& digest);
  // A list of parts that are encoded already, as one item.
  CanonicalList& Tuple(std::initializer_list<ByteView> parts);
  CanonicalList& Raw(ByteView item);  // an item that is encoded already

  uint32_t count() const { return count_; }
  ByteView items() const { return items_; }  // what Encode writes behind the count
  Bytes Encode() const;

 private:
  uint32_t count_ = 0;
  Bytes items_;
};

class CanonicalWriter {
 public:
  // Requires: ASCII, 1 to 255 bytes.
  explicit CanonicalWriter(std::string_view domain);

  // Requires: tags ascend from call to call; text has no NUL.
  CanonicalWriter& Text(uint8_t tag, std::string_view text);
  CanonicalWriter& U32(uint8_t tag, uint32_t value);
  CanonicalWriter& U64(uint8_t tag, uint64_t value);
  CanonicalWriter& Hash(uint8_t tag, const Hash128& id);
  CanonicalWriter& Content(uint8_t tag, const Digest& digest);
  CanonicalWriter& List(uint8_t tag, const CanonicalList& list);
  CanonicalWriter& Raw(uint8_t tag, ByteView value);

  const Bytes& bytes() const& { return out_; }
  Bytes bytes() && { return std::move(out_); }
  // The key: hash of the encoding.
  Hash128 Key() const { return HashBytes(out_); }

 private:
  void BeginField(uint8_t tag);

  Bytes out_;
  int last_tag_ = -1;
};

// Values as the encoder writes them. Errors: kCorrupt for every other length or for text that is
// not UTF-8 or has a NUL. Text and items view the bytes.
Result<std::string_view> DecodeText(ByteView value);
Result<uint32_t> DecodeU32(ByteView value);
Result<uint64_t> DecodeU64(ByteView value);
Result<Hash128> DecodeHash(ByteView value);
Result<Digest> DecodeContent(ByteView value);
Result<std::vector<ByteView>> DecodeList(ByteView value);
// A list of exactly `count` parts.
Result<std::vector<ByteView>> DecodeTuple(ByteView value, size_t count);

// Reads fields by tag; views the bytes, which must outlive the reader. Every field must be asked
// for once, then Finish tells whether there was anything else.
class CanonicalReader {
 public:
  // Errors: kCorrupt if the bytes are not a well-formed encoding of this domain.
  static Result<CanonicalReader> Open(ByteView bytes, std::string_view domain);

  // Errors: kCorrupt if the field is absent or malformed.
  Result<std::string_view> Text(uint8_t tag);
  Result<uint32_t> U32(uint8_t tag);
  Result<uint64_t> U64(uint8_t tag);
  Result<Hash128> Hash(uint8_t tag);
  Result<Digest> Content(uint8_t tag);
  Result<std::vector<ByteView>> List(uint8_t tag);
  Result<ByteView> Raw(uint8_t tag);

  bool Has(uint8_t tag) const;

  // Errors: kCorrupt if a field was never asked for.
  Result<void> Finish() const;

 private:
  struct Field {
    uint8_t tag = 0;
    bool read = false;
    ByteView value;
  };

  std::vector<Field> fields_;
};

// Whether text is well-formed UTF-8 without NUL.
bool IsCanonicalText(std::string_view text);

}  // namespace kiln
