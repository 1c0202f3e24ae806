// SPDX-License-Identifier: MIT
#include "client/cli/output/code_form.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

using namespace std::string_literals;

TEST(CodeForm, ExtensionTable) {
  const struct {
    std::string code;
    std::string_view extension;
  } rows[] = {
      {"\x03\x02\x23\x07\x00\x00\x01\x00"s, ".spv"},
      {"\x03\x02\x23\x07\x00"s, ".code"},  // no whole words
      {"\x07\x23\x02\x03"s, ".code"},      // of a machine with the other order of bytes
      {"@vertex\nfn main() -> @builtin(position) vec4<f32> {", ".wgsl"},
      {"enable f16;\n@fragment fn main() {}", ".wgsl"},
      {"@compute @workgroup_size(8, 8, 1)\nfn main() {}", ".wgsl"},
      {"#version 450\nvoid main() {}", ".glsl"},
      {"#include <metal_stdlib>\nusing namespace metal;", ".msl"},
      {"float4 main() : SV_Target0 { return 0; }", ".hlsl"},
      {"[numthreads(8, 8, 1)] void main() {}", ".hlsl"},
      {"", ".code"},
      {"\x03", ".code"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(CodeExtension(AsBytes(row.code)), row.extension) << row.code;
  }
}

}  // namespace
}  // namespace kiln::cli
