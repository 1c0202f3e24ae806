// SPDX-License-Identifier: MIT
#include "client/cli/output/print.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cli/output/json_line.h"

namespace kiln::cli {
namespace {

// What is written to a stream.
std::string Printed(const std::function<void(std::FILE*)>& print) {
  std::FILE* const file = std::tmpfile();
  EXPECT_NE(file, nullptr);
  print(file);
  std::rewind(file);
  std::array<char, 512> text{};
  const size_t size = std::fread(text.data(), 1, text.size(), file);
  (void)std::fclose(file);
  return std::string(text.data(), size);
}

TEST(Print, ValuesAreCleanAndTheFormatIsAsItStands) {
  const std::string name = "a\x1b]0;x\x07\nb";
  const std::string view = "a\n  b\nc\td\x9b";
  const struct {
    std::string printed, wanted;
  } rows[] = {
      {Printed([&](std::FILE* f) { Print(f, "\x1b[2K{}\n", name); }),
       "\x1b[2Ka\\x1b]0;x\\x07\\x0ab\n"},
      {Printed([&](std::FILE* f) { Print(f, "{}", name.c_str()); }), "a\\x1b]0;x\\x07\\x0ab"},
      {Printed([&](std::FILE* f) { Print(f, "{}", std::string_view(name)); }),
       "a\\x1b]0;x\\x07\\x0ab"},
      {Printed([&](std::FILE* f) { Print(f, "{}", '\x1b'); }), "\\x1b"},
      {Printed([&](std::FILE* f) { Print(f, "{:<6}|{:>4}|{:.1f}|{}", "a\r", 7, 1.25, true); }),
       "a\\x0d |   7|1.2|true"},
      {Printed([&](std::FILE* f) { Print(f, "{}", Lines{view}); }), "a\n  b\nc\td\\x9b"},
      {Printed([&](std::FILE* f) { Print(f, "{}", Message{view}); }), "a\n  b\\x0ac\\x09d\\x9b"},
      {Printed([&](std::FILE* f) { Print(f, "{}", TrustedText{"\x1b[1mbold\x1b[0m"}); }),
       "\x1b[1mbold\x1b[0m"}};
  for (const auto& row : rows) {
    EXPECT_EQ(row.printed, row.wanted);
  }
}

TEST(PrintLine, Json_IsCleanAndMeansWhatItMeant) {
  testing::internal::CaptureStdout();
  PrintLine({{"name", "\x1b\x7f\xc2\x9b\xe2\x80\xae\xff"}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "{\"name\":\"\\u001b\\u007f\\u009b\\u202e\xef\xbf\xbd\"}\n");
}

}  // namespace
}  // namespace kiln::cli
