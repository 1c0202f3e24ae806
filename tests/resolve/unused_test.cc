// SPDX-License-Identifier: MIT
// One row per way to declare what is never used, beside the nearest source that is silent.
#include "compiler/resolve/checks/unused.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/resolve/variant_of.h"

namespace kiln::resolve {
namespace {

constexpr char kEntry[] = " void v (void) { vertex_stage_output_position (f4 {0.0}); }";

std::string Unused(const std::vector<std::string>& sources) {
  const VariantOf variant(sources);
  const std::vector<EntryPoint> entries{{.stage = ir::Stage::kVertex, .function = "v"}};
  std::string text;
  for (const Diagnostic& found : FindUnused(variant.program(), entries)) {
    EXPECT_EQ(found.severity, Severity::kWarning);
    text += std::string(CodeText(found.code)) + " " + Message(found) + "\n";
  }
  return text;
}

struct UnusedRow {
  const char* source;
  const char* says;
};
void Check(std::initializer_list<UnusedRow> rows) {
  for (const UnusedRow& row : rows) {
    EXPECT_EQ(Unused({row.source + std::string(kEntry)}), row.says) << row.source;
  }
}

TEST(Unused, Locals) {
  Check({
      {"void w (void) { f1 a = 1.0; }", "RPL7101 variable 'a' is never used\n"},
      {"void w (void) { alias (a, pi ()) }", "RPL7101 alias 'a' is never used\n"},
      {"void w (void) { { f1 a = 1.0; } f1 a = 2.0; a = 3.0; }",
       "RPL7101 variable 'a' is never used\n"},
      {"void w (void) { f1 _a = 1.0; }", ""},
      {"void w (void) { f1 a = 1.0; a = 2.0; }", ""},
      {"void w (void) { f1 a = 1.0; alias (_b, a) }", ""},
      {"void w (void) { for (u1 i = 0u; i < 2u; i = i + 1u) { } }", ""},
  });
}

TEST(Unused, Arguments) {
  Check({
      {"f1 g (in f1 a) { return 1.0; } void w (void) { f1 _x = g (1.0); }",
       "RPL7102 argument 'a' of function 'g' is never used\n"},
      {"f1 g (in f1 _a) { return 1.0; } void w (void) { f1 _x = g (1.0); }", ""},
      {"instance o: flag true; conditional (o) f1 g (in f1 a) { return a; } "
       "conditional (!o) f1 g (in f1 a) { return 1.0; } void w (void) { f1 _x = g (1.0); }",
       ""},
  });
}

TEST(Unused, Functions) {
  Check({
      {"f1 g (in f1 a) { return a; }", "RPL7103 function 'g' is never called\n"},
      {"f1 g (in f1 a) { f1 b = 1.0; return a; }", "RPL7103 function 'g' is never called\n"},
      {"f1 h (in f1 a) { return a; } f1 g (in f1 a) { return h (a); }",
       "RPL7103 function 'h' is never called\nRPL7103 function 'g' is never called\n"},
      {"f1 _g (in f1 a) { return a; }", ""},
      {"void another_entry (void) { return; }", ""},
      {"f1 g (in f1 a) { return a; } void another_entry (void) { f1 _x = g (1.0); }", ""},
  });
  EXPECT_EQ(Unused({"f1 g (in f1 a) { return a; }", kEntry}), "") << "a library";
}

TEST(Unused, Options) {
  Check({
      {"instance o: flag true;", "RPL7104 option 'o' is never mentioned\n"},
      {"instance _o: flag true;", ""},
      {"instance o: flag true; conditional (o) setting cull_mode = \"none\";", ""},
      {"global o: uint 2; set_pass uniform_buffer b { f4[o] a; };", ""},
      {"instance o: uint 2; void w (void) { u1 _x = o; }", ""},
      {"instance o: uint 2; void w (void) { f1[o] _x; }", ""},
      {"instance o: uint 2; f1 _g (in f1 a) { u1 _x = o; return a; }",
       "RPL7105 option 'o' is read by no variant: what mentions it is never called\n"},
      {"instance o: flag true; void w (void) { conditional (o) { return; } }", ""},
  });
  EXPECT_EQ(Unused({"f1 g (in f1 a) { return a * o; }", "instance o: float 2.0;", kEntry}), "")
      << "read by a library";
  EXPECT_EQ(Unused({"instance o: flag true;", kEntry}), "") << "declared by a library";
}

TEST(Unused, FieldsOfBlocks) {
  Check({
      {"set_material uniform_buffer b { f4 a; };",
       "RPL7106 field 'a' of uniform buffer 'b' is never used\n"},
      {"push_constant b { f4 a; };", "RPL7106 field 'a' of push constant 'b' is never used\n"},
      {"struct s { f4 a; f4 c; }; set_object read_only_storage_buffer b { s... items; }; "
       "void w (void) { f4 _x = b.items[0u].a; }",
       "RPL7106 field 'c' of struct 's' is never used\n"},
      {"set_pass uniform_buffer b { f4 a; };", ""},
      {"set_material uniform_buffer b { f4 _a; meta (time) f4 clock; };", ""},
      {"set_material uniform_buffer b { f4 a; alias (c, a.x) };", ""},
      {"set_material uniform_buffer b { f4 a; }; void w (void) { f4 _x = b.a; }", ""},
  });
}

TEST(Unused, SettingsWrittenTwice) {
  constexpr char kTwice[] =
      "RPL7107 setting 'cull_mode' is set again, the value before never counts\n";
  Check({
      {"setting cull_mode = \"none\"; setting cull_mode = \"front\";", kTwice},
      {"instance o: flag true; conditional (o) setting cull_mode = \"none\"; "
       "setting cull_mode = \"front\";",
       kTwice},
      {"instance o: flag true; conditional (o) setting cull_mode = \"none\"; "
       "conditional (o) setting cull_mode = \"front\";",
       kTwice},
      {"instance o: flag true; setting cull_mode = \"none\"; "
       "conditional (o) setting cull_mode = \"front\";",
       ""},
  });
  EXPECT_EQ(Unused({"setting cull_mode = \"none\";",
                    "setting cull_mode = \"front\";" + std::string(kEntry)}),
            "")
      << "a later file overrides an earlier one";
}

TEST(Unused, ManyRows_AreCutWhereDiagnosticsAre) {
  std::string source = "void w (void) {";
  for (int i = 0; i < 5000; ++i) {
    source += "f1 a" + std::to_string(i) + " = 1.0;";
  }
  const VariantOf variant({source + "}" + kEntry});
  EXPECT_EQ(FindUnused(variant.program(), {}).size(), kMaxDiagnostics);
}

}  // namespace
}  // namespace kiln::resolve
