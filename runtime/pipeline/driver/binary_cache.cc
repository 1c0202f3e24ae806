// SPDX-License-Identifier: MIT
#include "runtime/pipeline/driver/binary_cache.h"

#include <array>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/hash/checksum.h"

namespace kiln::runtime {
namespace {

// As for the journal: the first byte and the last make a file that was treated as text fail.
constexpr std::array<uint8_t, 8> kMagic{0x89, 0x4B, 0x49, 0x4C, 0x4E, 0x56, 0x4B, 0x0A};
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 128;
constexpr size_t kSummedBytes = 120;
// The header that Vulkan defines for all drivers: size, version, vendor, device and uuid.
constexpr size_t kDriverHeaderBytes = 32;
// Two gigabytes for all drivers that this user had, and a month until a file counts as old.
constexpr uint64_t kFolderBytes = uint64_t{2} << 30;
constexpr uint32_t kUnusedDays = 30;

Error Rejected(std::string_view why) {
  return {ErrorCode::kCorrupt, std::string(why), "CACHE_REJECTED"};
}

// The fields of VkPipelineCacheHeaderVersionOne.
Result<void> CheckDriverHeader(const DeviceIdentity& device, ByteView data) {
  if (data.size() < kDriverHeaderBytes || ReadLittle<uint32_t>(data) != kDriverHeaderBytes ||
      ReadLittle<uint32_t>(data, 4) != VK_PIPELINE_CACHE_HEADER_VERSION_ONE) {
    return Rejected("the data have no header of the driver");
  }
  if (ReadLittle<uint32_t>(data, 8) != device.vendor_id ||
      ReadLittle<uint32_t>(data, 12) != device.device_id ||
      std::memcmp(data.data() + 16, device.pipeline_cache_uuid.data(), VK_UUID_SIZE) != 0) {
    return Rejected("the data are of another device or driver");
  }
  return {};
}

}  // namespace

Bytes EncodeCacheFile(const DeviceIdentity& device, const Hash128& identity, uint64_t counter,
                      ByteView data) {
  Bytes out;
  out.reserve(kHeaderBytes + data.size());
  Append(out, std::as_bytes(std::span(kMagic)));
  AppendLittle(out, kVersion);
  AppendLittle(out, static_cast<uint32_t>(kHeaderBytes));
  Append(out, std::as_bytes(std::span(identity.bytes)));
  AppendLittle(out, static_cast<uint64_t>(data.size()));
  const Hash128 sum = Checksum(data);
  Append(out, std::as_bytes(std::span(sum.bytes)));
  AppendLittle(out, counter);
  AppendLittle(out, device.driver_version);
  AppendLittle(out, device.vendor_id);
  AppendLittle(out, device.device_id);
  // What is left of the header is zero, for fields of later versions.
  out.resize(kSummedBytes);
  AppendLittle(out, Checksum64(out));
  Append(out, data);
  return out;
}

// Drivers trust their data, so nothing is given to one that has not passed both sums and names
// exactly this driver. The cheap checks come first.
Result<CacheFile> DecodeCacheFile(const DeviceIdentity& device, const Hash128& identity,
                                  ByteView bytes) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return Rejected("it is no driver cache");
  }
  // The sum stands behind what it covers, so the header is checked before any field of it is used.
  if (ReadLittle<uint64_t>(bytes, kSummedBytes) != Checksum64(bytes.first(kSummedBytes))) {
    return Rejected("the sum of its header is wrong");
  }
  if (ReadLittle<uint32_t>(bytes, 8) != kVersion ||
      ReadLittle<uint32_t>(bytes, 12) != kHeaderBytes) {
    return Rejected("it has another version");
  }
  if (std::memcmp(bytes.data() + 16, identity.bytes.data(), identity.bytes.size()) != 0 ||
      ReadLittle<uint32_t>(bytes, 64) != device.driver_version ||
      ReadLittle<uint32_t>(bytes, 68) != device.vendor_id ||
      ReadLittle<uint32_t>(bytes, 72) != device.device_id) {
    return Rejected("it is of another device or driver");
  }
  const ByteView data = bytes.subspan(kHeaderBytes);
  if (ReadLittle<uint64_t>(bytes, 32) != data.size()) {
    return Rejected("its length is not the one that it says");
  }
  // The data are summed last, since that costs most.
  if (std::memcmp(bytes.data() + 40, Checksum(data).bytes.data(), 16) != 0) {
    return Rejected("the sum of its data is wrong");
  }
  KILN_TRY_VOID(CheckDriverHeader(device, data));
  return CacheFile{.counter = ReadLittle<uint64_t>(bytes, 56), .data = data};
}

BinaryCache::BinaryCache(const Device& device, const CacheFolder& folder, const Hash128& identity)
    : device_(&device), folder_(folder), identity_(identity) {
  if (folder_.files == nullptr) {
    folder_.files = &SystemCacheFiles();
  }
}

std::string BinaryCache::Name(std::string_view suffix) const {
  return fmt::format("{}/{}{}", folder_.path, identity_.hex(), suffix);
}

void BinaryCache::Tell(std::string_view message, const Error& error) const {
  folder_.log->Write(LogLevel::kWarning, "binary_cache", message,
                     {{"file", Name(".vkcache")}, {"why", error.context}});
}

Result<vk::UniquePipelineCache> BinaryCache::Make(ByteView data) const {
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  VkPipelineCache handle = VK_NULL_HANDLE;
  KILN_TRY_VK(device_->table().CreatePipelineCache(device_->handle(), &info, nullptr, &handle),
              "create a pipeline cache");
  return vk::UniquePipelineCache(device_->table(), device_->handle(), handle);
}

// A file that fails is put aside and not removed, so that one can see what was wrong with it.
Bytes BinaryCache::Checked(Bytes bytes) {
  const Result<CacheFile> file = DecodeCacheFile(device_->identity(), identity_, bytes);
  if (!file.ok()) {
    Tell("the driver cache is not used", file.error());
    (void)folder_.files->Rename(Name(".vkcache"), Name(".bad"));  // the next save replaces it
    return {};
  }
  counter_ = file->counter;
  saved_ = Checksum(file->data);
  // The driver gets the data alone.
  bytes.erase(bytes.begin(), bytes.begin() + kHeaderBytes);
  return bytes;
}

Bytes BinaryCache::Load() {
  const MutexLock lock(mutex_);
  CacheFiles& files = *folder_.files;
  if (const Result<void> made = files.MakeFolder(folder_.path); !made.ok()) {
    Tell("the driver cache is not kept", made.error());
    useless_ = true;
    return {};
  }
  // The mark is written before the driver gets the data and removed when it has survived them. If
  // it is there now, the last run did not come so far.
  const auto mark = files.Read(Name(".loading"), kHeaderBytes);
  if (mark.ok() && mark->has_value()) {
    Tell("the driver cache is not used", Rejected("the last run ended while it was loaded"));
    (void)files.Rename(Name(".vkcache"), Name(".suspect"));
    (void)files.Remove(Name(".loading"));
    // The next save makes a new file.
    return {};
  }
  auto bytes = files.Read(Name(".vkcache"), kMaxBytes + kHeaderBytes);
  if (!bytes.ok()) {
    Tell("the driver cache is not used", bytes.error());
    // A file of another user is neither read nor replaced.
    useless_ = bytes.error().code == ErrorCode::kPermissionDenied;
    return {};
  }
  if (!bytes->has_value()) {
    return {};
  }
  Bytes data = Checked(std::move(**bytes));
  if (!data.empty()) {
    // Without the mark a crash could not be told from other ends, so the data are not used then.
    const Result<void> written = files.WriteNew(Name(".loading"), {});
    if (!written.ok()) {
      Tell("the driver cache is not used", written.error());
      return {};
    }
    marked_ = true;
  }
  return data;
}

// A cache for each worker: the driver locks a cache while it is used, and workers would wait for
// one another.
Result<std::unique_ptr<BinaryCache>> BinaryCache::Open(const Device& device,
                                                       const CacheFolder& folder,
                                                       const Hash128& identity, uint32_t workers) {
  std::unique_ptr<BinaryCache> out(new BinaryCache(device, folder, identity));
  Bytes data = out->Load();
  const MutexLock lock(out->mutex_);
  for (uint32_t i = 0; i < workers; ++i) {
    // Every worker begins with the same data, which costs memory but no waiting.
    auto made = out->Make(data);
    // A driver may refuse data for reasons of its own. All workers then begin with empty caches.
    if (!made.ok() && !data.empty() && made.error().reason != "DEVICE_LOST") {
      out->Tell("the driver refused its own cache", made.error());
      data.clear();
      out->caches_.clear();
      i = 0;
      made = out->Make(data);
    }
    KILN_TRY(vk::UniquePipelineCache cache, std::move(made));
    out->caches_.push_back(std::move(cache));
  }
  out->current_ = std::vector<std::atomic<VkPipelineCache>>(workers);
  for (uint32_t i = 0; i < workers; ++i) {
    out->current_[i] = out->caches_[i].get();
  }
  out->loaded_bytes_ = data.size();
  return out;
}

// A cache that is in use may not be merged into: workers get new ones, the old ones live on.
Result<void> BinaryCache::Adopt(const std::string& folder) {
  KILN_TRY(const auto bytes,
           folder_.files->Read(fmt::format("{}/{}.vkcache", folder, identity_.hex()),
                               kMaxBytes + kHeaderBytes));
  if (!bytes.has_value()) {
    return {};
  }
  KILN_TRY(const CacheFile file, DecodeCacheFile(device_->identity(), identity_, *bytes));
  const MutexLock lock(mutex_);
  for (std::atomic<VkPipelineCache>& current : current_) {
    KILN_TRY(vk::UniquePipelineCache cache, Make(file.data));
    // The new cache takes in what the worker has added to the old one so far.
    const VkPipelineCache old = current;
    KILN_TRY_VK(device_->table().MergePipelineCaches(device_->handle(), cache.get(), 1, &old),
                "merge pipeline caches");
    current = cache.get();
    caches_.push_back(std::move(cache));
  }
  return {};
}

std::optional<std::pair<uint64_t, Duration>> BinaryCache::FileState() const {
  struct stat info {};
  if (stat(path().c_str(), &info) != 0) {
    return std::nullopt;
  }
  return std::pair(
      static_cast<uint64_t>(info.st_size),
      Duration(std::chrono::seconds(info.st_mtim.tv_sec)) + Duration(info.st_mtim.tv_nsec));
}

void BinaryCache::Confirm() {
  const MutexLock lock(mutex_);
  if (std::exchange(marked_, false)) {
    (void)folder_.files->Remove(Name(".loading"));  // a mark that stays costs a cold start
  }
}

// Merges the caches of all workers, and those of another process; all may be in use meanwhile.
Result<Bytes> BinaryCache::Merged(ByteView others) const {
  const vk::Table& table = device_->table();
  KILN_TRY(const vk::UniquePipelineCache all, Make({}));
  std::vector<VkPipelineCache> sources;
  for (const vk::UniquePipelineCache& cache : caches_) {
    sources.push_back(cache.get());
  }
  vk::UniquePipelineCache other;
  if (!others.empty()) {
    KILN_TRY(other, Make(others));
    sources.push_back(other.get());
  }
  KILN_TRY_VK(table.MergePipelineCaches(device_->handle(), all.get(),
                                        static_cast<uint32_t>(sources.size()), sources.data()),
              "merge pipeline caches");
  // Nobody adds to the merged cache, so the size of the first call is still right in the second.
  size_t size = 0;
  KILN_TRY_VK(table.GetPipelineCacheData(device_->handle(), all.get(), &size, nullptr),
              "ask for the size of the pipeline cache");
  Bytes data(size);
  KILN_TRY_VK(table.GetPipelineCacheData(device_->handle(), all.get(), &size, data.data()),
              "get the data of the pipeline cache");
  data.resize(size);
  return data;
}

// Temporary file, rename, folder: at any time the old or the new file is whole.
Result<void> BinaryCache::Replace(ByteView data, uint64_t counter) {
  CacheFiles& files = *folder_.files;
  const std::string part = Name(fmt::format(".{}.part", getpid()));
  // A part of this process number is left from a process that ended while it wrote.
  KILN_TRY_VOID(files.Remove(part));
  Result<void> written =
      files.WriteNew(part, EncodeCacheFile(device_->identity(), identity_, counter, data));
  if (written.ok()) {
    written = files.Rename(part, Name(".vkcache"));
  }
  if (!written.ok()) {
    (void)files.Remove(part);
    return written;
  }
  return files.SyncFolder(folder_.path);
}

// The lock is held from reading to writing, or two processes would each throw away what the other
// has added.
Result<void> BinaryCache::Save() {
  const MutexLock lock(mutex_);
  if (useless_) {
    return {};
  }
  CacheFiles& files = *folder_.files;
  KILN_TRY(const std::shared_ptr<void> held, files.Lock(Name(".lock")));
  Bytes others;
  auto there = files.Read(Name(".vkcache"), kMaxBytes + kHeaderBytes);
  if (there.ok() && there->has_value()) {
    const Result<CacheFile> file = DecodeCacheFile(device_->identity(), identity_, **there);
    // Another counter means that another process has saved since; its pipelines are merged in.
    if (file.ok() && file->counter != counter_) {
      others.assign(file->data.begin(), file->data.end());
      counter_ = file->counter;
      saved_ = Checksum(others);
    }
  }
  KILN_TRY(const Bytes data, Merged(others));
  // An unchanged cache is not written: most starts make nothing new.
  if (Checksum(data) == saved_ || data.size() > kMaxBytes) {
    return {};
  }
  KILN_TRY_VOID(Replace(data, counter_ + 1));
  ++counter_;
  saved_ = Checksum(data);
  files.RemoveOld(folder_.path, ".vkcache", kFolderBytes, kUnusedDays);
  return {};
}

}  // namespace kiln::runtime
