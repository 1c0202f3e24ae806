// SPDX-License-Identifier: MIT
// What one frame declared, as flat rows that link to each other by index. Written by Graph, read by
// the planner, the printers and the executor. The rows that decide a plan are trivially copyable
// and have no padding that is not written, so that a frame's structure is hashed as bytes; names,
// handles, clear values and semaphore values live beside them and never change a plan.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/graph/synchronization.h"
#include "runtime/graph/types.h"

namespace kiln::graph {

enum class Op : uint8_t { kRead, kWrite, kCreate };
enum class Object : uint8_t { kTransient, kTemporal, kImported, kHistory };
enum class ResourceKind : uint8_t { kTexture, kBuffer };
// Who declared a pass. All but kUser are the graph's own.
enum class Origin : uint8_t { kUser, kClear, kExport, kPresentCopy, kPresent };

struct PassRow {
  PassKind kind;
  QueueHint queue;
  uint8_t side_effect;
  Origin origin;
};

// Masks are elementary, stages and layout are filled in, ranges are resolved.
struct AccessRow {
  Stages stages;
  Accesses accesses;
  uint32_t pass;
  uint32_t version;  // read or overwritten; the new one of a create
  uint32_t result;   // new version of a write or create, else kNone
  VkImageLayout layout;
  uint16_t mip;
  uint16_t mips;
  uint16_t layer;
  uint16_t layers;
  uint8_t aspects;
  Op op;
  uint8_t discard;  // a write that does not read old contents
  ContentKind contents;
  uint32_t whole;  // 1: all cells of the chain

  bool writes() const { return op != Op::kRead && (accesses & kWriteAccesses) != 0; }
};

// What a version's chain is.
enum ChainBits : uint8_t { kOfTexture = 1, kOfImport = 2 };

struct VersionRow {
  uint32_t chain;
  uint32_t def;   // pass, or kNone
  uint32_t kill;  // pass that overwrites or exports it, or kNone
  uint8_t temporal;
  uint8_t output;    // its contents are wanted after the frame
  uint8_t exported;  // kill is an export
  uint8_t bits;      // ChainBits
};

struct ChainRow {
  uint64_t size;        // of a buffer; of a texture if stated, else 0
  Stages state_stages;  // of an import
  Accesses state_accesses;
  VkImageType type;
  VkFormat format;
  VkExtent3D extent;
  uint32_t mips;
  uint32_t layers;
  uint32_t samples;
  VkImageUsageFlags usage;  // union over the accesses, extra and next usage
  VkImageCreateFlags flags;
  VkImageLayout state_layout;
  uint32_t previous;  // of a history: version of the last frame, or kNone
  uint32_t acquire;   // of an import: index into semaphore_uses, or kNone
  ResourceKind kind;
  Object object;
  MemoryKind memory;
  uint8_t ranged;  // some access is not to the whole
  uint32_t first_version;
  VkImageAspectFlags aspects;  // of the format; 0: a buffer, or a format that nobody knows

  bool texture() const { return kind == ResourceKind::kTexture; }
  TextureDesc Texture() const {
    return {.type = type,
            .format = format,
            .size = extent,
            .mips = mips,
            .layers = layers,
            .samples = static_cast<VkSampleCountFlagBits>(samples),
            .extra_usage = usage,
            .flags = flags};
  }
};

// Whether one object could be either chain, as far as it was described: usage aside.
inline bool SameDescription(const ChainRow& a, const ChainRow& b) {
  return a.kind == b.kind && a.size == b.size && a.type == b.type && a.format == b.format &&
         a.extent.width == b.extent.width && a.extent.height == b.extent.height &&
         a.extent.depth == b.extent.depth && a.mips == b.mips && a.layers == b.layers &&
         a.samples == b.samples && a.flags == b.flags;
}

static_assert(sizeof(AccessRow) == 48 && sizeof(VersionRow) == 16 && sizeof(ChainRow) == 88);

struct SemaphoreRow {
  uint32_t pass;       // kNone: the acquire of an import
  uint32_t semaphore;  // ordinal
  uint64_t value;      // 0: binary
  Stages stages;
  bool wait;
};

// Handles of a chain and the value that it is cleared to; the binding table's part that
// declarations know.
struct ChainBinding {
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  VkClearValue clear = {};
};

struct PresentRow {
  uint32_t source;  // version
  uint32_t target;  // version of the imported image
  uint32_t copy_pass;
  uint32_t present_pass;
  VkSwapchainKHR swapchain;
  VkSemaphore present;
  uint32_t image_index;
  VkFilter filter;
};

struct NameRef {
  uint32_t offset = 0;
  uint32_t size = 0;
};

using CallbackFunction = void (*)(const void* captured, void* device, const void* resources,
                                  void* commands);
struct CallbackRow {
  CallbackFunction call = nullptr;
  uint32_t offset = 0;  // of the captured bytes, in units of 16
};

// What a plan does not depend on: of a pass …
struct PassNote {
  NameRef name;
  Where where;
  CallbackRow callback;
};
// … and of a version.
struct VersionNote {
  NameRef name;
  VkImageUsageFlags next_usage = 0;  // of a temporal: what it may be used for in the next frame
};

struct Declarations {
  uint32_t frame = 0;
  std::vector<PassRow> passes;
  std::vector<AccessRow> accesses;
  std::vector<VersionRow> versions;
  std::vector<ChainRow> chains;
  std::vector<SemaphoreRow> semaphore_uses;
  std::vector<PresentRow> presents;

  std::vector<VkSemaphore> semaphores;  // by ordinal
  std::vector<uint8_t> semaphore_timeline;
  std::vector<ChainBinding> bindings;  // by chain
  std::vector<PassNote> pass_notes;
  std::vector<VersionNote> version_notes;
  std::vector<NameRef> semaphore_names;
  std::vector<char> text;

  std::string_view Text(NameRef ref) const { return {text.data() + ref.offset, ref.size}; }
  std::string_view PassName(uint32_t pass) const { return Text(pass_notes[pass].name); }
  std::string_view VersionName(uint32_t version) const { return Text(version_notes[version].name); }
  // A chain is called by its first version.
  std::string_view ChainName(uint32_t chain) const {
    return VersionName(chains[chain].first_version);
  }
  std::string_view SemaphoreName(uint32_t ordinal) const { return Text(semaphore_names[ordinal]); }
  const ChainRow& ChainOf(const AccessRow& access) const {
    return chains[versions[access.version].chain];
  }
};

}  // namespace kiln::graph
