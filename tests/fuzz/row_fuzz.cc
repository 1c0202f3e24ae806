// SPDX-License-Identifier: MIT
// libFuzzer: any bytes as a row of the cache, as an explain record, as a stored blob. What decodes
// is written as the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cache/compression/codec.h"
#include "cache/explain/explain_codec.h"
#include "cache/record.h"
#include "compiler/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kiln;
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto same = [&](const Bytes& again) { return std::ranges::equal(again, bytes); };
  if (const auto record = cache::DecodeRecord(bytes); record.ok()) {
    KILN_CHECK(same(cache::EncodeRecord(*record)));
  }
  if (const auto module = cache::DecodeModuleRecord(bytes); module.ok()) {
    KILN_CHECK(same(cache::EncodeModuleRecord(*module)));
  }
  if (const auto mask = cache::DecodeMask(bytes); mask.ok()) {
    KILN_CHECK(same(cache::EncodeMask(*mask)));
  }
  if (const auto explain = cache::DecodeExplain(bytes); explain.ok()) {
    KILN_CHECK(same(cache::EncodeExplain(*explain)));
  }
  if (size > 8) {
    cache::Blob blob = cache::CopiedBlob(bytes.subspan(8));
    blob.codec = cache::Codec::kZstd;
    blob.raw_size = ReadLittle<uint64_t>(bytes);
    const auto raw = cache::Decompress(blob);
    KILN_CHECK(!raw.ok() || raw->bytes.size() == blob.raw_size);
  }
  return 0;
}
