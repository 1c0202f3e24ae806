// SPDX-License-Identifier: MIT
// The compiler as a function: what it makes is what the direct path makes, what is wrong is said.
#include "compiler/embed/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/artifact/metadata.h"
#include "compiler/driver/stages.h"

namespace kiln::embed {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kText[] = R"(rpl 2;
global fog: flag false;
instance lights: uint 1;
instance kind: enum "plain" "wet";
color_output_container target { f4 color; };
void place (void) { vertex_stage_output_position (f4 {0.0}); }
void shade (void)
{
    f4 sum = f4 {1.0, 1.0, 1.0, 1.0} * f1 {lights};
    conditional (fog) { sum = sum * 0.5; }
    conditional (kind == "wet") { sum = sum * 0.25; }
    target.color = sum;
}
)";

CompileRequest Request() {
  return {.sources = {{"rock.rpl", kText}},
          .entries = {{Stage::kVertex, "place"}, {Stage::kFragment, "shade"}}};
}

CompileResult Made(const CompileRequest& request) {
  Result<CompileResult> compiled = Compile(request);
  EXPECT_TRUE(compiled.ok()) << ErrorText(compiled.error());
  return compiled.ok() ? std::move(compiled).value() : CompileResult{};
}

TEST(EmbedCompile, Variant_HasModulesOfItsStagesAndMetadata) {
  CompileRequest request = Request();
  request.options = {{"fog", true}, {"lights", 3u}, {"kind", std::string("wet")}};
  const CompileResult made = Made(request);
  ASSERT_TRUE(made.succeeded) << made.report;
  ASSERT_EQ(made.modules.size(), 2u);
  EXPECT_EQ(made.modules[0].stage, Stage::kVertex);
  EXPECT_EQ(made.modules[1].stage, Stage::kFragment);
  for (const CompiledModule& module : made.modules) {
    EXPECT_EQ(module.digest, DigestOf(ByteView(module.code)));
    EXPECT_EQ(module.code.size() % 4, 0u);
  }
  const auto metadata = artifact::DecodeMetadata(made.metadata);
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->entry_points.size(), 2u);
}

TEST(EmbedCompile, Bytes_AreThoseOfTheDirectPath) {
  const SourceFile sources[] = {{"rock.rpl", kText}};
  const auto linked = driver::LinkSources(sources, ir::PipelineType::kGraphicsClassic);
  const auto values = resolve::CheckOptions(linked.value->program, {});
  const std::vector<resolve::EntryPoint> entries = {{ir::Stage::kVertex, "place"},
                                                    {ir::Stage::kFragment, "shade"}};
  const auto direct = driver::BuildDirect(*linked.value, *values.value, entries,
                                          target::MakeTarget(target::Environment::kVulkan11));
  const CompileResult made = Made(Request());
  ASSERT_EQ(made.modules.size(), direct.products->code.size());
  for (size_t i = 0; i < made.modules.size(); ++i) {
    const ByteView words = direct.products->code[i].bytes();
    EXPECT_EQ(made.modules[i].code, Bytes(words.begin(), words.end()));
  }
  EXPECT_EQ(made.metadata, direct.products->metadata);
}

TEST(EmbedCompile, Forms_AreAllThere) {
  CompileRequest request = Request();
  request.combined = true;
  const CompileResult combined = Made(request);
  ASSERT_EQ(combined.modules.size(), 1u);
  EXPECT_EQ(combined.modules[0].stage, std::nullopt);
  request = Request();
  request.form = Form::kWgsl;
  const CompileResult text = Made(request);
  ASSERT_EQ(text.modules.size(), 2u);
  EXPECT_THAT(std::string(AsText(text.modules[1].code)), HasSubstr("@fragment"));
  request = Request();
  request.entries.clear();
  const CompileResult metadata = Made(request);
  EXPECT_TRUE(metadata.succeeded);
  EXPECT_THAT(metadata.modules, IsEmpty());
  EXPECT_FALSE(metadata.metadata.empty());
}

TEST(EmbedCompile, WrongSource_IsAResultWithPlaces) {
  CompileRequest request = Request();
  request.sources[0].text.replace(request.sources[0].text.find("0.5"), 3, "fgo");
  EXPECT_TRUE(Made(request).succeeded) << "without the fog nobody reads that line";
  request.options = {{"fog", true}};
  const CompileResult foggy = Made(request);
  EXPECT_FALSE(foggy.succeeded);
  EXPECT_THAT(foggy.modules, IsEmpty());
  EXPECT_THAT(foggy.metadata, IsEmpty());
  ASSERT_FALSE(foggy.messages.empty());
  EXPECT_EQ(foggy.messages[0].severity, Severity::kError);
  EXPECT_EQ(foggy.messages[0].code, "RPL6001");
  EXPECT_EQ(foggy.messages[0].path, "rock.rpl");
  EXPECT_EQ(foggy.messages[0].line, 10u);
  EXPECT_THAT(foggy.report, HasSubstr("rock.rpl:10:"));
}

TEST(EmbedCompile, WrongOption_IsAMessageWithoutPlace) {
  CompileRequest request = Request();
  request.options = {{"fgo", true}};
  const CompileResult made = Made(request);
  EXPECT_FALSE(made.succeeded);
  ASSERT_FALSE(made.messages.empty());
  EXPECT_EQ(made.messages[0].code, "RPL2003");
  EXPECT_EQ(made.messages[0].line, 0u);
}

TEST(EmbedCompile, WhatCannotBeRead_IsRefused) {
  CompileRequest request = Request();
  request.sources[0].path = "rock.txt";
  EXPECT_THAT(Compile(request).error().context, HasSubstr("rock.txt"));
  EXPECT_THAT(Compile(request).error().context, HasSubstr(".rpl, .hlsl, .wgsl"));
  request = Request();
  request.environment = "vulkan9";
  EXPECT_THAT(Compile(request).error().context, HasSubstr("vulkan9"));
  EXPECT_EQ(Compile({}).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln::embed
