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
  for (const compile::NamedTarget& target : {spirv, wgsl, meta, combined, words}) {
    cache::ExplainRecord record;
    cache::ExplainInputs inputs;
    for (const auto& [name, value] : compile::TargetPairs(target)) {
      inputs.target.push_back({.name = name, .value = value});
    }
    record.inputs = std::move(inputs);
    const v1::Variant variant = VariantOf(record);
    ASSERT_EQ(variant.inline_program().targets_size(), 1);
    const Result<compile::NamedTarget> again = FromProto(variant.inline_program().targets(0));
    ASSERT_TRUE(again.ok()) << again.error().context;
    EXPECT_EQ(compile::TargetPairs(*again), compile::TargetPairs(target));
  }
}

}  // namespace
}  // namespace kiln::rpc
