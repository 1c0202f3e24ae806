// SPDX-License-Identifier: MIT
// The vocabulary of a frame: handles, descriptions and accesses. Handles are values; a version is
// fixed contents of a texture or buffer, made by one pass, imported, or kept from the last frame.
// See spec/graph 2, 3.1
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/vk/table.h"

namespace kiln::graph {

inline constexpr uint32_t kNone = ~0U;
inline constexpr uint32_t kPoisoned = kNone - 1;  // of handles: their declaration failed
inline constexpr uint16_t kWhole = 0xFFFF;
inline constexpr uint32_t kMaxPasses = 65'536;
inline constexpr uint32_t kMaxAccesses = 1'048'576;

struct PassId {
  uint32_t index = kNone;
  uint32_t frame = 0;  // serial of the declaring frame
};
struct TextureId {
  uint32_t index = kNone;
  uint32_t frame : 31 = 0;
  uint32_t temporal : 1 = 0;
};
struct BufferId {
  uint32_t index = kNone;
  uint32_t frame : 31 = 0;
  uint32_t temporal : 1 = 0;
};

enum class PassKind : uint8_t { kGraphics, kCompute, kTransfer, kHost, kTransition };
enum class QueueHint : uint8_t { kAny, kGraphics, kCompute, kTransfer };  // all are graphics today
enum class MemoryKind : uint8_t { kDevice, kUpload, kReadback };          // of buffers
enum class ContentKind : uint8_t { kUndefined, kClear, kAllWritten };

// Where a declaration stands in the caller's source.
struct Where {
  const char* file = "";
  int line = 0;
  static constexpr Where Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

struct PassDesc {
  std::string_view name;
  PassKind kind = PassKind::kGraphics;
  QueueHint queue = QueueHint::kAny;
  bool side_effect = false;
};

// Levels, layers and aspects; 0 aspects: all of the format. Layers of a 3D texture: one.
struct Range {
  uint16_t mip = 0;
  uint16_t mips = kWhole;
  uint16_t layer = 0;
  uint16_t layers = kWhole;
  VkImageAspectFlags aspects = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

// Stages: 0 means the default of the pass. Layout: UNDEFINED means the one that follows from the
// accesses.
struct Access {
  VkPipelineStageFlags2 stages = 0;
  VkAccessFlags2 accesses = 0;
  VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
  Range range;
};

struct TextureDesc {
  VkImageType type = VK_IMAGE_TYPE_2D;
  VkFormat format = VK_FORMAT_UNDEFINED;
  VkExtent3D size = {1, 1, 1};
  uint32_t mips = 1;
  uint32_t layers = 1;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  VkImageUsageFlags extra_usage = 0;
  VkImageCreateFlags flags = 0;
};
struct BufferDesc {
  VkDeviceSize size = 0;
  MemoryKind memory = MemoryKind::kDevice;
};

// What a create leaves where the pass itself writes nothing.
struct Contents {
  ContentKind kind = ContentKind::kUndefined;
  VkClearValue value = {};
};
// Whether the new version is kept for the next frame, and what it may be used for there.
struct Keep {
  bool next_frame = false;
  VkImageUsageFlags next_usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
};

struct SemaphoreUse {
  VkSemaphore semaphore = VK_NULL_HANDLE;
  bool timeline = false;
  uint64_t value = 0;
  VkPipelineStageFlags2 stages = 0;
};

struct TextureCreate {
  std::string_view name;
  TextureDesc desc;
  Access access;
  Contents contents;
  Keep keep;
};
struct TextureRead {
  TextureId texture;
  Access access;
};
struct TextureWrite {
  std::string_view name;  // of the new version
  TextureId texture;
  Access access;
  bool discard = false;
  Keep keep;
};
struct TextureImport {
  std::string_view name;
  TextureDesc desc;
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
  Access state;
  const SemaphoreUse* acquire = nullptr;  // null: the caller has waited
};
struct TextureHistory {
  std::string_view name;
  TextureDesc desc;
  VkClearValue initial = {};
  TextureId previous;
};

struct BufferCreate {
  std::string_view name;
  BufferDesc desc;
  Access access;
  Contents contents;
  Keep keep;
};
struct BufferRead {
  BufferId buffer;
  Access access;
};
struct BufferWrite {
  std::string_view name;
  BufferId buffer;
  Access access;
  bool discard = false;
  Keep keep;
};
struct BufferImport {
  std::string_view name;
  BufferDesc desc;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  Access state;
  const SemaphoreUse* acquire = nullptr;
};
struct BufferHistory {
  std::string_view name;
  BufferDesc desc;
  uint32_t initial = 0;  // repeated over the buffer
  BufferId previous;
};

struct Presentation {
  TextureImport image;
  TextureId texture;
  VkSemaphore acquire = VK_NULL_HANDLE;
  VkSemaphore present = VK_NULL_HANDLE;
  VkSwapchainKHR swapchain = VK_NULL_HANDLE;
  uint32_t image_index = 0;
  VkFilter filter = VK_FILTER_LINEAR;
};

// One broken rule. The message starts with the code and names every pass and resource.
struct GraphError {
  std::string code;  // stable: "DOUBLE_WRITE"
  std::string message;
  std::vector<std::string> passes;
  std::vector<std::string> resources;
  Where where;
};

}  // namespace kiln::graph
