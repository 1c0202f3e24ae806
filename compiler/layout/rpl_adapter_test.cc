// SPDX-License-Identifier: MIT
#include "compiler/layout/rpl_adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/enum_names.h"
#include "tests/support/interface_writer.h"

namespace kiln::layout {
namespace {

using ir::BufferKind;
using ir::ContainerKind;
using ir::ResourceSet;
using testing::ElementsAre;

class AssignTest : public testing::Test {
 protected:
  Diagnosed<Layout> Run() {
    written.SortByGroup();
    return Assign(written.variant(), target, types);
  }
  // Layout of what was written, which must be right.
  const Layout& Good() {
    Diagnosed<Layout> result = Run();
    EXPECT_TRUE(result.diagnostics.empty());
    layout = std::move(result.value).value_or(Layout{});
    return layout;
  }
  // "RPL4053 text" of each diagnostic.
  std::vector<std::string> Messages() {
    std::vector<std::string> messages;
    for (const Diagnostic& diagnostic : Run().diagnostics) {
      messages.push_back(std::string(CodeText(diagnostic.code)) + " " + Message(diagnostic));
    }
    return messages;
  }

  ir::Pool pool;
  InterfaceWriter written{pool};
  TypeLayouts types{pool};
  target::Target target;
  Layout layout;
};

TEST_F(AssignTest, Sets_HaveCountersOfTheirOwn_AcrossModules) {
  const auto& shadow = written.Image(ResourceSet::kPass, "image_depth_2d", "shadow");
  const auto& sky = written.Image(ResourceSet::kPass, "image_color_2d[3]", "sky");
  const auto& albedo = written.Image(ResourceSet::kMaterial, "image_color_2d", "albedo");
  const auto& view =
      written.Buffer(BufferKind::kUniform, ResourceSet::kPass, "view", {{"f4", "a"}});
  written.BeginModule();
  const auto& linear = written.Sampler(ResourceSet::kPass, "linear");
  const auto& bones = written.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kObject, "bones",
                                     {{"f4x4...", "m"}});
  const Layout& layout = Good();
  const auto at = [&layout](const ir::SpecialisedDecl& decl) {
    const Placement& placement = layout.PlacementOf(decl.decl);
    return std::pair(placement.set, placement.binding);
  };
  EXPECT_EQ(at(view), std::pair(0u, 0u));
  EXPECT_EQ(at(sky), std::pair(0u, 1u));
  EXPECT_EQ(at(shadow), std::pair(0u, 2u));
  EXPECT_EQ(at(linear), std::pair(0u, 3u));
  EXPECT_EQ(at(albedo), std::pair(1u, 0u));
  EXPECT_EQ(at(bones), std::pair(2u, 0u));
}

TEST_F(AssignTest, Locations_RunOverAllContainersOfAKind) {
  const auto& mesh = written.Container(ContainerKind::kVertexAttributes, "mesh",
                                       {{"f3", "position"}, {"f4x4", "basis"}});
  const auto& vary =
      written.Container(ContainerKind::kState, "vary", {{"f2", "uv"}, {"f3x3", "spin"}});
  const auto& more = written.Container(ContainerKind::kInstanceAttributes, "more", {{"u1", "id"}});
  const auto& rest = written.Container(ContainerKind::kState, "rest", {{"u1", "id"}});
  const Layout& layout = Good();
  const auto at = [&layout](const ir::SpecialisedDecl& decl, size_t i) {
    return layout.LocationOf(decl.members[i].member);
  };
  EXPECT_EQ(at(mesh, 1), 1u);
  EXPECT_EQ(at(more, 0), 5u);
  EXPECT_EQ(at(vary, 1), 1u);
  EXPECT_EQ(at(rest, 0), 4u);
  EXPECT_EQ(layout.SourceOf(mesh.decl).binding, 0u);
  EXPECT_EQ(layout.SourceOf(more.decl).binding, 1u);
  EXPECT_TRUE(layout.SourceOf(more.decl).per_instance);
}

TEST_F(AssignTest, Attributes_ArePackedByItemSize) {
  const auto& mesh = written.Container(ContainerKind::kVertexAttributes, "mesh",
                                       {{"f1", "a", "unorm8"},
                                        {"f2", "b", "float16"},
                                        {"f3x3", "c", "snorm8"},
                                        {"u1", "d", "uint16"}});
  const VertexSource source = Run().value.value().SourceOf(mesh.decl);
  ASSERT_EQ(source.attributes.size(), 4u);
  EXPECT_EQ(source.attributes[1].offset, 2u);
  EXPECT_EQ(source.attributes[2].offset, 6u);
  EXPECT_EQ(source.attributes[2].column_stride, 3u);
  EXPECT_EQ(source.attributes[2].location_count, 3u);
  EXPECT_EQ(source.attributes[3].offset, 16u);
  EXPECT_EQ(source.stride, 18u);
}

TEST_F(AssignTest, RuntimeTail_ExportsItsNumbers) {
  const auto& trail =
      written.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kShared, "trail",
                     {{"f3", "origin"}, {"f1", "age"}, {"f2", "wind"}, {"f1...", "lengths"}});
  const Block& block = Good().BlockOf(trail.decl);
  EXPECT_EQ(block.main_size, 24u);
  EXPECT_EQ(block.tail_offset, 24u);
  EXPECT_EQ(block.tail_item_size, 4u);
}

TEST_F(AssignTest, NestedRuntimeTail_StartsInsideItsStruct) {
  written.Struct("inner_t", {{"u1", "count"}, {"f3...", "points"}});
  const auto& buffer = written.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "cloud",
                                      {{"f1", "age"}, {"inner_t", "inner"}});
  const Block& block = Good().BlockOf(buffer.decl);
  EXPECT_EQ(block.main_size, 32u);
  EXPECT_EQ(block.tail_item_size, 16u);
}

TEST_F(AssignTest, PushConstant_HasASizeAndNoBinding) {
  const auto& draw = written.PushConstant("draw", {{"f4x4", "model"}, {"f4", "tint"}});
  const Layout& layout = Good();
  EXPECT_EQ(layout.push_constant_size, 80u);
  EXPECT_EQ(layout.BlockOf(draw.decl).main_size, 80u);
  EXPECT_EQ(layout.placements[draw.decl.value].binding, ir::kNoRow);
}

TEST_F(AssignTest, EmptyBuffer_KeepsItsBinding) {
  written.Buffer(BufferKind::kUniform, ResourceSet::kPass, "nothing", {});
  const auto& next =
      written.Buffer(BufferKind::kUniform, ResourceSet::kPass, "view", {{"f4", "a"}});
  EXPECT_EQ(Good().PlacementOf(next.decl).binding, 1u);
}

TEST_F(AssignTest, BlocksAtTheLimit_AreAccepted) {
  written.Buffer(BufferKind::kUniform, ResourceSet::kPass, "view", {{"f4[1024]", "a"}});
  written.PushConstant("draw", {{"f4[8]", "a"}});
  EXPECT_TRUE(Run().ok());
}

TEST_F(AssignTest, BlocksAboveTheLimit_AreErrors) {
  written.Buffer(BufferKind::kUniform, ResourceSet::kPass, "view", {{"f4[1025]", "a"}});
  written.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "big", {{"f4[1025]", "a"}});
  written.PushConstant("draw", {{"f4[9]", "a"}});
  EXPECT_FALSE(Run().ok());
  EXPECT_THAT(Messages(),
              ElementsAre("RPL4053 uniform buffer 'view' has 16400 bytes, the limit is 16384",
                          "RPL4053 push constant 'draw' has 144 bytes, the limit is 128"));
}

TEST_F(AssignTest, SizesBeyond32Bits_AreErrorsOfTheField) {
  written.Struct("row_t", {{"f4[65536][65536]", "cells"}});
  written.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "a",
                 {{"f4", "fine"}, {"row_t[4294967295][4294967295]", "rows"}});
  written.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "b",
                 {{"f1[1073741823]", "first"}, {"f1", "second"}});
  written.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "c",
                 {{"f1[1073741823]", "all"}});
  EXPECT_THAT(Messages(), ElementsAre("RPL4003 size of 'rows' exceeds 32 bits",
                                      "RPL4003 size of 'second' exceeds 32 bits"));
}

TEST_F(AssignTest, Diagnostics_AreAtTheField) {
  const auto& buffer = written.Buffer(BufferKind::kReadOnlyStorage, ResourceSet::kPass, "a",
                                      {{"f4[4294967295]", "rows"}});
  const auto diagnostics = Run().diagnostics;
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].primary.module, 0u);
  EXPECT_EQ(diagnostics[0].primary.span_number, buffer.members[0].origin.span.value);
}

TEST(RulesOf, WhatABlockSays_IsARuleSetOfTheSameName) {
  ir::SpecialisedDecl block{.kind = ir::DeclKind::kBuffer};
  EXPECT_EQ(RulesOf(block), Rules::kStd140);
  for (uint32_t i = 0; i < ir::CountOf<ir::RuleSet>(); ++i) {
    const auto said = static_cast<ir::RuleSet>(i);
    block.attributes = {{.key = ir::AttributeKey::kRules, .a = i}};
    EXPECT_EQ(TraitsOf(RulesOf(block)).name, ir::NameOf(said));
  }
}

}  // namespace
}  // namespace kiln::layout
