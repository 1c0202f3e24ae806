// SPDX-License-Identifier: MIT
#include "compiler/base/hash/sha512.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string HexOf(std::initializer_list<ByteView> parts) {
  std::string text;
  for (const uint8_t byte : Sha512(parts)) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}
std::string HexOf(std::string_view text) { return HexOf({AsBytes(text)}); }

// FIPS 180-4, and `sha512sum`.
TEST(Sha512, KnownTexts_HaveTheirDigests) {
  EXPECT_EQ(HexOf(""),
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
            "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
  EXPECT_EQ(HexOf("abc"),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
}

// Lengths around those at which the padding takes another block; sums of `sha512sum`.
TEST(Sha512, LengthsAroundABlock_HaveTheirDigests) {
  const std::pair<size_t, const char*> rows[] = {
      {111,
       "56f694f7f6f83a204d65a428ea0eb51410515b744a809d4149a0d5a84f2e2ba7"
       "752b72bbdd94fdfbe4ed060292e11a035b3de5db1cad6e2e8d8a960b2d7193dc"},
      {112,
       "9a575c5b522376d98ccf0a6ae515eddc1a77dc7205fe96c4ba253719ed0e82f5"
       "9d88262a0f4d72dc812fc58769f8871fea534361bf715287dc45cb38130f299a"},
      {113,
       "ffe9763c939371c8835f6143dd572a9c1f807537c6ea646ce46c26020e5d3656"
       "522539939abc2ed661d121b23c72bd833c716654c4681fe7a651584735330a5c"},
      {127,
       "590ab3d19d03ed17725ae34f1793f557c5f2b126ab959e8e6f0234de6b5e54b0"
       "d55d4397f4c8813a39c5ce002ec165fc46dc973c790a8b0920a12c40439277f7"},
      {128,
       "3ab683d8cd4a34e524a4f74451a25d2694e2d2e6b98a5fc8b4afbf6cf4d78ac6"
       "eda727952df6ce101ab6f74a49d52b55aaf6c8be10fcd74c2142cec5f0dd72f6"},
      {129,
       "1b171e9976865b2a3156860b3c5efb252c6e784e1c31adadfda91172d5ce565f"
       "bf0e26f9cbdaeabbb0b3147a3e03416841b109a9a83a4f71153bdedd2aaa299a"},
      {239,
       "3333372b58b55a2501486312946415235d298726b056e263f54d7e886f6c58ee"
       "dcd8a8dbb678efd758d4998fe9a21d38346ca2d26a12118bc861f5cfff1bb83b"},
      {240,
       "76488766c0411742e2aae443094e19147b74136f8bab5aaa45174c6261922c93"
       "dc3b29a4cac5d3fa66725035dbe31c970107b9559aea00b93197fe316813ca56"},
      {255,
       "259cd9e40d8c1717d04dfb544400d152d725c40a3af64637c41110d0c228d5b2"
       "87b66edc625a88152a3ca048a1749418ce1b53c39a18f948e85ea18735189133"},
      {256,
       "81e6825d0ee82437f666cd13a23ea6abbb848850516f4f8948b98606edc28aea"
       "fb5ff0081f22d5cc932a859e5df869f4a4b23e946f705def3e51a4212b8ff4b2"},
      {1000,
       "2dc15ef188f69855026756b1404290abefe4f31bcb2032db12e61dd322b2a900"
       "4e310a033f702a61e935e9f7fb5a1c183a35b4d2704b6f43e5816e2dfaf3248d"},
  };
  for (const auto& [size, digest] : rows) {
    EXPECT_EQ(HexOf(std::string(size, '\x07')), digest) << size;
  }
}

TEST(Sha512, Parts_AreTheirConcatenation) {
  const std::string text(300, 'x');
  const std::string_view view = text;
  for (size_t cut = 0; cut <= text.size(); cut += 7) {
    EXPECT_EQ(HexOf({AsBytes(view.substr(0, cut)), AsBytes(view.substr(cut))}), HexOf(text)) << cut;
  }
}

}  // namespace
}  // namespace kiln
