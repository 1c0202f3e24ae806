// SPDX-License-Identifier: MIT
// One row per way to be wrong that specialising finds outside of bodies: a wrong source with all
// its messages, and the nearest right one without any.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/resolve/code_rows.h"

namespace kiln::resolve {
namespace {

TEST(ResolveCodes, CompileTimeNames_AreKnownAndEarlier) {
  CheckRows({
      {"constant a = nope;", "RPL3003 no option or constant is named 'nope'\n",
       "constant nope = 1u; constant a = nope;"},
      {"constant a = b; constant b = 1u;", "RPL3004 constant 'b' is used before its declaration\n",
       "constant b = 1u; constant a = b;"},
      {"constant a = a;", "RPL3004 constant 'a' is used before its declaration\n",
       "constant a = 1u;"},
      {"global x: flag true; conditional (x) constant a = 1u; conditional (x) constant a = 2u;",
       "RPL3024 constant 'a' has two active declarations\n",
       "global x: flag true; conditional (x) constant a = 1u; conditional (!x) constant a = 2u;"},
      {"constant a = b; constant c = a; conditional (c) set_pass sampler s; constant b = true;",
       "RPL3004 constant 'b' is used before its declaration\n",
       "constant b = true; constant a = b; constant c = a; conditional (c) set_pass sampler s;"},
  });
}

TEST(ResolveCodes, CompileTimeTypes_FitTheirOperators) {
  CheckRows({
      {"constant a = true + 1u;", "RPL3005 operator '+' needs numbers, found boolean\n",
       "constant a = 2u + 1u;"},
      {"constant a = 1u < 1;", "RPL3006 operator '<' on different types uint and sint\n",
       "constant a = 1 < 1;"},
      {"constant a = \"x\" == 1u;", "RPL3006 operator '==' on different types string and uint\n",
       "constant a = \"x\" == \"x\";"},
      {"constant a = 1u & 2;", "RPL3007 operator '&' needs uint operands, found sint\n",
       "constant a = 1u & 2u;"},
      {"constant a = ~1;", "RPL3007 operator '~' needs uint operands, found sint\n",
       "constant a = ~1u;"},
      {"constant a = 1.0 % 2.0;", "RPL3008 operator '%' needs integers, found float\n",
       "constant a = 1 % 2;"},
      {"constant a = true && 1u;", "RPL3009 operator '&&' needs booleans, found uint\n",
       "constant a = true && false;"},
      {"constant a = false && 1u;", "RPL3009 operator '&&' needs booleans, found uint\n",
       "constant a = false || true;"},
      {"constant a = !1u;", "RPL3009 operator '!' needs booleans, found uint\n",
       "constant a = !true;"},
      {"constant a = -1u;", "RPL3010 unary '-' on uint\n", "constant a = -1;"},
      {"constant a = 1u; constant b = a.x;", "RPL3011 field access in a compile-time expression\n",
       "constant a = 1u; constant b = a;"},
      {"constant a = 1u; constant b = a[0u];", "RPL3011 index in a compile-time expression\n",
       "constant a = 1u; constant b = a + 0u;"},
      {"constant a = 1u; constant b = a = 2u;", "RPL3011 assignment in a compile-time expression\n",
       "constant a = 1u; constant b = a == 2u;"},
      {"constant a = pi ();", "RPL3011 call of 'pi' in a compile-time expression\n",
       "constant a = 3.141;"},
      {"constant a = f2 {1.0};",
       "RPL3015 constructor 'f2' in a compile-time expression, only u1, s1 and f1 are allowed\n",
       "constant a = f1 {1u};"},
      {"constant a = u1 {1u, 2u};",
       "RPL3016 compile-time constructor 'u1' takes one value, found 2\n",
       "constant a = u1 {1.5};"},
      {"constant a = u1 {\"one\"};", "RPL3017 string 'one' cannot be converted to uint\n",
       "constant a = u1 {true};"},
  });
}

TEST(ResolveCodes, CompileTimeValues_StayInRange) {
  CheckRows({
      {"constant a = 1u / 0u;", "RPL3019 '/' by zero\n", "constant a = 0u / 1u;"},
      {"constant a = 1 % 0;", "RPL3019 '%' by zero\n", "constant a = 0 % 1;"},
      {"constant a = 2147483647 + 1;", "RPL3020 sint result of '+' does not fit in 32 bits\n",
       "constant a = 4294967295u + 1u;"},
      {"constant a = -2147483648 / -1;", "RPL3020 sint result of '/' does not fit in 32 bits\n",
       "constant a = -2147483647 / -1;"},
      {"constant a = 1u << 32u;", "RPL3021 shift by 32, the limit is 31\n",
       "constant a = 1u << 31u;"},
      {"constant a = 1.0 / 0.0;", "RPL3022 float result of '/' is not finite\n",
       "constant a = 1.0 / 0.5;"},
      {"constant a = u1 {-1};", "RPL3023 value -1 does not fit in uint\n", "constant a = u1 {1};"},
      {"global q: enum \"low\" \"high\"; constant a = q == \"mid\";",
       "RPL3026 option 'q' never has the value 'mid'\n",
       "global q: enum \"low\" \"high\"; constant a = q == \"high\";"},
      {"conditional (on) constant a = off;",
       "RPL3025 'on' is an old spelling, write 'true'\n"
       "RPL3025 'off' is an old spelling, write 'false'\n",
       "global on: flag true; constant off = 1u; conditional (on) constant a = off;"},
  });
}

TEST(ResolveCodes, Conditions_AreBoolean) {
  const char* const message = "RPL3018 conditional is a uint, not a boolean\n";
  CheckRows({
      {"conditional (1u) constant a = 1u;", message, "conditional (true) constant a = 1u;"},
      {"conditional (1u) set_pass sampler s;", message, "conditional (true) set_pass sampler s;"},
      {"conditional (1u) setting depth_test = true;", message,
       "conditional (true) setting depth_test = true;"},
      {"state_container c { f4 a; conditional (1u) f4 b; };", message,
       "state_container c { f4 a; conditional (true) f4 b; };"},
      {"conditional (1u) void g (void) { }", message, "conditional (true) void g (void) { }",
       "fragment:g"},
      {"void g (void) { conditional (1u) { u1 a = 1u; } }", message,
       "void g (void) { conditional (true) { u1 a = 1u; } }", "fragment:g"},
      {"void g (void) { conditional (1u) alias (a, 1.0) }", message,
       "void g (void) { conditional (true) alias (a, 1.0) }", "fragment:g"},
      {"void g (void) { conditional (off) alias (a, 1.0) conditional (on) { return; } }",
       "RPL3025 'off' is an old spelling, write 'false'\n"
       "RPL3025 'on' is an old spelling, write 'true'\n",
       "void g (void) { conditional (true) { return; } conditional (false) alias (a, 1.0) }",
       "fragment:g"},
      {"void g (void) { conditional (1u) { return; } }", message,
       "void g (void) { conditional (true) { return; } }", "fragment:g"},
      {"conditional (1u) struct s_t { f4 a; }; void g (void) { s_t s = s_t {f4 {0.0}}; }", message,
       "conditional (true) struct s_t { f4 a; }; void g (void) { s_t s = s_t {f4 {0.0}}; }",
       "fragment:g"},
  });
}

TEST(ResolveCodes, TypesAndSizes_AreChecked) {
  CheckRows({
      {"set_pass uniform_buffer b { f4[1.0] a; };",
       "RPL4001 array size of 'a' is a float, not an integer\n",
       "set_pass uniform_buffer b { f4[1] a; };"},
      {"set_pass uniform_buffer b { f4[0u] a; };",
       "RPL4002 array size of 'a' is 0, it must be positive\n",
       "set_pass uniform_buffer b { f4[1u] a; };"},
      {"set_pass image_color_2d[1 - 2] i;",
       "RPL4002 array size of 'i' is -1, it must be positive\n", "set_pass image_color_2d[1] i;"},
      {"set_pass read_only_storage_buffer b { f1[65536u][16384u] a; };",
       "RPL4003 size of 'a' exceeds 32 bits\n",
       "set_pass read_only_storage_buffer b { f1[65536u][16383u] a; };"},
      {"set_pass uniform_buffer b { nope_t a; };", "RPL4010 type 'nope_t' of 'a' is unknown\n",
       "struct nope_t { f4 x; }; set_pass uniform_buffer b { nope_t a; };"},
      {"set_pass uniform_buffer b { sampler a; };",
       "RPL4011 field 'a' cannot be of type 'sampler'\n", "set_pass sampler a;"},
      {"sampler f (void) { } void g (void) { f (); }",
       "RPL4011 return value 'f' cannot be of type 'sampler'\n",
       "void f (void) { } void g (void) { f (); }", "fragment:g"},
      {"void f (in sampler[2] s) { } set_pass sampler t; void g (void) { f (t); }",
       "RPL4011 argument 's' cannot be of type 'sampler[2]'\n",
       "void f (in sampler s) { } set_pass sampler t; void g (void) { f (t); }", "fragment:g"},
      {"void f (out sampler s) { } set_pass sampler t; void g (void) { f (t); }",
       "RPL5022 argument 's' of type 'sampler' must be 'in'\n",
       "void f (in sampler s) { } set_pass sampler t; void g (void) { f (t); }", "fragment:g"},
      {"struct s_t { f4 a; f4... b; }; void g (void) { s_t s; }",
       "RPL4015 struct 's_t' of 's' has a runtime array and can only be the last field of a "
       "storage buffer\n",
       "struct s_t { f4 a; f4 b; }; void g (void) { s_t s; }", "fragment:g"},
      {"struct s_t { f4 a; f4... b; }; set_pass read_only_storage_buffer b { s_t[2u] s; };",
       "RPL4015 struct 's_t' of 's' has a runtime array and can only be the last field of a "
       "storage buffer\n",
       "struct s_t { f4 a; f4... b; }; set_pass read_only_storage_buffer b { f4 c; s_t s; };"},
  });
}

TEST(ResolveCodes, Names_AreTakenOnce) {
  CheckRows({
      {"set_pass sampler a; set_pass sampler a;",
       "RPL4020 name 'a' is already taken by sampler 'a'\n",
       "global x: flag true; conditional (x) set_pass sampler a; conditional (!x) set_pass sampler "
       "a;"},
      {"global a: flag true; set_pass sampler a;",
       "RPL4020 name 'a' is already taken by option 'a'\n",
       "global a: flag true; set_pass sampler b;"},
      {"constant a = 1u; state_container a { f4 x; };",
       "RPL4020 name 'a' is already taken by constant 'a'\n",
       "constant a = 1u; state_container b { f4 x; };"},
      {"void f (void) { } set_pass sampler f; void g (void) { f (); }",
       "RPL4020 name 'f' is already taken by function 'f'\n",
       "void f (void) { } set_pass sampler f; void g (void) { }", "fragment:g"},
      {"state_container c { f4 a; f4 a; };", "RPL4021 'a' is declared twice in 'c'\n",
       "global x: flag true; state_container c { f4 b; conditional (x) f4 a; conditional (!x) f4 "
       "a; };"},
      {"state_container c { f4 a; alias (a, a) };", "RPL4021 'a' is declared twice in 'c'\n",
       "state_container c { f4 a; alias (b, a) };"},
      {"struct s_t { f4 a; }; struct s_t { f4 b; }; set_pass uniform_buffer b { s_t s; s_t t; };",
       "RPL4022 struct 's_t' has two active declarations\n",
       "global x: flag true; conditional (x) struct s_t { f4 a; }; conditional (!x) struct s_t { "
       "f4 b; }; set_pass uniform_buffer b { s_t s; s_t t; };"},
  });
}

TEST(ResolveCodes, Structs_EndAndHoldSomething) {
  CheckRows({
      {"struct s_t { s_t a; }; set_pass uniform_buffer b { s_t s; };",
       "RPL4023 struct 's_t' contains itself through 's_t' -> 's_t'\n",
       "struct s_t { f4 a; }; set_pass uniform_buffer b { s_t s; };"},
      {"struct s_t { t_t a; }; struct t_t { s_t[2u] b; }; set_pass uniform_buffer b { t_t s; };",
       "RPL4023 struct 's_t' contains itself through 's_t' -> 't_t' -> 's_t'\n",
       "struct s_t { f4 a; }; struct t_t { s_t[2u] b; }; set_pass uniform_buffer b { t_t s; };"},
      {"struct s_t { s_t a; }; ", "", ""},
      {"struct s_t { conditional (false) f4 a; }; set_pass uniform_buffer b { s_t s; };",
       "RPL4024 struct 's_t' has no active field\n",
       "struct s_t { conditional (true) f4 a; }; set_pass uniform_buffer b { s_t s; };"},
      {"state_container c { conditional (false) f4 a; };",
       "RPL4025 state container 'c' has no active field\n",
       "state_container c { conditional (true) f4 a; };"},
      {"set_pass uniform_buffer b { conditional (false) f4 a; };",
       "RPL4025 uniform buffer 'b' has no active field\n",
       "set_pass uniform_buffer b { conditional (true) f4 a; };"},
  });
}

TEST(ResolveCodes, ContainerFields_HaveAFormat) {
  CheckRows({
      {"struct s_t { f4 x; }; state_container c { s_t a; };",
       "RPL4040 field 'a' of container 'c' must be a vector or a matrix\n",
       "state_container c { f4x4 a; };"},
      {"vertex_attribute_container c { pack (unorm32) f2 a; };",
       "RPL4041 pack class 'unorm' has no 32-bit form\n",
       "vertex_attribute_container c { pack (unorm16) f2 a; };"},
      {"vertex_attribute_container c { pack (float8) f2 a; };",
       "RPL4041 pack class 'float' has no 8-bit form\n",
       "vertex_attribute_container c { pack (float16) f2 a; };"},
      {"vertex_attribute_container c { pack (uint16) f2 a; };",
       "RPL4042 pack 'uint16' does not fit type 'f2' of field 'a'\n",
       "vertex_attribute_container c { pack (uint16) u2 a; };"},
      {"vertex_attribute_container c { pack (sint8) u4 a; };",
       "RPL4042 pack 'sint8' does not fit type 'u4' of field 'a'\n",
       "vertex_attribute_container c { pack (sint8) s4 a; };"},
      {"color_output_container c { f4x4 a; };", "RPL4043 colour output 'a' must be a vector\n",
       "color_output_container c { f4 a; };"},
  });
}

TEST(ResolveCodes, Blocks_KeepTheRulesOfTheirKind) {
  CheckRows({
      {"set_pass uniform_buffer b { f3 a; };",
       "RPL4050 'a' in uniform buffer 'b' must be f4, u4, s4 or f4x4, found 'f3'\n",
       "set_pass read_only_storage_buffer b { f3 a; };"},
      {"struct s_t { f4 x; f3x3 y; }; push_constant b { s_t[2u] a; };",
       "RPL4050 'a.y' in push constant 'b' must be f4, u4, s4 or f4x4, found 'f3x3'\n",
       "struct s_t { f4 x; f4x4 y; }; push_constant b { s_t a; };"},
      {"set_pass read_only_storage_buffer b { f4... a; f4 c; };",
       "RPL4051 'a' has a runtime array and must be the last field of 'b'\n",
       "set_pass read_only_storage_buffer b { f4 c; f4... a; alias (d, c) };"},
      {"struct s_t { f4... a; }; set_pass read_only_storage_buffer b { s_t s; f4 c; };",
       "RPL4051 's' has a runtime array and must be the last field of 'b'\n",
       "struct s_t { f4... a; }; set_pass read_only_storage_buffer b { f4 c; s_t s; };"},
      {"struct s_t { f4... a; f4 b; }; set_pass read_only_storage_buffer b { s_t s; };",
       "RPL4051 'a' has a runtime array and must be the last field of 's_t'\n",
       "struct s_t { f4 b; f4... a; }; set_pass read_only_storage_buffer b { s_t s; };"},
      {"set_pass uniform_buffer b { f4 c; f4... a; };",
       "RPL4052 uniform buffer 'b' cannot have the runtime array 'a'\n",
       "set_pass uniform_buffer b { f4 c; f4[3u] a; };"},
      {"struct s_t { f4... a; }; push_constant b { s_t s; };",
       "RPL4052 push constant 'b' cannot have the runtime array 's.a'\n",
       "struct s_t { f4 a; }; push_constant b { s_t s; };"},
      {"push_constant a { f4 x; }; push_constant b { f4 x; };",
       "RPL4054 push constants 'b' and 'a' are both active\n",
       "push_constant a { f4 x; }; conditional (false) push_constant b { f4 x; };"},
  });
}

TEST(ResolveCodes, EntryPoints_ArePlainFunctionsOfTheirStage) {
  CheckRows({
      {"void f (void) { }", "RPL5001 no active function is named 'g'\n", "void g (void) { }",
       "fragment:g"},
      {"void g (void) { } void g (void) { }",
       "RPL5002 function 'g' has several active definitions\n",
       "void g (void) { } conditional (false) void g (void) { }", "fragment:g"},
      {"f1 g (void) { return 1.0; }",
       "RPL5003 entry point 'g' must return void and take no arguments\n", "void g (void) { }",
       "fragment:g"},
      {"void g (in f1 a) { }", "RPL5003 entry point 'g' must return void and take no arguments\n",
       "void g (conditional (false) in f1 a) { }", "fragment:g"},
      {"void h (void) { g (); } void g (void) { h (); }",
       "RPL5008 entry point 'g' is called by 'h'\n", "void h (void) { } void g (void) { h (); }",
       "fragment:g"},
      {"void v (void) { }", "RPL5009 vertex entry point 'v' never writes a position\n",
       "void p (void) { vertex_stage_output_position (f4 {0.0}); } void v (void) { p (); }",
       "vertex:v"},
  });
}

TEST(ResolveCodes, ListOfEntryPoints_IsChecked) {
  const std::string source = "void g (void) { } void h (void) { }";
  EXPECT_EQ(VariantOf({source}, "fragment:g,fragment:h").Messages(),
            "RPL5005 stage fragment has two entry points, 'g' and 'h'\n");
  EXPECT_EQ(VariantOf({source}, "fragment:g,vertex:g").Messages(),
            "RPL5006 function 'g' is the entry point of two stages\n");
  EXPECT_EQ(VariantOf({source}, "compute:g").Messages(),
            "RPL5007 pipeline type graphics_classic has no stage 'compute'\n");
}

TEST(ResolveCodes, Calls_EndAndStayInTheirStage) {
  CheckRows({
      {"void f (void) { f (); } void g (void) { f (); }",
       "RPL5020 function 'f' calls itself through 'f' -> 'f'\n",
       "void f (void) { } void g (void) { f (); }", "fragment:g"},
      {"void f (void) { h (); } void h (void) { f (); } void g (void) { h (); }",
       "RPL5020 function 'f' calls itself through 'f' -> 'h' -> 'f'\n",
       "void f (void) { } void h (void) { f (); } void g (void) { h (); f (); }", "fragment:g"},
      {"void f (void) { conditional (true) { f (); } } void g (void) { f (); }",
       "RPL5020 function 'f' calls itself through 'f' -> 'f'\n",
       "void f (void) { conditional (false) { f (); } } void g (void) { f (); }", "fragment:g"},
  });
  const std::string shared =
      "vertex_attribute_container a { f4 p; };\n"
      "f4 read (void) { return a.p; }\n"
      "f4 helper (void) { return read (); }\n"
      "void v (void) { vertex_stage_output_position (helper ()); }\n"
      "void g (void) { f4 x = helper (); }\n";
  VariantOf variant({shared}, "vertex:v,fragment:g");
  EXPECT_EQ(variant.Messages(),
            "RPL5012 function 'helper' is bound to the vertex stage and called from the fragment "
            "stage\n");
  EXPECT_EQ(variant.Details(Code::kRpl5012),
            "\"helper ()\" function 'helper' is bound to the vertex stage and called from the "
            "fragment stage\n"
            "\"read ()\" 'helper' calls 'read' here\n"
            "\"a.p\" 'a' is accessed here\n");
}

TEST(ResolveCodes, StateReadButNeverWritten_IsAWarning) {
  const auto source = [](const char* written) {
    return std::string("state_container s { f4 a; f4 b; };\n") +
           "void v (void) { vertex_stage_output_position (f4 {0.0}); s.a = f4 {1.0}; " + written +
           " }\ncolor_output_container o { f4 c; };\nvoid g (void) { o.c = s.a + s.b; }\n";
  };
  VariantOf variant({source("")}, "vertex:v,fragment:g");
  EXPECT_EQ(variant.Messages(),
            "RPL5010 fragment stage reads 's.b', which the vertex stage never writes\n");
  EXPECT_TRUE(variant.ok());
  EXPECT_EQ(VariantOf({source("s.b = f4 {0.0};")}, "vertex:v,fragment:g").Messages(), "");
  EXPECT_EQ(VariantOf({source("")}, "fragment:g").Messages(), "");
}

TEST(ResolveCodes, Settings_MatchTheTable) {
  const char* const output = "color_output_container o { f4 a; }; ";
  const auto with_output = [&](const char* text) { return std::string(output) + text; };
  CheckRows({
      {"setting nope = true;", "RPL7001 setting 'nope' is unknown\n", "setting depth_test = true;"},
      {"setting color_output_use_blend = true;",
       "RPL7002 setting 'color_output_use_blend' needs a block\n",
       with_output("setting color_output_use_blend block 0 = true;").c_str()},
      {with_output("setting depth_test block 0 = true;").c_str(),
       "RPL7003 setting 'depth_test' takes no block\n", "setting depth_test = false;"},
      {"setting depth_test = 1u;", "RPL7004 setting 'depth_test' is a uint, expected boolean\n",
       "setting depth_test = 1u == 1u;"},
      {"setting stencil_front_reference = 5;",
       "RPL7004 setting 'stencil_front_reference' is a sint, expected uint\n",
       "setting stencil_front_reference = 5u;"},
      {"setting cull_mode = \"left\";", "RPL7005 setting 'cull_mode' has no value 'left'\n",
       "setting cull_mode = \"front\";"},
      {with_output("setting color_output_write_a block 1 = true;").c_str(),
       "RPL7006 block 1 of setting 'color_output_write_a' is out of range, there are 1 colour "
       "outputs\n",
       "color_output_container o { f4 a; f4 b; }; setting color_output_write_a block 1 = true;"},
      {"setting stencil_front_write_mask = 256u;",
       "RPL7007 setting 'stencil_front_write_mask' is 256, the limit is 255\n",
       "setting stencil_front_write_mask = 255u;"},
      {"setting cull_mode = 1u / 0u;", "RPL3019 '/' by zero\n", "setting cull_mode = \"none\";"},
  });
}

TEST(ResolveCodes, Lints_AreThereWhenAskedFor) {
  EXPECT_EQ(
      VariantOf({"setting depth_test = true; setting depth_test = false;"}).MessagesAndLints(),
      "RPL7008 setting 'depth_test' replaces an earlier value\n");
  EXPECT_EQ(
      VariantOf({"vertex_attribute_container c { pack (snorm8) f3 a; pack (float16) f4 b; };"})
          .MessagesAndLints(),
      "RPL4044 three-component format 'R8G8B8_SNORM' of 'a' is optional in Vulkan\n");
  EXPECT_EQ(VariantOf({"vertex_attribute_container a { f4x4 m; f4x4 n; f4x4 o; f4x4 p; };"
                       "instanced_attribute_container b { f4 q; };"})
                .MessagesAndLints(),
            "RPL4045 attributes use 17 locations, more than 16\n");
  EXPECT_EQ(VariantOf({"vertex_attribute_container a { f4x4 m; f4x4 n; f4x4 o; f4x4 p; };"})
                .MessagesAndLints(),
            "");
}

// Every position of spec/rpl 8.4 and what it says of an instance option.
TEST(ResolveCodes, InstanceOptions_OnlyWhereTheInterfaceDoesNotDependOnThem) {
  const struct {
    const char* source;
    const char* position;  // empty: allowed
    const char* entries = "";
  } rows[] = {
      {"constant a = n;", ""},
      {"conditional (n > 1u) constant a = 1u;", ""},
      {"setting stencil_back_reference = n;", ""},
      {"conditional (n > 1u) setting depth_test = true;", ""},
      {"conditional (n > 1u) void g (void) { } conditional (n <= 1u) void g (void) { }", "",
       "fragment:g"},
      {"void g (void) { conditional (n > 1u) { u1 a = n; } }", "", "fragment:g"},
      {"void g (void) { conditional (n > 1u) alias (b, 1.0) f1[n] a; }", "", "fragment:g"},
      {"void f (in f1[n] a) { } void g (void) { f1[n] a; a[0u] = 1.0; f (a); }", "", "fragment:g"},
      {"conditional (n > 1u) state_container c { conditional (n > 1u) f4 a; };", ""},
      {"conditional (n > 1u) color_output_container c { conditional (n > 1u) f4 a; };", ""},
      {"conditional (n > 1u) vertex_attribute_container c { f4 a; };",
       "the conditional of container 'c'"},
      {"instanced_attribute_container c { f4 b; conditional (n > 1u) f4 a; };",
       "the conditional of field 'a'"},
      {"conditional (n > 1u) struct s_t { f4 a; }; void g (void) { s_t s; }",
       "the conditional of struct 's_t'", "fragment:g"},
      {"struct s_t { f4 b; conditional (n > 1u) f4 a; }; void g (void) { s_t s; }",
       "the conditional of field 'a'", "fragment:g"},
      {"struct s_t { f4[n] a; }; void g (void) { s_t s; }", "the array size of field 'a'",
       "fragment:g"},
      {"conditional (n > 1u) set_pass uniform_buffer b { f4 a; };",
       "the conditional of buffer 'b'"},
      {"set_pass uniform_buffer b { f4[n] a; };", "the array size of field 'a'"},
      {"conditional (n > 1u) push_constant b { f4 a; };", "the conditional of push constant 'b'"},
      {"conditional (n > 1u) set_pass sampler s;", "the conditional of sampler 's'"},
      {"conditional (n > 1u) set_pass image_color_2d i;", "the conditional of image 'i'"},
      {"set_pass image_color_2d[n] i;", "the array size of image 'i'"},
      {"void f (conditional (n > 1u) in f1 a) { } void g (void) { f (1.0); }",
       "the conditional of argument 'a'", "fragment:g"},
      {"state_container c { f4 a; conditional (n > 1u) alias (b, a) };",
       "the conditional of field alias 'b'"},
  };
  for (const auto& row : rows) {
    const std::string message =
        *row.position == '\0'
            ? std::string()
            : "RPL3001 instance option 'n' cannot be used in " + std::string(row.position) + "\n";
    EXPECT_EQ(VariantOf({std::string("instance n: uint 2; ") + row.source}, row.entries).Messages(),
              message)
        << row.source;
    EXPECT_EQ(VariantOf({std::string("global n: uint 2; ") + row.source}, row.entries).Messages(),
              "")
        << row.source;
  }
}

TEST(ResolveCodes, InstanceOptionThroughConstants_ShowsTheChain) {
  VariantOf by_value(
      {"instance n: uint 2; constant a = 1u + n; constant b = a * 2u;\n"
       "set_pass uniform_buffer c { f4[b] d; };"});
  EXPECT_EQ(by_value.Details(Code::kRpl3002),
            "\"b\" constant 'b' depends on instance option 'n' and cannot be used in the array "
            "size of field 'd'\n"
            "\"a\" 'b' depends on 'a' here\n"
            "\"n\" 'a' depends on 'n' here\n"
            "through 'b' -> 'a' -> 'n'\n");
  VariantOf by_condition(
      {"instance c: flag false; conditional (c) constant a = 1u;\n"
       "conditional (!c) constant a = 2u;\n"
       "set_pass uniform_buffer b { f4[a] d; };"});
  EXPECT_EQ(by_condition.Messages(),
            "RPL3002 constant 'a' depends on instance option 'c' and cannot be used in the array "
            "size of field 'd'\n");
  // One tainted conditional taints the name, whichever declaration is active.
  VariantOf other(
      {"instance c: flag false; global k: flag true; conditional (c) constant a = 1u;\n"
       "conditional (k) constant a = 2u;\n"
       "set_pass uniform_buffer b { f4[a] d; };"});
  EXPECT_EQ(other.Messages(), by_condition.Messages());
}

TEST(ResolveCodes, UnreachedDeclarations_AreNotLookedAt) {
  EXPECT_EQ(VariantOf({"struct s_t { nope_t a; conditional (1u) f4 b; };\n"
                       "conditional (nope) void f (in nope_t a) { return nope; }\n"
                       "conditional (false) set_pass uniform_buffer b { nope_t a; };"})
                .Messages(),
            "");
}

TEST(ResolveCodes, LocalNames_DifferFromFunctionsAndStructsOfTheVariant) {
  const std::string function = "void bend (void) {}\nstruct part_t { f1 a; };\n";
  const auto messages = [&](std::string_view body) {
    return VariantOf({function + kPosition + std::string(body) + " }"}, "vertex:v").Messages();
  };
  EXPECT_EQ(messages("f1 bend = 1.0; bend ();"),
            "RPL6040 variable 'bend' has the name of function 'bend'\n");
  EXPECT_EQ(messages("bend (); f1 bend = 1.0;"),
            "RPL6040 variable 'bend' has the name of function 'bend'\n");
  EXPECT_EQ(messages("alias (bend, f1 {1.0}) bend ();"),
            "RPL6040 alias 'bend' has the name of function 'bend'\n");
  EXPECT_EQ(messages("f1 part_t = 1.0; part_t whole = part_t {1.0};"),
            "RPL6040 variable 'part_t' has the name of struct 'part_t'\n");
  EXPECT_EQ(messages("f1 v = 1.0;"), "RPL6040 variable 'v' has the name of function 'v'\n");
  EXPECT_EQ(messages("f1 bend = 1.0; f1 part_t = 2.0;"), "");  // nothing reaches them
}

TEST(ResolveCodes, Containers_StandOnlyBeforeDots) {
  const std::string container = "vertex_attribute_container leaf { f4 a; };\n";
  const std::string message =
      "RPL6004 vertex attribute container 'leaf' cannot be used as a value\n";
  EXPECT_EQ(VariantOf({container + kPosition + "alias (whole, leaf) }"}, "vertex:v").Messages(),
            message);
  EXPECT_EQ(VariantOf({container + kPosition + "leaf; }"}, "vertex:v").Messages(), message);
}

TEST(ResolveCodes, ValuesAndParameters_AreBounded) {
  const std::string doubling = [] {
    std::string text;
    for (int i = 0; i < 20; ++i) {
      text += fmt::format("struct q{} {{ q{} a; q{} b; }};\n", i, i + 1, i + 1);
    }
    return text + "struct q20 { f1 a; };\n";
  }();
  EXPECT_EQ(VariantOf({doubling + "set_pass read_only_storage_buffer whole { q0 a; };"}).Messages(),
            "LIM1001 read-only storage buffer 'whole' has too many parameters, the limit is "
            "16384\n");
  EXPECT_EQ(VariantOf({doubling + "set_pass read_only_storage_buffer whole { q6 a; };"}).Messages(),
            "");
  EXPECT_EQ(
      VariantOf({kPosition + std::string("f1[65536] x; x[0u] = 1.0; }")}, "vertex:v").Messages(),
      "");
  EXPECT_EQ(
      VariantOf({kPosition + std::string("f1[65537] x; x[0u] = 1.0; }")}, "vertex:v").Messages(),
      "LIM1001 variable 'x' has too many items, the limit is 65536\n");
}

}  // namespace
}  // namespace kiln::resolve
