// SPDX-License-Identifier: MIT
// Resources of WGSL at one binding: a rule of what is asked for together, on both paths.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/artifact/metadata.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "compiler/driver/variant_assembler.h"
#include "compiler/resolve/values/options.h"

namespace kiln::driver {
namespace {

using Entries = std::vector<resolve::EntryPoint>;

constexpr const char* kText =
    "@group(0) @binding(0) var<storage, read_write> particles: array<vec4f>;\n"
    "@group(0) @binding(0) var<uniform> camera: mat4x4f;\n"
    "@group(0) @binding(0) var<uniform> tint: vec4f;\n"
    "@group(0) @binding(1) var<uniform> alone: vec4f;\n"
    "@compute @workgroup_size(64) fn advance(@builtin(global_invocation_id) id: vec3u) {\n"
    "  particles[id.x] += vec4f(1);\n"
    "}\n"
    "@vertex fn place(@location(0) at: vec4f) -> @builtin(position) vec4f { return camera * at; }\n"
    "@vertex fn plain(@location(0) at: vec4f) -> @builtin(position) vec4f { return at; }\n"
    "@fragment fn paint() -> @location(0) vec4f { return tint; }\n";

// The buffers of the metadata, else the codes of what is wrong.
std::string Buffers(ir::PipelineType pipeline, const Entries& entries) {
  Diagnosed<ir::Module> parsed =
      ParseSource(ir::Language::kWgsl, SourceFile("p.wgsl", kText), /*ordinal=*/0, {});
  EXPECT_TRUE(parsed.ok());
  const Diagnosed<LinkedProgram> linked = LinkModules(
      {std::make_shared<const ir::Module>(std::move(*parsed.value))}, {"p.wgsl"}, pipeline, {});
  EXPECT_TRUE(linked.ok());
  const target::Target target = target::MakeTarget(target::Environment::kVulkan11);
  const resolve::OptionValues values = *resolve::CheckOptions(linked.value->program, {}).value;
  const BuildResult built = BuildDirect(*linked.value, values, entries, target);
  VariantAssembler assembler(*linked.value, entries, target);
  const BuildResult again = assembler.BuildCopy(values);
  EXPECT_EQ(built.ok(), again.ok());
  std::string text;
  if (!built.ok()) {
    for (const Diagnostic& found : built.diagnostics) {
      text += std::string(CodeText(found.code)) + " ";
    }
    return text;
  }
  EXPECT_EQ(built.products->metadata, again.products->metadata);
  const auto read = artifact::DecodeMetadata(built.products->metadata);
  EXPECT_TRUE(read.ok());
  for (const artifact::Set& set : read->sets) {
    for (const artifact::Buffer& buffer : set.buffers) {
      text += buffer.name + " ";
    }
  }
  return text;
}

TEST(SharedBindings, AreOfEntryPointsThatAreAskedForTogether) {
  using enum ir::PipelineType;
  const resolve::EntryPoint move{.stage = ir::Stage::kCompute, .function = "advance"};
  const resolve::EntryPoint place{.stage = ir::Stage::kVertex, .function = "place"};
  const resolve::EntryPoint plain{.stage = ir::Stage::kVertex, .function = "plain"};
  const resolve::EntryPoint paint{.stage = ir::Stage::kFragment, .function = "paint"};
  EXPECT_EQ(Buffers(kCompute, {move}), "particles alone ");
  EXPECT_EQ(Buffers(kGraphicsClassic, {place}), "camera alone ");
  EXPECT_EQ(Buffers(kGraphicsClassic, {plain}), "alone ");
  EXPECT_EQ(Buffers(kGraphicsClassic, {plain, paint}), "tint alone ");
  EXPECT_EQ(Buffers(kGraphicsClassic, {place, paint}), "LAY2001 ");
}

}  // namespace
}  // namespace kiln::driver
