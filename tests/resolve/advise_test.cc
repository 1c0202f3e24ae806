// SPDX-License-Identifier: MIT
// What a message about a wrong name says besides: the nearest name of that kind, both places where
// two things conflict, what a word of another language is here. Words of spellings.def have a test
// of their own (language_test).
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/base/test_cpu_time.h"
#include "tests/resolve/code_rows.h"

namespace kiln::resolve {
namespace {

struct AdviceRow {
  const char* source;
  Code code;
  const char* says;  // a line of its details
  const char* entries = "vertex:v";
};

void CheckAdvice(std::initializer_list<AdviceRow> rows) {
  for (const AdviceRow& row : rows) {
    const std::string details = VariantOf({row.source}, row.entries).Details(row.code);
    EXPECT_THAT(details, testing::HasSubstr(std::string(row.says) + "\n")) << row.source;
  }
}

std::string Body(const std::string& statements) { return kPosition + statements + " }"; }

TEST(Advice, NearestName_OfEveryKind) {
  const std::string local = Body("f1 shade = 1.0; f1 _x = shad;");
  const std::string argument = "f1 g (in f1 height) { return heigth; } " + Body("f1 _x = g (1.0);");
  const std::string option = "instance wave_count: uint 1; " + Body("u1 _x = wave_cout;");
  const std::string buffer =
      "set_pass uniform_buffer view { f4 sun; }; " + Body("f4 _x = veiw.sun;");
  const std::string function =
      "f1 refraction (in f1 x) { return x; } " + Body("f1 _x = refracton (1.0);");
  const std::string inbuilt = Body("f1 _x = sine_f1 (1.0);");
  const std::string family = Body("f2 _x = floor (f2 {1.5});");
  const std::string type = "struct light_t { f4 color; }; " + Body("ligth_t _x;");
  const std::string made =
      "struct light_t { f4 color; }; " + Body("f4 _x = ligth_t {f4 {1.0}}.color;");
  const std::string field =
      "set_pass uniform_buffer view { f4 sun_direction; }; " + Body("f4 _x = view.sun_direcion;");
  CheckAdvice({
      {local.c_str(), Code::kRpl6001, "a similar name is 'shade'"},
      {argument.c_str(), Code::kRpl6001, "a similar name is 'height'"},
      {option.c_str(), Code::kRpl6001, "a similar name is 'wave_count'"},
      {buffer.c_str(), Code::kRpl6001, "a similar name is 'view'"},
      {function.c_str(), Code::kRpl5001, "a similar name is 'refraction'"},
      {inbuilt.c_str(), Code::kRpl5001, "a similar name is 'sin_f1'"},
      {family.c_str(), Code::kRpl5001, "write 'floor_f2'"},
      {type.c_str(), Code::kRpl4010, "a similar name is 'light_t'"},
      {made.c_str(), Code::kRpl6056, "a similar name is 'light_t'"},
      {field.c_str(), Code::kRpl6007, "a similar name is 'sun_direction'"},
      {"constant slots = 4u; constant more = slotz + 1u;", Code::kRpl3003,
       "a similar name is 'slots'", ""},
      {"setting depth_tset = true;", Code::kRpl7001, "a similar name is 'depth_test'", ""},
      {"setting cull_mode = \"bakc\";", Code::kRpl7005, "a similar name is 'back'", ""},
      {"setting cull_mode = back;", Code::kRpl3003, "write '\"back\"'", ""},
      {"struct s { f4 size; alias (w, sizze.w) }; set_pass read_only_storage_buffer b { s x; };",
       Code::kRpl4031, "a similar name is 'size'", ""},
      {"void vertex_main (void) { vertex_stage_output_position (f4 {0.0}); }", Code::kRpl5001,
       "a similar name is 'vertex_main'", "vertex:vertx_main"},
      {"instance shading: enum \"toon\" \"flat\"; conditional (shading == \"tooon\") constant a = "
       "1u;",
       Code::kRpl3026, "a similar name is 'toon'", ""},
      {"instance shading: enum \"toon\" \"flat\"; conditional (shading == toon) constant a = 1u;",
       Code::kRpl3003, "write '\"toon\"'", ""},
  });
}

// Names of the request have no place in a source, so no word is looked up there and none is
// replaced; neither constructors nor built-in functions are entry points.
TEST(Advice, EntryPointNamedLikeAWord_IsOnlyMissing) {
  for (const char* name : {"f4", "f4x4", "h2", "vec4", "float4", "half", "lerp", "texture",
                           "floor_f3", "floor", "discard_fragment", "light_t", "gl_Position"}) {
    const VariantOf variant({"struct light_t { f4 color; }; " + Body("")},
                            "vertex:" + std::string(name));
    const std::string message = "no active function is named '" + std::string(name) + "'\n";
    EXPECT_EQ(variant.Messages(), "RPL5001 " + message);
    EXPECT_EQ(variant.Details(Code::kRpl5001), "nowhere " + message) << "and no advice";
  }
}

TEST(Advice, UndeclaredName_IsSaidOnceForAFunction) {
  const std::string helper = "f1 g (in f1 x) { return x * shade; } ";
  const VariantOf variant(
      {"instance cut: flag true; " + helper +
       Body("f1 _a = shade * other; conditional (cut) { f1 _b = shade + shade; } "
            "conditional (!cut) { f1 _c = shade; } f1 _d = g (1.0) + shade;")},
      "vertex:v");
  EXPECT_EQ(variant.Messages(),
            "RPL6001 'shade' is not declared\n"  // of g
            "RPL6001 'shade' is not declared\n"
            "RPL6001 'other' is not declared\n");
  EXPECT_EQ(variant.Details(Code::kRpl6001), "\"shade\" 'shade' is not declared\n")
      << "once in g, which says nothing of others";
  EXPECT_EQ(VariantOf({Body("f1 _a = shade; f1 _b = shade;")}, "vertex:v").Details(Code::kRpl6001),
            "\"shade\" 'shade' is not declared\n1 more mention in 'v'\n");
}

TEST(Advice, UndeclaredName_IsCountedAsWrittenInEveryVariant) {
  const std::string source =
      "instance cut: flag true; " +
      Body("f1 _a = shade; conditional (cut) { f1 _b = shade; f1 _c = shade; }");
  for (const char* options : {"cut=true", "cut=false"}) {
    EXPECT_EQ(VariantOf({source}, "vertex:v", options).Details(Code::kRpl6001),
              "\"shade\" 'shade' is not declared\n2 more mentions in 'v'\n")
        << options;
  }
}

TEST(Advice, UndeclaredName_BesideALocalOfTheName_IsNotCounted) {
  EXPECT_EQ(VariantOf({Body("{ f1 depth = 1.0; f1 _x = depth; } f1 _y = depth;")}, "vertex:v")
                .Details(Code::kRpl6001),
            "\"depth\" 'depth' is not declared\n"
            "\"depth\" 'depth' is declared here\n"
            "a name is there from its declaration to the end of its scope\n");
}

TEST(Advice, UndeclaredName_ThousandsOfTimes_LeavesRoomForOthers) {
  std::string statements;
  for (int i = 0; i < 5'000; ++i) {
    statements += "f1 _a" + std::to_string(i) + " = shade; ";
  }
  const std::string messages =
      VariantOf({Body(statements + "f1 _z = other;")}, "vertex:v").Messages();
  EXPECT_EQ(messages, "RPL6001 'shade' is not declared\nRPL6001 'other' is not declared\n");
}

TEST(Advice, NamesFarAway_AreNotProposed) {
  EXPECT_EQ(VariantOf({Body("f1 light = 1.0; f1 _x = shade;")}, "vertex:v").Details(Code::kRpl6001),
            "\"shade\" 'shade' is not declared\n");
}

TEST(Advice, NameOfAnotherScope_IsShown) {
  EXPECT_EQ(
      VariantOf({Body("{ f1 depth = 1.0; } f1 _x = depth;")}, "vertex:v").Details(Code::kRpl6001),
      "\"depth\" 'depth' is not declared\n"
      "\"depth\" 'depth' is declared here\n"
      "a name is there from its declaration to the end of its scope\n");
}

TEST(Advice, ScopeOfAnAlias_HidesWhatFollows) {
  EXPECT_THAT(
      VariantOf({Body("alias (twice, dept * 2.0) f1 depth = 1.0; f1 _x = depth;")}, "vertex:v")
          .Details(Code::kRpl6001),
      testing::Not(testing::HasSubstr("similar")))
      << "'depth' comes later";
}

TEST(Advice, Conflicts_ShowBothPlaces) {
  EXPECT_EQ(VariantOf({"f1 shade (in f1 x) { return x; }",
                       "f1 shade (in f1 x) { return x; } " + Body("f1 _x = shade (1.0);")},
                      "vertex:v")
                .Details(Code::kRpl5002),
            "\"shade\" function 'shade' has several active definitions\n"
            "\"shade\" the first one is here\n"
            "\"shade\" the other one is here\n");
  EXPECT_THAT(VariantOf({"instance fog: flag false; " + Body("f1 fog = 1.0;")}, "vertex:v")
                  .Details(Code::kRpl6040),
              testing::HasSubstr("\"fog\" 'fog' is declared here\n"));
}

TEST(Advice, Access_SaysWhichDirectionThereIs) {
  const std::string around =
      "vertex_attribute_container mesh { f2 uv; }; state_container surface { f2 uv; }; ";
  const std::string attribute = around + Body("mesh.uv = surface.uv;");
  const std::string state = around + Body("f2 _x = surface.uv;");
  const std::string in = "void g (in f1 x) { x = 1.0; } " + Body("g (1.0);");
  const std::string out = "void g (out f1 x) { x = x + 1.0; } " + Body("f1 a = 1.0; g (a);");
  const std::string swizzle = Body("f4 a = f4 {1.0}; a.xy = f2 {0.0};");
  CheckAdvice({
      {attribute.c_str(), Code::kRpl6015,
       "vertex attribute container 'mesh' is read-only in the vertex stage"},
      {state.c_str(), Code::kRpl6014,
       "state container 'surface' is write-only in the vertex stage"},
      {in.c_str(), Code::kRpl6015,
       "an 'in' argument is read-only; make it 'in out', or copy it to a variable"},
      {out.c_str(), Code::kRpl6014, "an 'out' argument is write-only; make it 'in out'"},
      {swizzle.c_str(), Code::kRpl6015,
       "a swizzle cannot be assigned; assign its components one by one"},
  });
}

TEST(Advice, AssignmentAsCondition_MeansComparison) {
  const std::string source = Body("f1 a = 1.0; if (a = 1.0) { a = 2.0; }");
  CheckAdvice({{source.c_str(), Code::kRpl6045, "write '=='"}});
}

TEST(Advice, EnumInCode_GetsAConditionThatIsNone) {
  const std::string source =
      "instance shading: enum \"toon\" \"flat\"; " + Body("f1 _x = shading;");
  EXPECT_EQ(VariantOf({source}, "vertex:v").Details(Code::kRpl6002),
            "\"shading\" option 'shading' is an enum and cannot be used in code\n"
            "write 'conditional (shading == \"toon\") { ... }'\n");
}

TEST(Advice, OneMistake_HasNoFollowUp) {
  CheckRows({
      {"set_pass uniform_buffer b { f4... items; }; "
       "void v (void) { f4 a; a = b.items[0u]; vertex_stage_output_position (a); }",
       "RPL4052 uniform buffer 'b' cannot have the runtime array 'items'\n",
       "set_pass uniform_buffer b { f4[2] items; }; "
       "void v (void) { f4 a; a = b.items[0u]; vertex_stage_output_position (a); }",
       "vertex:v"},
      {"instance n: uint 1; "
       "void v (void) { conditional (n) { vertex_stage_output_position (f4 {0.0}); } }",
       "RPL3018 conditional is a uint, not a boolean\n",
       "instance n: uint 1; "
       "void v (void) { conditional (n == 1u) { vertex_stage_output_position (f4 {0.0}); } }",
       "vertex:v"},
      {"void v (void) { break; vertex_stage_output_position (f4 {0.0}); }",
       "RPL6042 'break' outside a loop\n",
       "void v (void) { vertex_stage_output_position (f4 {0.0}); }", "vertex:v"},
  });
}

TEST(Advice, MistakesBehindAMistake_AreFound) {
  const char* source =
      "instance fog: flag true; "
      "f1 deep (in f1 x) { return nowhere; } "
      "void v (void) { vertex_stage_output_position (f4 {0.0}); f1 a = wrong; "
      "conditional (fog) { f1 b = missing; } f1 c = deep (a); }";
  EXPECT_EQ(VariantOf({source}, "vertex:v").Messages(),
            "RPL6001 'nowhere' is not declared\n"
            "RPL6001 'wrong' is not declared\n"
            "RPL6001 'missing' is not declared\n");
  EXPECT_EQ(VariantOf({source}, "vertex:v", "fog=false").Messages(),
            "RPL6001 'nowhere' is not declared\n"
            "RPL6001 'wrong' is not declared\n");
}

// A bound, not a measurement: without one each wrong name would be compared with each name.
TEST(Advice, ManyWrongNames_CostWhatIsShown) {
  std::string source;
  for (int i = 0; i < 20000; ++i) {
    source += "constant name_number_" + std::to_string(100000 + i) + " = 1u;\n";
  }
  source += kPosition;
  for (int i = 0; i < 20000; ++i) {
    source += "u1 _x" + std::to_string(i) + " = nane_nunber_" + std::to_string(100000 + i) + ";\n";
  }
  source += "}";
  const Duration begin = CpuOfThisThread();
  const VariantOf variant({source}, "vertex:v");
  EXPECT_LT(CpuOfThisThread() - begin, std::chrono::seconds(20));
  EXPECT_FALSE(variant.ok());
}

}  // namespace
}  // namespace kiln::resolve
