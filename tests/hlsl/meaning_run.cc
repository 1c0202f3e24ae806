// SPDX-License-Identifier: MIT
#include "tests/hlsl/meaning_run.h"

#include <array>
#include <bit>
#include <random>

namespace kiln::hlsl {
namespace {

template <class T>
void Append(std::vector<std::byte>& bytes, T item) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(item);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// In the ranges that meaning_rows.cc promises; floats are multiples of 1/8, so sums and products
// are exact.
std::vector<std::byte> Inputs() {
  std::mt19937 random(20261124);
  std::vector<std::byte> bytes;
  const auto four = [&](auto draw) {
    for (uint32_t i = 0; i < 4; ++i) {
      Append(bytes, draw());
    }
  };
  const auto word = [&] {
    const auto drawn = static_cast<uint32_t>(random());
    const uint32_t kind = random() % 4;
    return kind == 0 ? drawn % 9 : kind == 1 ? ~(drawn % 9) : drawn;
  };
  for (uint32_t item = 0; item < kMeaningInputs; ++item) {
    four([&] { return (static_cast<float>(random() % 257) - 128) / 8; });
    four([&] { return static_cast<float>(1 + random() % 64) / 8; });
    four(word);
    four([&] { return static_cast<uint32_t>(1 + random() % 31); });
    four([&] { return static_cast<int32_t>(word()); });
    four([&] { return static_cast<int32_t>(1 + random() % 127); });
  }
  return bytes;
}

}  // namespace

VariantRequest MeaningRequest(const std::string& source, Version version) {
  VariantRequest request{.sources = {source}, .entries = {"compute:main"}};
  request.inputs.language = ir::Language::kHlsl;
  request.inputs.hlsl.version = version;
  return request;
}

oracle::ComputeRun MeaningRun(size_t rows) {
  oracle::ComputeRun run{.groups = {kMeaningInputs, 1, 1}};
  run.memory.buffers["given"] = Inputs();
  run.memory.buffers["made"] = std::vector<std::byte>(kMeaningInputs * kMadeBytes * rows);
  return run;
}

}  // namespace kiln::hlsl
