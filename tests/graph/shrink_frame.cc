// SPDX-License-Identifier: MIT
#include "tests/graph/shrink_frame.h"

#include <algorithm>
#include <utility>

namespace kiln::graph {
namespace {

// Replaces the frame by the changed one if that fails, too.
template <class Change>
bool Try(FrameDescription& frame, const Fails& fails, const Change& change) {
  FrameDescription less = frame;
  change(less);
  if (!fails(less)) {
    return false;
  }
  frame = std::move(less);
  return true;
}

void DropAccesses(FrameDescription& frame, const Fails& fails) {
  for (const auto list : {&FilePass::reads, &FilePass::creates, &FilePass::writes}) {
    for (size_t pass = 0; pass < frame.passes.size(); ++pass) {
      for (size_t i = 0; i < (frame.passes[pass].*list).size();) {
        const bool dropped = Try(frame, fails, [&](FrameDescription& less) {
          auto& accesses = less.passes[pass].*list;
          accesses.erase(accesses.begin() + static_cast<ptrdiff_t>(i));
        });
        i += dropped ? 0 : 1;
      }
    }
  }
}

void Halve(FileResource& resource) {
  VkExtent3D& size = resource.texture.size;
  size = {std::max(size.width / 2, 1U), std::max(size.height / 2, 1U), size.depth};
  resource.buffer.size = std::max<VkDeviceSize>(resource.buffer.size / 2, 1);
}

}  // namespace

FrameDescription Shrink(FrameDescription frame, const Fails& fails) {
  for (size_t i = 0; i < frame.passes.size();) {
    const bool dropped = Try(frame, fails, [&](FrameDescription& less) {
      less.passes.erase(less.passes.begin() + static_cast<ptrdiff_t>(i));
    });
    i += dropped ? 0 : 1;
  }
  DropAccesses(frame, fails);
  for (size_t i = 0; i < frame.resources.size(); ++i) {
    for (int times = 0; times < 32; ++times) {
      if (!Try(frame, fails, [&](FrameDescription& less) { Halve(less.resources[i]); })) {
        break;
      }
    }
  }
  return frame;
}

}  // namespace kiln::graph
