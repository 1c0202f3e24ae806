// SPDX-License-Identifier: MIT
// Values of rows: what a key leads to, encoded canonically. The decoders take hostile bytes (stored
// rows may be damaged or come from an upstream) and accept nothing that the encoders do not write.
// See spec/cache 4, 3.4, 2.4.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/name_list.h"
#include "cache/store.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::cache {

// Stored; see spec/cache 4.2 for how long each lives.
enum class RecordKind : uint32_t {
  kOk = 0,           // products exist; may carry warnings
  kSourceError = 1,  // the source is wrong
  kLimit = 2,        // a deterministic limit was exceeded
  kPoison = 3,       // the compiler died of it three times; expires
};

// Content under a name: "code.vertex" …, "code" if combined, "meta", "diag", "report", "image".
struct Product {
  std::string name;
  Digest digest;

  friend bool operator==(const Product&, const Product&) = default;
};

// How much of a deterministic limit was used.
struct LimitUse {
  std::string name;
  uint64_t amount = 0;

  friend bool operator==(const LimitUse&, const LimitUse&) = default;
};

// What a signature or recipe key leads to. Requires, and decoding checks: products, live_options
// and limits have unique names and are sorted by them.
struct Record {
  RecordKind kind = RecordKind::kOk;
  std::vector<Product> products;
  NameList live_options;
  std::optional<Hash128> layout_hash;
  std::optional<Hash128> state_id;
  uint64_t cpu_us = 0;  // not part of the result
  std::vector<LimitUse> limits;
  std::string build_id;  // not part of the result

  // Null if there is no such product.
  const Digest* Find(std::string_view name) const;

  friend bool operator==(const Record&, const Record&) = default;
};

Bytes EncodeRecord(const Record& record);
// Errors: kCorrupt.
Result<Record> DecodeRecord(ByteView bytes);

// What a module key leads to. Products: "image" unless the source is wrong, "diag" if there are
// diagnostics. semantic_id: content id of the image without its span section (spec/cache 2.4.3).
struct ModuleRecord {
  RecordKind kind = RecordKind::kOk;
  std::vector<Product> products;
  std::optional<Hash128> semantic_id;
  uint64_t cpu_us = 0;   // not part of the result
  std::string build_id;  // not part of the result

  const Digest* Find(std::string_view name) const;

  friend bool operator==(const ModuleRecord&, const ModuleRecord&) = default;
};

Bytes EncodeModuleRecord(const ModuleRecord& record);
// Errors: kCorrupt.
Result<ModuleRecord> DecodeModuleRecord(ByteView bytes);

// A mask: sorted, unique names of options.
Bytes EncodeMask(std::span<const std::string> names);
// Errors: kCorrupt.
Result<std::vector<std::string>> DecodeMask(ByteView bytes);
// Whether `wider` is a mask with all names of `mask` and more. Such a mask may take its place: the
// one exception from "the first value of a key stays" (spec/cache 3.4).
bool Widens(ByteView mask, ByteView wider);

// Items with value, sum and refs as stores want them.
Item RecordItem(Level level, uint32_t space, const Hash128& key, const Record& record);
Item ModuleItem(uint32_t space, const Hash128& key, const ModuleRecord& record);
Item MaskItem(uint32_t space, const Hash128& key, std::span<const std::string> names);
// variant_or_live -> signature key.
Item AliasItem(uint32_t space, const Hash128& variant_or_live, const Hash128& signature);
// Errors: kCorrupt unless the bytes are one id.
Result<Hash128> DecodeAlias(ByteView bytes);

// What a store needs to know of any row.
struct RowSummary {
  RecordKind kind = RecordKind::kOk;
  uint64_t cost_us = 0;
  std::vector<Product> products;
};

// Decodes strictly. Requires: level is not kContent. Errors: kCorrupt.
Result<RowSummary> SummarizeRow(Level level, ByteView value);

// Whether two values of one key are the same result: equal but for CPU time and build id (
// spec/cache 4.5). Values that do not decode differ.
bool SameResult(Level level, ByteView a, ByteView b);

}  // namespace kiln::cache
