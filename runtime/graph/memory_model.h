// SPDX-License-Identifier: MIT
// What textures and buffers need, asked by the planner. DeviceModel asks a device; TexelModel needs
// none.
#pragma once

#include <cstdint>

#include "runtime/graph/types.h"

namespace kiln::graph {

// Bytes and alignment of a chain in memory of its class.
struct MemoryNeeds {
  uint64_t size = 0;
  uint64_t alignment = 1;
  uint32_t types = 1;      // bit set of memory types
  bool dedicated = false;  // wants an allocation of its own
};

// What a description needs. One thread.
class MemoryModel {
 public:
  virtual ~MemoryModel() = default;
  // False: the device has no such texture.
  virtual bool Texture(const TextureDesc& desc, MemoryNeeds& needs) = 0;
  virtual MemoryNeeds Buffer(const BufferDesc& desc) = 0;
  // Part of the structure hash: models that answer alike have equal identities.
  virtual uint64_t identity() const = 0;
};

// Counts texels and aligns to 256; for tests and tools.
class TexelModel final : public MemoryModel {
 public:
  bool Texture(const TextureDesc& desc, MemoryNeeds& needs) override;
  MemoryNeeds Buffer(const BufferDesc& desc) override;
  uint64_t identity() const override { return 1; }
};

// The smallest multiple of the alignment that is not below the value.
inline uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace kiln::graph
