// SPDX-License-Identifier: MIT
#include "runtime/graph/memory_model.h"

#include "runtime/graph/formats.h"

namespace kiln::graph {

// A device that nobody has: sizes as they follow from the format, and an alignment that is common.
// Tests and tools so plan the same on every machine.
bool TexelModel::Texture(const TextureDesc& desc, MemoryNeeds& needs) {
  needs = {
      .size = AlignUp(TexelBytes(desc), 256), .alignment = 256, .types = 1, .dedicated = false};
  return true;
}

MemoryNeeds TexelModel::Buffer(const BufferDesc& desc) {
  return {.size = AlignUp(desc.size, 256), .alignment = 256, .types = 1, .dedicated = false};
}

}  // namespace kiln::graph
