// SPDX-License-Identifier: MIT
// For tests: a driver of fakes behind the function table. Handles are numbers, each made and
// destroyed once; a pipeline is known by its mark, the last word of its last stage; pipeline caches
// hold the marks that were built with them. Tests decide what creations return, and look at what
// was asked for.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/pipeline/pipelines.h"
#include "runtime/pipeline/sample_metadata.h"

namespace kiln::runtime {

struct FakeDriver {
  std::mutex mutex;
  uint64_t next = 1;
  std::set<uint64_t> live;
  std::map<uint64_t, uint32_t> module_marks;
  std::map<uint64_t, std::set<uint32_t>> caches;  // marks
  std::vector<uint32_t> created;                  // marks, in the order of the calls
  std::vector<uint32_t> drawn;                    // pipelines that were bound, by mark
  std::map<uint64_t, uint32_t> pipeline_marks;
  std::map<uint64_t, std::shared_ptr<void>> memory;  // pages that nobody touches cost nothing
  int parts_created = 0;
  int links_created = 0;
  VkResult pipeline_result = VK_SUCCESS;
  VkResult layout_result = VK_SUCCESS;
  VkResult wait_result = VK_SUCCESS;
  VkResult cache_result = VK_SUCCESS;
  // Called without the mutex; null: pipeline_result.
  std::function<VkResult(uint32_t mark, VkPipelineCreateFlags flags)> on_create;
  uint64_t submitted = 0;
  uint64_t completed = ~uint64_t{0};  // what the timeline says, at most `submitted`

  // The driver of the test that runs.
  static FakeDriver& Get() {
    static FakeDriver driver;
    return driver;
  }
  void Reset() {
    next = 1;
    live.clear();
    module_marks.clear();
    caches.clear();
    created.clear();
    drawn.clear();
    pipeline_marks.clear();
    memory.clear();
    parts_created = links_created = 0;
    pipeline_result = layout_result = wait_result = cache_result = VK_SUCCESS;
    on_create = nullptr;
    submitted = 0;
    completed = ~uint64_t{0};
  }
};

namespace fake {

template <class Handle>
VkResult Make(Handle* handle, VkResult result = VK_SUCCESS) {
  FakeDriver& driver = FakeDriver::Get();
  if (result == VK_SUCCESS) {
    driver.live.insert(driver.next);
    *handle = reinterpret_cast<Handle>(driver.next++);
  }
  return result;
}

template <class Handle, class Info>
VKAPI_ATTR VkResult VKAPI_CALL Create(VkDevice /*device*/, const Info* /*info*/,
                                      const VkAllocationCallbacks* /*callbacks*/, Handle* handle) {
  const std::lock_guard lock(FakeDriver::Get().mutex);
  return Make(handle);
}

template <class Handle>
VKAPI_ATTR void VKAPI_CALL Destroy(VkDevice /*device*/, Handle handle,
                                   const VkAllocationCallbacks* /*callbacks*/) {
  const std::lock_guard lock(FakeDriver::Get().mutex);
  EXPECT_EQ(FakeDriver::Get().live.erase(reinterpret_cast<uint64_t>(handle)), 1U)
      << "destroyed twice";
}

VKAPI_ATTR inline VkResult VKAPI_CALL CreateLayout(VkDevice /*device*/,
                                                   const VkPipelineLayoutCreateInfo* /*info*/,
                                                   const VkAllocationCallbacks* /*callbacks*/,
                                                   VkPipelineLayout* handle) {
  const std::lock_guard lock(FakeDriver::Get().mutex);
  return Make(handle, FakeDriver::Get().layout_result);
}

VKAPI_ATTR inline VkResult VKAPI_CALL CreateModule(VkDevice /*device*/,
                                                   const VkShaderModuleCreateInfo* info,
                                                   const VkAllocationCallbacks* /*callbacks*/,
                                                   VkShaderModule* handle) {
  const std::lock_guard lock(FakeDriver::Get().mutex);
  const VkResult result = Make(handle);
  FakeDriver::Get().module_marks[reinterpret_cast<uint64_t>(*handle)] =
      info->pCode[info->codeSize / 4 - 1];
  return result;
}

template <class Info>
const Info* InChain(const void* chain, VkStructureType type) {
  for (auto* at = static_cast<const VkBaseInStructure*>(chain); at != nullptr; at = at->pNext) {
    if (at->sType == type) {
      return reinterpret_cast<const Info*>(at);
    }
  }
  return nullptr;
}

VKAPI_ATTR inline VkResult VKAPI_CALL CreateGraphics(VkDevice /*device*/, VkPipelineCache cache,
                                                     uint32_t /*count*/,
                                                     const VkGraphicsPipelineCreateInfo* info,
                                                     const VkAllocationCallbacks* /*callbacks*/,
                                                     VkPipeline* handle) {
  FakeDriver& driver = FakeDriver::Get();
  std::unique_lock lock(driver.mutex);
  if ((info->flags & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0) {
    ++driver.parts_created;
    return Make(handle, driver.pipeline_result);
  }
  if (InChain<VkPipelineLibraryCreateInfoKHR>(
          info->pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR) != nullptr) {
    ++driver.links_created;
    return Make(handle, driver.pipeline_result);
  }
  const uint32_t mark = driver.module_marks.at(
      reinterpret_cast<uint64_t>(info->pStages[info->stageCount - 1].module));
  driver.created.push_back(mark);
  const auto on_create = driver.on_create;
  VkResult result = driver.pipeline_result;
  if (on_create) {
    lock.unlock();
    result = on_create(mark, info->flags);
    lock.lock();
  }
  std::set<uint32_t>& known = driver.caches[reinterpret_cast<uint64_t>(cache)];
  const bool hit = cache != VK_NULL_HANDLE && known.contains(mark);
  if (result == VK_SUCCESS && !hit &&
      (info->flags & VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT) != 0) {
    result = VK_PIPELINE_COMPILE_REQUIRED;
  }
  if (result != VK_SUCCESS) {
    return result;
  }
  known.insert(mark);
  if (const auto* told = InChain<VkPipelineCreationFeedbackCreateInfo>(
          info->pNext, VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO)) {
    told->pPipelineCreationFeedback->flags =
        VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT |
        (hit ? VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT : 0);
    told->pPipelineCreationFeedback->duration = 5'000;
    for (uint32_t i = 0; i < told->pipelineStageCreationFeedbackCount; ++i) {
      told->pPipelineStageCreationFeedbacks[i] = {VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT,
                                                  uint64_t{1'000} * (i + 1)};
    }
  }
  Make(handle);
  driver.pipeline_marks[reinterpret_cast<uint64_t>(*handle)] = mark;
  return VK_SUCCESS;
}

// 32 bytes as Vulkan wants them, then the marks.
inline std::vector<std::byte> DataOf(const std::set<uint32_t>& marks) {
  Bytes out;
  AppendLittle(out, uint32_t{32});
  AppendLittle(out, static_cast<uint32_t>(VK_PIPELINE_CACHE_HEADER_VERSION_ONE));
  out.resize(32);  // vendor, device and id of a device over a table are zero
  for (const uint32_t mark : marks) {
    AppendLittle(out, mark);
  }
  return out;
}

VKAPI_ATTR inline VkResult VKAPI_CALL CreateCache(VkDevice /*device*/,
                                                  const VkPipelineCacheCreateInfo* info,
                                                  const VkAllocationCallbacks* /*callbacks*/,
                                                  VkPipelineCache* handle) {
  FakeDriver& driver = FakeDriver::Get();
  const std::lock_guard lock(driver.mutex);
  if (info->initialDataSize != 0 && driver.cache_result != VK_SUCCESS) {
    return driver.cache_result;
  }
  Make(handle);
  std::set<uint32_t>& marks = driver.caches[reinterpret_cast<uint64_t>(*handle)];
  const ByteView data(static_cast<const std::byte*>(info->pInitialData), info->initialDataSize);
  EXPECT_TRUE(data.empty() || (data.size() >= 32 && ReadLittle<uint32_t>(data) == 32));
  for (size_t at = 32; at + 4 <= data.size(); at += 4) {
    marks.insert(ReadLittle<uint32_t>(data, at));
  }
  return VK_SUCCESS;
}

VKAPI_ATTR inline VkResult VKAPI_CALL GetCacheData(VkDevice /*device*/, VkPipelineCache cache,
                                                   size_t* size, void* data) {
  const std::lock_guard lock(FakeDriver::Get().mutex);
  const auto bytes = DataOf(FakeDriver::Get().caches[reinterpret_cast<uint64_t>(cache)]);
  if (data != nullptr) {
    std::memcpy(data, bytes.data(), std::min(*size, bytes.size()));
  }
  *size = bytes.size();
  return VK_SUCCESS;
}

VKAPI_ATTR inline VkResult VKAPI_CALL MergeCaches(VkDevice /*device*/, VkPipelineCache into,
                                                  uint32_t count, const VkPipelineCache* from) {
  auto& caches = FakeDriver::Get().caches;
  const std::lock_guard lock(FakeDriver::Get().mutex);
  for (uint32_t i = 0; i < count; ++i) {
    const std::set<uint32_t> marks = caches[reinterpret_cast<uint64_t>(from[i])];
    caches[reinterpret_cast<uint64_t>(into)].insert(marks.begin(), marks.end());
  }
  return VK_SUCCESS;
}

// Draws: what is bound is noted; the device is done at once, unless told otherwise.
VKAPI_ATTR inline void VKAPI_CALL BindPipeline(VkCommandBuffer /*commands*/,
                                               VkPipelineBindPoint /*point*/, VkPipeline pipeline) {
  FakeDriver& driver = FakeDriver::Get();
  const std::lock_guard lock(driver.mutex);
  driver.drawn.push_back(driver.pipeline_marks[reinterpret_cast<uint64_t>(pipeline)]);
}
VKAPI_ATTR inline VkResult VKAPI_CALL Submit(VkQueue /*queue*/, uint32_t /*count*/,
                                             const VkSubmitInfo2* /*info*/, VkFence /*fence*/) {
  ++FakeDriver::Get().submitted;
  return VK_SUCCESS;
}
VKAPI_ATTR inline VkResult VKAPI_CALL WaitTimeline(VkDevice /*device*/,
                                                   const VkSemaphoreWaitInfo* /*info*/,
                                                   uint64_t /*timeout*/) {
  return FakeDriver::Get().wait_result;
}
VKAPI_ATTR inline VkResult VKAPI_CALL Counter(VkDevice /*device*/, VkSemaphore /*semaphore*/,
                                              uint64_t* value) {
  *value = std::min(FakeDriver::Get().submitted, FakeDriver::Get().completed);
  return VK_SUCCESS;
}
VKAPI_ATTR inline VkResult VKAPI_CALL AllocateCommands(VkDevice /*device*/,
                                                       const VkCommandBufferAllocateInfo* /*info*/,
                                                       VkCommandBuffer* handle) {
  *handle = reinterpret_cast<VkCommandBuffer>(uint64_t{1});
  return VK_SUCCESS;
}
VKAPI_ATTR inline VkResult VKAPI_CALL AllocateSets(VkDevice /*device*/,
                                                   const VkDescriptorSetAllocateInfo* /*info*/,
                                                   VkDescriptorSet* handle) {
  *handle = reinterpret_cast<VkDescriptorSet>(uint64_t{1});
  return VK_SUCCESS;
}
VKAPI_ATTR inline VkResult VKAPI_CALL Map(VkDevice /*device*/, VkDeviceMemory memory,
                                          VkDeviceSize /*offset*/, VkDeviceSize /*size*/,
                                          VkMemoryMapFlags /*flags*/, void** data) {
  auto& bytes = FakeDriver::Get().memory[reinterpret_cast<uint64_t>(memory)];
  bytes.reset(std::calloc(size_t{64} << 20, 1), std::free);
  *data = bytes.get();
  return VK_SUCCESS;
}
VKAPI_ATTR inline void VKAPI_CALL Requirements(VkDevice /*device*/, VkBuffer /*buffer*/,
                                               VkMemoryRequirements* needs) {
  *needs = {.size = 65'536, .alignment = 16, .memoryTypeBits = 1};
}
VKAPI_ATTR inline void VKAPI_CALL ImageRequirements(VkDevice /*device*/, VkImage /*image*/,
                                                    VkMemoryRequirements* needs) {
  *needs = {.size = 256, .alignment = 16, .memoryTypeBits = 1};
}

// A function that does nothing and succeeds.
template <class Function>
struct Nothing;
template <class Result, class... Arguments>
struct Nothing<Result(VKAPI_PTR*)(Arguments...)> {
  static VKAPI_ATTR Result VKAPI_CALL Call(Arguments... /*arguments*/) { return Result(); }
};
template <class Function>
void Ignore(Function& function) {
  function = Nothing<Function>::Call;
}

inline void FillDraws(vk::Table& table) {
  table.AllocateCommandBuffers = AllocateCommands;
  table.AllocateDescriptorSets = AllocateSets;
  table.AllocateMemory = Create<VkDeviceMemory, VkMemoryAllocateInfo>;
  table.FreeMemory = Destroy<VkDeviceMemory>;
  table.MapMemory = Map;
  table.CreateBuffer = Create<VkBuffer, VkBufferCreateInfo>;
  table.CreateBufferView = Create<VkBufferView, VkBufferViewCreateInfo>;
  table.DestroyBufferView = Destroy<VkBufferView>;
  table.DestroyBuffer = Destroy<VkBuffer>;
  table.CreateImage = Create<VkImage, VkImageCreateInfo>;
  table.DestroyImage = Destroy<VkImage>;
  table.CreateImageView = Create<VkImageView, VkImageViewCreateInfo>;
  table.DestroyImageView = Destroy<VkImageView>;
  table.CreateSampler = Create<VkSampler, VkSamplerCreateInfo>;
  table.DestroySampler = Destroy<VkSampler>;
  table.CreateSemaphore = Create<VkSemaphore, VkSemaphoreCreateInfo>;
  table.DestroySemaphore = Destroy<VkSemaphore>;
  table.CreateCommandPool = Create<VkCommandPool, VkCommandPoolCreateInfo>;
  table.DestroyCommandPool = Destroy<VkCommandPool>;
  table.CreateDescriptorPool = Create<VkDescriptorPool, VkDescriptorPoolCreateInfo>;
  table.DestroyDescriptorPool = Destroy<VkDescriptorPool>;
  table.GetBufferMemoryRequirements = Requirements;
  table.GetImageMemoryRequirements = ImageRequirements;
  table.GetSemaphoreCounterValue = Counter;
  table.WaitSemaphores = WaitTimeline;
  table.QueueSubmit2 = Submit;
  table.CmdBindPipeline = BindPipeline;
  Ignore(table.BeginCommandBuffer);
  Ignore(table.EndCommandBuffer);
  Ignore(table.ResetCommandBuffer);
  Ignore(table.BindBufferMemory);
  Ignore(table.BindImageMemory);
  Ignore(table.UpdateDescriptorSets);
  Ignore(table.GetDeviceQueue);
  Ignore(table.CmdPipelineBarrier2);
  Ignore(table.CmdBindDescriptorSets);
  Ignore(table.CmdBindVertexBuffers);
  Ignore(table.CmdPushConstants);
  Ignore(table.CmdBeginRendering);
  Ignore(table.CmdEndRendering);
  Ignore(table.CmdSetViewport);
  Ignore(table.CmdSetScissor);
  Ignore(table.CmdDraw);
}

}  // namespace fake

// A test over a new driver; at its end every handle has been destroyed.
class FakeDriverTest : public ::testing::Test {
 protected:
  FakeDriverTest() : driver(FakeDriver::Get()) { driver.Reset(); }
  ~FakeDriverTest() override { EXPECT_TRUE(driver.live.empty()) << driver.live.size(); }

  static Device MakeDevice(const DeviceCaps& caps = AbleDevice()) {
    vk::Table table;
    table.CreateShaderModule = fake::CreateModule;
    table.CreateDescriptorSetLayout =
        fake::Create<VkDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo>;
    table.CreatePipelineLayout = fake::CreateLayout;
    table.CreateGraphicsPipelines = fake::CreateGraphics;
    table.CreatePipelineCache = fake::CreateCache;
    table.GetPipelineCacheData = fake::GetCacheData;
    table.MergePipelineCaches = fake::MergeCaches;
    table.DestroyShaderModule = fake::Destroy<VkShaderModule>;
    table.DestroyDescriptorSetLayout = fake::Destroy<VkDescriptorSetLayout>;
    table.DestroyPipelineLayout = fake::Destroy<VkPipelineLayout>;
    table.DestroyPipeline = fake::Destroy<VkPipeline>;
    table.DestroyPipelineCache = fake::Destroy<VkPipelineCache>;
    fake::FillDraws(table);
    VkPhysicalDeviceMemoryProperties memory{};
    memory.memoryTypeCount = 1;
    memory.memoryHeapCount = 1;
    memory.memoryHeaps[0].size = uint64_t{1} << 30;
    memory.memoryTypes[0].propertyFlags =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    return Device::OverTable(table, caps, memory);
  }

  // Words of the sample's stages; `mark` tells pipelines apart.
  struct Words {
    explicit Words(uint32_t mark) : fragment{0x07230203, 0x10300, 0, 1, 0, mark} {}
    std::vector<uint32_t> vertex{0x07230203, 0x10300, 0, 1, 0};
    std::vector<uint32_t> fragment;
    std::vector<ModuleWords> Modules() const {
      return {{artifact::Stage::kVertex, vertex}, {artifact::Stage::kFragment, fragment}};
    }
  };
  static PipelineId Add(Pipelines& pipelines, const PipelineMetadata& metadata, uint32_t mark = 0) {
    const Words words(mark);
    const auto id = pipelines.Add("rock", metadata, words.Modules(), SampleSignature());
    EXPECT_TRUE(id.ok()) << ErrorText(id.error());
    return *id;
  }
  static std::unique_ptr<Pipelines> MakePipelines(const Device& device,
                                                  const PipelinesConfig& config) {
    auto made = Pipelines::Create(device, config);
    EXPECT_TRUE(made.ok()) << ErrorText(made.error());
    return std::move(made).value();
  }
  static VkCommandBuffer Commands() { return reinterpret_cast<VkCommandBuffer>(uint64_t{1}); }

  FakeDriver& driver;
};

}  // namespace kiln::runtime
