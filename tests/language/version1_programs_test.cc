// SPDX-License-Identifier: MIT
// Version 1, declarations: programs, their entry points and the codes they give.
// See spec/rpl 4, 7 to 10
#include <gtest/gtest.h>

#include "tests/language/source_rows.h"

namespace kiln::language {
namespace {

struct Row {
  const char* source;
  const char* entries;
  const char* codes;
};

constexpr Row kRows[] = {
    {"struct s { s x; }; set_pass uniform_buffer b { s a; };", "", "RPL4023"},
    {"struct s { s[2] x; }; set_pass uniform_buffer b { s a; };", "", "RPL4023"},
    {"struct s { t x; }; struct t { s x; }; set_pass uniform_buffer b { s a; };", "", "RPL4023"},
    {"struct s { s x; };", "", ""},
    {"struct s { foo x; }; void g(void) { bar(); }", "", ""},
    {"void v (in f1 x) { }", "vertex:v", "RPL5003"},
    {"f1 v (void) { return 1.0; }", "vertex:v", "RPL5003"},
    {"void v (void) {}", "vertex:v", "RPL5009"},
    {"", "vertex:v", "RPL5001"},
    {"void v (void) {} void v (void) {}", "vertex:v", "RPL5002"},
    {"void v (void) {}", "vertex:v fragment:v", "RPL5006 RPL5009"},
    {"void v (void) {} void w (void) {}", "vertex:v vertex:w", "RPL5005 RPL5009"},
    {"global x: flag true; void v (conditional (!x) in f1 y) { vertex_stage_output_position (f4 "
     "{0.0}); }",
     "vertex:v", ""},
    {"setting cull_mode = \"foo\";", "", "RPL7005"},
    {"setting cull_mode = 1u;", "", "RPL7004"},
    {"setting depth_test = 1u;", "", "RPL7004"},
    {"setting foo = 1u;", "", "RPL7001"},
    {"setting color_output_use_blend = true;", "", "RPL7002"},
    {"setting cull_mode block 0 = \"none\";", "", "RPL7003"},
    {"setting color_output_use_blend block 0 = true;", "", "RPL7006"},
    {"color_output_container o { f4 a; }; setting color_output_use_blend block 0 = true; setting "
     "color_output_use_blend block 1 = true;",
     "", "RPL7006"},
    {"setting stencil_front_compare_mask = 256u;", "", "RPL7007"},
    {"setting stencil_front_compare_mask = 255u;", "", ""},
    {"setting stencil_front_compare_mask = 5;", "", "RPL7004"},
    {"setting depth_min = 1;", "", "RPL7004"},
    {"setting cull_mode = \"none\"; setting cull_mode = \"back\";", "", ""},
    {"global x: flag false; conditional (x) setting foo = 1u;", "", ""},
    {"setting depth_test = on;", "", "RPL3025"},
    {"setting color_blend_constant_r = 0.5; setting color_blend_constant_a = 0.5;", "", ""},
    {"setting color_output_use_blend block 99999999999 = true;", "", "RPL1006"},
    {"setting foo block 0 = true;", "", "RPL7001"},
    {"setting cull_mode block 0 = \"foo\";", "", "RPL7003 RPL7005"},
    {"global x: flag true; constant x = 1u;", "", "RPL4020"},
    {"constant x = 1u; constant x = 2u;", "", "RPL3024"},
    {"set_pass sampler x; set_pass image_color_2d x;", "", "RPL4020"},
    {"struct x { f4 a; }; set_pass uniform_buffer x { x a; };", "", "RPL4020"},
    {"struct x { f4 a; }; set_pass uniform_buffer x { f4 a; };", "", ""},
    {"set_pass uniform_buffer x { f4 a; f4 a; };", "", "RPL4021"},
    {"set_pass uniform_buffer x { f4 a; alias (a, a.x) };", "", "RPL4021"},
    {"set_pass uniform_buffer b { alias (a, b) alias (b, a) f4 x; };", "", "RPL4032"},
    {"set_pass uniform_buffer b { alias (a, a) f4 x; };", "", "RPL4032"},
    {"set_pass uniform_buffer b { alias (a, b) alias (b, c) alias (c, a) f4 x; };", "", "RPL4032"},
    {"set_pass uniform_buffer b { alias (a, x + x) f4 x; };", "", "RPL4030"},
    {"set_pass uniform_buffer b { alias (a, y) f4 x; };", "", "RPL4031"},
    {"set_pass uniform_buffer b { alias (a, x.q) f4 x; };", "", "RPL6010"},
    {"vertex_attribute_container b { alias (a, x.y) f4 x; };", "", ""},
    {"set_pass uniform_buffer b { alias (a, x[0u]) f4[2] x; };", "", "RPL4030"},
    {"set_pass uniform_buffer b { alias (a, 1u) f4 x; };", "", "RPL4030"},
    {"set_pass uniform_buffer b { alias (a, b.x) f4 x; };", "", "RPL4031"},
    {"instance i: uint 1; set_pass image_color_2d[i] x;", "", "RPL3001"},
    {"instance i: uint 1; constant k = i; set_pass image_color_2d[k] x;", "", "RPL3002"},
    {"instance i: flag true; conditional (i) constant k = 1u; conditional (!i) constant k = 2u; "
     "set_pass image_color_2d[k] x;",
     "", "RPL3002"},
    {"instance i: flag true; conditional (i) set_pass sampler s;", "", "RPL3001"},
    {"instance i: flag true; conditional (i) state_container s { f4 x; };", "", ""},
    {"instance i: flag true; state_container s { conditional (i) f4 x; f4 y; };", "", ""},
    {"instance i: flag true; conditional (i) vertex_attribute_container s { f4 x; };", "",
     "RPL3001"},
    {"instance i: flag true; vertex_attribute_container s { conditional (i) f4 x; f4 y; };", "",
     "RPL3001"},
    {"instance i: flag true; state_container s { f4 y; conditional (i) alias (x, y) };", "",
     "RPL3001"},
    {"instance i: flag true; conditional (i) push_constant s { f4 y; };", "", "RPL3001"},
    {"instance i: uint 1; push_constant s { f4[i] y; };", "", "RPL3001"},
    {"instance i: flag true; struct s { conditional (i) f4 y; f4 z; }; set_pass uniform_buffer u "
     "{ s a; };",
     "", "RPL3001"},
    {"instance i: flag true; conditional (i) struct s { f4 z; }; set_pass uniform_buffer u { s "
     "a; };",
     "", "RPL3001"},
    {"instance i: flag true; void g (conditional (i) in f1 x) {}void v (void) { "
     "vertex_stage_output_position (f4 {0.0}); g (1.0); }",
     "vertex:v", "RPL3001"},
    {"instance i: uint 2; void g (in f1[i] x) {}void v (void) { vertex_stage_output_position (f4 "
     "{0.0}); f1[i] y; y[0u]=1.0; g (y); }",
     "vertex:v", ""},
    {"instance i: flag true; conditional (i) void g (void) {}void v (void) { "
     "vertex_stage_output_position (f4 {0.0}); g (); }",
     "vertex:v", ""},
    {"instance i: flag true; setting depth_test = i; conditional (i) setting depth_write = i;", "",
     ""},
    {"instance i: uint 1;void v (void) { vertex_stage_output_position (f4 {0.0}); alias (q, i) "
     "u1 x = q; conditional (i == 1u) { x = 2u; } conditional (i == 2u) alias (r, x) }",
     "vertex:v", ""},
    {"instance i: uint 1; struct s { f1[i] x; };void v (void) { vertex_stage_output_position (f4 "
     "{0.0}); s x; }",
     "vertex:v", "RPL3001"},
    {"instance i: flag true; color_output_container s { conditional (i) f4 x; f4 y; };", "", ""},
    {"constant a = 1u + 2u * 3u == 7u;", "", ""},
    {"constant a = 1u / 0u;", "", "RPL3019"},
    {"constant a = 1 % 0;", "", "RPL3019"},
    {"constant a = 1.0 / 0.0;", "", "RPL3022"},
    {"constant a = -2147483648 / -1;", "", "RPL3020"},
    {"constant a = 2147483647 + 1;", "", "RPL3020"},
    {"constant a = 1u << 32u;", "", "RPL3021"},
    {"constant a = 1u << 31u; constant b = 0u - 1u;", "", ""},
    {"constant a = u1 {-1};", "", "RPL3023"},
    {"constant a = s1 {4000000000u};", "", "RPL3023"},
    {"constant a = u1 {-0.5}; constant b = u1{1.9}; constant d = s1{-1.9};", "", ""},
    {"constant a = u1 {4294967296.0};", "", "RPL3023"},
    {"constant a = \"x\" + \"y\";", "", "RPL3005"},
    {"constant a = -true;", "", "RPL3010"},
    {"constant a = 300000000000000000000000000000000000000.0 * 10.0;", "", "RPL3022"},
    {"constant a = 1u - true;", "", "RPL3005"},
    {"constant a = 1u * 1.0;", "", "RPL3006"},
    {"constant a = true < false;", "", "RPL3005"},
    {"constant a = true == false;", "", ""},
    {"constant a = 1 & 1;", "", "RPL3007"},
    {"constant a = true & false;", "", "RPL3007"},
    {"constant a = 1 << 1u;", "", "RPL3007"},
    {"constant a = 1u << 1;", "", "RPL3007"},
    {"constant a = -2147483648; constant b = -a;", "", "RPL3020"},
    {"constant a = 5 % -3; ", "", ""},
    {"constant a=-2147483648 % -1;", "", ""},
    {"constant a = f1 {true}; constant b = u1 {false}; constant d = s1{2.5};", "", ""},
    {"constant a = u1 {\"x\"};", "", "RPL3017"},
    {"constant a = u1 {};", "", "RPL3016"},
    {"constant a = u2 {1u, 1u};", "", "RPL3015"},
    {"constant a = on;", "", "RPL3025"},
    {"constant on = 1u; constant a = on + 1u;", "", ""},
    {"global e: enum \"a\" \"b\"; constant x = e == \"c\";", "", "RPL3026"},
    {"global e: enum \"a\" \"b\"; constant x = e == \"b\";", "", ""},
    {"global e: enum \"a\" \"b\"; constant x = e != \"c\" || \"d\" == e;", "", "RPL3026 RPL3026"},
    {"constant a = nope; constant b = a + 1u;", "", "RPL3003"},
    {"conditional (1u) constant a = 1u;", "", "RPL3018"},
    {"conditional (\"a\") set_pass sampler s;", "", "RPL3018"},
    {"constant a = false && (1u / 0u == 1u);", "", "RPL3019"},
    {"constant a = foo {1u};", "", "RPL3015"},
    {"constant a = a;", "", "RPL3004"},
    {"constant a = b; constant b = a;", "", "RPL3004"},
    {"constant a = ub; set_pass uniform_buffer ub { f4 x; };", "", "RPL3003"},
    {"constant a = 1u; constant b = ~a; constant d = +\"x\"; constant e = +true;", "", ""},
    {"constant a = !(1u == 2u);", "", ""},
    {"conditional (false) constant a = 1u / 0u;", "", ""},
    {"set_pass uniform_buffer b { f3 x; };", "", "RPL4050"},
    {"set_pass uniform_buffer b { f3x3 x; };", "", "RPL4050"},
    {"set_pass uniform_buffer b { s x; }; struct s { f4 y; f2 z; };", "", "RPL4050"},
    {"push_constant b { f1 x; };", "", "RPL4050"},
    {"set_pass uniform_buffer b { f4[1024] x; };", "", ""},
    {"set_pass uniform_buffer b { f4[1025] x; };", "", "RPL4053"},
    {"push_constant b { f4x4 x; f4x4 y; };", "", ""},
    {"push_constant b { f4x4 x; f4x4 y; f4 z; };", "", "RPL4053"},
    {"push_constant a { f4 x; }; push_constant b { f4 x; };", "", "RPL4054"},
    {"set_pass uniform_buffer b { f4... x; };", "", "RPL4052"},
    {"struct s { f4 a; f4... x; }; set_pass uniform_buffer b { s y; };", "", "RPL4052"},
    {"set_pass read_only_storage_buffer b { f4... x; f4 y; };", "", "RPL4051"},
    {"struct s { f4... x; f4 a; }; set_pass read_only_storage_buffer b { s y; };", "", "RPL4051"},
    {"struct s { f4... x; }; set_pass read_only_storage_buffer b { s y; f4 z; };", "", "RPL4051"},
    {"struct s { f4... x; }; set_pass read_only_storage_buffer b { s[2] y; };", "", "RPL4015"},
    {"struct s { f4... x; }; set_pass read_only_storage_buffer b { s... y; };", "", "RPL4015"},
    {"struct s { f4... x; }; push_constant b { s y; };", "", "RPL4052"},
    {"set_pass read_only_storage_buffer b { foo x; };", "", "RPL4010"},
    {"set_pass read_only_storage_buffer b { sampler x; };", "", "RPL4011"},
    {"set_pass read_only_storage_buffer b { image_color_2d x; };", "", "RPL4011"},
    {"vertex_attribute_container b { s x; }; struct s { f4 a; };", "", "RPL4040"},
    {"color_output_container b { f4x4 x; };", "", "RPL4043"},
    {"color_output_container b { s x; }; struct s { f4 a; };", "", "RPL4040"},
    {"vertex_attribute_container b { sampler x; };", "", "RPL4011"},
    {"global x: flag false; set_pass uniform_buffer b { conditional (x) f4 y; };", "", "RPL4025"},
    {"global x: flag false; vertex_attribute_container b { conditional (x) f4 y; };", "",
     "RPL4025"},
    {"global x: flag false; struct s { conditional (x) f4 y; }; set_pass "
     "read_only_storage_buffer b { s y; };",
     "", "RPL4024"},
    {"global x: flag true; conditional (x) struct s { f4 y; }; struct s { f4 z; }; set_pass "
     "read_only_storage_buffer b { s y; };",
     "", "RPL4022"},
    {"set_pass read_only_storage_buffer b { f4[65536][65536] x; };", "", "RPL4003"},
    {"set_pass read_only_storage_buffer b { f4[67108864] x; f4[67108864] y; f4[67108864] z; "
     "f4[67108864] w; };",
     "", "RPL4003"},
    {"set_pass read_only_storage_buffer b { f4[4000000] x; };", "", ""},
    {"set_pass image_color_2d[0] x;", "", "RPL4002"},
    {"set_pass image_color_2d[1.0] x;", "", "RPL4001"},
    {"vertex_attribute_container b { pack (uint16) f2 x; };", "", "RPL4042"},
    {"vertex_attribute_container b { pack (unorm32) f2 x; };", "", "RPL4041"},
    {"vertex_attribute_container b { pack (float8) f2 x; };", "", "RPL4041"},
    {"vertex_attribute_container b { pack (sint8) u2 x; };", "", "RPL4042"},
    {"vertex_attribute_container b { pack (unorm8) f3 x; };", "", ""},
    {"vertex_attribute_container b { pack (unorm16) f4x4 x; pack (uint8) u1 y; pack (sint16) s2 "
     "z; pack (snorm8) f4 w; pack (float16) f3x3 q; };",
     "", ""},
    {"vertex_attribute_container b { pack (unorm8) u4 x; };", "", "RPL4042"},
    {"vertex_attribute_container b { pack (unorm64) f2 x; };", "", "RPL4041"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void v (void) { vertex_stage_output_position (f4 "
     "{0.0}); f4 x = o.color; }",
     "vertex:v", "RPL5011"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { f4 x = a.p; }",
     "fragment:f", "RPL5011"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { st.c = f4 {1.0}; }",
     "fragment:f", "RPL6015"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { f4 x = o.color; }",
     "fragment:f", "RPL6014"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { o.color = st.c; }void v (void) { "
     "vertex_stage_output_position (f4 {0.0}); st.e = f4 {1.0}; }",
     "vertex:v fragment:f", "RPL5010"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { o.color = st.c; }void v (void) { "
     "vertex_stage_output_position (f4 {0.0}); st.c = f4 {1.0}; }",
     "vertex:v fragment:f", ""},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void h (void) { f4 x = a.p; } void g (void) { h (); "
     "} void f (void) { g (); }void v (void) { vertex_stage_output_position (f4 {0.0}); g (); }",
     "vertex:v fragment:f", "RPL5012"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { v (); }void v (void) { "
     "vertex_stage_output_position (f4 {0.0});  }",
     "vertex:v fragment:f", "RPL5008"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { o.color.xyz = f3{1.0}; }",
     "fragment:f", "RPL6014"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { o.color.x = 1.0; }",
     "fragment:f", ""},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void g (void) { fragment_stage_discard (); } void f "
     "(void) { g (); }void v (void) { vertex_stage_output_position (f4 {0.0}); g (); }",
     "vertex:v fragment:f", "RPL5013"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { f4 x = o.nope; }",
     "fragment:f", "RPL6007"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void f (void) { f4 x = st.out.c; }",
     "fragment:f", "RPL5015"},
    {"vertex_attribute_container a { f4 p; }; state_container st { f4 c; f4 e; }; "
     "color_output_container o { f4 color; };void v (void) { vertex_stage_output_position (f4 "
     "{0.0}); st.out.c = f4{1.0}; }",
     "vertex:v", "RPL5015"},
    {"state_container st { f4 out; f4 in; };void v (void) { vertex_stage_output_position (f4 "
     "{0.0}); st.out = f4{1.0}; st.in = st.out; }",
     "vertex:v", "RPL6014"},
    {"void v (void) { vertex_stage_output_position (f4 {0.0}); u1 x = "
     "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
     "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("
     "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1u)))))))))))))))))))))"
     ")))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"
     ")))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"
     "))))))))))))))))))))))))))))))))))))))))))))))); }",
     "vertex:v", ""},
    {"void v (void) { vertex_stage_output_position (f4 {0.0}); s1 y = 1; s1 x = "
     "-------------------------------------------------------------------------------------------"
     "-------------------------------------------------------------------------------------------"
     "--------------------------------------------------------------------y; }",
     "vertex:v", ""},
    {"void v (void) { vertex_stage_output_position (f4 {0.0}); f1[4000000] x; x[5u] = 1.0; f1 y "
     "= x[5u]; }",
     "vertex:v", "LIM1001"},
    {"void g (in f1[4000000] x) { }void v (void) { vertex_stage_output_position (f4 {0.0}); "
     "f1[4000000] x; x[0u] = 1.0; g (x); }",
     "vertex:v", "LIM1001 LIM1001"},
    {"set_pass image_color_2d[4000000] x;", "", "LIM1001"},
    {"void v (void) { vertex_stage_output_position (f4 {0.0}); alias (a0, f1 {1.0}) alias (a1, "
     "a0 + a0)alias (a2, a1 + a1)alias (a3, a2 + a2)alias (a4, a3 + a3)alias (a5, a4 + a4)alias "
     "(a6, a5 + a5)alias (a7, a6 + a6)alias (a8, a7 + a7)alias (a9, a8 + a8)alias (a10, a9 + "
     "a9)alias (a11, a10 + a10) f1 x = a11; }",
     "vertex:v", ""},
};

TEST(Version1Programs, EveryRow_GivesItsCodes) {
  for (const Row& row : kRows) {
    EXPECT_EQ(SortedCodes(BuildVersion1(row.source, row.entries)), row.codes) << row.source;
  }
}

}  // namespace
}  // namespace kiln::language
