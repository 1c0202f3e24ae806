// SPDX-License-Identifier: MIT
#include "compiler/source/probe_list.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

const std::vector<Probe>& Some() {
  static const std::vector<Probe> probes{
      {.path = "a.h", .present = true, .digest = DigestOf(std::string_view("one"))},
      {.path = "lib/a.h", .present = false, .digest = {}},
      {.path = std::string("\0\xff\n", 3), .present = false, .digest = {}}};
  return probes;
}

TEST(ProbeList, ThatWasWritten_IsRead) {
  for (const std::vector<Probe>& probes : {std::vector<Probe>(), Some()}) {
    const Result<std::vector<Probe>> read = DecodeProbes(EncodeProbes(probes));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, probes);
  }
}

TEST(ProbeList, WithAPathTwice_IsRefused) {
  std::vector<Probe> probes = Some();
  probes.push_back(probes.front());
  EXPECT_FALSE(DecodeProbes(EncodeProbes(probes)).ok());
}

TEST(ProbeList, OtherBytes_AreRefusedOrTheSameAgain) {
  const Bytes good = EncodeProbes(Some());
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(DecodeProbes(ByteView(good).first(size)).ok()) << size;
  }
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes = good;
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
    if (const Result<std::vector<Probe>> read = DecodeProbes(bytes); read.ok()) {
      EXPECT_EQ(EncodeProbes(*read), bytes);
    }
  }
}

}  // namespace
}  // namespace kiln
