// SPDX-License-Identifier: MIT
// Trained zstd dictionaries: what content of one kind has in common is written down once, so that
// small blobs become smaller. The one home of training, for the store and for packs. The same
// samples give the same bytes. See spec/cache 5.3, 6.3, 10.4
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

struct ZSTD_CDict_s;
struct ZSTD_DDict_s;

namespace kiln::cache {

// Kinds of content that resemble each other, told by its first bytes. A wrong guess costs a few
// bytes of space and nothing else.
enum class ContentKind : uint8_t {
  kCode,   // SPIR-V
  kImage,  // IR images
  kText,   // sources, WGSL
  kData,   // metadata, diagnostics
};
inline constexpr uint32_t kContentKindCount = 4;

ContentKind ContentKindOf(ByteView content);
// "code", "image", …; the names are stored.
std::string_view ContentKindName(ContentKind kind);

inline constexpr size_t kDictionaryBytes = size_t{112} << 10;

// A dictionary of at most so many bytes; empty if there is too little to learn from: fewer than 16
// samples, or less than eight times the size of the dictionary.
Bytes TrainDictionary(std::span<const Bytes> samples, size_t most_bytes = kDictionaryBytes);

// A dictionary that is ready for use.
// Threads: safe from any thread, cannot change.
class Dictionary {
 public:
  // Null if the bytes are no trained dictionary.
  static std::shared_ptr<const Dictionary> Make(Bytes bytes);
  ~Dictionary();
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;

  // zstd's number, which depends on the bytes alone. Every frame that was made with the dictionary
  // has it.
  uint32_t number() const { return number_; }
  const Hash128& id() const { return id_; }
  ByteView bytes() const { return bytes_; }

  // The size of what was written; nullopt if it does not fit.
  std::optional<size_t> Compress(std::span<std::byte> out, ByteView raw) const;
  // Errors: kCorrupt with zstd's words.
  Result<size_t> Decompress(std::span<std::byte> out, ByteView frame) const;

 private:
  explicit Dictionary(Bytes bytes);

  const Bytes bytes_;
  const uint32_t number_;
  const Hash128 id_;
  ZSTD_DDict_s* decoder_ = nullptr;
  mutable std::once_flag encoder_made_;  // most dictionaries are only read with
  mutable ZSTD_CDict_s* encoder_ = nullptr;
};
using DictionaryPtr = std::shared_ptr<const Dictionary>;

// Who has content that was put and is to be put with more of its kind.
class ContentGatherer {
 public:
  // Puts it now. Threads: safe from any thread.
  virtual void PutGathered() = 0;

 protected:
  ~ContentGatherer() = default;
};

// What a store says to whoever compresses for it: its dictionaries. Threads: safe from any thread.
class DictionarySource {
 public:
  virtual ~DictionarySource() = default;
  // Whom the store asks for what waits before it promises that all is written; null: nobody. The
  // one before is not being called when this returns.
  virtual void SetGatherer(ContentGatherer*) {}
  // Errors: kNotFound if it is lost, and with it what it compressed; others: it cannot be read now.
  virtual Result<DictionaryPtr> Find(uint32_t number) = 0;
  // What to compress content of that kind with; null: nothing yet. Does not wait for anything.
  virtual DictionaryPtr Current(ContentKind kind) = 0;
};

// Reason of a refused put: the dictionary that content was compressed with is not stored.
inline constexpr std::string_view kDictionaryGone = "DICTIONARY_GONE";

}  // namespace kiln::cache
