// SPDX-License-Identifier: MIT
#include "runtime/pipeline/create/warm_record.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "runtime/pipeline/driver/fake_driver.h"

namespace kiln::runtime {
namespace {

using std::chrono::seconds;

const Hash128 kDriver = DigestOf("driver").id;

class WarmRecordTest : public FakeDriverTest {
 protected:
  CacheFolder Folder() { return {directory.path().string(), nullptr, &log}; }
  std::string Path() { return directory.path().string() + "/" + kDriver.hex() + ".times"; }

  TestDirectory directory;
  NullLog log;
};

TEST_F(WarmRecordTest, Kept_IsReadBackInProportion) {
  WriteWarmRecord(Folder(), kDriver, {seconds(4), 1000});
  WriteWarmRecord(Folder(), kDriver, {seconds(2), 1000});  // the last one counts
  const WarmRecord read = ReadWarmRecord(Folder(), kDriver);
  EXPECT_EQ(read.elapsed, seconds(2));
  EXPECT_EQ(read.For(500), seconds(1));
  EXPECT_EQ(ReadWarmRecord(Folder(), DigestOf("other").id).code_bytes, 0U);
  EXPECT_EQ(WarmRecord{}.For(500), Duration{});
}

TEST_F(WarmRecordTest, CutOrAnyByteFlipped_IsNone) {
  WriteWarmRecord(Folder(), kDriver, {seconds(4), 1000});
  const Bytes whole = **SystemCacheFiles().Read(Path(), 1 << 10);
  const auto read = [&](const Bytes& bytes) {
    EXPECT_TRUE(SystemCacheFiles().Remove(Path()).ok());
    EXPECT_TRUE(SystemCacheFiles().WriteNew(Path(), bytes).ok());
    return ReadWarmRecord(Folder(), kDriver).code_bytes;
  };
  EXPECT_EQ(read(whole), 1000U);
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)}), 0U) << i;
    Bytes flipped = whole;
    flipped[i] ^= std::byte{1};
    EXPECT_EQ(read(flipped), 0U) << i;
  }
}

// A second start knows its time before anything is built; the first one does not.
TEST_F(WarmRecordTest, NextStart_TellsTheTimeLeftFromTheBeginning) {
  const Device device = MakeDevice();
  const PipelinesConfig config{
      .threads = 0, .cache_folder = directory.path().string(), .first_use = FirstUse::kOff};
  for (const bool second : {false, true}) {
    const auto pipelines = MakePipelines(device, config);
    for (const uint32_t mark : {1U, 2U, 3U}) {
      Add(*pipelines, SampleMetadata(), mark + (second ? 10 : 0));
    }
    const WarmTicket ticket = pipelines->Warm({});
    EXPECT_EQ(pipelines->Progress(ticket).eta > Duration{}, second);
    ASSERT_TRUE(pipelines->Wait(ticket, seconds(20)).ok());
    EXPECT_EQ(pipelines->Progress(ticket).eta, Duration{});
  }
}

}  // namespace
}  // namespace kiln::runtime
