// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/usage.h"

#include <gtest/gtest.h>

#include "compiler/ir/text/parse_specialised.h"

namespace kiln::metadata {
namespace {

using ir::MemberUse;
using ir::Stage;

// `shadow` is compared two calls away from the entry point, `linear` is only sampled; `idle` is
// named by nobody.
constexpr std::string_view kVariant = R"(variant graphics_classic
container state @state {
  uv : f2
  depth : f1
}
container color_output @target {
  color : f4
}
sampler pass @shadow
sampler pass @linear
sampler pass @direct
sampler pass @idle
image read_only pass @map : image_depth_2d
entry vertex @vertex "vertex" {
  function @vertex() -> void in vertex {
    region r0 {
      %1 = const f2 {0.0, 0.0}
      %2 = global out @state.uv : f2
      store %2, %1
      return _
    }
  }
}
entry fragment @fragment "fragment" {
  function @fragment() -> void in fragment {
    region r0 {
      %1 = global none @shadow : sampler
      %2 = global none @map : image_depth_2d
      %3 = global none @linear : sampler
      %4 = call @outer [%1, %2, %3] : f1
      %5 = global none @direct : sampler
      %6 = global in @state.uv : f2
      %7 = load %6 : f2
      %8 = const f1 0.5
      %9 = builtin sample_dref [%5, %2, %7, %8] : f1
      return _
    }
  }
  function @outer(in $a : sampler, in $b : image_depth_2d, in $c : sampler) -> f1 {
    region r0 {
      param in $a : sampler
      param in $b : image_depth_2d
      param in $c : sampler
      %1 = local $a : sampler
      %2 = local $b : image_depth_2d
      %3 = call @inner [%1, %2] : f1
      %4 = local $c : sampler
      %5 = const f2 {0.0, 0.0}
      %6 = builtin sample [%4, %2, %5] : f4
      return %3
    }
  }
  function @inner(in $s : sampler, in $i : image_depth_2d) -> f1 {
    region r0 {
      param in $s : sampler
      param in $i : image_depth_2d
      %1 = local $s : sampler
      %2 = local $i : image_depth_2d
      %3 = const f2 {0.0, 0.0}
      %4 = const f1 0.5
      %5 = builtin sample_dref [%1, %2, %3, %4] : f1
      return %5
    }
  }
}
)";

class UsageTest : public testing::Test {
 protected:
  void SetUp() override {
    auto parsed = ir::ParseVariant(kVariant);
    ASSERT_TRUE(parsed.ok()) << ErrorText(parsed.error());
    program = std::move(parsed).value();
    usage = UsageOf(program.variant);
  }
  const ir::SpecialisedDecl& Named(std::string_view name) const {
    for (const ir::SpecialisedDecl* decl : program.variant.interface) {
      if (program.pool->Text(decl->name) == name) {
        return *decl;
      }
    }
    ADD_FAILURE() << name;
    return *program.variant.interface[0];
  }

  ir::ParsedVariant program;
  Usage usage;
};

TEST_F(UsageTest, Stages_AreThoseThatMention) {
  EXPECT_TRUE(usage.Mentioned(Named("state").decl, Stage::kVertex));
  EXPECT_TRUE(usage.Mentioned(Named("state").decl, Stage::kFragment));
  EXPECT_FALSE(usage.Mentioned(Named("map").decl, Stage::kVertex));
  EXPECT_TRUE(usage.Mentioned(Named("map").decl, Stage::kFragment));
  EXPECT_FALSE(usage.Mentioned(Named("idle").decl, Stage::kFragment));
  EXPECT_FALSE(usage.Mentioned(Named("target").decl, Stage::kFragment));
}

TEST_F(UsageTest, StateFields_AreReadOrWritten) {
  const ir::SpecialisedDecl& state = Named("state");
  EXPECT_TRUE(usage.Touched(state.members[0].member, MemberUse::kRead));
  EXPECT_TRUE(usage.Touched(state.members[0].member, MemberUse::kWrite));
  EXPECT_FALSE(usage.Touched(state.members[1].member, MemberUse::kRead));
  EXPECT_FALSE(usage.Touched(state.members[1].member, MemberUse::kWrite));
}

TEST_F(UsageTest, Comparison_IsSeenThroughCalls) {
  EXPECT_TRUE(usage.Compared(Named("direct").decl));
  EXPECT_TRUE(usage.Compared(Named("shadow").decl));
  EXPECT_FALSE(usage.Compared(Named("linear").decl));
  EXPECT_FALSE(usage.Compared(Named("idle").decl));
}

}  // namespace
}  // namespace kiln::metadata
