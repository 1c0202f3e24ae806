// SPDX-License-Identifier: MIT
// RPL functions on a device and in the interpreter, side by side: a full-screen pass of 16 × 16
// pixels, each with inputs of its own in a storage buffer and with results in colour outputs whose
// items are 32 bits wide. The source of a test is linked behind a prelude and defines
//
//   void probe (in u1 index)     reads bench.samples[index].f, .u, .s; writes result.f0 … result.s0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/preview/descriptors.h"
#include "runtime/vk/device.h"
#include "tests/support/built_variant.h"
#include "tests/support/interpreter.h"

namespace kiln::oracle {

// Modules and entry points of a test: the prelude, then `source`.
VariantRequest BenchRequest(std::string source);
// The same with a vertex stage of the source's own, `bench_vertex`, which writes
// bench_screen.pixel.
VariantRequest VertexBenchRequest(std::string source);

inline constexpr uint32_t kBenchSide = 16;
inline constexpr uint32_t kBenchPixels = kBenchSide * kBenchSide;

// What one pixel reads: f4[8] f, u4[3] u, s4[3] s.
struct Sample {
  std::array<float, 32> f{};
  std::array<uint32_t, 12> u{};
  std::array<int32_t, 12> s{};
};
static_assert(sizeof(Sample) == 224);  // as std430 has it
using Samples = std::array<Sample, kBenchPixels>;

// What one pixel wrote: f0 to f3, u0, s0.
using Pixel = std::array<uint32_t, 24>;
inline constexpr uint32_t kClearWord = 0x42280000;  // 42.0 and a number that no test computes
using Pixels = std::vector<Pixel>;

// The interpreter's run of every pixel.
std::vector<Outcome> InterpretPixels(const BuiltVariant& variant, const Samples& samples,
                                     Surroundings around = {});

struct Comparison {
  std::string difference;  // of the first pixel that differs; empty if there is none
  uint32_t decided = 0;    // results that were compared
  uint32_t open = 0;       // results about which the interpreter says nothing
};
Comparison Compare(std::span<const Outcome> expected, const Pixels& found, const Samples& samples);

// What a run on the device gets besides the samples.
struct BenchExtra {
  preview::ResourceTable resources{};  // besides those of the prelude
  std::vector<std::byte> push{};
  uint32_t instances = 1;
};

// A device with the validation layer. One thread.
class PixelRig {
 public:
  PixelRig();
  ~PixelRig();

  // What validation said since the last call.
  std::vector<std::string> TakeMessages();

  using Extra = BenchExtra;
  Result<Pixels> Run(const BuiltVariant& variant, const Samples& samples, const Extra& extra = {});

  // For what a test uploads itself.
  struct Gpu;
  Gpu& gpu() { return *gpu_; }
  const runtime::Device& device() const { return *device_; }

 private:
  std::vector<std::string> messages_;
  std::optional<runtime::Device> device_;
  std::unique_ptr<Gpu> gpu_;
};

}  // namespace kiln::oracle
