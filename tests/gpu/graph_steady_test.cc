// SPDX-License-Identifier: MIT
// Frames over a driver of fakes. From the third frame of unchanged structure on nothing is
// allocated on the heap and no Vulkan object is made or destroyed, over a thousand frames; values
// of timelines grow from frame to frame. See spec/graph 1.6, 4.7.1, 7.5, 9.6, 13.10
#include <cstdlib>

#include <gtest/gtest.h>

#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/planner.h"
#include "tests/support/allocation_count.h"

namespace kiln::graph {
namespace {

// Every function succeeds; what makes an object gives out a handle, and both ends are counted.
uint64_t made = 0;
uint64_t destroyed = 0;
alignas(64) std::byte host_memory[1 << 16];

template <class R, class... A>
R Nothing(A...) {
  if constexpr (!std::is_void_v<R>) {
    return R{};  // VK_SUCCESS
  }
}
template <class Info, class Handle>
VkResult Make(VkDevice, const Info*, const VkAllocationCallbacks*, Handle* out) {
  *out = reinterpret_cast<Handle>(static_cast<uintptr_t>(++made));
  return VK_SUCCESS;
}
template <class Handle>
void Destroy(VkDevice, Handle, const VkAllocationCallbacks*) {
  ++destroyed;
}

template <class R, class... A>
void Fake(R (*&function)(A...)) {
  function = &Nothing<R, A...>;
}
template <class Info, class Handle>
void Fake(VkResult (*&function)(VkDevice, const Info*, const VkAllocationCallbacks*, Handle*)) {
  function = &Make<Info, Handle>;
}
template <class Handle>
void Fake(void (*&function)(VkDevice, Handle, const VkAllocationCallbacks*)) {
  function = &Destroy<Handle>;
}

constexpr VkMemoryRequirements kNeeds = {.size = 1 << 12, .alignment = 256, .memoryTypeBits = 1};

vk::Table FakeTable() {
  vk::Table table;
#define KILN_FAKE(name) Fake(table.name);
  KILN_VK_DEVICE_FUNCTIONS(KILN_FAKE)
#undef KILN_FAKE
  table.AllocateCommandBuffers = [](VkDevice, const VkCommandBufferAllocateInfo*,
                                    VkCommandBuffer* out) {
    *out = reinterpret_cast<VkCommandBuffer>(static_cast<uintptr_t>(++made));
    return VK_SUCCESS;
  };
  table.GetBufferMemoryRequirements = [](VkDevice, VkBuffer, VkMemoryRequirements* out) {
    *out = kNeeds;
  };
  table.GetImageMemoryRequirements = [](VkDevice, VkImage, VkMemoryRequirements* out) {
    *out = kNeeds;
  };
  table.GetDeviceImageMemoryRequirements = [](VkDevice, const VkDeviceImageMemoryRequirements*,
                                              VkMemoryRequirements2* out) {
    out->memoryRequirements = kNeeds;
  };
  table.MapMemory = [](VkDevice, VkDeviceMemory, VkDeviceSize, VkDeviceSize, VkMemoryMapFlags,
                       void** out) {
    *out = host_memory;
    return VK_SUCCESS;
  };
  return table;
}

runtime::Device FakeDevice() {
  runtime::DeviceCaps caps;
  caps.device_name = "fake device";
  caps.limits.minMemoryMapAlignment = 64;
  caps.limits.bufferImageGranularity = 1;
  caps.limits.nonCoherentAtomSize = 64;
  for (VkFormatProperties& format : caps.formats) {
    format.optimalTilingFeatures = ~VkFormatFeatureFlags{0};
  }
  VkPhysicalDeviceMemoryProperties memory{};
  memory.memoryTypeCount = 1;
  memory.memoryTypes[0].propertyFlags =
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
      VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  memory.memoryHeapCount = 1;
  memory.memoryHeaps[0] = {.size = VkDeviceSize{1} << 32, .flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  return runtime::Device::OverTable(FakeTable(), std::move(caps), memory);
}

// Upload, two drawing passes that alias, history, readback, presentation: something of everything.
class Frame {
 public:
  void Declare(Graph& graph) {
    graph.BeginFrame();
    const TextureDesc desc{.format = VK_FORMAT_R8G8B8A8_UNORM, .size = {64, 64, 1}};
    const TextureId history =
        graph.HistoryTexture({.name = "history", .desc = desc, .initial = {}, .previous = kept_});
    const PassId host = graph.CreatePass({.name = "host", .kind = PassKind::kHost});
    Callback(graph, host);
    const BufferId upload = graph.CreateBuffer(host, {"upload",
                                                      {.size = 256, .memory = MemoryKind::kUpload},
                                                      {.accesses = VK_ACCESS_2_HOST_WRITE_BIT},
                                                      {.kind = ContentKind::kAllWritten},
                                                      {}});
    TextureId last = history;
    for (const char* name : {"first", "second", "third", "fourth"}) {
      const PassId pass = graph.CreatePass({.name = name, .kind = PassKind::kGraphics});
      graph.ReadTexture(pass, {last, kSampled});
      last = graph.CreateTexture(pass,
                                 {.name = name, .desc = desc, .access = kColorWrite, .keep = {}});
      const TextureId made_here = last;
      graph.SetCallback(pass, [made_here](runtime::Device&, const Resources& resources,
                                          CommandBuffer&) { resources.Texture(made_here); });
    }
    const PassId keep = graph.CreatePass({.name = "keep", .kind = PassKind::kGraphics});
    graph.ReadTexture(keep, {last, kSampled});
    graph.ReadBuffer(keep, {upload,
                            {.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                             .accesses = VK_ACCESS_2_UNIFORM_READ_BIT}});
    kept_ = graph.CreateTexture(
        keep, {.name = "kept", .desc = desc, .access = kColorWrite, .keep = {.next_frame = true}});
    Callback(graph, keep);
    const PassId out = graph.CreatePass({.name = "out", .kind = PassKind::kTransfer});
    graph.ReadTexture(out, {kept_, {.accesses = VK_ACCESS_2_TRANSFER_READ_BIT}});
    const BufferId pixels =
        graph.CreateBuffer(out, {"pixels",
                                 {.size = 1024, .memory = MemoryKind::kReadback},
                                 {.accesses = VK_ACCESS_2_TRANSFER_WRITE_BIT},
                                 {.kind = ContentKind::kAllWritten},
                                 {}});
    Callback(graph, out);
    graph.ExportBuffer(
        pixels, {.stages = VK_PIPELINE_STAGE_2_HOST_BIT, .accesses = VK_ACCESS_2_HOST_READ_BIT});
    Presentation window;
    window.image = {.name = "window",
                    .desc = desc,
                    .image = reinterpret_cast<VkImage>(uintptr_t{1}),
                    .view = VK_NULL_HANDLE,
                    .state = {}};
    window.texture = kept_;
    window.acquire = reinterpret_cast<VkSemaphore>(uintptr_t{2});
    window.present = reinterpret_cast<VkSemaphore>(uintptr_t{3});
    graph.Present(window);
  }

 private:
  static constexpr Access kColorWrite{.accesses = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
  static constexpr Access kSampled{.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                   .accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT};

  static void Callback(Graph& graph, PassId pass) {
    graph.SetCallback(pass, [](runtime::Device&, const Resources&, CommandBuffer&) {});
  }

  TextureId kept_;
};

// A row of passes each of which reads what the one before made. Variants differ in what the
// textures may be used for besides, and so in structure alone.
void DeclareRow(Graph& graph, VkImageUsageFlags variant) {
  graph.BeginFrame();
  TextureId last;
  for (int i = 0; i < 200; ++i) {
    const PassId pass = graph.CreatePass({.name = "pass", .kind = PassKind::kCompute});
    graph.SetCallback(pass, [](runtime::Device&, const Resources&, CommandBuffer&) {});
    if (i > 0) {
      graph.ReadTexture(pass, {last, {.accesses = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT}});
    }
    last = graph.CreateTexture(
        pass,
        {.name = "texture",
         .desc = {.format = VK_FORMAT_R8G8B8A8_UNORM, .size = {64, 64, 1}, .extra_usage = variant},
         .access = {.accesses = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT},
         .contents = {.kind = ContentKind::kAllWritten},
         .keep = {}});
  }
}

// spec/graph 9.6: growth reserves room for four plans of the new size.
TEST(Planner, PlanLargerThanBefore_MakesRoomForFourOfItsSize) {
  TexelModel model;
  Planner planner(model);
  Graph graph;
  Carried carried;
  std::vector<uint32_t> objects;
  const auto advance = [&](VkImageUsageFlags variant) {
    DeclareRow(graph, variant);
    const uint64_t before = test::AllocationCount();
    const auto plan = planner.Compile(graph, {.cull = false}, carried);
    const uint64_t allocated = test::AllocationCount() - before;
    EXPECT_TRUE(plan.ok()) << plan.error().context;
    EXPECT_FALSE(planner.stats().hit);
    BindObjects(**plan, carried, objects);
    Commit(**plan, graph.rows().frame, objects, carried);
    return allocated;
  };
  EXPECT_GT(advance(0), 0U) << "the first of its size";
  advance(VK_IMAGE_USAGE_TRANSFER_SRC_BIT);  // takes over what the first has left
  EXPECT_EQ(advance(VK_IMAGE_USAGE_TRANSFER_DST_BIT), 0U) << "room was made for the third";
  EXPECT_EQ(advance(VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT), 0U) << "room was made for the fourth";
  EXPECT_GT(advance(VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT), 0U) << "and for no more";
}

TEST(Executor, TimelineValueThatDoesNotGrow_IsAnErrorAndTheNextFrameRuns) {
  runtime::Device device = FakeDevice();
  DeviceModel model(device);
  Planner planner(model);
  auto executor = Executor::Create(device, {});
  ASSERT_TRUE(executor.ok());
  Graph graph;
  const auto signal = [&](uint64_t value) {
    graph.BeginFrame();
    const PassId pass = graph.CreatePass({.name = "tell", .kind = PassKind::kCompute});
    graph.SetCallback(pass, [](runtime::Device&, const Resources&, CommandBuffer&) {});
    graph.SignalSemaphore(pass, {.semaphore = reinterpret_cast<VkSemaphore>(uintptr_t{7}),
                                 .timeline = true,
                                 .value = value});
    const auto plan = planner.Compile(graph, {}, executor->carried());
    EXPECT_TRUE(plan.ok()) << plan.error().context;
    return executor->Execute(**plan, graph);
  };
  EXPECT_TRUE(signal(5).ok());
  for (const uint64_t value : {uint64_t{5}, uint64_t{4}}) {
    const auto ticket = signal(value);
    ASSERT_FALSE(ticket.ok()) << value;
    EXPECT_EQ(ticket.error().reason, "SEMAPHORE_VALUE");
    EXPECT_NE(ticket.error().context.find("'tell'"), std::string::npos) << ticket.error().context;
  }
  EXPECT_TRUE(signal(6).ok());
}

struct Setting {
  uint32_t frames_in_flight;
  uint32_t record_threads;
};

class SteadyFrames : public ::testing::TestWithParam<Setting> {};

TEST_P(SteadyFrames, FromTheThirdOn_NothingIsAllocatedAndNoObjectMade) {
  runtime::Device device = FakeDevice();
  DeviceModel model(device);
  Planner planner(model);
  auto executor = Executor::Create(device, {.frames_in_flight = GetParam().frames_in_flight,
                                            .record_threads = GetParam().record_threads});
  ASSERT_TRUE(executor.ok());
  Graph graph;
  Frame frame;
  uint64_t allocated = 0;
  uint64_t objects = 0;
  uint64_t gone = 0;
  for (int number = 1; number <= 1000; ++number) {
    if (number == 4) {  // the third is the first that is remembered
      allocated = test::AllocationCount();
      objects = made;
      gone = destroyed;
    }
    frame.Declare(graph);
    const auto plan = planner.Compile(graph, {}, executor->carried());
    ASSERT_TRUE(plan.ok()) << plan.error().context;
    EXPECT_EQ(planner.stats().hit, number >= 3) << "frame " << number;
    const auto ticket = executor->Execute(**plan, graph);
    ASSERT_TRUE(ticket.ok()) << ErrorText(ticket.error());
  }
  EXPECT_EQ(test::AllocationCount(), allocated);
  EXPECT_EQ(made, objects);
  EXPECT_EQ(destroyed, gone);
}

INSTANTIATE_TEST_SUITE_P(Settings, SteadyFrames,
                         ::testing::Values(Setting{2, 1}, Setting{3, 1}, Setting{2, 3}),
                         [](const auto& info) {
                           return std::to_string(info.param.frames_in_flight) + "InFlight" +
                                  std::to_string(info.param.record_threads) + "Threads";
                         });

}  // namespace
}  // namespace kiln::graph
