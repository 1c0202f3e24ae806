// SPDX-License-Identifier: MIT
#include "compiler/ir/interface/semantics.h"

#include <gtest/gtest.h>

namespace kiln::ir {
namespace {

using enum BuiltinVariable;

TEST(Semantics, PlaceDependsOnStageAndDirection) {
  constexpr struct {
    std::string_view name;
    Stage stage;
    Direction direction;
    BuiltinVariable place;
  } kRows[] = {
      {"SV_Position", Stage::kVertex, Direction::kIn, kLocated},
      {"SV_Position", Stage::kVertex, Direction::kOut, kPosition},
      {"sv_position", Stage::kFragment, Direction::kIn, kFragCoord},
      {"SV_POSITION", Stage::kFragment, Direction::kOut, kNone},
      {"SV_Target", Stage::kFragment, Direction::kOut, kLocated},
      {"SV_Target", Stage::kVertex, Direction::kOut, kNone},
      {"SV_GroupIndex", Stage::kCompute, Direction::kIn, kLocalInvocationIndex},
      {"SV_GroupIndex", Stage::kCompute, Direction::kOut, kNone},
      {"SV_ViewID", Stage::kVertex, Direction::kIn, kLacking},
      {"SV_Unheard", Stage::kVertex, Direction::kIn, kNone},
      {"SVASOUND", Stage::kVertex, Direction::kIn, kLocated},
      {"TEXCOORD", Stage::kVertex, Direction::kOut, kLocated},
      {"TEXCOORD", Stage::kFragment, Direction::kIn, kLocated},
      {"TEXCOORD", Stage::kFragment, Direction::kOut, kNone},
      {"TEXCOORD", Stage::kCompute, Direction::kIn, kNone},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(PlaceOfSemantic(row.name, row.stage, row.direction), row.place) << row.name;
  }
}

// What a semantic stands for is there, in that stage and direction.
TEST(Semantics, BuiltinsOfSemanticsExist) {
  for (const std::string_view name :
       {"SV_POSITION", "SV_VERTEXID", "SV_INSTANCEID", "SV_CLIPDISTANCE", "SV_CULLDISTANCE",
        "SV_PRIMITIVEID", "SV_ISFRONTFACE", "SV_SAMPLEINDEX", "SV_COVERAGE", "SV_DEPTH",
        "SV_DEPTHGREATEREQUAL", "SV_DEPTHLESSEQUAL", "SV_DISPATCHTHREADID", "SV_GROUPID",
        "SV_GROUPTHREADID", "SV_GROUPINDEX"}) {
    uint32_t places = 0;
    for (const Stage stage : {Stage::kVertex, Stage::kFragment, Stage::kCompute}) {
      for (const Direction direction : {Direction::kIn, Direction::kOut}) {
        const BuiltinVariable place = PlaceOfSemantic(name, stage, direction);
        if (place < kLocated) {
          EXPECT_TRUE(ExistsIn(place, stage, direction)) << name;
          ++places;
        }
      }
    }
    EXPECT_GE(places, 1U) << name;
  }
}

TEST(Semantics, BuiltinVariablesAreFoundByName) {
  EXPECT_GE(AllBuiltinVariables().size(), 25U);
  for (const BuiltinVariableFacts& facts : AllBuiltinVariables()) {
    const std::optional<BuiltinVariable> found = FindBuiltinVariable(facts.name);
    ASSERT_TRUE(found.has_value()) << facts.name;
    EXPECT_EQ(FactsOf(*found).name, facts.name);
  }
  EXPECT_EQ(FindBuiltinVariable("Unheard"), std::nullopt);
  EXPECT_EQ(FindBuiltinVariable("position"), std::nullopt);
}

}  // namespace
}  // namespace kiln::ir
