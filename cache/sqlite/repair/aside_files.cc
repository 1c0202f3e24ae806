// SPDX-License-Identifier: MIT
// Bounds the room that files take that were set aside (spec/cache 8). Their size is remembered,
// because the collector asks often and the folder changes seldom.
#include "cache/sqlite/repair/aside_files.h"

#include <vector>

#include "cache/sqlite/data_dir.h"

namespace kiln::cache::sqlite {
namespace {

uint64_t BytesOf(const std::vector<QuarantinedFile>& files) {
  uint64_t bytes = 0;
  for (const QuarantinedFile& file : files) {
    bytes += file.bytes;
  }
  return bytes;
}

}  // namespace

void AsideFiles::Measure(const std::filesystem::path& dir) { bytes_ = BytesOf(ListSetAside(dir)); }

void AsideFiles::MakeRoom(const std::filesystem::path& dir, uint64_t used_bytes,
                          uint64_t target_bytes) {
  const std::vector<QuarantinedFile> files = ListSetAside(dir);
  uint64_t aside = BytesOf(files);
  // The oldest first. A damaged file may still be salvaged and goes only if the cache would not fit
  // otherwise; the file of another version may take half of the room.
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const bool goes = file->damaged ? used_bytes + aside > target_bytes : aside > target_bytes / 2;
    if (goes) {
      RemoveSetAside(*file);
      aside -= file->bytes;
      log_.Write(LogLevel::kInfo, "cache", "a file that was set aside made room",
                 {{"file", file->path.string()}, {"bytes", file->bytes}});
    }
  }
  bytes_ = aside;
}

}  // namespace kiln::cache::sqlite
