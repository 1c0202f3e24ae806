// SPDX-License-Identifier: MIT
// Places in modules of several files.
#include "compiler/diag/place.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln {
namespace {

class PlaceOfFiles : public testing::Test {
 protected:
  std::string At(Span bytes) const {
    const std::vector<ModuleText> modules{
        ModuleText({{0, &root_}, {10, &included_, {4, 5}}, {20, nullptr}, {30, &last_, {13, 14}}},
                   {{.begin = 13, .line = 40, .path = 0}, {.begin = 33, .line = 7}}, {"gen.fx"})};
    const PlacedDiagnostic placed =
        Place(Make(Code::kRpl1163, {.module = 0, .bytes = bytes}), modules);
    std::string text =
        placed.primary.path + ":" + std::to_string(placed.primary.line) + ":" +
        std::to_string(placed.primary.column) + "-" + std::to_string(placed.primary.end_line) +
        ":" + std::to_string(placed.primary.end_column) + " " +
        std::to_string(placed.primary.bytes.begin) + "-" + std::to_string(placed.primary.bytes.end);
    for (const PlacedLabel& label : placed.labels) {
      text += "; " + label.where.path + ":" + std::to_string(label.where.line) + " " + label.text;
    }
    for (const std::string& note : placed.notes) {
      text += "; " + note;
    }
    return text;
  }

 private:
  SourceFile root_{"root.hlsl", "ab\ncdefghi"};
  SourceFile included_{"a.hlsli", "xx\nyy\nzz"};
  SourceFile last_{"b.hlsli", "1\n2\n3"};
};

TEST_F(PlaceOfFiles, Offsets_ArePlacesInTheirFile) {
  EXPECT_EQ(At({4, 6}), "root.hlsl:2:2-2:4 4-6");
  EXPECT_EQ(At({9, 9}), "root.hlsl:2:7-2:7 9-9") << "the end of a file is its own";
  EXPECT_EQ(At({10, 12}), "a.hlsli:1:1-1:3 0-2; root.hlsl:2 'a.hlsli' is included here");
  EXPECT_EQ(At({30, 31}),
            "b.hlsli:1:1-1:2 0-1; a.hlsli:2 'b.hlsli' is included here; root.hlsl:2 'a.hlsli' is "
            "included here");
}

TEST_F(PlaceOfFiles, Spans_EndWithTheirFile) {
  EXPECT_EQ(At({11, 34}), "a.hlsli:1:2-3:3 1-8; root.hlsl:2 'a.hlsli' is included here");
}

TEST_F(PlaceOfFiles, WithoutText_ThereIsNoPlace) { EXPECT_EQ(At({21, 22}), ":0:0-0:0 0-0"); }

TEST_F(PlaceOfFiles, LineMarks_AreNotes) {
  EXPECT_EQ(At({13, 14}),
            "a.hlsli:2:1-2:2 3-4; root.hlsl:2 'a.hlsli' is included here; note: #line calls this "
            "place 'gen.fx:40'");
  EXPECT_EQ(At({16, 17}),
            "a.hlsli:3:1-3:2 6-7; root.hlsl:2 'a.hlsli' is included here; note: #line calls this "
            "place 'gen.fx:41'");
  EXPECT_EQ(At({34, 35}),
            "b.hlsli:3:1-3:2 4-5; a.hlsli:2 'b.hlsli' is included here; root.hlsl:2 'a.hlsli' is "
            "included here; note: #line calls this place 'b.hlsli:8'");
}

}  // namespace
}  // namespace kiln
