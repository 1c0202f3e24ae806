// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/lsp/protocol/frame_reader.h"
#include "client/lsp/protocol/message.h"
#include "client/lsp/protocol/position.h"

namespace kiln::lsp {
namespace {

std::vector<std::string> FramesOf(std::string_view bytes, size_t at_once) {
  FrameReader reader;
  std::vector<std::string> frames;
  for (size_t at = 0; at < bytes.size(); at += at_once) {
    reader.Add(bytes.substr(at, at_once));
    while (const std::optional<FrameReader::Frame> frame = reader.Next()) {
      frames.push_back(frame->error.empty() ? frame->content : "error: " + frame->error);
    }
  }
  return frames;
}

TEST(FrameReader, AnyCutOfTheBytes_GivesTheSameFrames) {
  const std::string bytes =
      FrameOf("one") + "content-LENGTH:  3\r\nContent-Type: x\r\n\r\ntwo" + FrameOf("");
  for (size_t at_once = 1; at_once <= bytes.size(); ++at_once) {
    EXPECT_EQ(FramesOf(bytes, at_once), (std::vector<std::string>{"one", "two", ""})) << at_once;
  }
}

TEST(FrameReader, WrongHeaders_CostOneFrameEach) {
  for (const std::string wrong : {"Content-Type: x", "Content-Length: -1", "Content-Length: 1x",
                                  "Content-Length:", "Content-Length: 99999999999999999999",
                                  "Content-Length: 1\r\nContent-Length: 1"}) {
    const std::vector<std::string> frames = FramesOf(wrong + "\r\n\r\n" + FrameOf("good"), 7);
    ASSERT_EQ(frames.size(), 2u) << wrong;
    EXPECT_TRUE(frames[0].starts_with("error: ")) << wrong;
    EXPECT_EQ(frames[1], "good") << wrong;
  }
}

TEST(FrameReader, LongHeader_IsGivenUp) {
  const std::vector<std::string> frames =
      FramesOf(std::string(FrameReader::kMaxHeader + 10, 'x') + "\r\n\r\n" + FrameOf("good"), 1000);
  ASSERT_GE(frames.size(), 2u);
  EXPECT_TRUE(frames.front().starts_with("error: "));
  EXPECT_EQ(frames.back(), "good");
}

TEST(FrameReader, LargeContent_IsSkippedWithoutBeingKept) {
  const size_t size = FrameReader::kMaxContent + 1;
  FrameReader reader;
  reader.Add("Content-Length: " + std::to_string(size) + "\r\n\r\n");
  ASSERT_TRUE(reader.Next().has_value());
  const std::string part(1 << 20, 'x');
  for (size_t sent = 0; sent < size; sent += part.size()) {
    reader.Add(std::string_view(part).substr(0, std::min(part.size(), size - sent)));
    EXPECT_FALSE(reader.Next().has_value());
  }
  EXPECT_TRUE(reader.empty());
  reader.Add(FrameOf("good"));
  EXPECT_EQ(reader.Next()->content, "good");
}

struct MessageRow {
  const char* content;
  int code;  // 0: it is good
};
constexpr MessageRow kMessages[] = {
    {R"({"jsonrpc":"2.0","id":1,"method":"a"})", 0},
    {R"({"jsonrpc":"2.0","id":"x","method":"a","params":[]})", 0},
    {R"({"jsonrpc":"2.0","method":"a","params":{}})", 0},
    {R"({"jsonrpc":"2.0","id":1,"result":null})", 0},
    {R"({"jsonrpc":"2.0","id":1,"error":{}})", 0},
    {"{", -32700},
    {"", -32700},
    {"\xff", -32700},
    {"[]", -32600},
    {"1", -32600},
    {R"({"id":1,"method":"a"})", -32600},
    {R"({"jsonrpc":"1.0","id":1,"method":"a"})", -32600},
    {R"({"jsonrpc":"2.0","id":1})", -32600},
    {R"({"jsonrpc":"2.0","result":1})", -32600},
    {R"({"jsonrpc":"2.0","id":1.5,"method":"a"})", -32600},
    {R"({"jsonrpc":"2.0","id":null,"method":"a"})", -32600},
    {R"({"jsonrpc":"2.0","id":{},"method":"a"})", -32600},
    {R"({"jsonrpc":"2.0","id":1,"method":7})", -32600},
    {R"({"jsonrpc":"2.0","id":1,"method":"a","params":7})", -32600},
};

TEST(ReadMessage, EveryRow_IsTakenOrAnsweredWithItsCode) {
  for (const MessageRow& row : kMessages) {
    const auto read = ReadMessage(row.content);
    const auto* bad = std::get_if<BadRpcMessage>(&read);
    EXPECT_EQ(bad == nullptr ? 0 : static_cast<int>(bad->error.code), row.code) << row.content;
  }
}

TEST(ParseJson, Depth_IsLimited) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseJson(nested(kMaxJsonDepth)).has_value());
  EXPECT_FALSE(ParseJson(nested(kMaxJsonDepth + 1)).has_value());
  EXPECT_FALSE(ParseJson(std::string(1 << 20, '[')).has_value());
  EXPECT_TRUE(ParseJson("\"" + std::string(1000, '[') + "\"").has_value());
}

struct PositionRow {
  Encoding encoding;
  Position at;
  int offset;  // -1: there is none
};

TEST(LineTable, Positions_AreThoseOfTheEncoding) {
  const std::string text = "a\xc3\xa4z\r\n\xf0\x9f\x98\x80x\ry\n";  // aäz, 😀x, y
  const LineTable lines(text);
  EXPECT_EQ(lines.line_count(), 4u);
  using enum Encoding;
  const PositionRow rows[] = {
      {kUtf16, {0, 0}, 0},  {kUtf16, {0, 2}, 3},  {kUtf8, {0, 3}, 3},   {kUtf16, {0, 99}, 4},
      {kUtf16, {1, 0}, 6},  {kUtf16, {1, 2}, 10}, {kUtf16, {1, 1}, 6},  {kUtf8, {1, 4}, 10},
      {kUtf16, {1, 3}, 11}, {kUtf16, {2, 0}, 12}, {kUtf16, {3, 0}, 14}, {kUtf16, {4, 0}, -1},
  };
  for (const PositionRow& row : rows) {
    const std::optional<uint32_t> offset = lines.OffsetOf(text, row.at, row.encoding);
    EXPECT_EQ(offset.has_value() ? static_cast<int>(*offset) : -1, row.offset)
        << row.at.line << ":" << row.at.character;
  }
}

TEST(LineTable, EveryCharacter_ComesBack) {
  const std::string text = "a\xc3\xa4\n\xe2\x82\xac\xf0\x9f\x98\x80\n\xff!\n";
  const LineTable lines(text);
  for (const Encoding encoding : {Encoding::kUtf16, Encoding::kUtf8}) {
    for (uint32_t offset = 0; offset <= text.size(); ++offset) {
      const bool inside =
          offset < text.size() && (static_cast<uint8_t>(text[offset]) & 0xc0) == 0x80;
      const Position at = lines.At(text, offset, encoding);
      if (!inside) {
        EXPECT_EQ(lines.OffsetOf(text, at, encoding), offset);
      }
    }
  }
}

// However long its line is, no place is far from where the walk to it begins.
TEST(LineTable, PlaceOnALongLine_IsCloseToAMark) {
  std::string text = "short\n";
  while (text.size() < 40'000) {
    text += "let a = 1;\xc3\xa4\xf0\x9f\x98\x80\xff";
  }
  text += "\nshort\r\n" + std::string(LineTable::kBytesPerMark + 1, 'x');
  const LineTable lines(text);
  for (const Encoding encoding : {Encoding::kUtf16, Encoding::kUtf8}) {
    for (uint32_t offset = 0; offset <= text.size(); ++offset) {
      const uint32_t line = lines.LineOf(offset);
      const LineTable::Mark mark = lines.MarkBefore(line, offset, encoding);
      ASSERT_LE(mark.offset, offset);
      ASSERT_GE(mark.offset, lines.LineSpan(text, line).begin);
      ASSERT_LT(offset - mark.offset, LineTable::kBytesPerMark + 4);
    }
  }
}

TEST(LineTable, PlacesOnALongLine_AreThoseOfAWalk) {
  std::string line;
  while (line.size() < 5000) {
    line += "ab\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xff";
  }
  const std::string text = "x\n" + line + "\n";
  const LineTable lines(text);
  for (const Encoding encoding : {Encoding::kUtf16, Encoding::kUtf8}) {
    uint32_t character = 0;
    for (uint32_t at = 0; at < line.size();) {
      const uint8_t first = static_cast<uint8_t>(line[at]);
      const uint32_t bytes = first < 0xc0 || first == 0xff ? 1
                             : first < 0xe0                ? 2
                             : first < 0xf0                ? 3
                                                           : 4;
      const Position here{.line = 1, .character = character};
      ASSERT_EQ(lines.At(text, 2 + at, encoding), here) << at;
      ASSERT_EQ(lines.OffsetOf(text, here, encoding), 2 + at) << at;
      if (bytes > 1) {
        ASSERT_EQ(lines.At(text, 2 + at + 1, encoding), here) << at;
      }
      at += bytes;
      character += encoding == Encoding::kUtf8 ? bytes : bytes == 4 ? 2 : 1;
    }
    ASSERT_EQ(lines.OffsetOf(text, {.line = 1, .character = character + 9}, encoding),
              2 + line.size());
  }
}

TEST(ReadPosition, WrongNumbers_AreNone) {
  for (const char* wrong :
       {R"({"line":-1,"character":0})", R"({"line":0})", R"({"line":1.5,"character":0})",
        R"({"line":"1","character":0})", R"({"line":4294967296,"character":0})", "[]", "null"}) {
    const Json json = *ParseJson(wrong);
    EXPECT_FALSE(ReadPosition(&json).has_value()) << wrong;
  }
}

TEST(ChooseEncoding, FirstKnownOffer_IsTaken) {
  const auto chosen = [](const char* offers) {
    return EncodingText(ChooseEncoding(
        {{"capabilities", {{"general", {{"positionEncodings", *ParseJson(offers)}}}}}}));
  };
  EXPECT_EQ(chosen(R"(["utf-32","utf-8","utf-16"])"), "utf-8");
  EXPECT_EQ(chosen(R"(["utf-16","utf-8"])"), "utf-16");
  EXPECT_EQ(chosen(R"([7])"), "utf-16");
  EXPECT_EQ(EncodingText(ChooseEncoding(Json::object())), "utf-16");
}

}  // namespace
}  // namespace kiln::lsp
