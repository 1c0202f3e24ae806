// SPDX-License-Identifier: MIT
#include "runtime/preview/image_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace kiln::preview {
namespace {

std::string TempFile(const std::string& name) { return ::testing::TempDir() + name; }

Picture Gradient() {
  Picture picture{5, 3, {}};
  for (uint32_t i = 0; i < 5 * 3 * 4; ++i) {
    picture.rgba.push_back(static_cast<uint8_t>(i * 4));
  }
  return picture;
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Png, WrittenAndRead_IsTheSamePicture) {
  const std::string path = TempFile("kiln_png_round_trip.png");
  ASSERT_TRUE(WritePng(path, Gradient()).ok());
  const auto read = ReadPng(path);
  ASSERT_TRUE(read.ok()) << ErrorText(read.error());
  EXPECT_EQ(read->width, 5U);
  EXPECT_EQ(read->height, 3U);
  EXPECT_EQ(read->rgba, Gradient().rgba);
}

TEST(Png, WrittenTwice_GivesEqualFiles) {
  const std::string first = TempFile("kiln_png_first.png");
  const std::string second = TempFile("kiln_png_second.png");
  ASSERT_TRUE(WritePng(first, Gradient()).ok());
  ASSERT_TRUE(WritePng(second, Gradient()).ok());
  EXPECT_EQ(Content(first), Content(second));
}

TEST(Png, UnwritablePlace_IsAnErrorWithThePath) {
  const auto result = WritePng("/proc/nowhere/x.png", Gradient());
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().context.find("/proc/nowhere/x.png"), std::string::npos);
}

TEST(Png, MissingOrDamagedFile_IsAnError) {
  EXPECT_EQ(ReadPng(TempFile("kiln_png_none.png")).error().code, ErrorCode::kNotFound);
  const std::string path = TempFile("kiln_png_damaged.png");
  std::ofstream(path) << "this is no picture";
  EXPECT_EQ(ReadPng(path).error().code, ErrorCode::kCorrupt);
}

TEST(Picture, Halved_IsTheMeanOfFour) {
  const Picture picture{2, 2, {0, 10, 20, 255, 4, 10, 20, 255, 8, 10, 20, 255, 12, 14, 20, 255}};
  const Picture half = Halve(picture);
  EXPECT_EQ(half.width, 1U);
  EXPECT_EQ(half.rgba, (std::vector<uint8_t>{6, 11, 20, 255}));
}

}  // namespace
}  // namespace kiln::preview
