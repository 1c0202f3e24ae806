// SPDX-License-Identifier: MIT
// Warm starts, hitches and hot swaps over a driver of fakes. No threads: the thread that waits
// builds, so that every order is known; one test has threads.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"
#include "runtime/pipeline/cache_files.h"
#include "runtime/pipeline/driver/fake_driver.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;

constexpr std::chrono::seconds kSoonEnough{20};

class WarmStart : public FakeDriverTest {
 protected:
  static PipelinesConfig NoThreads() { return {.threads = 0, .first_use = FirstUse::kOff}; }

  // Draws once with the pipeline; what is missing is skipped.
  static bool Draw(Pipelines& pipelines, PipelineId id) {
    return pipelines.Bind(Commands(), id, OnMissing::Skip()).drawable;
  }
};

TEST_F(WarmStart, AddAlone_BuildsNothing) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  EXPECT_EQ(pipelines->State(id), PipelineState::kQueued);
  EXPECT_EQ(pipelines->Get(id), VkPipeline{});
  EXPECT_NE(pipelines->Layouts(id).layout, VkPipelineLayout{}) << "sets can be made meanwhile";
  EXPECT_TRUE(driver.created.empty());
}

TEST_F(WarmStart, Lanes_ComeInTheirOrder) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  std::vector<PipelineId> ids;
  for (uint32_t mark = 1; mark <= 5; ++mark) {
    ids.push_back(Add(*pipelines, SampleMetadata(), mark));
  }
  pipelines->Warm({.pipelines = {ids[0]}, .lane = Lane::kBackground});
  pipelines->Warm({.pipelines = {ids[1], ids[2]}, .lane = Lane::kSoon});
  pipelines->Warm({.pipelines = {ids[3]}, .lane = Lane::kCritical});
  const WarmTicket all = pipelines->Warm({});
  ASSERT_TRUE(pipelines->Wait(all, kSoonEnough).ok());
  EXPECT_THAT(driver.created, ElementsAre(4, 2, 3, 1, 5)) << "the last ticket raises the first";
}

TEST_F(WarmStart, OneIsBroken_TheOthersAreThereAndItIsInTheReport) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  driver.on_create = [](uint32_t mark, VkPipelineCreateFlags) {
    return mark == 2 ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
  };
  for (uint32_t mark = 1; mark <= 3; ++mark) {
    Add(*pipelines, SampleMetadata(), mark);
  }
  const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(report->progress.total, 3U);
  EXPECT_EQ(report->progress.done, 3U);
  EXPECT_EQ(report->progress.failed, 1U);
  ASSERT_EQ(report->failures.size(), 1U);
  EXPECT_EQ(report->failures[0].error,
            "RESOURCE_EXHAUSTED (PIPELINE_FAILED): cannot create pipeline 'rock' on fake device: "
            "VK_ERROR_OUT_OF_HOST_MEMORY (-1)");
}

TEST_F(WarmStart, EveryNthCreationFails_SumsAreRight) {
  for (const uint32_t nth : {1U, 2U, 3U, 7U}) {
    driver.Reset();
    const Device device = MakeDevice();
    const auto pipelines = MakePipelines(device, NoThreads());
    uint32_t calls = 0;
    driver.on_create = [&](uint32_t, VkPipelineCreateFlags) {
      return ++calls % nth == 0 ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS;
    };
    for (uint32_t mark = 0; mark < 20; ++mark) {
      Add(*pipelines, SampleMetadata(), mark);
    }
    const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->progress.done, 20U);
    EXPECT_EQ(report->progress.failed, 20 / nth);
    EXPECT_EQ(pipelines->Stats().ready, 20 - 20 / nth);
  }
}

TEST_F(WarmStart, DeviceIsLost_NoFurtherCallAndAnError) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  driver.on_create = [](uint32_t mark, VkPipelineCreateFlags) {
    return mark == 2 ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
  };
  for (uint32_t mark = 1; mark <= 9; ++mark) {
    Add(*pipelines, SampleMetadata(), mark);
  }
  const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().reason, "DEVICE_LOST");
  EXPECT_THAT(driver.created, ElementsAre(1, 2));
}

// Saves of the driver's cache, counted.
class CountedFiles final : public CacheFiles {
 public:
  Result<void> MakeFolder(const std::string& /*path*/) override { return {}; }
  Result<std::optional<Bytes>> Read(const std::string& /*path*/, uint64_t /*limit*/) override {
    return std::optional<Bytes>();
  }
  Result<void> WriteNew(const std::string& /*path*/, ByteView /*bytes*/) override { return {}; }
  Result<void> Rename(const std::string& /*from*/, const std::string& to) override {
    saves += to.ends_with(".vkcache") ? 1 : 0;
    writer = std::this_thread::get_id();
    return {};
  }
  Result<void> SyncFolder(const std::string& /*path*/) override { return {}; }
  Result<void> Remove(const std::string& /*path*/) override { return {}; }
  Result<std::shared_ptr<void>> Lock(const std::string& /*path*/) override {
    return std::shared_ptr<void>();
  }
  void RemoveOld(const std::string& /*folder*/, const std::string& /*suffix*/, uint64_t /*limit*/,
                 uint32_t /*days*/) override {}

  std::atomic<int> saves = 0;
  std::atomic<std::thread::id> writer;
};

TEST_F(WarmStart, DriverCache_IsSavedEveryMinuteWhileItChangesAndAtTheEnd) {
  using std::chrono::seconds;
  const TestDirectory folder;
  CountedFiles files;
  FakeClock clock;
  const Device device = MakeDevice();
  {
    const auto pipelines = MakePipelines(device, {.threads = 1,
                                                  .cache_folder = folder.path().string(),
                                                  .files = &files,
                                                  .clock = &clock,
                                                  .first_use = FirstUse::kOff});
    uint32_t mark = 0;
    uint64_t frame = 0;
    const auto build = [&] {  // in the middle of the game
      const PipelineId id = Add(*pipelines, SampleMetadata(), ++mark);
      EXPECT_TRUE(pipelines->Bind(Commands(), id, OnMissing::Block()).drawable);
    };
    const auto frames = [&] {  // time for the thread, should it save
      for (int i = 0; i < 10; ++i) {
        pipelines->EndFrame(++frame);
        LetPass(std::chrono::milliseconds(2));
      }
    };
    const auto saved = [&](int saves) {
      return WaitUntil([&] {
               pipelines->EndFrame(++frame);
               return files.saves >= saves;
             }) &&
             files.saves == saves;
    };
    build();
    ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
    EXPECT_EQ(files.saves, 1) << "after the warm start";
    clock.Advance(seconds(600));
    frames();
    EXPECT_EQ(files.saves, 1) << "nothing has changed";
    build();
    EXPECT_TRUE(saved(2)) << "the last save is long ago";
    EXPECT_NE(files.writer.load(), std::this_thread::get_id()) << "not by the thread that draws";
    build();
    clock.Advance(seconds(59));
    frames();
    EXPECT_EQ(files.saves, 2);
    clock.Advance(seconds(1));
    EXPECT_TRUE(saved(3));
    build();
    frames();
    EXPECT_EQ(files.saves, 3);
  }
  EXPECT_EQ(files.saves, 4) << "at the end";
}

TEST_F(WarmStart, Cancelled_WhatIsBuiltStays) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  const PipelineId first = Add(*pipelines, SampleMetadata(), 1);
  const PipelineId second = Add(*pipelines, SampleMetadata(), 2);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({.pipelines = {first}}), kSoonEnough).ok());
  const WarmTicket ticket = pipelines->Warm({});
  pipelines->Cancel(ticket);
  const auto report = pipelines->Wait(ticket, kSoonEnough);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->progress.done, 1U);
  EXPECT_EQ(pipelines->State(first), PipelineState::kReady);
  EXPECT_EQ(pipelines->State(second), PipelineState::kQueued);
}

TEST_F(WarmStart, Threads_BuildEachOnceWithinTheBudget) {
  const Device device = MakeDevice();
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  driver.on_create = [&](uint32_t, VkPipelineCreateFlags) {
    const int now = ++running;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    --running;
    return VK_SUCCESS;
  };
  const uint64_t one = 11 * sizeof(uint32_t);  // words of a pipeline
  const auto pipelines =
      MakePipelines(device, {.threads = 4, .budget_bytes = 2 * one, .first_use = FirstUse::kOff});
  for (uint32_t mark = 0; mark < 200; ++mark) {
    Add(*pipelines, SampleMetadata(), mark);
  }
  const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(report->progress.done, 200U);
  EXPECT_EQ(driver.created.size(), 200U);
  EXPECT_LE(most.load(), 2);
}

TEST_F(WarmStart, FirstUses_AreDrawnOnceEach) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 0, .first_use = FirstUse::kOn});
  for (uint32_t mark = 1; mark <= 20; ++mark) {
    Add(*pipelines, SampleMetadata(), mark);
  }
  const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(report->progress.first_uses, 20U);
  EXPECT_EQ(driver.drawn.size(), 20U);
  EXPECT_EQ(std::set<uint32_t>(driver.drawn.begin(), driver.drawn.end()).size(), 20U);
}

TEST_F(WarmStart, DriverIsEager_ThreeDrawsAreEnoughToKnow) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 0});  // auto
  for (uint32_t mark = 1; mark <= 20; ++mark) {
    Add(*pipelines, SampleMetadata(), mark);
  }
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  EXPECT_EQ(driver.drawn.size(), 3U);
}

TEST_F(WarmStart, FirstUseHangs_IsQuarantined) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 0, .first_use = FirstUse::kOn});
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  driver.wait_result = VK_TIMEOUT;
  const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
  driver.wait_result = VK_SUCCESS;
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(report->progress.quarantined, 1U);
  EXPECT_EQ(pipelines->State(id), PipelineState::kQuarantined);
  EXPECT_EQ(pipelines->Get(id), VkPipeline{});
}

TEST_F(WarmStart, FirstUseLosesTheDevice_IsAnError) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 0, .first_use = FirstUse::kOn});
  Add(*pipelines, SampleMetadata(), 1);
  driver.wait_result = VK_ERROR_DEVICE_LOST;
  const auto report = pipelines->Wait(pipelines->Warm({}), kSoonEnough);
  driver.wait_result = VK_SUCCESS;
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().reason, "DEVICE_LOST");
}

TEST_F(WarmStart, DrawOfWhatIsThere_IsNoHitch) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  EXPECT_TRUE(Draw(*pipelines, id));
  pipelines->EndFrame(1);
  EXPECT_TRUE(Draw(*pipelines, id));
  EXPECT_TRUE(pipelines->Hitches().empty());
  EXPECT_EQ(pipelines->Times()[0].bound, 2U);
}

TEST_F(WarmStart, DrawOfWhatIsMissing_IsSkippedNamedAndRaised) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  const PipelineId first = Add(*pipelines, SampleMetadata(), 1);
  const PipelineId wanted = Add(*pipelines, SampleMetadata(), 2);
  pipelines->Warm({});
  pipelines->EndFrame(1);
  EXPECT_FALSE(Draw(*pipelines, wanted));
  const std::vector<Hitch> hitches = pipelines->Hitches();
  ASSERT_EQ(hitches.size(), 1U);
  EXPECT_EQ(hitches[0].kind, HitchKind::kMissing);
  EXPECT_EQ(hitches[0].name, "rock");
  EXPECT_EQ(hitches[0].frame, 1U);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  EXPECT_THAT(driver.created, ElementsAre(2, 1));
  EXPECT_TRUE(Draw(*pipelines, wanted));
  EXPECT_TRUE(Draw(*pipelines, first));
}

TEST_F(WarmStart, Fallback_IsDrawnInstead) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  const PipelineId there = Add(*pipelines, SampleMetadata(), 1);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  const PipelineId missing = Add(*pipelines, SampleMetadata(), 2);
  const BindResult bound = pipelines->Bind(Commands(), missing, OnMissing::Fallback(there));
  EXPECT_TRUE(bound.drawable);
  EXPECT_EQ(bound.id, there);
  EXPECT_EQ(pipelines->Stats().missing, 1U);
}

TEST_F(WarmStart, Block_BuildsNowAndCountsIfItIsSlow) {
  const Device device = MakeDevice();
  PipelinesConfig config = NoThreads();
  config.hitch = Duration{0};  // everything is slow
  const auto pipelines = MakePipelines(device, config);
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  EXPECT_TRUE(pipelines->Bind(Commands(), id, OnMissing::Block()).drawable);
  ASSERT_EQ(pipelines->Hitches().size(), 1U);
  EXPECT_EQ(pipelines->Hitches()[0].kind, HitchKind::kCreation);
  EXPECT_GT(pipelines->Hitches()[0].duration, Duration{0});
}

TEST_F(WarmStart, BlockOnWhatFails_DrawsNothing) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  driver.pipeline_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  EXPECT_FALSE(pipelines->Bind(Commands(), id, OnMissing::Block()).drawable);
  EXPECT_EQ(pipelines->State(id), PipelineState::kFailed);
}

TEST_F(WarmStart, FastLinks_AreDrawnUntilTheOptimisedOneIsThere) {
  DeviceCaps caps = AbleDevice();
  caps.fast_linking = true;
  caps.extensions = {VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME};
  const Device device = MakeDevice(caps);
  PipelinesConfig config = NoThreads();
  config.link_fast = true;
  const auto pipelines = MakePipelines(device, config);
  PipelineMetadata metadata = SampleMetadata();
  const PipelineId first = Add(*pipelines, metadata, 1);
  metadata.color_outputs[0].use_blend = true;
  const PipelineId blended = Add(*pipelines, metadata, 1);
  EXPECT_TRUE(Draw(*pipelines, first));
  EXPECT_TRUE(Draw(*pipelines, blended));
  EXPECT_EQ(pipelines->State(first), PipelineState::kReadyFast);
  EXPECT_EQ(driver.links_created, 2);
  EXPECT_EQ(driver.parts_created, 5) << "three of four are shared";
  const VkPipeline fast = pipelines->Get(first);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  EXPECT_EQ(pipelines->State(first), PipelineState::kReady);
  EXPECT_NE(pipelines->Get(first), fast);
}

TEST_F(WarmStart, Replaced_SwapsAtTheEndOfAFrameAndRetiresTheOldOne) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, NoThreads());
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  const VkPipeline old = pipelines->Get(id);
  const LayoutSet before = pipelines->Layouts(id);
  const Words words(2);
  ASSERT_TRUE(pipelines->Replace(id, SampleMetadata(), words.Modules()).ok());
  EXPECT_EQ(pipelines->Get(id), old) << "the frame that is recorded keeps it";
  pipelines->EndFrame(7);
  EXPECT_NE(pipelines->Get(id), old);
  EXPECT_EQ(pipelines->Layouts(id).layout, before.layout);
  EXPECT_EQ(pipelines->Layouts(id).generation, 0U) << "sets stay valid";
  EXPECT_TRUE(driver.live.contains(reinterpret_cast<uint64_t>(old)));
  pipelines->Collect(6);
  EXPECT_TRUE(driver.live.contains(reinterpret_cast<uint64_t>(old)));
  pipelines->ForgetHitches();
  const WarmTicket none = pipelines->Warm({});
  ASSERT_TRUE(pipelines->Wait(none, kSoonEnough).ok());
  EXPECT_EQ(pipelines->Stats().replaced, 1U);
}

TEST_F(WarmStart, Collected_TheOldOneIsDestroyed) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  const PipelineId id = Add(pipelines, SampleMetadata(), 1);
  const VkPipeline old = pipelines.Get(id);
  const Words words(2);
  ASSERT_TRUE(pipelines.Replace(id, SampleMetadata(), words.Modules()).ok());
  pipelines.EndFrame(7);
  pipelines.Collect(6);
  EXPECT_TRUE(driver.live.contains(reinterpret_cast<uint64_t>(old)));
  pipelines.Collect(7);
  EXPECT_FALSE(driver.live.contains(reinterpret_cast<uint64_t>(old)));
}

TEST_F(WarmStart, ReplacedWithOtherLayouts_TheGenerationGrows) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  const PipelineId id = Add(pipelines, SampleMetadata(), 1);
  PipelineMetadata metadata = SampleMetadata();
  metadata.sets[1].images[0].image_array_size = 4;
  const Words words(2);
  ASSERT_TRUE(pipelines.Replace(id, metadata, words.Modules()).ok());
  EXPECT_EQ(pipelines.Layouts(id).generation, 0U);
  pipelines.EndFrame(1);
  EXPECT_EQ(pipelines.Layouts(id).generation, 1U);
}

TEST_F(WarmStart, ReplacementFails_KeepsTheOldPipelineAndSaysWhy) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  const PipelineId id = Add(pipelines, SampleMetadata(), 1);
  const VkPipeline old = pipelines.Get(id);
  driver.pipeline_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  const Words words(2);
  ASSERT_TRUE(pipelines.Replace(id, SampleMetadata(), words.Modules()).ok());
  pipelines.EndFrame(1);
  EXPECT_EQ(pipelines.Get(id), old);
  EXPECT_EQ(pipelines.State(id), PipelineState::kReady);
  ASSERT_NE(pipelines.ErrorOf(id), nullptr);
  EXPECT_EQ(pipelines.ErrorOf(id)->reason, "PIPELINE_FAILED");
  driver.pipeline_result = VK_SUCCESS;
  const Words mended(3);
  ASSERT_TRUE(pipelines.Replace(id, SampleMetadata(), mended.Modules()).ok());
  pipelines.EndFrame(2);
  EXPECT_NE(pipelines.Get(id), old);
  EXPECT_EQ(pipelines.ErrorOf(id), nullptr);
}

TEST_F(WarmStart, TwoVariantsThatWereOne_AreToldApartByAReload) {
  const Device device = MakeDevice();
  Pipelines pipelines(device);
  const PipelineId first = Add(pipelines, SampleMetadata(), 1);
  const PipelineId second = Add(pipelines, SampleMetadata(), 1);
  const Words words(2);
  ASSERT_TRUE(pipelines.Replace(second, SampleMetadata(), words.Modules()).ok());
  pipelines.EndFrame(1);
  EXPECT_NE(pipelines.Get(first), pipelines.Get(second));
}

TEST_F(WarmStart, ThousandReplacementsWhileDrawing_NoneLeaksAndNoneIsAHitch) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, {.threads = 2, .first_use = FirstUse::kOff});
  const PipelineId id = Add(*pipelines, SampleMetadata(), 0);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
  const size_t before = driver.live.size();
  for (uint32_t i = 1; i <= 1000; ++i) {
    const Words words(i);
    ASSERT_TRUE(pipelines->Replace(id, SampleMetadata(), words.Modules()).ok());
    ASSERT_TRUE(Draw(*pipelines, id));
    pipelines->EndFrame(i);
    pipelines->Collect(i);
  }
  // A thread lets go of what it built a moment after it is ready, and then it is retired.
  const auto all_is_back = [&] {
    const std::lock_guard lock(driver.mutex);
    return driver.live.size() == before;
  };
  const auto deadline = std::chrono::steady_clock::now() + kSoonEnough;
  for (uint32_t i = 1001; pipelines->Stats().queued > 0 || !all_is_back(); ++i) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    ASSERT_TRUE(pipelines->Wait(pipelines->Warm({}), kSoonEnough).ok());
    pipelines->EndFrame(i);
    pipelines->Collect(i);
    pipelines->ReleaseModules();
  }
  EXPECT_EQ(pipelines->Stats().retired, 0U);
  EXPECT_TRUE(pipelines->Hitches().empty());
  EXPECT_GT(pipelines->Stats().replaced, 0U);
}

}  // namespace
}  // namespace kiln::runtime
