// SPDX-License-Identifier: MIT
// What goes wrong on a device: memory that runs out and devices that are lost at every call, and
// presentations that the window system refuses. The faults are put into the device's function
// table. After each the frame can be executed again, nothing leaks and the validation layer stays
// silent. See spec/graph 5.2, 13.7, 13.9
#include <cstring>
#include <functional>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "tests/gpu/emulated_swapchain.h"
#include "tests/gpu/presentation_thread.h"
#include "tests/gpu/validated_device.h"

namespace kiln::graph {
namespace {

constexpr uint32_t kEdge = 16;

// Fails the n-th of the calls that are watched. One device at a time.
struct Faults {
  static inline vk::Table real;
  static inline int until_fault = -1;  // calls before the one that fails; −1: none fails
  static inline VkResult fault = VK_SUCCESS;

  static VkResult Check() {
    if (until_fault < 0) {
      return VK_SUCCESS;
    }
    return until_fault-- == 0 ? fault : VK_SUCCESS;
  }
  template <auto Member, class... Arguments>
  static VkResult Watched(Arguments... arguments) {
    const VkResult result = Check();
    return result == VK_SUCCESS ? (real.*Member)(arguments...) : result;
  }

  template <auto Member, class... Arguments>
  static void Watch(vk::Table& table, VkResult (*)(Arguments...)) {
    table.*Member = &Watched<Member, Arguments...>;
  }
};

// The table of a device is the test's to change.
vk::Table& TableOf(runtime::Device& device) { return const_cast<vk::Table&>(device.table()); }

class GraphFaults : public ValidatedDevice {
 protected:
  GraphFaults() {
    Faults::real = gpu->table();
    Faults::until_fault = -1;
  }
  ~GraphFaults() override { TableOf(*gpu) = Faults::real; }

  void WatchAllocations() {
    vk::Table& table = TableOf(*gpu);
    Faults::Watch<&vk::Table::AllocateMemory>(table, Faults::real.AllocateMemory);
    Faults::Watch<&vk::Table::CreateImage>(table, Faults::real.CreateImage);
    Faults::Watch<&vk::Table::CreateBuffer>(table, Faults::real.CreateBuffer);
    Faults::Watch<&vk::Table::BindImageMemory>(table, Faults::real.BindImageMemory);
    Faults::Watch<&vk::Table::BindBufferMemory>(table, Faults::real.BindBufferMemory);
    Faults::Watch<&vk::Table::AllocateCommandBuffers>(table, Faults::real.AllocateCommandBuffers);
    Faults::Watch<&vk::Table::BeginCommandBuffer>(table, Faults::real.BeginCommandBuffer);
    Faults::Watch<&vk::Table::CreateQueryPool>(table, Faults::real.CreateQueryPool);
    Faults::Watch<&vk::Table::ResetCommandPool>(table, Faults::real.ResetCommandPool);
  }
  void WatchSubmissions() {
    vk::Table& table = TableOf(*gpu);
    Faults::Watch<&vk::Table::QueueSubmit2>(table, Faults::real.QueueSubmit2);
    Faults::Watch<&vk::Table::WaitSemaphores>(table, Faults::real.WaitSemaphores);
  }
};

TextureDesc Square(uint32_t edge) {
  return {.format = VK_FORMAT_R32_UINT, .size = {edge, edge, 1}};
}

// Clears an image to a number, adds nothing to it and reads it and its history back: enough to need
// memory of every kind. Images grow from frame to frame, so that every frame makes objects.
class GrowingFrame {
 public:
  BufferId Declare(Graph& graph, uint32_t frame) {
    graph.BeginFrame();
    const TextureDesc desc = Square(kEdge << frame);
    const TextureId history =
        graph.HistoryTexture({.name = "history", .desc = desc, .initial = {}, .previous = kept_});
    const PassId paint = graph.CreatePass({.name = "paint", .kind = PassKind::kTransfer});
    const Access copied{.stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                        .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT};
    VkClearValue number{};
    number.color.uint32[0] = 7 + frame;
    const TextureId image =
        graph.CreateTexture(paint, {.name = "image",
                                    .desc = desc,
                                    .access = copied,
                                    .contents = {.kind = ContentKind::kClear, .value = number},
                                    .keep = {}});
    graph.SetCallback(paint, [](runtime::Device&, const Resources&, CommandBuffer&) {});
    kept_ = Copy(graph, "keep", image, desc, {.next_frame = true});
    const TextureId other = Copy(graph, "other", history, desc, {});
    const PassId out = graph.CreatePass({.name = "read back", .kind = PassKind::kTransfer});
    const Access read{.stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                      .accesses = VK_ACCESS_2_TRANSFER_READ_BIT};
    graph.ReadTexture(out, {image, read});
    graph.ReadTexture(out, {other, read});
    const BufferId pixels = graph.CreateBuffer(out, {"pixels",
                                                     {.size = 4, .memory = MemoryKind::kReadback},
                                                     copied,
                                                     {.kind = ContentKind::kAllWritten},
                                                     {}});
    graph.SetCallback(out,
                      [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
                        const BoundTexture from = resources.Texture(image);
                        const BoundBuffer to = resources.Buffer(pixels);
                        VkBufferImageCopy region{};
                        region.bufferOffset = to.offset;
                        region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
                        region.imageExtent = {1, 1, 1};
                        commands.table().CmdCopyImageToBuffer(commands.handle(), from.image,
                                                              from.layout, to.buffer, 1, &region);
                      });
    graph.ExportBuffer(
        pixels, {.stages = VK_PIPELINE_STAGE_2_HOST_BIT, .accesses = VK_ACCESS_2_HOST_READ_BIT});
    return pixels;
  }

 private:
  static TextureId Copy(Graph& graph, const char* name, TextureId from, const TextureDesc& desc,
                        Keep keep) {
    const PassId pass = graph.CreatePass({.name = name, .kind = PassKind::kTransfer});
    graph.ReadTexture(pass, {from,
                             {.stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                              .accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
    const TextureId to =
        graph.CreateTexture(pass, {.name = name,
                                   .desc = desc,
                                   .access = {.stages = VK_PIPELINE_STAGE_2_COPY_BIT,
                                              .accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                   .contents = {.kind = ContentKind::kAllWritten},
                                   .keep = keep});
    graph.SetCallback(
        pass, [=](runtime::Device&, const Resources& resources, CommandBuffer& commands) {
          const BoundTexture source = resources.Texture(from);
          const BoundTexture target = resources.Texture(to);
          const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
          const VkImageCopy region = {layers, {0, 0, 0}, layers, {0, 0, 0}, source.extent};
          commands.table().CmdCopyImage(commands.handle(), source.image, source.layout,
                                        target.image, target.layout, 1, &region);
        });
    return to;
  }

  TextureId kept_;
};

// Three frames of which the n-th watched call fails; the frame is then executed again. Returns
// whether a call failed.
bool FailOnce(runtime::Device& device, int n, VkResult fault, const char* reason) {
  DeviceModel model(device);
  Planner planner(model);
  auto executor = Executor::Create(device, {.timestamps = true, .markers = true});
  EXPECT_TRUE(executor.ok());
  Graph graph;
  GrowingFrame frames;
  Faults::fault = fault;
  Faults::until_fault = n;
  bool failed = false;
  for (uint32_t frame = 0; frame < 3; ++frame) {
    const BufferId pixels = frames.Declare(graph, frame);
    const auto plan = planner.Compile(graph, {}, executor->carried());
    EXPECT_TRUE(plan.ok()) << plan.error().context;
    const Hash128 before = executor->carried().digest;
    auto ticket = executor->Execute(**plan, graph);
    if (!ticket.ok()) {
      failed = true;
      EXPECT_EQ(ticket.error().reason, reason) << "call " << n << ": " << ErrorText(ticket.error());
      EXPECT_EQ(executor->carried().digest, before) << "call " << n;
      ticket = executor->Execute(**plan, graph);  // as if nothing had happened
    }
    EXPECT_TRUE(ticket.ok()) << "call " << n << ": " << ErrorText(ticket.error());
    if (!ticket.ok()) {
      break;
    }
    auto done = executor->Wait(*ticket, std::chrono::seconds(30));
    if (!done.ok()) {
      failed = true;
      EXPECT_EQ(done.error().reason, reason) << "call " << n;
      done = executor->Wait(*ticket, std::chrono::seconds(30));
    }
    EXPECT_TRUE(done.ok()) << "call " << n;
    uint32_t number = 0;
    std::memcpy(&number, executor->Readback(graph, pixels).mapped, sizeof(number));
    EXPECT_EQ(number, 7 + frame) << "call " << n;
  }
  Faults::until_fault = -1;
  return failed;
}

TEST_F(GraphFaults, MemoryThatRunsOutAtAnyCall_LeavesEverythingUsable) {
  WatchAllocations();
  int calls = 0;
  while (calls < 500 && FailOnce(*gpu, calls, VK_ERROR_OUT_OF_DEVICE_MEMORY, "OUT_OF_MEMORY")) {
    ++calls;
  }
  EXPECT_GT(calls, 20);
  EXPECT_LT(calls, 500);
}

TEST_F(GraphFaults, DeviceLostAtAnySubmission_IsToldAndNothingIsCarriedOver) {
  WatchSubmissions();
  int calls = 0;
  while (calls < 100 && FailOnce(*gpu, calls, VK_ERROR_DEVICE_LOST, "DEVICE_LOST")) {
    ++calls;
  }
  EXPECT_GE(calls, 9);  // three frames: submitted, waited for, their slots waited for
  EXPECT_LT(calls, 100);
}

TEST_F(GraphFaults, DeviceLost_NamesTheLastFinishedPass) {
  DeviceModel model(*gpu);
  Planner planner(model);
  auto executor = Executor::Create(*gpu, {.markers = true});
  ASSERT_TRUE(executor.ok());
  Graph graph;
  GrowingFrame frames;
  for (uint32_t frame = 0; frame < 2; ++frame) {
    frames.Declare(graph, frame);
    const auto plan = planner.Compile(graph, {}, executor->carried());
    ASSERT_TRUE(plan.ok());
    if (frame == 1) {
      WatchSubmissions();
      Faults::fault = VK_ERROR_DEVICE_LOST;
      Faults::until_fault = 1;  // after the wait for the slot
    }
    const auto ticket = executor->Execute(**plan, graph);
    if (frame == 1) {
      ASSERT_FALSE(ticket.ok());
      const uint32_t last = (*plan)->PassAt((*plan)->device_passes() - 1);
      EXPECT_THAT(ticket.error().context,
                  ::testing::HasSubstr("last finished pass '" +
                                       std::string(graph.rows().PassName(last)) + "'"));
    } else {
      ASSERT_TRUE(ticket.ok());
      ASSERT_TRUE(executor->Wait(*ticket, std::chrono::seconds(30)).ok());
    }
  }
}

// A window system that answers as it is told, but waits for what it should.
struct Presenter {
  static inline std::function<VkResult(const VkPresentInfoKHR&)> answer;

  static VkResult Present(VkQueue, const VkPresentInfoKHR* info) { return answer(*info); }
};

// A frame that shows a color.
void DeclarePresented(Graph& graph, Presentation window) {
  graph.BeginFrame();
  const PassId pass = graph.CreatePass({.name = "paint", .kind = PassKind::kGraphics});
  graph.SetCallback(pass, [](runtime::Device&, const Resources&, CommandBuffer&) {});
  VkClearValue color{};
  color.color.float32[1] = 1;
  window.texture =
      graph.CreateTexture(pass, {.name = "color",
                                 .desc = {.format = VK_FORMAT_R8G8B8A8_UNORM, .size = {32, 32, 1}},
                                 .access = {.accesses = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT},
                                 .contents = {.kind = ContentKind::kClear, .value = color},
                                 .keep = {}});
  graph.Present(window);
}

struct Answer {
  VkResult result;
  PresentStatus status;
};

class GraphPresents : public GraphFaults, public ::testing::WithParamInterface<uint32_t> {};

TEST_P(GraphPresents, WindowThatDelaysAndReorders_IsToldByTheTicket) {
  const Answer answers[] = {{VK_SUCCESS, PresentStatus::kPresented},
                            {VK_SUBOPTIMAL_KHR, PresentStatus::kSuboptimal},
                            {VK_ERROR_OUT_OF_DATE_KHR, PresentStatus::kOutOfDate}};
  DeviceModel model(*gpu);
  Planner planner(model);
  std::vector<std::unique_ptr<EmulatedSwapchain>> windows;  // old ones while frames are in flight
  auto executor = Executor::Create(*gpu, {.frames_in_flight = GetParam()});
  ASSERT_TRUE(executor.ok());
  PresentationThread thread(TableOf(*gpu));
  Graph graph;
  for (uint32_t frame = 0; frame < 100; ++frame) {
    if (frame % 30 == 0) {  // the window has another size
      windows.push_back(std::make_unique<EmulatedSwapchain>(*gpu, VkExtent2D{48 + frame, 48}));
      thread.Use(*windows.back());
    }
    const Answer& answer = answers[frame % 3];
    thread.Answer(answer.result);
    DeclarePresented(graph, thread.Acquire());
    const auto plan = planner.Compile(graph, {}, executor->carried());
    ASSERT_TRUE(plan.ok()) << plan.error().context;
    const auto ticket = executor->Execute(**plan, graph);
    ASSERT_TRUE(ticket.ok()) << ErrorText(ticket.error());
    EXPECT_EQ(ticket->present, answer.status);
  }
  EXPECT_EQ(thread.presented(), 100U);
  EXPECT_GT(thread.reordered(), 10U);
}

INSTANTIATE_TEST_SUITE_P(FramesInFlight, GraphPresents, ::testing::Values(2U, 3U),
                         testing::PrintToStringParamName());

TEST_F(GraphFaults, PresentationThatFails_IsAnErrorAndTheFrameIsCarriedOn) {
  TableOf(*gpu).QueuePresentKHR = &Presenter::Present;
  DeviceModel model(*gpu);
  Planner planner(model);
  auto executor = Executor::Create(*gpu, {});
  ASSERT_TRUE(executor.ok());
  Graph graph;
  EmulatedSwapchain swapchain(*gpu, {48, 48});
  for (const bool fails : {true, false}) {
    Presentation window = swapchain.Acquire(true);
    window.swapchain = reinterpret_cast<VkSwapchainKHR>(uintptr_t{1});
    Presenter::answer = [&](const VkPresentInfoKHR& info) {
      swapchain.Submit(info.pWaitSemaphores[0], VK_NULL_HANDLE);
      return fails ? VK_ERROR_SURFACE_LOST_KHR : VK_SUCCESS;
    };
    DeclarePresented(graph, window);
    const auto plan = planner.Compile(graph, {}, executor->carried());
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(executor->Execute(**plan, graph).ok(), !fails);
    EXPECT_EQ(executor->carried().frame, graph.rows().frame);  // it was submitted
  }
}

}  // namespace
}  // namespace kiln::graph
