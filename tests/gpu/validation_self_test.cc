// SPDX-License-Identifier: MIT
// That the validation layer listens: one deliberate mistake of every situation that it is said to
// find, and correct work about which it must be silent. What is heard here is what silence in the
// other tests is worth. See spec/pso 11.3
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/gpu/validation_bench.h"

namespace kiln::runtime {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Writes the first image and reads the second one.
void UseImages(ValidationBench& bench, const Shared& shared) {
  const VkBuffer source = bench.NewBuffer();
  const VkBuffer target = bench.NewBuffer();
  for (const vk::UniqueImage& image : shared.images) {
    bench.ImageBarrier(image.get(), {VK_PIPELINE_STAGE_2_NONE, 0, VK_IMAGE_LAYOUT_UNDEFINED},
                       {kCopy, kRead | kWrite});
    bench.Barrier({kCopy, kRead | kWrite}, {kCopy, kRead | kWrite});
  }
  bench.CopyToImage(source, shared.images[0].get());
  bench.CopyImage(shared.images[1].get(), target);
  bench.Submit({&bench.commands, 1});
  bench.WaitFor(bench.timeline.get(), bench.submitted);
}

struct Situation {
  std::string name;
  std::function<void(ValidationBench&)> act;
  std::string heard;  // empty: silence
};
void PrintTo(const Situation& item, std::ostream* out) { *out << item.name; }

void SubmitAll(ValidationBench& bench) { bench.Submit({&bench.commands, 1}); }

// The second half in a command buffer of its own; both in one submission, or one after the other.
enum class Halves { kOneSubmission, kTwoSubmissions, kUnrelatedTimeline, kTheTimeline };
void WriteThenRead(ValidationBench& bench, Halves halves) {
  const VkBuffer a = bench.NewBuffer();
  const VkBuffer b = bench.NewBuffer();
  bench.Fill(a);
  const VkCommandBuffer first = bench.commands;
  bench.commands = bench.Begin();
  bench.Copy(a, b);
  const VkCommandBuffer second = bench.commands;
  if (halves == Halves::kOneSubmission) {
    bench.Submit(std::vector<VkCommandBuffer>{first, second});
    return;
  }
  bench.Submit({&first, 1});
  if (halves == Halves::kTwoSubmissions) {
    bench.Submit({&second, 1});
  } else if (halves == Halves::kTheTimeline) {
    bench.Submit({&second, 1}, bench.timeline.get(), 1);
  } else {
    const vk::UniqueSemaphore other = bench.NewTimeline(5);
    bench.Submit({&second, 1}, other.get(), 5);
    bench.WaitFor(bench.timeline.get(), bench.submitted);
  }
}

class ValidationSelfTest : public ::testing::TestWithParam<Situation> {};

TEST_P(ValidationSelfTest, IsHeardOrNot) {
  std::vector<std::string> messages;
  {
    auto device = Device::Create(
        {.prefer = "software", .validation = true, .messages = [&](const vk::Message& message) {
           messages.push_back(message.id + ": " + message.text);
         }});
    ASSERT_TRUE(device.ok()) << ErrorText(device.error());
    ValidationBench bench(*device);
    GetParam().act(bench);
  }
  if (GetParam().heard.empty()) {
    EXPECT_THAT(messages, IsEmpty());
  } else {
    EXPECT_THAT(messages, Contains(HasSubstr(GetParam().heard)));
  }
}

const std::vector<Situation> kOneCommandBuffer = {
    {"read_after_write",
     [](ValidationBench& b) {
       const VkBuffer a = b.NewBuffer();
       b.Fill(a);
       b.Copy(a, b.NewBuffer());
       SubmitAll(b);
     },
     "SYNC-HAZARD-READ-AFTER-WRITE"},
    {"write_after_read",
     [](ValidationBench& b) {
       const VkBuffer a = b.NewBuffer();
       b.Copy(a, b.NewBuffer());
       b.Fill(a);
       SubmitAll(b);
     },
     "SYNC-HAZARD-WRITE-AFTER-READ"},
    {"write_after_write",
     [](ValidationBench& b) {
       const VkBuffer a = b.NewBuffer();
       b.Fill(a);
       b.Copy(b.NewBuffer(), a);
       SubmitAll(b);
     },
     "SYNC-HAZARD-WRITE-AFTER-WRITE"},
    {"through_descriptors",
     [](ValidationBench& b) {
       const VkBuffer a = b.NewBuffer();
       b.Fill(a);
       b.Dispatch(a);
       SubmitAll(b);
     },
     "SYNC-HAZARD-WRITE-AFTER-WRITE"},
    {"rendering_to_copy",
     [](ValidationBench& b) {
       const VkImage image = b.NewImage();
       b.Render(b.images.back());
       b.CopyImage(image, b.NewBuffer());
       SubmitAll(b);
     },
     "SYNC-HAZARD-READ-AFTER-WRITE"},
    {"write_waits_for_one_of_two_readers",
     [](ValidationBench& b) {
       const VkImage image = b.NewImage();
       b.CopyImage(image, b.NewBuffer());
       b.Blit(image, b.NewImage());
       b.Barrier({VK_PIPELINE_STAGE_2_BLIT_BIT, 0}, {kCopy, 0});
       b.CopyToImage(b.NewBuffer(), image);
       SubmitAll(b);
     },
     "SYNC-HAZARD-WRITE-AFTER-READ"},
    {"layout_change_that_waits_for_nothing",
     [](ValidationBench& b) {
       const VkImage image = b.NewImage();
       b.CopyToImage(b.NewBuffer(), image);
       b.ImageBarrier(image, {VK_PIPELINE_STAGE_2_NONE, 0},
                      {kCopy, kRead, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL});
       SubmitAll(b);
     },
     "SYNC-HAZARD-WRITE-AFTER-WRITE"},
    {"correct_barriers",
     [](ValidationBench& b) {
       const VkBuffer a = b.NewBuffer();
       b.Fill(a);
       b.Barrier({kFill, kWrite}, {kCopy, kRead});
       b.Copy(a, b.NewBuffer());
       SubmitAll(b);
     },
     ""},
    {"write_after_read_needs_execution_only",
     [](ValidationBench& b) {
       const VkBuffer a = b.NewBuffer();
       b.Copy(a, b.NewBuffer());
       b.Barrier({kCopy, 0}, {kFill, 0});
       b.Fill(a);
       SubmitAll(b);
     },
     ""},
    {"disjoint_ranges_of_a_buffer",
     [](ValidationBench& b) {
       const VkBuffer a = b.NewBuffer();
       b.Fill(a, 0, kBytes / 2);
       b.Copy(a, b.NewBuffer(), kBytes / 2, kBytes / 2);
       SubmitAll(b);
     },
     ""},
};

const std::vector<Situation> kSharedMemory = {
    {"two_buffers_on_one_memory",
     [](ValidationBench& b) {
       const Shared shared = BuffersOnOneMemory(b);
       b.Fill(shared.buffers[0].get());
       b.Copy(shared.buffers[1].get(), b.NewBuffer());
       SubmitAll(b);
       b.WaitFor(b.timeline.get(), b.submitted);
     },
     "SYNC-HAZARD-READ-AFTER-WRITE"},
    {"two_images_on_one_memory",
     [](ValidationBench& b) { UseImages(b, ImagesOnOneMemory(b, Place::kSame)); }, "SYNC-HAZARD"},
    {"two_images_side_by_side",
     [](ValidationBench& b) { UseImages(b, ImagesOnOneMemory(b, Place::kApart)); }, ""},
};

// Heard thanks to VK_LAYER_ENABLES only (vulkan_test_environment.cmake).
const std::vector<Situation> kSubmissions = {
    {"two_command_buffers", [](ValidationBench& b) { WriteThenRead(b, Halves::kOneSubmission); },
     "SYNC-HAZARD-READ-AFTER-WRITE"},
    {"two_submissions", [](ValidationBench& b) { WriteThenRead(b, Halves::kTwoSubmissions); },
     "SYNC-HAZARD-READ-AFTER-WRITE"},
    {"unrelated_timeline", [](ValidationBench& b) { WriteThenRead(b, Halves::kUnrelatedTimeline); },
     "SYNC-HAZARD-READ-AFTER-WRITE"},
    {"the_timeline", [](ValidationBench& b) { WriteThenRead(b, Halves::kTheTimeline); }, ""},
};

const auto kName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(OneCommandBuffer, ValidationSelfTest,
                         ::testing::ValuesIn(kOneCommandBuffer), kName);
INSTANTIATE_TEST_SUITE_P(SharedMemory, ValidationSelfTest, ::testing::ValuesIn(kSharedMemory),
                         kName);
INSTANTIATE_TEST_SUITE_P(Submissions, ValidationSelfTest, ::testing::ValuesIn(kSubmissions), kName);

}  // namespace
}  // namespace kiln::runtime
