// SPDX-License-Identifier: MIT
#include "server/rpc/calls/restore_calls.h"

#include <gtest/gtest.h>

#include "server/compile/programs/build_keys.h"
#include "server/rpc/messages/convert_request.h"

namespace kiln::rpc {
namespace {

// A record holds the pairs of TargetPairs; what is asked for again must lead to the same ones, or
// it is compiled for nothing.
TEST(VariantOfRecord, EveryTarget_IsAskedForAsItWas) {
  const compile::NamedTarget spirv{.name = "t",
                                   .target = target::MakeTarget(target::Environment::kVulkan12)};
  compile::NamedTarget wgsl = spirv, meta = spirv, combined = spirv, words = spirv;
  wgsl.target.form = target::Form::kWgsl;
  meta.metadata_only = true;
  combined.target.combined = true;
  words.target.debug = target::Debug::kFull;
  // A text form is SPIR-V with a translation as its last recipe, and is asked for as that.
  v1::Target asked;
  asked.set_name("t");
  asked.set_form(v1::Target::HLSL);
  asked.add_recipes("opt");
  const Result<compile::NamedTarget> text = FromProto(asked);
  ASSERT_TRUE(text.ok()) << text.error().context;
  ASSERT_EQ(text->recipes.size(), 2u);
  for (const compile::NamedTarget& target : {spirv, wgsl, meta, combined, words, *text}) {
    cache::ExplainRecord record;
    cache::ExplainInputs inputs;
    for (const auto& [name, value] : compile::TargetPairs(target)) {
      inputs.target.push_back({.name = name, .value = value});
    }
    inputs.recipes = target.recipes;
    record.inputs = std::move(inputs);
    const v1::Variant variant = VariantOf(record);
    ASSERT_EQ(variant.inline_program().targets_size(), 1);
    const Result<compile::NamedTarget> again = FromProto(variant.inline_program().targets(0));
    ASSERT_TRUE(again.ok()) << again.error().context;
    EXPECT_EQ(compile::TargetPairs(*again), compile::TargetPairs(target));
    EXPECT_EQ(again->recipes, target.recipes);
  }
}

}  // namespace
}  // namespace kiln::rpc
