// SPDX-License-Identifier: MIT
#include "tests/support/recording_vfs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "compiler/base/check.h"

namespace kiln::tests {
namespace {

constexpr uint64_t kSector = 512;

std::string NameOf(const char* path) { return std::filesystem::path(path).filename().string(); }

void Apply(const DiskOp& op, Bytes& content, uint64_t size) {
  if (op.kind == DiskOp::Kind::kTruncate) {
    content.resize(op.offset);
    return;
  }
  content.resize(std::max<uint64_t>(content.size(), op.offset + size));
  std::copy_n(op.bytes.begin(), size, content.begin() + static_cast<int64_t>(op.offset));
}

}  // namespace

void RecordingVfs::Add(DiskOp op) {
  const MutexLock lock(mutex_);
  ops_.push_back(std::move(op));
}

std::vector<DiskOp> RecordingVfs::ops() {
  const MutexLock lock(mutex_);
  return ops_;
}

int RecordingVfs::Delete(const char* path, int sync) {
  Add({.kind = DiskOp::Kind::kDelete, .file = NameOf(path), .offset = 0, .bytes = {}});
  return ForwardingVfs::Delete(path, sync);
}

int RecordingVfs::Write(const File& file, const void* data, int size, int64_t offset) {
  const ByteView bytes(static_cast<const std::byte*>(data), static_cast<size_t>(size));
  Add({.kind = DiskOp::Kind::kWrite,
       .file = NameOf(file.path),
       .offset = static_cast<uint64_t>(offset),
       .bytes = Bytes(bytes.begin(), bytes.end())});
  return ForwardingVfs::Write(file, data, size, offset);
}

int RecordingVfs::Truncate(const File& file, int64_t size) {
  Add({.kind = DiskOp::Kind::kTruncate,
       .file = NameOf(file.path),
       .offset = static_cast<uint64_t>(size),
       .bytes = {}});
  return ForwardingVfs::Truncate(file, size);
}

int RecordingVfs::Sync(const File& file, int flags) {
  const int rc = ForwardingVfs::Sync(file, flags);
  Add({.kind = DiskOp::Kind::kSync, .file = NameOf(file.path), .offset = 0, .bytes = {}});
  return rc;
}

// Nothing is promised beyond what POSIX does: no atomic writes, no order.
int RecordingVfs::DeviceCharacteristics(const File& /*file*/) { return 0; }

void ReplayedDisk::Do(const DiskOp& op) {
  switch (op.kind) {
    case DiskOp::Kind::kWrite:
    case DiskOp::Kind::kTruncate:
      files_[op.file].pending.push_back(op);
      return;
    case DiskOp::Kind::kSync: {
      File& file = files_[op.file];
      for (const DiskOp& pending : file.pending) {
        Apply(pending, file.synced, pending.bytes.size());
      }
      file.pending.clear();
      return;
    }
    case DiskOp::Kind::kDelete:
      files_.erase(op.file);
      return;
    case DiskOp::Kind::kMark:
      return;
  }
  KILN_UNREACHABLE();
}

std::map<std::string, Bytes> ReplayedDisk::CutHere(std::mt19937_64& random) const {
  std::map<std::string, Bytes> left;
  const uint64_t keep = random() % 5;  // none, a quarter, … all of what is pending
  for (const auto& [name, file] : files_) {
    Bytes& content = left[name] = file.synced;
    std::vector<DiskOp> pending = file.pending;
    if (random() % 2 == 0) {
      std::shuffle(pending.begin(), pending.end(), random);
    }
    for (const DiskOp& op : pending) {
      if (random() % 4 < keep) {
        const bool torn = random() % 8 == 0;
        const uint64_t size = op.bytes.size();
        Apply(op, content, torn ? std::min(size, random() % (size / kSector + 1) * kSector) : size);
      }
    }
  }
  return left;
}

}  // namespace kiln::tests
