// SPDX-License-Identifier: MIT
#include "tests/bench/layout_times.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "compiler/layout/engine/engine.h"

namespace kiln::bench {
namespace {

using layout::ByteLayouts;
using layout::Kind;
using layout::Member;
using layout::Platform;
using layout::Program;
using layout::ResourceClass;
using layout::Rules;
using layout::ScalarKind;
using layout::TypeId;
using layout::Types;

constexpr int kColdRuns = 200;
constexpr int kLookUps = 1'000'000;

double MicrosecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

// Textures, samplers, writable buffers, constant buffers with a texture inside, loose values; one
// in ten bound by its author.
struct Declarations {
  Types types;
  Program program;
  TypeId block;

  Declarations() {
    const TypeId float4 = types.Vector(ScalarKind::kF32, 4);
    const TypeId texture = types.Resource(ResourceClass::kRead, "Texture2D");
    const std::vector<Member> members = {
        {.name = "transform", .type = types.Matrix(ScalarKind::kF32, 4, 4)},
        {.name = "weights", .type = types.Array(types.Vector(ScalarKind::kF32, 3), 8)},
        {.name = "map", .type = texture},
        {.name = "tint", .type = float4}};
    block = types.Struct("Block", members);
    const std::vector<TypeId> kinds = {texture,
                                       types.Resource(ResourceClass::kSampler, "SamplerState"),
                                       types.Array(texture, 4),
                                       types.ConstantBuffer("ConstantBuffer<Block>", block),
                                       types.Resource(ResourceClass::kWrite, "RWTexture2D"),
                                       float4};
    layout::Unit unit{.name = "u0"};
    for (int i = 0; i < kLayoutParameters; ++i) {
      layout::Parameter parameter{.name = types.Keep(fmt::format("parameter{}", i)),
                                  .type = kinds[static_cast<size_t>(i) % kinds.size()]};
      if (i % 30 == 0) {
        parameter.slot = {.index = static_cast<uint64_t>(5 * i)};
        parameter.registers = {{.text = types.Keep(fmt::format("t{}", 5 * i))}};
      }
      unit.parameters.push_back(std::move(parameter));
    }
    program.units.push_back(std::move(unit));
  }
};

// The median over fresh copies, so that nothing is remembered.
double ColdMicroseconds(Platform platform) {
  std::vector<double> times;
  for (int run = 0; run < kColdRuns; ++run) {
    Declarations declarations;
    declarations.program.platform = platform;
    const auto start = std::chrono::steady_clock::now();
    ByteLayouts bytes(declarations.types);
    const layout::ProgramLayout placed =
        layout::LayOut(declarations.program, declarations.types, bytes);
    times.push_back(MicrosecondsSince(start));
    if (!placed.ok() || placed.parameters.size() != kLayoutParameters) {
      return -1;
    }
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

double RememberedMicroseconds() {
  const Declarations declarations;
  ByteLayouts bytes(declarations.types);
  uint64_t sum = bytes.Of(declarations.block, Rules::kStd140).size;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kLookUps; ++i) {
    sum += bytes.Of(declarations.block, i % 2 == 0 ? Rules::kStd140 : Rules::kStd430).size;
  }
  const double time = MicrosecondsSince(start) / kLookUps;
  return sum == 0 ? -1 : time;
}

}  // namespace

LayoutTimes MeasureLayout() {
  return {.cold_vulkan_us = ColdMicroseconds(Platform::kVulkan),
          .cold_d3d12_us = ColdMicroseconds(Platform::kD3d12),
          .remembered_us = RememberedMicroseconds()};
}

}  // namespace kiln::bench
