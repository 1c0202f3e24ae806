// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/wire.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::metadata {
namespace {

std::string Hex(const WireWriter& writer) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : writer.bytes()) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

TEST(Wire, Numbers_AreVarintsOfSevenBits) {
  WireWriter writer;
  writer.Number(1, 1);
  writer.Number(2, 300);
  writer.Number(16, 0xffffffffu);
  EXPECT_EQ(Hex(writer), "080110ac028001ffffffff0f");
}

TEST(Wire, Defaults_AreLeftOut) {
  WireWriter writer;
  writer.Number(1, 0);
  writer.Flag(2, false);
  writer.Real(3, 0);
  writer.Text(4, "");
  writer.Raw(5, {});
  writer.Numbers(6, {});
  EXPECT_EQ(Hex(writer), "");
}

TEST(Wire, ItemsOfLists_AreWrittenEvenIfEmpty) {
  WireWriter writer;
  writer.TextItem(1, "");
  writer.TextItem(1, "ab");
  EXPECT_EQ(Hex(writer), "0a000a026162");
}

TEST(Wire, MinusZero_IsNoDefault) {
  WireWriter writer;
  writer.Real(1, 0x80000000u);
  EXPECT_EQ(Hex(writer), "0d00000080");
}

TEST(Wire, Messages_NestWithTheirLengths) {
  WireWriter writer;
  writer.Message(1, [&] {
    writer.Number(1, 5);
    writer.Message(2, [&] { writer.Numbers(3, std::vector<uint32_t>{1, 300}); });
    writer.Message(4, [] {});
  });
  EXPECT_EQ(Hex(writer), "0a0b080512051a0301ac022200");
}

TEST(Wire, LongMessages_HaveLongLengths) {
  WireWriter writer;
  writer.Message(1, [&] { writer.Text(1, std::string(200, 'x')); });
  EXPECT_EQ(Hex(writer).substr(0, 12), "0acb010ac801");
}

}  // namespace
}  // namespace kiln::metadata
