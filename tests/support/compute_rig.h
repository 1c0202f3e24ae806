// SPDX-License-Identifier: MIT
// Compute programs on a device and in the interpreter, side by side: the same storage buffers and
// storage images before, and what is in them afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/support/pixel_rig.h"

namespace kiln::oracle {

struct ComputeMemory {
  std::map<std::string, std::vector<std::byte>, std::less<>> buffers{};
  std::map<std::string, StorageImage, std::less<>> images{};
};

struct ComputeRun {
  std::array<uint32_t, 3> groups = {1, 1, 1};
  ComputeMemory memory{};
  preview::ResourceTable resources{};  // samplers and images that are sampled
  std::vector<std::byte> push{};
};

// What the device left in memory.
Result<ComputeMemory> RunCompute(PixelRig& bench, const BuiltVariant& variant,
                                 const ComputeRun& run);
// The same with the words of another compiler, whose interface is that of the variant.
Result<ComputeMemory> RunCompute(PixelRig& bench, const BuiltVariant& variant,
                                 std::span<const uint32_t> words, const ComputeRun& run);

// What the interpreter left in memory; `why` it does not know, or nothing.
Surroundings InterpretCompute(const BuiltVariant& variant, const ComputeRun& run, std::string& why,
                              Surroundings around = {});

// Of all buffers and images.
Comparison CompareMemory(const BuiltVariant& variant, const Surroundings& expected,
                         const ComputeMemory& found);

}  // namespace kiln::oracle
