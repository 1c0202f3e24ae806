// SPDX-License-Identifier: MIT
#include "tests/graph/shrink_frame.h"

#include <algorithm>
#include <set>
#include <string>
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

// Nobody makes these versions any more: their uses go, and what was made from them.
void Lose(std::set<std::string> lost, FrameDescription& frame) {
  const auto uses_lost = [&](const FileAccess& access) { return lost.count(access.resource) != 0; };
  for (size_t known = 0; known != lost.size();) {
    known = lost.size();
    for (FilePass& pass : frame.passes) {
      std::erase_if(pass.reads, uses_lost);
      for (const FileAccess& write : pass.writes) {
        if (uses_lost(write)) {
          lost.insert(write.result);
        }
      }
      std::erase_if(pass.writes, uses_lost);
    }
  }
  std::erase_if(frame.outputs, [&](const std::string& name) { return lost.count(name) != 0; });
}

void DropPass(size_t number, FrameDescription& frame) {
  std::set<std::string> lost;
  for (const FileAccess& create : frame.passes[number].creates) {
    lost.insert(create.resource);
  }
  for (const FileAccess& write : frame.passes[number].writes) {
    lost.insert(write.result);
  }
  frame.passes.erase(frame.passes.begin() + static_cast<ptrdiff_t>(number));
  Lose(std::move(lost), frame);
}

using Accesses = std::vector<FileAccess> FilePass::*;

void DropAccess(size_t pass, Accesses list, size_t number, FrameDescription& frame) {
  std::vector<FileAccess>& accesses = frame.passes[pass].*list;
  const FileAccess dropped = accesses[number];
  accesses.erase(accesses.begin() + static_cast<ptrdiff_t>(number));
  if (list == &FilePass::creates) {
    Lose({dropped.resource}, frame);
  } else if (list == &FilePass::writes) {
    Lose({dropped.result}, frame);
  }
}

bool DropPasses(FrameDescription& frame, const Fails& fails) {
  bool any = false;
  for (size_t i = frame.passes.size(); i-- > 0;) {
    any = Try(frame, fails, [&](FrameDescription& less) { DropPass(i, less); }) || any;
  }
  return any;
}

bool DropAccesses(FrameDescription& frame, const Fails& fails) {
  bool any = false;
  for (const Accesses list : {&FilePass::reads, &FilePass::creates, &FilePass::writes}) {
    for (size_t pass = 0; pass < frame.passes.size(); ++pass) {
      for (size_t i = (frame.passes[pass].*list).size(); i-- > 0;) {
        if (i >= (frame.passes[pass].*list).size()) {
          continue;  // went with another
        }
        any = Try(frame, fails, [&](FrameDescription& less) { DropAccess(pass, list, i, less); }) ||
              any;
      }
    }
  }
  return any;
}

void Halve(FileResource& resource) {
  VkExtent3D& size = resource.texture.size;
  size = {std::max(size.width / 2, 1U), std::max(size.height / 2, 1U), size.depth};
  resource.buffer.size = std::max<VkDeviceSize>(resource.buffer.size / 2, 1);
}

}  // namespace

FrameDescription Shrink(FrameDescription frame, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = DropPasses(frame, fails);
    smaller = DropAccesses(frame, fails) || smaller;
  }
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
