// SPDX-License-Identifier: MIT
// What a PixelRig and its tests upload with.
#pragma once

#include <utility>

#include "runtime/vk/memory.h"
#include "runtime/vk/queue.h"
#include "tests/support/pixel_rig.h"

namespace kiln::oracle {

struct PixelRig::Gpu {
  explicit Gpu(const runtime::Device& device)
      : memory(device), queue(std::move(vk::Queue::Create(device)).value()) {}

  vk::Memory memory;
  vk::Queue queue;
};

}  // namespace kiln::oracle
