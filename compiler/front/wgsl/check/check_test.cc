// SPDX-License-Identifier: MIT
// Pairs: what a rule allows and what it does not, with the code that is said.
#include "compiler/front/wgsl/check/check.h"

#include <algorithm>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include <gtest/gtest.h>

#include "compiler/base/clock.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/lex/lex.h"
#include "compiler/front/wgsl/syntax/parse.h"

namespace kiln::wgsl::front {
namespace {

// Codes and messages of what is wrong, each on a line.
std::string ErrorsOf(std::string_view text) {
  const LexResult lexed = Lex(text, 0);
  const syntax::ParseResult parsed = syntax::Parse(lexed.stream, 0);
  std::string errors;
  const auto add = [&](const std::vector<Diagnostic>& diagnostics) {
    for (const Diagnostic& one : diagnostics) {
      errors += std::string(CodeText(one.code)) + " " + Message(one) + "\n";
    }
  };
  add(lexed.diagnostics);
  add(parsed.diagnostics);
  if (errors.empty()) {
    add(Check(lexed.stream, parsed.ast, 0).diagnostics);
  }
  return errors;
}

struct Row {
  std::string_view right;
  std::string_view code;
  std::string_view wrong;
};
void ExpectRows(std::span<const Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(ErrorsOf(row.right), "") << row.right;
    const std::string errors = ErrorsOf(row.wrong);
    EXPECT_TRUE(errors.starts_with(row.code)) << row.wrong << "\n" << errors;
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << row.wrong << "\n" << errors;
  }
}

// All of it is in tests/wgsl_front/uniformity_rows.py.
TEST(WgslCheck, Control_IsUniformWhereItHasTo) {
  constexpr Row kRows[] = {
      {"@compute @workgroup_size(2) fn f(@builtin(workgroup_id) i : vec3u) {"
       " if (i.x > 1u) { workgroupBarrier(); } }",
       "WGSL4001",
       "@compute @workgroup_size(2) fn f(@builtin(local_invocation_id) i : vec3u) {"
       " if (i.x > 1u) { workgroupBarrier(); } }"},
      {"@fragment fn f(@location(0) a : f32) { if (a > 1.0) { discard; } let b = dpdx(a); }",
       "WGSL4002", "@fragment fn f(@location(0) a : f32) { if (a > 1.0) { let b = dpdx(a); } }"},
      {"diagnostic(off, derivative_uniformity);"
       "@fragment fn f(@location(0) a : f32) { if (a > 1.0) { let b = dpdx(a); } }",
       "WGSL8401",
       "diagnostic(warning, derivative_uniformity);"
       "@fragment fn f(@location(0) a : f32) { if (a > 1.0) { let b = dpdx(a); } }"},
  };
  ExpectRows(kRows);
}

TEST(WgslCheck, Names_AreBound) {
  constexpr Row kRows[] = {
      {"const a = b; const b = 1;", "WGSL2004", "const a = b; const b = a;"},
      {"fn f() { g(); } fn g() { }", "WGSL2004", "fn f() { g(); } fn g() { f(); }"},
      {"struct S { a : T } struct T { b : f32 }", "WGSL2004",
       "struct S { a : T } struct T { b : S }"},
      {"fn f() { let f = 1; let g = f; } fn g() { f(); }", "WGSL2005", "fn f() { let g = h; }"},
      {"fn f() { { let a = 1; } let a = 2; }", "WGSL2005", "fn f() { { let a = 1; } let b = a; }"},
      {"fn f(a : u32) { { let a = 1; } }", "WGSL2003", "fn f(a : u32) { let a = 1; }"},
      {"const a = 1; fn f() { let a = 2; }", "WGSL2003", "const a = 1; const a = 2;"},
      {"fn f() { for (var i = 0; i < 3; i++) { let k = i; } }", "WGSL2005",
       "fn f() { for (var i = 0; i < 3; i++) { } let k = i; }"},
      {"fn f() { loop { let a = 1; break; continuing { let b = a; } } }", "WGSL2005",
       "fn f() { loop { { let a = 1; } break; continuing { let b = a; } } }"},
      {"struct S { a : f32, b : f32 }", "WGSL2003", "struct S { a : f32, a : f32 }"},
      {"fn f(v : vec3f) -> f32 { return v.x; }", "WGSL2010",
       "fn f(v : vec3f) -> f32 { return v.w; }"},
      {"fn f(v : vec3f) -> vec2f { return v.rg; }", "WGSL2010",
       "fn f(v : vec3f) -> vec2f { return v.xg; }"},
      {"struct S { a : f32 } fn f(s : S) -> f32 { return s.a; }", "WGSL1005",
       "struct S { a : f32 } fn f(s : S) -> f32 { return s.b; }"},
      {"enable f16; const a = 1h;", "WGSL2010", "const a = 1h;"},
      {"enable f16; alias T = vec2<f16>;", "WGSL2010", "alias T = vec2h;"},
      {"enable f16;", "WGSL1005", "enable f17;"},
      {"diagnostic(off, derivative_uniformity);", "WGSL1005",
       "diagnostic(on, derivative_uniformity);"},
  };
  ExpectRows(kRows);
}

TEST(WgslCheck, Types_AreExact) {
  constexpr Row kRows[] = {
      {"fn f(a : f32) -> f32 { return a + 1; }", "WGSL2001",
       "fn f(a : f32) -> f32 { return a + 1i; }"},
      {"fn f() -> u32 { return 1; }", "WGSL2002", "fn f() -> u32 { return 1i; }"},
      {"fn f() { var a : f32 = 1; }", "WGSL2002", "fn f() { var a : f32 = 1u; }"},
      {"fn f() { let a : vec2f = vec2(1, 2); }", "WGSL2002",
       "fn f() { let a : vec2f = vec3(1, 2, 3); }"},
      {"const a : array<f32, 2> = array(1, 2);", "WGSL2002",
       "const a : array<f32, 2> = array(1, 2, 3);"},
      {"const a = vec3f(vec2f(1), 2);", "WGSL2001", "const a = vec3f(vec2f(1), 2, 3);"},
      {"fn f(i : i32) { let a = vec3f(vec3i(i)); }", "WGSL2001",
       "fn f(i : i32) { let a = vec3f(i); }"},
      {"const a = mat2x2f(1, 2, 3, 4);", "WGSL2001", "const a = mat2x2f(1, 2, 3);"},
      {"struct S { a : f32 } const a = S(1);", "WGSL2010",
       "struct S { a : f32 } const a = S(1, 2);"},
      {"const a = array<f32, 2>(1, 2);", "WGSL2010", "const a = array<f32, 2>(1);"},
      {"fn f(a : bool) { if a { } }", "WGSL2002", "fn f(a : u32) { if a { } }"},
      {"fn f(a : u32) { switch a { default { } } }", "WGSL2002",
       "fn f(a : f32) { switch a { default { } } }"},
      {"alias T = array<f32>; @group(0) @binding(0) var<storage> a : T;", "WGSL2002",
       "fn f(a : array<f32>) { }"},
      {"fn f(a : array<f32, 3>) -> f32 { return a[2]; }", "WGSL3001",
       "fn f(a : array<f32, 3>) -> f32 { return a[3]; }"},
      {"fn f(a : vec3f, i : u32) -> f32 { return a[i]; }", "WGSL2002",
       "fn f(a : vec3f, i : f32) -> f32 { return a[i]; }"},
      {"fn f(p : ptr<function, u32>) -> u32 { return *p; }", "WGSL2002",
       "fn f(p : u32) -> u32 { return *p; }"},
      {"fn f() { var a = 1; let p = &a; }", "WGSL2002", "fn f() { let a = 1; let p = &a; }"},
      {"fn f() { var a = vec2f(); let p = &a; }", "WGSL2010",
       "fn f() { var a = vec2f(); let p = &a.x; }"},
      {"fn g(a : f32) { } fn f() { g(1); }", "WGSL2010", "fn g(a : f32) { } fn f() { g(1, 2); }"},
      {"fn g(a : ptr<function, u32>) { } fn f() { var a = 1u; g(&a); }", "WGSL2002",
       "fn g(a : ptr<function, u32>) { } fn f() { var a = 1i; g(&a); }"},
      {"alias T = vec3<u32>;", "WGSL2002", "alias T = vec3<vec2f>;"},
      {"alias T = atomic<u32>;", "WGSL2002", "alias T = atomic<f32>;"},
      {"fn f(a : u32) -> f32 { return bitcast<f32>(a); }", "WGSL2001",
       "fn f(a : vec2u) -> f32 { return bitcast<f32>(a); }"},
  };
  ExpectRows(kRows);
}

TEST(WgslCheck, Constants_AreKnownAndFit) {
  constexpr Row kRows[] = {
      {"const a : u32 = 4294967295;", "WGSL3002", "const a : u32 = 4294967296;"},
      {"const a : i32 = -2147483648;", "WGSL3002", "const a : i32 = 2147483648;"},
      {"const a = 1.0 / 3;", "WGSL3001", "const a = 1.0 / 0;"},
      {"fn f(a : i32) -> i32 { return a / 2; }", "WGSL3001",
       "fn f(a : i32) -> i32 { return a / 0; }"},
      {"fn f(a : u32) -> u32 { return a << 31; }", "WGSL3001",
       "fn f(a : u32) -> u32 { return a << 32; }"},
      {"const_assert 1 < 2;", "WGSL3004", "const_assert 2 < 1;"},
      {"fn f() { const a = 1; const_assert a == 1; }", "WGSL3003",
       "fn f() { let a = 1; const_assert a == 1; }"},
      {"override a : u32 = 1; @compute @workgroup_size(a) fn f() { }", "WGSL3003",
       "var<private> a : u32 = 1; @compute @workgroup_size(a) fn f() { }"},
      {"override a = 2; var<workgroup> b : array<u32, a>;", "WGSL3003",
       "var<private> a = 2; var<workgroup> b : array<u32, a>;"},
      {"override a = 2; override b = a * 3;", "WGSL1008", "override a = 2.0; override b = sin(a);"},
      {"override a = 2;", "WGSL1008", "override a : u32;"},
      {"const a = array<u32, 4>();", "WGSL3002", "const a = array<u32, 0>();"},
      {"@id(3) override a = 1; @id(4) override b = 1;", "WGSL2010",
       "@id(3) override a = 1; @id(3) override b = 1;"},
  };
  ExpectRows(kRows);
}

// What has no type is no operand of anything, wherever it stands.
TEST(WgslCheck, FunctionsAndWords_AreNoValues) {
  constexpr std::string_view kNames[] = {"abs", "textureLoad", "read", "h", "vec2", "vec2f"};
  constexpr std::string_view kPlaces[] = {
      "_ = @;",
      "let a = @;",
      "var a = 1 + @;",
      "_ = -@;",
      "_ = *@;",
      "_ = &@;",
      "_ = &(*@);",
      "_ = @[0];",
      "_ = t[@];",
      "_ = @.x;",
      "switch @ { default { } }",
      "switch 1 { case @ { } default { } }",
      "textureLoad(@, vec2i(0), 0);",
      "_ = textureSample(@, s, vec2f());",
      "_ = textureSample(x, @, vec2f());",
      "_ = textureDimensions(@);",
      "textureStore(@, vec2i(), vec4f());",
      "_ = atomicAdd(@, 1);",
      "_ = arrayLength(@);",
      "_ = workgroupUniformLoad(@);",
      "workgroupBarrier(@);",
      "_ = max(1, @);",
      "_ = vec2f(@, 1);",
      "if @ { }",
      "loop { break; continuing { break if @; } }",
      "@ = 1;",
      "t[@] = 1;",
      "g(@);",
  };
  for (const std::string_view name : kNames) {
    for (const std::string_view place : kPlaces) {
      std::string text =
          "@group(0) @binding(0) var x : texture_2d<f32>; @group(0) @binding(1) var s : sampler; "
          "fn g(a : i32) { } fn h() { } fn f() { var t = array(1, 2); ";
      text += place;
      text.replace(text.rfind('@'), 1, name);
      const std::string errors = ErrorsOf(text + " }");
      EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << text << "\n" << errors;
    }
  }
}

TEST(WgslCheck, Statements_FollowTheRules) {
  constexpr Row kRows[] = {
      {"fn f() { var a = vec2f(); a.x = 1; }", "WGSL1006",
       "fn f() { var a = vec2f(); a.xy = vec2f(); }"},
      {"fn f() { var a = 1; a = 2; }", "WGSL1006", "fn f() { let a = 1; a = 2; }"},
      {"fn f() { var a = 1u; a++; }", "WGSL2002", "fn f() { var a = 1f; a++; }"},
      {"fn f() { var a = 1f; a *= 2; }", "WGSL2001", "fn f() { var a = 1f; a *= 2u; }"},
      {"fn f(a : bool) -> u32 { if a { return 1; } return 2; }", "WGSL2007",
       "fn f(a : bool) -> u32 { if a { return 1; } }"},
      {"fn f(a : u32) -> u32 { switch a { case 1 { return 1; } default { return 2; } } }",
       "WGSL2007", "fn f(a : u32) -> u32 { switch a { case 1 { break; } default { return 2; } } }"},
      {"fn f() -> u32 { loop { return 1; } }", "WGSL2008", "fn f() { loop { } }"},
      {"fn f() { loop { break; } }", "WGSL2008", "fn f() { for (;;) { continue; } }"},
      {"fn f() { loop { continuing { break if true; } } }", "WGSL2010",
       "fn f() { loop { break; continuing { break; } } }"},
      // A loop in a continuing block may be left, but not the block.
      {"fn f() -> u32 { loop { continuing { loop { break; } break if true; } } return 1u; }",
       "WGSL2010",
       "fn f() -> u32 { loop { continuing { loop { return 5u; } break if true; } } return 1u; }"},
      {"fn f() { loop { continuing { for (var i = 0; i < 4; i++) { continue; } break if true; } } "
       "}",
       "WGSL2010",
       "fn f() { loop { continuing { while true { if true { return; } break; } break if true; } } "
       "}"},
      // A `continue` does not jump over what the continuing block mentions.
      {"fn f(c : bool) { loop { let x = 1u; if c { continue; } continuing { let y = x; break if "
       "true; } } }",
       "WGSL2010",
       "fn f(c : bool) { loop { if c { continue; } let x = 1u; continuing { let y = x; break if "
       "true; } } }"},
      {"fn f(c : bool) { loop { if c { continue; } let x = 1u; { let y = x; } continuing { break "
       "if "
       "true; } } }",
       "WGSL2010",
       "fn f(c : bool) { loop { switch 1 { case 1 { continue; } default { } } const x = true; "
       "continuing { break if x; } } }"},
      {"fn f(c : bool) { loop { while c { continue; } let x = 1u; continuing { let y = x; break if "
       "true; } } }",
       "WGSL2010",
       "fn f(c : bool) { loop { if c { continue; } var x : u32; continuing { x = 1u; break if "
       "true; } } }"},
      {"fn f(a : u32) { switch a { default { break; } } }", "WGSL2010", "fn f() { break; }"},
      {"fn f() { while true { continue; } }", "WGSL2010", "fn f() { continue; }"},
      {"fn f(a : u32) { switch a { case 1, 2 { } default { } } }", "WGSL2010",
       "fn f(a : u32) { switch a { case 1, 1 { } default { } } }"},
      {"fn f(a : u32) { switch a { case 1 { } case default { } } }", "WGSL2010",
       "fn f(a : u32) { switch a { case 1 { } } }"},
      {"fn g() -> u32 { return 1; } fn f() { g(); }", "WGSL2010",
       "@must_use fn g() -> u32 { return 1; } fn f() { g(); }"},
      {"fn f() { _ = sin(1.0); }", "WGSL2010", "fn f() { sin(1.0); }"},
      {"fn f() -> u32 { return 1; }", "WGSL2002", "fn f() { return 1; }"},
      {"fn g(a : ptr<function, u32>, b : ptr<function, u32>) -> u32 { return *a + *b; }\n"
       "fn f() { var x = 1u; _ = g(&x, &x); }",
       "WGSL2009",
       "fn g(a : ptr<function, u32>, b : ptr<function, u32>) { *a = *b; }\n"
       "fn f() { var x = 1u; g(&x, &x); }"},
      {"var<private> x = 1u; fn g(a : ptr<private, u32>) { *a = 2; } fn f() { g(&x); }", "WGSL2009",
       "var<private> x = 1u; fn g(a : ptr<private, u32>) { *a = x; } fn f() { g(&x); }"},
  };
  ExpectRows(kRows);
}

TEST(WgslCheck, Memory_HoldsWhatItMay) {
  constexpr Row kRows[] = {
      {"@group(0) @binding(0) var<uniform> a : vec4f;", "WGSL2006",
       "@group(0) @binding(0) var<uniform> a : bool;"},
      {"@group(0) @binding(0) var<storage> a : array<u32>;", "WGSL2006",
       "var<private> a : array<u32>;"},
      {"@group(0) @binding(0) var<uniform> a : array<vec4f, 2>;", "WGSL2010",
       "@group(0) @binding(0) var<uniform> a : array<f32, 2>;"},
      {"@group(0) @binding(0) var<storage, read_write> a : atomic<u32>;", "WGSL2006",
       "@group(0) @binding(0) var<storage, read> a : atomic<u32>;"},
      {"var<workgroup> a : atomic<u32>;", "WGSL2006", "var<private> a : atomic<u32>;"},
      {"@group(0) @binding(0) var a : sampler;", "WGSL2010", "var a : sampler;"},
      {"@group(0) @binding(0) var a : texture_2d<f32>;", "WGSL2006",
       "@group(0) @binding(0) var a : f32;"},
      {"@group(0) @binding(0) var a : texture_storage_2d<r32float, read_write>;", "WGSL2010",
       "@group(0) @binding(0) var a : texture_storage_2d<rgba8unorm, read_write>;"},
      {"var<private> a : u32 = 1;", "WGSL2010", "var<workgroup> a : u32 = 1;"},
      {"@group(0) @binding(0) var<storage, read_write> a : u32; fn f() { a = 1; }", "WGSL1006",
       "@group(0) @binding(0) var<storage, read> a : u32; fn f() { a = 1; }"},
      {"struct S { @align(16) a : f32 }", "WGSL2010", "struct S { @align(3) a : f32 }"},
      {"struct S { @size(16) a : vec3f }", "WGSL2010", "struct S { @size(8) a : vec3f }"},
      {"struct S { a : u32, b : array<u32> }", "WGSL2002", "struct S { b : array<u32>, a : u32 }"},
      {"var<workgroup> a : u32; @compute @workgroup_size(1) fn f() { _ = a; }", "WGSL2010",
       "var<workgroup> a : u32; @fragment fn f() { _ = a; }"},
      {"var<private> a : u32;", "WGSL1005", "var<device> a : u32;"},
  };
  ExpectRows(kRows);
}

TEST(WgslCheck, EntryPoints_HaveInterfaces) {
  constexpr Row kRows[] = {
      {"@vertex fn f() -> @builtin(position) vec4f { return vec4f(); }", "WGSL4003",
       "@vertex fn f() -> @location(0) vec4f { return vec4f(); }"},
      {"@fragment fn f(@location(0) a : f32) { }", "WGSL4003", "@fragment fn f(a : f32) { }"},
      {"enable dual_source_blending; struct B { @location(0) @blend_src(0) a : vec4f, "
       "@location(0) @blend_src(1) b : vec4f } @fragment fn f() -> B { return B(); }",
       "WGSL4003",
       "enable dual_source_blending; struct B { @builtin(position) p : vec4f, @location(0) "
       "@blend_src(0) a : vec4f } @vertex fn f() -> B { return B(); }"},
      {"@fragment fn f(@location(0) @interpolate(flat) a : u32) { }", "WGSL4003",
       "@fragment fn f(@location(0) a : u32) { }"},
      {"@fragment fn f(@location(0) a : f32, @location(1) b : f32) { }", "WGSL4003",
       "@fragment fn f(@location(0) a : f32, @location(0) b : f32) { }"},
      {"@fragment fn f(@builtin(front_facing) a : bool) { }", "WGSL4003",
       "@fragment fn f(@builtin(front_facing) a : u32) { }"},
      {"@fragment fn f(@builtin(position) a : vec4f) { }", "WGSL4003",
       "@fragment fn f(@builtin(vertex_index) a : u32) { }"},
      {"@compute @workgroup_size(1) fn f(@builtin(workgroup_id) a : vec3u) { }", "WGSL4003",
       "@compute @workgroup_size(1) fn f(@location(0) a : vec3u) { }"},
      {"@compute @workgroup_size(1) fn f() { }", "WGSL2010", "@compute fn f() { }"},
      {"@compute @workgroup_size(1) fn f() { }", "WGSL1004",
       "@fragment @workgroup_size(1) fn f() { }"},
      {"@fragment fn f(@location(0) a : f32) { _ = dpdx(a); }", "WGSL2010",
       "@compute @workgroup_size(1) fn f() { _ = dpdx(1.0); }"},
      {"fn g() { discard; } @fragment fn f() { g(); }", "WGSL2010",
       "fn g() { discard; } @compute @workgroup_size(1) fn f() { g(); }"},
      {"@compute @workgroup_size(1) fn f() { workgroupBarrier(); }", "WGSL2010",
       "@fragment fn f() { workgroupBarrier(); }"},
      {"@fragment fn g() { } fn f() { }", "WGSL2010", "@fragment fn g() { } fn f() { g(); }"},
      {"@group(0) @binding(0) var<uniform> a : vec4f; @group(0) @binding(0) var<uniform> b : "
       "vec4f;\n"
       "@fragment fn f() { _ = a; }",
       "WGSL4004",
       "@group(0) @binding(0) var<uniform> a : vec4f; @group(0) @binding(0) var<uniform> b : "
       "vec4f;\n"
       "@fragment fn f() { _ = a + b; }"},
      {"@fragment fn f(@location(0) @interpolate(linear) a : f32) { }", "WGSL1005",
       "@fragment fn f(@location(0) @interpolate(cubic) a : f32) { }"},
      {"@fragment fn f(@location(0) @interpolate(linear) a : f32) { }", "WGSL1008",
       "@fragment fn f(@location(0) @interpolate(linear, centroid) a : f32) { }"},
      {"@fragment fn f(@builtin(position) a : vec4f) { }", "WGSL1005",
       "@fragment fn f(@builtin(place) a : vec4f) { }"},
  };
  ExpectRows(kRows);
}

TEST(WgslCheck, Textures_HaveOverloads) {
  constexpr std::string_view kHead =
      "@group(0) @binding(0) var t : texture_2d<f32>; @group(0) @binding(1) var s : sampler;\n"
      "@group(0) @binding(2) var a : texture_2d_array<f32>; @group(0) @binding(3) var d : "
      "texture_depth_2d;\n"
      "@group(0) @binding(4) var c : sampler_comparison; @group(0) @binding(5) var w : "
      "texture_storage_2d<rgba8unorm, write>;\n"
      "fn f(uv : vec2f, i : i32) { ";
  const struct {
    std::string_view right, code, wrong;
  } kRows[] = {
      {"_ = textureSample(t, s, uv);", "WGSL2001", "_ = textureSample(t, c, uv);"},
      {"_ = textureSample(t, s, uv, vec2i(1));", "WGSL3003",
       "_ = textureSample(t, s, uv, vec2i(i));"},
      {"_ = textureSample(t, s, uv, vec2i(7));", "WGSL2010",
       "_ = textureSample(t, s, uv, vec2i(8));"},
      {"_ = textureSample(a, s, uv, i);", "WGSL2001", "_ = textureSample(a, s, uv);"},
      {"_ = textureSampleCompare(d, c, uv, 0.5);", "WGSL2001",
       "_ = textureSampleCompare(t, c, uv, 0.5);"},
      {"_ = textureLoad(t, vec2i(uv), 0);", "WGSL2001", "_ = textureLoad(t, uv, 0);"},
      {"textureStore(w, vec2i(1), vec4f());", "WGSL2001", "_ = textureLoad(w, vec2i(1));"},
      {"_ = textureGather(1, t, s, uv);", "WGSL2010", "_ = textureGather(4, t, s, uv);"},
      {"_ = textureDimensions(t, 1);", "WGSL2001", "_ = textureDimensions(w, 1);"},
      {"_ = textureNumLayers(a);", "WGSL2001", "_ = textureNumLayers(t);"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(ErrorsOf(std::string(kHead) + std::string(row.right) + " }"), "") << row.right;
    const std::string errors = ErrorsOf(std::string(kHead) + std::string(row.wrong) + " }");
    EXPECT_TRUE(errors.starts_with(row.code)) << row.wrong << "\n" << errors;
  }
}

// Chains of declarations and expressions are as long as they like.
// Each level asks its item once: two calls a level would be 2^90 of them.
TEST(WgslCheck, ArraysOfArrays_CostWhatTheyAreDeep) {
  std::string type = "f32";
  for (int i = 0; i < 90; ++i) {
    type = "array<" + type + ",2>";
  }
  const std::string errors =
      ErrorsOf("struct B { a : " + type + " } @group(0) @binding(0) var<storage> b : B;");
  EXPECT_LE(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
}

TEST(WgslCheck, LongChains_End) {
  std::string text = "const a0 = 1;\n";
  for (int i = 1; i < 20'000; ++i) {
    text += "const a" + std::to_string(i) + " = a" + std::to_string(i - 1) + ";\n";
  }
  EXPECT_EQ(ErrorsOf(text), "");
  std::string chain = "fn f(a : u32) -> u32 { return a";
  for (int i = 0; i < 20'000; ++i) {
    chain += " + a";
  }
  EXPECT_EQ(ErrorsOf(chain + "; }"), "");
}

// Why a check of `text` within `bounds` was stopped; nothing if it ended.
std::optional<Stopped::Why> WhyStopped(std::string_view text, const StopBounds& bounds) {
  const LexResult lexed = Lex(text, 0);
  const syntax::ParseResult parsed = syntax::Parse(lexed.stream, 0);
  FakeClock clock;
  const StopScope scope(bounds, clock);
  try {
    Check(lexed.stream, parsed.ast, 0);
  } catch (const Stopped& stopped) {
    return stopped.why();
  }
  return std::nullopt;
}

// Names that are not known are not compared with each other.
TEST(WgslCheck, ManyAttributes_AreStopped) {
  std::string text = "struct S { ";
  for (int i = 0; i < 1000; ++i) {
    text += "@a" + std::to_string(i) + " ";
  }
  text += "x : f32 }";
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(WhyStopped(text, {}), std::nullopt);
  EXPECT_EQ(WhyStopped(text, {.stop = source.get_token()}), Stopped::Why::kLeft);
  EXPECT_TRUE(ErrorsOf("struct S { @size(4) @size(4) x : f32 }").starts_with("WGSL1004"));
}

// 64 mentions of a constant of 16,384 parts are 2^20. Numbers are one row, however many.
TEST(WgslCheck, ValuesOfStructs_AreLimitedTogether) {
  const auto body = [](std::string_view declarations, std::string_view statement, int count) {
    std::string text(declarations);
    text += " fn f(i : u32) { ";
    for (int k = 0; k < count; ++k) {
      text += statement;
    }
    return text + "}";
  };
  constexpr std::string_view kLarge =
      "struct S { a : u32 } struct L { s : array<S, 8191>, b : u32 } const c = L();";
  constexpr std::string_view kTable = "const c = array<u32, 16384>();";
  EXPECT_EQ(ErrorsOf(body(kLarge, "_ = c; ", 60)), "");
  EXPECT_EQ(ErrorsOf(body(kLarge, "_ = c; ", 70)),
            "WGSL1007 parts of all values of structs exceeds the limit of 1048576\n");
  EXPECT_EQ(ErrorsOf(body(kLarge, "{ var x : L; } ", 60)), "");
  EXPECT_TRUE(ErrorsOf(body(kLarge, "{ var x : L; } ", 70)).starts_with("WGSL1007"));
  EXPECT_TRUE(ErrorsOf(body(kLarge, "_ = L(); ", 70)).starts_with("WGSL1007"));
  EXPECT_EQ(ErrorsOf(body(kTable, "_ = c[i]; ", 1000)), "");
}

TEST(WgslCheck, Tables_AreCharged) {
  std::string text = "fn f(a : u32) { var x = a;";
  for (int i = 0; i < 1000; ++i) {
    text += " x = x + a;";
  }
  text += " }";
  EXPECT_EQ(WhyStopped(text, {.bytes = 1u << 20}), std::nullopt);
  EXPECT_EQ(WhyStopped(text, {.bytes = 1u << 16}), Stopped::Why::kMemory);
}

}  // namespace
}  // namespace kiln::wgsl::front
