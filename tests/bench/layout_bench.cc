// SPDX-License-Identifier: MIT
// What laying out costs: a program of 1,000 parameters from nothing, and the byte layout of a
// closed type that is known already.
//
// usage: layout_bench [--json]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "compiler/layout/lay_out.h"

namespace {

using kiln::layout::ByteLayouts;
using kiln::layout::Kind;
using kiln::layout::Member;
using kiln::layout::Platform;
using kiln::layout::Program;
using kiln::layout::ResourceClass;
using kiln::layout::Rules;
using kiln::layout::ScalarKind;
using kiln::layout::TypeId;
using kiln::layout::Types;

constexpr int kParameters = 1000;
constexpr int kColdRuns = 200;
constexpr int kLookUps = 1'000'000;
constexpr double kColdLimit = 1000.0;  // microseconds
constexpr double kRememberedLimit = 0.2;

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
    kiln::layout::Unit unit{.name = "u0"};
    for (int i = 0; i < kParameters; ++i) {
      kiln::layout::Parameter parameter{.name = types.Keep(fmt::format("parameter{}", i)),
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
    const auto layout = kiln::layout::LayOut(declarations.program, declarations.types, bytes);
    times.push_back(MicrosecondsSince(start));
    if (!layout.ok() || layout.parameters.size() != kParameters) {
      fmt::print(stderr, "layout_bench: the program has errors\n");
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

int main(int argc, char** argv) {
  const double vulkan = ColdMicroseconds(Platform::kVulkan);
  const double d3d12 = ColdMicroseconds(Platform::kD3d12);
  const double remembered = RememberedMicroseconds();
  const bool cold_ok = vulkan >= 0 && d3d12 >= 0 && std::max(vulkan, d3d12) <= kColdLimit;
  const bool remembered_ok = remembered >= 0 && remembered <= kRememberedLimit;
  if (argc > 1 && std::string_view(argv[1]) == "--json") {
    fmt::print(
        "{{\"layout\": {{\"parameters\": {}, \"cold_vulkan_us\": {:.1f}, \"cold_d3d12_us\": "
        "{:.1f}, \"remembered_type_us\": {:.4f}}}, \"gates\": {{\"layout_cold\": {}, "
        "\"layout_remembered\": {}}}}}\n",
        kParameters, vulkan, d3d12, remembered, cold_ok, remembered_ok);
  } else {
    fmt::print("{} parameters, cold: vulkan {:.1f} us, d3d12 {:.1f} us (limit {})\n", kParameters,
               vulkan, d3d12, kColdLimit);
    fmt::print("one closed type, remembered: {:.4f} us (limit {})\n", remembered, kRememberedLimit);
  }
  return cold_ok && remembered_ok ? 0 : 1;
}
