// SPDX-License-Identifier: MIT
// The file of the driver's cache: what is refused, what survives, and that it does what it is for.
#include "runtime/pipeline/driver/binary_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "runtime/pipeline/create/build_journal.h"
#include "runtime/pipeline/driver/fake_driver.h"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::seconds kSoonEnough{20};

// Lets so many operations happen and then none, as if the process had been killed.
class KilledFiles final : public CacheFiles {
 public:
  explicit KilledFiles(int operations) : left_(operations) {}

  Result<void> MakeFolder(const std::string& path) override {
    return Dead() ? Gone() : real_.MakeFolder(path);
  }
  Result<std::optional<Bytes>> Read(const std::string& path, uint64_t limit) override {
    if (Dead()) {
      return Gone();
    }
    return real_.Read(path, limit);
  }
  Result<void> WriteNew(const std::string& path, ByteView bytes) override {
    if (Dead()) {  // half of it is there
      (void)real_.WriteNew(path, bytes.first(bytes.size() / 2));
      return Gone();
    }
    return real_.WriteNew(path, bytes);
  }
  Result<void> Rename(const std::string& from, const std::string& to) override {
    return Dead() ? Gone() : real_.Rename(from, to);
  }
  Result<void> SyncFolder(const std::string& path) override {
    return Dead() ? Gone() : real_.SyncFolder(path);
  }
  Result<void> Remove(const std::string& path) override {
    return Dead() ? Gone() : real_.Remove(path);
  }
  Result<std::shared_ptr<void>> Lock(const std::string& path) override {
    if (Dead()) {
      return Gone();
    }
    return real_.Lock(path);
  }
  void RemoveOld(const std::string&, const std::string&, uint64_t, uint32_t) override {}

  bool killed() const { return left_ < 0; }

 private:
  bool Dead() { return --left_ < 0; }
  static Error Gone() { return {ErrorCode::kResourceExhausted, "no space left", ""}; }

  CacheFiles& real_ = SystemCacheFiles();
  int left_;
};

class BinaryCacheTest : public FakeDriverTest {
 protected:
  // A run of the program: builds pipelines of these marks; how many the driver had already.
  size_t Run(std::initializer_list<uint32_t> marks, CacheFiles* files = nullptr) {
    const Device device = MakeDevice();
    const auto pipelines = MakePipelines(device, {.threads = 0,
                                                  .cache_folder = folder,
                                                  .files = files,
                                                  .log = &log,
                                                  .first_use = FirstUse::kOff});
    for (const uint32_t mark : marks) {
      Add(*pipelines, SampleMetadata(), mark);
    }
    const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
    EXPECT_TRUE(report.ok());
    pipelines->EndFrame(1);
    return report->progress.from_cache;
  }

  std::string File(const std::string& suffix) const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().string().ends_with(suffix)) {
        return entry.path().string();
      }
    }
    return "";
  }
  static Bytes ReadAll(const std::string& path) { return **SystemCacheFiles().Read(path, 1 << 20); }
  static void WriteAll(const std::string& path, ByteView bytes) {
    fs::remove(path);
    ASSERT_TRUE(SystemCacheFiles().WriteNew(path, bytes).ok());
  }

  TestDirectory directory;
  std::string root = directory.path();
  std::string folder = root + "/pso";
  RecordingLog log;
};

TEST_F(BinaryCacheTest, SecondRun_FindsWhatTheFirstOneBuilt) {
  EXPECT_EQ(Run({1, 2, 3}), 0U);
  EXPECT_EQ(Run({1, 2, 3, 4}), 3U);
  EXPECT_EQ(Run({4, 5}), 1U);
  EXPECT_THAT(log.Lines(), IsEmpty());
  EXPECT_EQ(File(".loading"), "");
  struct stat info {};
  ASSERT_EQ(stat(File(".vkcache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  ASSERT_EQ(stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(BinaryCacheTest, NothingNew_TheFileIsLeftAlone) {
  Run({1});
  const auto written = fs::last_write_time(File(".vkcache"));
  const Bytes before = ReadAll(File(".vkcache"));
  Run({1});
  EXPECT_EQ(fs::last_write_time(File(".vkcache")), written);
  EXPECT_EQ(ReadAll(File(".vkcache")), before);
}

TEST_F(BinaryCacheTest, CutAnywhere_StartsCold) {
  Run({1, 2});
  const std::string path = File(".vkcache");
  const Bytes whole = ReadAll(path);
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(DecodeCacheFile({}, DriverIdentity(MakeDevice()), cut).ok()) << size;
  }
  WriteAll(path, ByteView(whole).first(whole.size() - 1));
  EXPECT_EQ(Run({1, 2}), 0U);
  ASSERT_EQ(log.Lines().size(), 1U);
  EXPECT_THAT(log.Lines()[0], HasSubstr("its length is not the one that it says"));
  EXPECT_NE(File(".bad"), "");
  EXPECT_EQ(Run({1, 2}), 2U) << "the next save made it whole";
}

TEST_F(BinaryCacheTest, AnyByteFlipped_IsRefused) {
  Run({1, 2});
  const Bytes whole = ReadAll(File(".vkcache"));
  const Hash128 identity = DriverIdentity(MakeDevice());
  ASSERT_TRUE(DecodeCacheFile({}, identity, whole).ok());
  for (size_t i = 0; i < whole.size(); ++i) {
    Bytes flipped = whole;
    flipped[i] ^= std::byte{1};
    EXPECT_FALSE(DecodeCacheFile({}, identity, flipped).ok()) << i;
  }
}

TEST_F(BinaryCacheTest, OtherDriver_IsRefusedByName) {
  DeviceIdentity device;
  device.vendor_id = 7;
  const Hash128 identity = HashBytes(AsBytes("driver"));
  Bytes data = fake::DataOf({1});
  std::memcpy(data.data() + 8, &device.vendor_id, 4);
  const Bytes file = EncodeCacheFile(device, identity, 3, data);
  ASSERT_TRUE(DecodeCacheFile(device, identity, file).ok());
  EXPECT_EQ(DecodeCacheFile(device, identity, file)->counter, 3U);
  const std::string other = "it is of another device or driver";
  EXPECT_EQ(DecodeCacheFile(device, HashBytes(AsBytes("new")), file).error().context, other);
  for (const auto change :
       {&DeviceIdentity::vendor_id, &DeviceIdentity::device_id, &DeviceIdentity::driver_version}) {
    DeviceIdentity changed = device;
    changed.*change += 1;
    EXPECT_EQ(DecodeCacheFile(changed, identity, file).error().context, other);
  }
  DeviceIdentity uuid = device;
  uuid.pipeline_cache_uuid[15] = 1;  // the file is right, the driver's own header is not
  EXPECT_EQ(DecodeCacheFile(uuid, identity, file).error().context,
            "the data are of another device or driver");
}

TEST_F(BinaryCacheTest, HugeFile_IsRefusedBeforeItIsRead) {
  Run({1});
  const std::string path = File(".vkcache");
  fs::resize_file(path, (uint64_t{1} << 30) + 129);
  EXPECT_EQ(Run({1}), 0U);
  ASSERT_FALSE(log.Lines().empty());
  EXPECT_THAT(log.Lines()[0], HasSubstr("at most"));
}

TEST_F(BinaryCacheTest, OthersMayWriteIt_IsIgnoredAndLeftAlone) {
  Run({1});
  const std::string path = File(".vkcache");
  const Bytes before = ReadAll(path);
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(Run({1, 2}), 0U);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadAll(path), before);
}

TEST_F(BinaryCacheTest, LastRunDiedWithTheData_BeginsEmpty) {
  Run({1, 2});
  std::string mark = File(".vkcache");
  mark.replace(mark.size() - 8, 8, ".loading");
  WriteAll(mark, {});
  EXPECT_EQ(Run({1, 2}), 0U);
  EXPECT_NE(File(".suspect"), "");
  EXPECT_EQ(File(".loading"), "");
  EXPECT_EQ(Run({1, 2}), 2U);
}

TEST_F(BinaryCacheTest, DriverRefusesItsOwnData_StartsCold) {
  Run({1});
  driver.cache_result = VK_ERROR_INITIALIZATION_FAILED;
  EXPECT_EQ(Run({1}), 0U);
  ASSERT_FALSE(log.Lines().empty());
  EXPECT_THAT(log.Lines()[0], HasSubstr("the driver refused its own cache"));
}

TEST_F(BinaryCacheTest, TwoProcesses_KeepWhatBothBuilt) {
  const Device device = MakeDevice();
  const PipelinesConfig config{
      .threads = 0, .cache_folder = folder, .log = &log, .first_use = FirstUse::kOff};
  {
    const auto a = MakePipelines(device, config);
    const auto b = MakePipelines(device, config);  // its journal is refused: one at a time
    Add(*a, SampleMetadata(), 1);
    Add(*b, SampleMetadata(), 2);
    ASSERT_TRUE(a->Wait(a->Warm({}), kSoonEnough).ok());
    ASSERT_TRUE(b->Wait(b->Warm({}), kSoonEnough).ok());
  }
  EXPECT_EQ(Run({1, 2}), 2U);
}

TEST_F(BinaryCacheTest, KilledAtEveryOperationOfASave_LosesAtMostThatSave) {
  for (int operations = 0; operations < 100; ++operations) {
    fs::remove_all(folder);
    Run({1});
    KilledFiles files(operations);
    Run({1, 2}, &files);
    const size_t found = Run({1, 2});
    if (!files.killed()) {
      EXPECT_EQ(found, 2U);
      EXPECT_GT(operations, 5);
      return;
    }
    // A run that died before its first frame makes the next one start cold, once.
    EXPECT_TRUE(found > 0 || Run({1, 2}) == 2) << operations;
  }
  FAIL() << "a save does not end";
}

TEST_F(BinaryCacheTest, FolderCannotBeMade_NothingIsKeptAndNothingFails) {
  std::ofstream(folder) << "a file";
  EXPECT_EQ(Run({1}), 0U);
  EXPECT_FALSE(log.Lines().empty());
  fs::remove(folder);
}

// What died in an earlier run is not tried again; with another driver it is.
TEST_F(BinaryCacheTest, ProcessDiesInACreation_TheKeyIsQuarantined) {
  const pid_t child = fork();
  if (child == 0) {
    driver.on_create = [](uint32_t mark, VkPipelineCreateFlags) -> VkResult {
      if (mark == 2) {
        _exit(9);  // the driver ends the process
      }
      return VK_SUCCESS;
    };
    Run({1, 2, 3});
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 9);
  const Device device = MakeDevice();
  {
    const auto pipelines = MakePipelines(
        device, {.threads = 0, .cache_folder = folder, .log = &log, .first_use = FirstUse::kOff});
    const PipelineId first = Add(*pipelines, SampleMetadata(), 1);
    const PipelineId killer = Add(*pipelines, SampleMetadata(), 2);
    const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->progress.quarantined, 1U);
    EXPECT_EQ(pipelines->State(first), PipelineState::kReady);
    EXPECT_EQ(pipelines->State(killer), PipelineState::kQuarantined);
    EXPECT_EQ(pipelines->ErrorOf(killer)->reason, "QUARANTINED");
    EXPECT_THAT(driver.created, ElementsAre(1));
  }
  EXPECT_EQ(Run({2}), 0U);
  EXPECT_THAT(driver.created, ElementsAre(1)) << "still not tried";
}

TEST_F(BinaryCacheTest, DamagedJournal_BeginsAnew) {
  Run({1});
  const std::string path = File(".journal");
  ASSERT_NE(path, "");
  Bytes bytes(100, std::byte{0xFF});
  WriteAll(path, bytes);
  Run({1});
  EXPECT_THAT(driver.created, ElementsAre(1, 1)) << "nothing is quarantined";
}

}  // namespace
}  // namespace kiln::runtime
