// SPDX-License-Identifier: MIT
// Protobuf's wire format, as far as reading messages of proto3 needs it: bytes -> fields in the
// order in which they stand there. What protobuf's own parser refuses is refused, what it skips is
// skipped.
//   WireReader in(bytes);
//   while (const auto field = in.Next()) { … in.Delimited() … or in.Skip(*field); }
//   return in.ok();
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/base/bytes.h"

namespace kiln::artifact {

enum class WireType : uint8_t { kVarint, kFixed64, kDelimited, kGroup, kGroupEnd, kFixed32 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
};

// Requires nothing of the bytes, which it views. After the first thing that is wrong every function
// gives nothing, and ok() is false.
class WireReader {
 public:
  static constexpr uint32_t kMaxDepth = 100;  // of messages and groups in each other

  explicit WireReader(ByteView bytes, uint32_t depth = kMaxDepth) : rest_(bytes), depth_(depth) {}

  bool ok() const { return ok_; }
  bool done() const { return rest_.empty(); }

  // Nothing at the end, or if something is wrong.
  std::optional<WireField> Next();

  // The value of the field that Next gave, whose type must be that of the function.
  uint64_t Varint();
  uint32_t Fixed32();
  ByteView Delimited();
  // Reads over it, whatever it is.
  void Skip(const WireField& field);

  // Of a message inside of this one.
  WireReader Inner(ByteView bytes);
  void Fail() {
    ok_ = false;
    rest_ = {};
  }

 private:
  std::optional<WireField> Tag();
  void Drop(size_t size);
  void SkipGroup(uint32_t number);

  ByteView rest_;
  uint32_t depth_;
  bool ok_ = true;
};

}  // namespace kiln::artifact
