// SPDX-License-Identifier: MIT
#include "server/compile/programs/build_keys.h"

#include <set>

#include <gtest/gtest.h>

namespace kiln::compile {
namespace {

// An assembler of one family goes on with the sources of another program of it, so targets that
// make other code are of other families.
TEST(FamilyOf, TargetsThatDiffer_AreOfDifferentFamilies) {
  const ProgramRequest program{.name = "p",
                               .sources = {{.path = "a.rpl", .digest = {}, .text = {}}},
                               .pipeline = ir::PipelineType::kGraphicsClassic,
                               .entries = {},
                               .options = {}};
  const NamedTarget spirv{.name = "t",
                          .target = target::MakeTarget(target::Environment::kVulkan11)};
  NamedTarget wgsl = spirv, meta = spirv, combined = spirv, words = spirv;
  wgsl.target.form = target::Form::kWgsl;
  meta.metadata_only = true;
  combined.target.combined = true;
  words.target.debug = target::Debug::kFull;
  std::set<std::string> families;
  for (const NamedTarget& target : {spirv, wgsl, meta, combined, words}) {
    families.insert(FamilyOf(program, target).hex());
  }
  EXPECT_EQ(families.size(), 5u);
}

}  // namespace
}  // namespace kiln::compile
