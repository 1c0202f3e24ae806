// SPDX-License-Identifier: MIT
#include "tests/oracle/compute_fixture.h"
#include "tests/support/texels.h"

namespace kiln::oracle {
namespace {

template <class T>
void Append(std::vector<std::byte>& bytes, T item) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(item);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

}  // namespace

Comparison Compute::Agree(const std::string& source, const ComputeRun& run,
                          std::vector<std::string> options, std::string_view environment) {
  const BuiltVariant variant({.sources = {source},
                              .entries = {"compute:main"},
                              .options = std::move(options),
                              .environment = std::string(environment)});
  EXPECT_TRUE(variant.ok()) << variant.messages() << source;
  if (!variant.ok()) {
    return {};
  }
  std::string why;
  const Surroundings expected = InterpretCompute(variant, run, why);
  EXPECT_EQ(why, "") << source;
  const Result<ComputeMemory> found = RunCompute(bench(), variant, run);
  EXPECT_TRUE(found.ok()) << ErrorText(found.error()) << source;
  if (!found.ok() || !why.empty()) {
    return {};
  }
  Comparison comparison = CompareMemory(variant, expected, *found);
  EXPECT_EQ(comparison.difference, "") << source;
  return comparison;
}

void Compute::Decided(const std::string& source, const ComputeRun& run,
                      std::vector<std::string> options, std::string_view environment) {
  const Comparison comparison = Agree(source, run, std::move(options), environment);
  EXPECT_EQ(comparison.open, 0U) << source;
  EXPECT_GT(comparison.decided, 0U) << source;
}

std::vector<std::byte> Compute::Words(size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < count; ++i) {
    Append(bytes, static_cast<uint32_t>(random()));
  }
  return bytes;
}

std::vector<std::byte> Compute::Numbers(size_t count) {
  std::mt19937 random(8);
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < count; ++i) {
    Append(bytes, (static_cast<float>(random() % 129) - 64) / 8);
  }
  return bytes;
}

StorageImage Compute::Image(ir::ImageFormat format, std::array<uint32_t, 3> size) {
  std::mt19937 random(9);
  StorageImage image{.format = format, .size = size, .texels = {}};
  const size_t count = size_t{size[0]} * size[1] * size[2];
  const bool normalised =
      format == ir::ImageFormat::kRgba8Unorm || format == ir::ImageFormat::kRgba8Snorm;
  for (size_t i = 0; i < count * 4; ++i) {
    const auto small = static_cast<float>(random() % 128);
    image.texels.push_back(
        {.bits = HoldsFloats(format) ? std::bit_cast<uint32_t>(normalised ? small / 127 : small / 8)
                                     : static_cast<uint32_t>(random() % 128),
         .error = 0});
  }
  image.texels = DecodeTexels(format, EncodeTexels(image));
  return image;
}

}  // namespace kiln::oracle
