// SPDX-License-Identifier: MIT
#include "tests/language/source_rows.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include "compiler/driver/option_text.h"
#include "compiler/driver/stages.h"
#include "compiler/target/spirv_tools.h"

namespace kiln::language {
namespace {

constexpr std::string_view kAround =
    "vertex_attribute_container a { f4 p; u4 ui; s4 si; f3 n; f2 uv; f1 one; u1 u; s1 s; f4x4 m; "
    "};\n"
    "state_container st { f4 c; u1 k; };\n"
    "color_output_container o { f4 color; };\n";
constexpr std::string_view kResources =
    "set_pass sampler sm;\n"
    "set_pass image_color_2d im; set_pass image_color_3d im3; set_pass image_color_cube imc;\n"
    "set_pass image_color_2d_array ima; set_pass image_depth_2d dm; set_pass image_depth_cube "
    "dmc;\n"
    "set_pass image_depth_2d_array dma; set_pass image_depth_3d dm3;\n"
    "set_pass image_color_2d[4] ims;\n"
    "set_pass storage_image_2d format (rgba8_unorm) read_write si;\n"
    "set_pass storage_image_3d format (r32_uint) read_only si3;\n"
    "set_pass storage_image_2d_array format (rgba16_sint) write_only sia;\n"
    "struct tail_t { u1 head; u1... items; };\n"
    "set_object read_write_storage_buffer rw { u1 count; s1 least; f4 place; u4 quad; tail_t rest; "
    "};\n"
    "set_object read_only_storage_buffer ro { f4 first; f4... points; };\n"
    "set_shared uniform_buffer ub { f4 x; f4[4] list; };\n";

constexpr std::string_view kVersion1Around =
    "vertex_attribute_container a { f4 p; u4 ui; s4 si; f3 n; f2 uv; f1 one; u1 u; s1 s; f4x4 m; "
    "f3x3 m3; };\n"
    "state_container st { f4 c; f3 n; u1 k; f4x4 m; };\n"
    "color_output_container o { f4 color; };\n"
    "set_pass uniform_buffer ub { f4 x; f4x4 m; f4[4] arr; u4 ui; };\n"
    "set_pass sampler sm; set_pass image_color_2d im; set_pass image_color_3d im3;\n"
    "set_pass image_color_cube imc; set_pass image_color_2d_array ima; set_pass image_depth_2d "
    "dm;\n"
    "set_pass image_depth_3d dm3; set_pass image_depth_cube dmc; set_pass image_depth_2d_array "
    "dma;\n"
    "set_pass image_color_2d[4] ims;\n"
    "set_pass read_only_storage_buffer rb { f4 head; u1 cnt; f3... tail; };\n"
    "set_pass read_only_storage_buffer rb2 { f3[2] f3a; f1[5] arr; };\n";

std::vector<std::string> Words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

resolve::EntryPoint EntryOf(const std::string& word) {
  const size_t colon = word.find(':');
  const std::string stage = word.substr(0, colon);
  return {.stage = stage == "vertex"     ? ir::Stage::kVertex
                   : stage == "fragment" ? ir::Stage::kFragment
                                         : ir::Stage::kCompute,
          .function = word.substr(colon + 1)};
}

void AddCodes(const std::vector<Diagnostic>& found, Built& built) {
  for (const Diagnostic& diagnostic : found) {
    if (diagnostic.severity != Severity::kLint) {
      built.codes += (built.codes.empty() ? "" : " ") + std::string(CodeText(diagnostic.code));
    }
  }
}

std::string Checked(const std::vector<uint32_t>& words, target::Environment environment,
                    std::string_view source) {
  spvtools::SpirvTools tools(target::SpirvToolsEnvironment(environment));
  std::string complaint;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&,
                               const char* message) { complaint += message; });
  EXPECT_TRUE(tools.Validate(words)) << complaint << "\n" << source;
  std::string text;
  EXPECT_TRUE(tools.Disassemble(
      words, &text,
      SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES));
  return text;
}

Built BuildText(const std::string& text, std::string_view entries, target::Environment environment,
                std::string_view options) {
  Built built;
  std::vector<resolve::EntryPoint> points;
  bool compute = entries == "compute";
  for (const std::string& word : Words(compute ? "" : entries)) {
    points.push_back(EntryOf(word));
    compute = compute || points.back().stage == ir::Stage::kCompute;
  }
  const std::vector<SourceFile> sources{SourceFile("row.rpl", text)};
  const Diagnosed<driver::LinkedProgram> linked = driver::LinkSources(
      sources, compute ? ir::PipelineType::kCompute : ir::PipelineType::kGraphicsClassic);
  AddCodes(linked.diagnostics, built);
  if (!linked.value) {
    return built;
  }
  std::vector<resolve::OptionSetting> settings;
  for (const std::string& word : Words(options)) {
    settings.push_back(driver::ReadOption(linked.value->program, word).value());
  }
  const Diagnosed<resolve::OptionValues> values =
      resolve::CheckOptions(linked.value->program, settings);
  const driver::BuildResult result =
      driver::BuildDirect(*linked.value, *values.value, points, target::MakeTarget(environment));
  AddCodes(result.diagnostics, built);
  if (result.products) {
    for (const driver::StageCode& code : result.products->code) {
      built.text += Checked(code.words, environment, text);
    }
    built.metadata = artifact::DecodeMetadata(result.products->metadata).value();
  }
  return built;
}

}  // namespace

Built Build(std::string_view source, std::string_view entries, target::Environment environment,
            std::string_view options) {
  const std::string version = source.starts_with("rpl 1;") ? "" : "rpl 2;\n";
  return BuildText(version + std::string(source), entries, environment, options);
}

Built BuildVersion1(std::string_view source, std::string_view entries) {
  return BuildText(std::string(source), entries, target::Environment::kVulkan11, "");
}

Built BuildVersion1Body(std::string_view stage, std::string_view body, std::string_view decls) {
  const bool vertex = stage == "vertex";
  std::string source = std::string(kVersion1Around) + std::string(decls);
  source +=
      vertex ? "\nvoid v (void) { vertex_stage_output_position (f4 {0.0}); " : "\nvoid f (void) { ";
  return BuildVersion1(source + std::string(body) + " }\n", vertex ? "vertex:v" : "fragment:f");
}

std::string SortedCodes(const Built& built) {
  std::vector<std::string> codes = Words(built.codes);
  std::ranges::sort(codes);
  std::string text;
  for (const std::string& code : codes) {
    text += (text.empty() ? "" : " ") + code;
  }
  return text;
}

Built BuildBody(std::string_view stage, std::string_view body, std::string_view decls,
                target::Environment environment) {
  std::string source;
  if (stage != "compute") {
    source += kAround;
  }
  source += kResources;
  source += decls;
  source += "\nvoid entry (void) { ";
  if (stage == "vertex") {
    source += "vertex_stage_output_position (f4 {0.0}); ";
  }
  source += std::string(body) + " }\n";
  return Build(source, std::string(stage) + ":entry", environment);
}

}  // namespace kiln::language
