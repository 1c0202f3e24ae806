// SPDX-License-Identifier: MIT
// Training by ZDICT, and zstd's two prepared forms of a dictionary.
#include "cache/compression/dictionary.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <zdict.h>
#include <zstd.h>

#include "cache/compression/zstd_context.h"
#include "cache/compression/zstd_parts.h"
#include "compiler/base/check.h"
#include "compiler/base/threads/stop.h"

namespace kiln::cache {
namespace {

// zstd's own default: higher levels cost several times the time and gain little on content of a few
// KiB.
constexpr int kLevel = 3;
// ZDICT needs many samples, several times the size of the dictionary together, or what it makes
// fits these samples only.
constexpr size_t kFewestSamples = 16;
constexpr size_t kSamplesPerDictionary = 8;  // by size
// As many bytes as tell a text from data with some certainty; magic numbers are shorter.
constexpr size_t kLookedAt = 64;
constexpr std::string_view kSpirvMagic{"\x03\x02\x23\x07", 4};
constexpr std::string_view kImageMagic = "kilnmod1";

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 && c != '\n' && c != '\r' && c != '\t';
}

}  // namespace

ContentKind ContentKindOf(ByteView content) {
  // The first bytes decide, as the kind is asked for on every put. A wrong kind costs compression
  // and nothing else.
  const std::string_view text = AsText(content.first(std::min(content.size(), kLookedAt)));
  if (text.starts_with(kSpirvMagic)) {
    return ContentKind::kCode;
  }
  if (text.starts_with(kImageMagic)) {
    return ContentKind::kImage;
  }
  return std::ranges::any_of(text, IsControl) ? ContentKind::kData : ContentKind::kText;
}

std::string_view ContentKindName(ContentKind kind) {
  switch (kind) {
    case ContentKind::kCode:
      return "code";
    case ContentKind::kImage:
      return "image";
    case ContentKind::kText:
      return "text";
    case ContentKind::kData:
      return "data";
  }
  KILN_UNREACHABLE();
}

Bytes TrainDictionary(std::span<const Bytes> samples, size_t most_bytes) {
  // ZDICT wants the samples behind each other, with a list of their sizes.
  Bytes all;
  std::vector<size_t> sizes;
  for (const Bytes& sample : samples) {
    Append(all, sample);
    sizes.push_back(sample.size());
  }
  if (sizes.size() < kFewestSamples || all.size() < kSamplesPerDictionary * most_bytes) {
    return {};
  }
  Bytes dictionary(most_bytes);
  const size_t size = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), all.data(),
                                            sizes.data(), static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(size) != 0) {  // nothing in them repeats
    return {};
  }
  dictionary.resize(size);
  return dictionary;
}

Dictionary::Dictionary(Bytes bytes)
    : bytes_(std::move(bytes)),
      number_(ZSTD_getDictID_fromDict(bytes_.data(), bytes_.size())),
      id_(HashBytes(bytes_)),
      // Number 0 means raw bytes without the header of a dictionary; such frames could not name it.
      decoder_(number_ == 0 ? nullptr : ZSTD_createDDict(bytes_.data(), bytes_.size())) {}

Dictionary::~Dictionary() {
  ZSTD_freeDDict(decoder_);
  ZSTD_freeCDict(encoder_);
}

DictionaryPtr Dictionary::Make(Bytes bytes) {
  DictionaryPtr dictionary(new Dictionary(std::move(bytes)));
  return dictionary->decoder_ == nullptr ? nullptr : dictionary;
}

std::optional<size_t> Dictionary::Compress(std::span<std::byte> out, ByteView raw) const {
  // Prepared at the first use: most dictionaries of a store are old ones that only read. The
  // prepared form takes several times the dictionary's size.
  std::call_once(encoder_made_,
                 [this] { encoder_ = ZSTD_createCDict(bytes_.data(), bytes_.size(), kLevel); });
  ZSTD_CCtx* const context = CompressorOfThread();
  if (encoder_ == nullptr || context == nullptr) {
    return std::nullopt;
  }
  if (raw.size() > kPartBytes) {
    (void)ZSTD_CCtx_refCDict(context, encoder_);
    return CompressInParts(*context, out, raw);
  }
  const size_t size =
      ZSTD_compress_usingCDict(context, out.data(), out.size(), raw.data(), raw.size(), encoder_);
  return ZSTD_isError(size) != 0 ? std::nullopt : std::optional(size);
}

Result<size_t> Dictionary::Decompress(std::span<std::byte> out, ByteView frame) const {
  ZSTD_DCtx* const context = DecompressorOfThread();
  KILN_CHECK(context != nullptr);
  if (out.size() >= kLongFrame) {
    (void)ZSTD_DCtx_refDDict(context, decoder_);
    return DecompressInParts(*context, out, frame);
  }
  const size_t size = ZSTD_decompress_usingDDict(context, out.data(), out.size(), frame.data(),
                                                 frame.size(), decoder_);
  if (ZSTD_isError(size) != 0) {
    return Error{.code = ErrorCode::kCorrupt,
                 .context = std::string("zstd: ") + ZSTD_getErrorName(size)};
  }
  return size;
}

}  // namespace kiln::cache
