// SPDX-License-Identifier: MIT
// How long the last warming took, kept beside the driver's cache to estimate the next one.
#include "runtime/pipeline/create/warm_record.h"

#include <algorithm>
#include <array>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "compiler/base/bytes.h"
#include "compiler/base/hash/checksum.h"

namespace kiln::runtime {
namespace {

// The file is 32 bytes: magic, elapsed nanoseconds, bytes of code, checksum, eight bytes each. The
// checksum covers the three before it.
constexpr std::array<uint8_t, 8> kMagic{0x89, 0x4B, 0x49, 0x4C, 0x4E, 0x54, 0x52, 0x0A};
constexpr size_t kSummed = 24;
constexpr size_t kFileBytes = 32;
// A longer time is no measurement: the clock was set, or the machine slept.
constexpr Duration kLongest = std::chrono::hours(24);

CacheFiles& FilesOf(const CacheFolder& folder) {
  return folder.files == nullptr ? SystemCacheFiles() : *folder.files;
}

std::string PathOf(const CacheFolder& folder, const Hash128& identity) {
  return fmt::format("{}/{}.times", folder.path, identity.hex());
}

}  // namespace

// A rough estimate, in proportion to the size of the code. It is computed in doubles, because the
// product of nanoseconds and bytes does not fit into 64 bits. Both figures are of the last warming
// of this identity; a different mix of pipelines makes the estimate worse, but never wrong in a way
// that matters.
Duration WarmRecord::For(uint64_t bytes) const {
  return code_bytes == 0 ? Duration{}
                         : Duration(static_cast<int64_t>(static_cast<double>(elapsed.count()) *
                                                         static_cast<double>(bytes) /
                                                         static_cast<double>(code_bytes)));
}

WarmRecord ReadWarmRecord(const CacheFolder& folder, const Hash128& identity) {
  const auto read = FilesOf(folder).Read(PathOf(folder, identity), kFileBytes);
  // Every fault reads as no record: a wrong estimate would be shown to a user, and no estimate is
  // shown as none.
  if (!read.ok() || !read->has_value() || (*read)->size() != kFileBytes) {
    return {};
  }
  const ByteView bytes = **read;
  const ByteView magic = std::as_bytes(std::span(kMagic));
  const auto elapsed = Duration(ReadLittle<int64_t>(bytes, 8));
  if (!std::ranges::equal(bytes.first(kMagic.size()), magic) ||
      ReadLittle<uint64_t>(bytes, kSummed) != Checksum64(bytes.first(kSummed)) ||
      elapsed <= Duration{} || elapsed > kLongest) {
    return {};
  }
  return {.elapsed = elapsed, .code_bytes = ReadLittle<uint64_t>(bytes, 16)};
}

// Failures to write are dropped: the record only improves the estimate that the next start shows.
void WriteWarmRecord(const CacheFolder& folder, const Hash128& identity, const WarmRecord& record) {
  Bytes bytes;
  Append(bytes, std::as_bytes(std::span(kMagic)));
  AppendLittle(bytes, static_cast<int64_t>(record.elapsed.count()));
  AppendLittle(bytes, record.code_bytes);
  AppendLittle(bytes, Checksum64(bytes));
  CacheFiles& files = FilesOf(folder);
  const std::string path = PathOf(folder, identity);
  // Written beside and renamed, so that a reader never sees half a record. The process id keeps two
  // processes from writing one file.
  const std::string made = fmt::format("{}.{}", path, getpid());
  if (!files.WriteNew(made, bytes).ok() || !files.Rename(made, path).ok()) {
    (void)files.Remove(made);  // the next start guesses by itself
  }
}

}  // namespace kiln::runtime
