// SPDX-License-Identifier: MIT
// Warm starts that make everything in child processes first: a driver that ends or hangs the child
// costs one pipeline. Children are forks of the test, over the driver of fakes.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/test_directory.h"
#include "runtime/pipeline/create/desc_bytes.h"
#include "runtime/pipeline/driver/fake_driver.h"
#include "runtime/pipeline/print_desc.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;

constexpr std::chrono::seconds kSoonEnough{20};

class Isolate : public FakeDriverTest {
 protected:
  PipelinesConfig Config() {
    return {.threads = 0,
            .cache_folder = folder.path().string(),
            .first_use = FirstUse::kOff,
            .start_child = [this](const std::string& path) { return Fork(path); },
            .isolate_timeout = std::chrono::milliseconds(300)};
  }

  // A child that serves over a driver of its own; `in_child` is what its creations do.
  Result<ChildProcess> Fork(const std::string& path) {
    ++children;
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      driver.on_create = in_child;
      const Device device = MakeDevice();
      _exit(dies_at_once ? 9
                         : ServeChildBuilds(ends[1], device,
                                            {.cache_folder = path, .first_use = FirstUse::kOff}));
    }
    close(ends[1]);
    return ChildProcess{.pid = pid, .socket = ends[0]};
  }

  TestDirectory folder;
  std::function<VkResult(uint32_t mark, VkPipelineCreateFlags flags)> in_child;
  bool dies_at_once = false;
  int children = 0;
};

TEST_F(Isolate, DriverThatAbortsOrHangs_CostsThosePipelines) {
  in_child = [](uint32_t mark, VkPipelineCreateFlags) {
    if (mark == 2) {
      (void)raise(SIGKILL);
    }
    if (mark == 4) {
      for (;;) {
        pause();
      }
    }
    return VK_SUCCESS;
  };
  std::vector<PipelineId> ids;
  {
    const Device device = MakeDevice();
    const auto pipelines = MakePipelines(device, Config());
    for (uint32_t mark = 1; mark <= 6; ++mark) {
      ids.push_back(Add(*pipelines, SampleMetadata(), mark));
    }
    const auto report = pipelines->Wait(pipelines->Warm({.isolate = true}), kSoonEnough);
    ASSERT_TRUE(report.ok()) << ErrorText(report.error());
    EXPECT_EQ(report->progress.done, 6U);
    EXPECT_EQ(report->progress.quarantined, 2U);
    ASSERT_EQ(report->failures.size(), 2U);
    EXPECT_THAT(report->failures[0].error, ::testing::HasSubstr("a child process ended"));
    EXPECT_THAT(report->failures[1].error, ::testing::HasSubstr("a child process hung"));
    EXPECT_EQ(pipelines->State(ids[1]), PipelineState::kQuarantined);
    EXPECT_EQ(pipelines->State(ids[3]), PipelineState::kQuarantined);
    EXPECT_THAT(driver.created, ElementsAre(1, 3, 5, 6)) << "in this process";
    EXPECT_EQ(children, 3);
    // What the last child made is known to the driver's cache here.
    EXPECT_EQ(report->progress.from_cache, 2U);
  }
  // The next run knows them; nothing of the children is left.
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  EXPECT_EQ(pipelines->State(Add(*pipelines, SampleMetadata(), 4)), PipelineState::kQuarantined);
  EXPECT_EQ(pipelines->State(Add(*pipelines, SampleMetadata(), 1)), PipelineState::kQueued);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_FALSE(entry.is_directory()) << entry.path();
  }
}

TEST_F(Isolate, AllIsWell_EverythingIsAHitHere) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  for (uint32_t mark = 1; mark <= 20; ++mark) {
    Add(*pipelines, SampleMetadata(), mark);
  }
  const auto report = pipelines->Wait(pipelines->Warm({.isolate = true}), kSoonEnough);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->progress.from_cache, 20U);
  EXPECT_EQ(children, 1);
}

TEST_F(Isolate, DriverThatRefuses_IsNoDeath) {
  in_child = [](uint32_t mark, VkPipelineCreateFlags) {
    return mark == 2 ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
  };
  driver.on_create = in_child;
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  for (uint32_t mark = 1; mark <= 3; ++mark) {
    Add(*pipelines, SampleMetadata(), mark);
  }
  const auto report = pipelines->Wait(pipelines->Warm({.isolate = true}), kSoonEnough);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->progress.failed, 1U);
  EXPECT_EQ(report->progress.quarantined, 0U);
  EXPECT_EQ(children, 1);
}

TEST_F(Isolate, NoChildToBeHad_BuildsHere) {
  dies_at_once = true;
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  ASSERT_TRUE(pipelines->Wait(pipelines->Warm({.isolate = true}), kSoonEnough).ok());
  EXPECT_EQ(pipelines->State(id), PipelineState::kReady);
}

TEST_F(Isolate, CancelledBefore_StartsNoChild) {
  const Device device = MakeDevice();
  const auto pipelines = MakePipelines(device, Config());
  const PipelineId id = Add(*pipelines, SampleMetadata(), 1);
  const WarmTicket ticket = pipelines->Warm({.isolate = true});
  pipelines->Cancel(ticket);
  ASSERT_TRUE(pipelines->Wait(ticket, kSoonEnough).ok());
  EXPECT_EQ(children, 0);
  EXPECT_EQ(pipelines->State(id), PipelineState::kQueued);
}

PipelineDesc FullDesc() {
  PipelineDesc desc = *DescFrom("rock", SampleMetadata(), SampleSignature());
  desc.specialization = {{7, 0, 4}};
  desc.specialization_values = {3};
  desc.depth_stencil.stencil_test = true;
  desc.depth_stencil.front = {
      VK_STENCIL_OP_KEEP, VK_STENCIL_OP_ZERO, VK_STENCIL_OP_INVERT, VK_COMPARE_OP_LESS, 1, 2, 3};
  desc.depth_stencil.bounds_max = 0.5F;
  desc.blend_constants = {1, 2, 3, 4};
  desc.logic_op = desc.raster.depth_bias = true;
  desc.signature.view_mask = 5;
  desc.required_features = {"wide_lines"};
  desc.required_extensions = {"VK_EXT_some"};
  desc.workgroup_size = {8, 4, 2};
  desc.layout_hash.bytes.fill(7);
  return desc;
}

TEST(DescBytes, DecodedDesc_IsTheSame) {
  const PipelineDesc desc = FullDesc();
  const Bytes bytes = EncodeDesc(desc);
  const auto decoded = DecodeDesc(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(EncodeDesc(*decoded), bytes);
  EXPECT_EQ(PrintDesc(*decoded), PrintDesc(desc));
  EXPECT_EQ(decoded->sets[1][2].name, desc.sets[1][2].name);
  EXPECT_EQ(decoded->specialization[0].constantID, 7U);
  EXPECT_EQ(decoded->depth_stencil.front.reference, 3U);
  EXPECT_EQ(decoded->signature, desc.signature);
  EXPECT_EQ(decoded->required_features, desc.required_features);
  EXPECT_EQ(decoded->layout_hash, desc.layout_hash);
}

TEST(DescBytes, CutOrLonger_IsRefused) {
  Bytes bytes = EncodeDesc(FullDesc());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeDesc(ByteView(bytes).first(size)).ok()) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(DecodeDesc(bytes).ok());
}

// A count that the bytes do not bear out costs no more than they do: what is read is kept, and no
// room is made for what is only announced.
TEST(DescBytes, CountThatIsWrong_CostsNoMemory) {
  constexpr size_t kBytes = 8 << 20;
  Bytes bytes;
  AppendLittle(bytes, uint32_t{0});       // an empty name
  AppendLittle(bytes, uint32_t{0});       // the bind point
  AppendLittle(bytes, uint32_t{kBytes});  // stages, each of at least one byte
  bytes.resize(bytes.size() + kBytes, std::byte{0xff});
  // In a process of its own: its peak is that of this call.
  EXPECT_EXIT(
      {
        rusage before{};
        rusage after{};
        (void)getrusage(RUSAGE_SELF, &before);
        const bool ok = DecodeDesc(bytes).ok();
        (void)getrusage(RUSAGE_SELF, &after);
        std::_Exit(!ok && after.ru_maxrss - before.ru_maxrss < 64 << 10 ? 0 : 1);  // KiB
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kiln::runtime
