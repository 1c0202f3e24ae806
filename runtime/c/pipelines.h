// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "runtime/c/device.h"
#include "runtime/pipeline/pipelines.h"

// Pipelines of a device. Members that hold what they use stand in front of it.
struct kiln_pipelines : kiln::c::Object {
  std::shared_ptr<kiln::runtime::Device> device;
  std::unique_ptr<kiln::runtime::Pipelines> pipelines;
  // What the caller was given: numbers below are of this object.
  std::atomic<uint32_t> ids{0};
  std::atomic<uint32_t> tickets{0};
  std::vector<kiln::runtime::Hitch> hitches;  // that were counted
};
