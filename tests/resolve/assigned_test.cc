// SPDX-License-Identifier: MIT
// Reads of variables that no assignment precedes on any path, over every kind of path.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/resolve/variant_of.h"

namespace kiln::resolve {
namespace {

constexpr char kWarning[] = "RPL6043 'x' is read before it is assigned\n";

struct Row {
  const char* body;
  bool warns;
};

void CheckRows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    const std::string source = fmt::format(
        "global on_option: flag true; global off_option: flag false;"
        "vertex_attribute_container a {{ u1 u; }};"
        "f1 give (void) {{ return 1.0; }}"
        "void set (out f1 x_out) {{ x_out = 1.0; }}"
        "void change (in out f1 x_both) {{ x_both = x_both + 1.0; }}"
        "void v (void) {{ vertex_stage_output_position (f4 {{0.0}}); {} }}",
        row.body);
    EXPECT_EQ(VariantOf({source}, "vertex:v").Messages(), row.warns ? kWarning : "") << row.body;
  }
}

TEST(Assigned, StraightCode_WarnsBeforeTheFirstAssignment) {
  CheckRows({
      {"f1 x; f1 y = x;", true},
      {"f1 x; x = 1.0; f1 y = x;", false},
      {"f1 x; x = x + 1.0;", true},
      {"f1 x = 1.0; f1 y = x;", false},
      {"f1[3] x; f1 y = x[0u];", true},
      {"f1[3] x; x[1u] = 1.0; f1 y = x[0u];", false},
      {"f4 x; x.y = 1.0; f4 y = x;", false},
      {"f1 x; { x = 1.0; } f1 y = x;", false},
      {"f1 x; alias (q, x) f1 y = q;", true},
      {"f1 x; alias (q, x) q = 1.0; f1 y = x;", false},
  });
}

TEST(Assigned, Calls_WriteTheirOutputs) {
  CheckRows({
      {"f1 x; set (x); f1 y = x;", false},
      {"f1 x; change (x);", true},
      {"f1 x; x = give (); f1 y = x;", false},
  });
}

TEST(Assigned, Branches_UniteTheirPaths) {
  CheckRows({
      {"f1 x; if (a.u == 1u) { x = 1.0; } f1 y = x;", false},
      {"f1 x; if (a.u == 1u) { f1 y = x; } else { x = 1.0; }", true},
      {"f1 x; if (a.u == 1u) { x = 1.0; return; } f1 y = x;", true},
      {"f1 x; if (a.u == 1u) { x = 1.0; } else { return; } f1 y = x;", false},
      {"f1 x; if (a.u == 1u && x > 0.0) { x = 1.0; }", true},
  });
}

TEST(Assigned, Loops_BeginWithWhatEarlierRoundsDid) {
  CheckRows({
      {"f1 x; while (a.u == 1u) { f1 y = x; x = 1.0; }", false},
      {"f1 x; while (a.u == 1u) { f1 y = x; } x = 1.0;", true},
      {"f1 x; while (a.u == 1u) { if (a.u == 2u) { x = 1.0; break; } f1 y = x; }", true},
      {"f1 x; while (a.u == 1u) { if (a.u == 2u) { x = 1.0; continue; } f1 y = x; }", false},
      {"f1 x; while (a.u == 1u) { if (a.u == 2u) { x = 1.0; break; } } f1 y = x;", false},
      {"f1 x; for (u1 i = 0u; i < 2u; i = i + 1u) { while (a.u == i) { f1 y = x; } x = 1.0; }",
       false},
      {"while (a.u == 1u) { f1 x; f1 y = x; x = 1.0; }", true},
      {"f1 x; while (a.u == 1u) { f1 y; y = 1.0; x = y; } f1 z = x;", false},
      {"f1 x; x = 1.0; if (a.u == 1u) { f1 y; } else { f1 z; z = x; } f1 w = x;", false},
  });
}

TEST(Assigned, ConditionalScopes_CountIfTheyAreActive) {
  CheckRows({
      {"f1 x; conditional (on_option) { x = 1.0; } f1 y = x;", false},
      {"f1 x; conditional (off_option) { x = 1.0; } f1 y = x;", true},
      {"f1 x; conditional (on_option) { f1 y = x; }", true},
      {"f1 x; conditional (off_option) { f1 y = x; }", false},
      {"f1 x; conditional (on_option) { conditional (on_option) { x = 1.0; } } f1 y = x;", false},
  });
}

}  // namespace
}  // namespace kiln::resolve
