// SPDX-License-Identifier: MIT
// The worked example of the language (spec/rpl 15) from source to metadata and layout text.
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "compiler/driver/stages.h"
#include "compiler/layout/reflection/dump.h"
#include "proto/kiln/v1/metadata.pb.h"

namespace kiln::metadata {
namespace {

using Wire = v1::PipelineMetadata;

std::string ReadFile(const std::string& name) {
  std::ifstream file(KILN_SOURCE_DIR "/tests/metadata/" + name);
  EXPECT_TRUE(file.good()) << name;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

const driver::LinkedProgram& Program() {
  static const Diagnosed<driver::LinkedProgram> linked = [] {
    std::vector<SourceFile> sources;
    for (const char* path : {"worked_example/pass.rpl", "worked_example/material.rpl"}) {
      sources.emplace_back(path, ReadFile(path));
    }
    return driver::LinkSources(sources, ir::PipelineType::kGraphicsClassic);
  }();
  return linked.value.value();
}

const std::vector<resolve::EntryPoint>& Entries() {
  static const std::vector<resolve::EntryPoint> entries = {
      {.stage = ir::Stage::kVertex, .function = "leaf_vertex"},
      {.stage = ir::Stage::kFragment, .function = "leaf_fragment"}};
  return entries;
}

driver::BuildResult Build(const std::vector<resolve::OptionSetting>& settings,
                          const target::Target& target = {}) {
  const auto values = resolve::CheckOptions(Program().program, settings);
  return driver::BuildDirect(Program(), values.value.value(), Entries(), target);
}

Wire Metadata(const std::vector<resolve::OptionSetting>& settings,
              const target::Target& target = {}) {
  const driver::BuildResult built = Build(settings, target);
  for (const Diagnostic& diagnostic : built.diagnostics) {
    ADD_FAILURE() << Message(diagnostic);
  }
  Wire wire;
  EXPECT_TRUE(wire.ParseFromString(std::string(AsText(built.products.value().metadata))));
  return wire;
}

std::string Difference(const Wire& expected, const Wire& found) {
  google::protobuf::util::MessageDifferencer differencer;
  std::string difference;
  differencer.ReportDifferencesToString(&difference);
  differencer.Compare(expected, found);
  return difference;
}

const std::vector<resolve::OptionSetting> kOtherGlobals = {
    {.name = "baked_occlusion", .kind = ir::OptionKind::kFlag, .bits = 1},
    {.name = "gust_count", .kind = ir::OptionKind::kUint, .bits = 3}};

TEST(WorkedExample, DefaultOptions_GiveTheMetadataOfTheSpecification) {
  Wire expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(ReadFile("worked_example.textproto"),
                                                            &expected));
  Wire found = Metadata({});
  EXPECT_EQ(found.module_hashes_size(), 2);
  found.clear_module_hashes();
  found.clear_layout_hash();
  EXPECT_EQ(Difference(expected, found), "");
}

TEST(WorkedExample, GlobalOptions_MoveAttributesAndOffsets) {
  const Wire wire = Metadata(kOtherGlobals);
  EXPECT_EQ(wire.attribute_sources(0).block_size(), 24u);
  EXPECT_EQ(wire.attribute_sources(0).attributes(3).offset(), 20u);
  EXPECT_EQ(wire.attribute_sources(1).attributes(0).location(), 4u);
  EXPECT_EQ(wire.attribute_sources(1).attributes(1).location(), 8u);
  EXPECT_EQ(wire.sets().material().buffers(0).main_size(), 208u);
  EXPECT_EQ(wire.sets().material().buffers(0).main_parameters(0).offset(), 192u);
}

TEST(WorkedExample, LayoutHash_DependsOnGlobalOptionsOnly) {
  const Wire base = Metadata({});
  const std::vector<resolve::OptionSetting> instance = {
      {.name = "cut_holes", .kind = ir::OptionKind::kFlag, .bits = 0},
      {.name = "tone_curve", .kind = ir::OptionKind::kEnum, .text = "filmic"}};
  EXPECT_EQ(base.layout_hash(), Metadata(instance).layout_hash());
  EXPECT_NE(base.layout_hash(), Metadata(kOtherGlobals).layout_hash());
}

TEST(WorkedExample, FullDebugInformation_AddsSpansAndNothingElse) {
  target::Target target;
  target.debug = target::Debug::kFull;
  Wire full = Metadata({}, target);
  const Wire::Span& span = full.sets().pass().buffers(0).span();
  EXPECT_EQ(span.path(), "worked_example/pass.rpl");
  EXPECT_EQ(ReadFile(span.path()).substr(span.begin(), span.end() - span.begin()), "view");
  EXPECT_TRUE(full.color_outputs(0).has_span());
  EXPECT_EQ(full.layout_hash(), Metadata({}).layout_hash());
}

TEST(WorkedExample, Layout_IsPrinted) {
  ir::Pool pool;
  driver::DirectUnits units(Program().program);
  const auto values = resolve::CheckOptions(Program().program, {});
  resolve::VariantEvaluator answers(Program().program, values.value.value(), pool, &units);
  const auto specialised = resolve::SpecialiseVariant(Program().program, Entries(), answers, units);
  layout::TypeLayouts types(pool);
  EXPECT_EQ(layout::DumpLayout(specialised.value.value(), {}, types),
            ReadFile("worked_example.layout"));
}

}  // namespace
}  // namespace kiln::metadata
