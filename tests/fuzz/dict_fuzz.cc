// SPDX-License-Identifier: MIT
// libFuzzer: damaged dictionaries and damaged frames that need one. An input is patches of a
// trained dictionary with a frame behind it, (position u16, byte u8) each, so that damage gets past
// the first bytes; what is left over is taken for a dictionary as it is.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cache/compression/codec.h"
#include "cache/compression/dictionary.h"
#include "cache/test_contents.h"
#include "compiler/base/check.h"

namespace kiln::cache {
namespace {

constexpr size_t kPatchBytes = 3;
constexpr size_t kMostPatches = 64;

void Use(const DictionaryPtr& dictionary, ByteView frame, uint64_t raw_size) {
  if (dictionary == nullptr) {
    return;
  }
  Blob stored = CopiedBlob(frame);
  stored.codec = Codec::kZstdDictionary;
  stored.raw_size = raw_size;
  const Result<Blob> raw = Decompress(stored, dictionary.get());
  KILN_CHECK(!raw.ok() || raw->bytes.size() == raw_size);
  // What a dictionary compresses it decompresses, whatever became of it.
  const Blob original = OwnedBlob(LikeCode(3));
  const Result<Blob> back = Decompress(Compress(original, *dictionary), dictionary.get());
  KILN_CHECK(back.ok() && std::ranges::equal(back->bytes, original.bytes));
}

void Run(ByteView input) {
  static const Bytes trained = TrainDictionary(LikeCodes(0, 60), size_t{8} << 10);
  static const DictionaryPtr whole = Dictionary::Make(trained);
  static const Blob stored = Compress(OwnedBlob(LikeCode(1000)), *whole);
  Bytes dictionary = trained;
  Bytes frame(stored.bytes.begin(), stored.bytes.end());
  const size_t all = dictionary.size() + frame.size();
  const size_t patches = std::min(input.size() / kPatchBytes, kMostPatches);
  for (size_t i = 0; i < patches; ++i) {
    const size_t at = ReadLittle<uint16_t>(input, i * kPatchBytes) % all;
    const std::byte value = input[i * kPatchBytes + 2];
    (at < dictionary.size() ? dictionary[at] : frame[at - dictionary.size()]) = value;
  }
  Use(Dictionary::Make(std::move(dictionary)), frame, stored.raw_size);
  Use(whole, frame, stored.raw_size);
  const ByteView rest = input.subspan(patches * kPatchBytes);
  Use(Dictionary::Make(Bytes(rest.begin(), rest.end())), frame, stored.raw_size);
}

}  // namespace
}  // namespace kiln::cache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kiln::cache::Run(kiln::ByteView(reinterpret_cast<const std::byte*>(data), size));
  return 0;
}
