// SPDX-License-Identifier: MIT
// What typed modules say about their interface as a whole: bindings and registers, resources that
// several modules declare, settings of entry points, values that are computed before anything else,
// and what metadata makes of entry points. See docs/IR.md, "Declarations".
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/text/print_specialised.h"
#include "tests/support/built_variant.h"

namespace kiln {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

BuiltVariant Built(std::vector<std::string> modules, std::vector<std::string> entries) {
  for (std::string& module : modules) {
    module = "module hlsl 6 typed\n" + module;
  }
  return BuiltVariant({.entries = std::move(entries), .modules = std::move(modules)});
}

std::string Messages(std::vector<std::string> modules, std::vector<std::string> entries) {
  const BuiltVariant variant = Built(std::move(modules), std::move(entries));
  EXPECT_FALSE(variant.ok());
  return variant.messages();
}

constexpr std::string_view kMain = "function @main() -> void {\n}\n";

// set and binding of each resource, by name: "frame 0.2".
std::string Places(const std::string& declarations) {
  const BuiltVariant variant = Built({declarations + std::string(kMain)}, {"compute:main"});
  EXPECT_TRUE(variant.ok()) << variant.messages() << declarations;
  if (!variant.ok()) {
    return "";
  }
  std::string text;
  const artifact::PipelineMetadata& metadata = variant.metadata();
  for (uint32_t set = 0; set < 4; ++set) {
    const artifact::Set& all = metadata.sets[set];
    const auto add = [&](const std::string& name, uint32_t binding) {
      text += name + " " + std::to_string(set) + "." + std::to_string(binding) + "\n";
    };
    for (const auto& buffer : all.buffers) {
      add(buffer.name, buffer.binding);
    }
    for (const auto& sampler : all.samplers) {
      add(sampler.name, sampler.binding);
    }
    for (const auto& image : all.images) {
      add(image.name, image.binding);
    }
  }
  return text;
}

TEST(TypedInterface, Bindings_AreWhatIsWrittenAndThenTheLowestFree) {
  EXPECT_EQ(Places("image read_only pass @a : image_color_2d\n"
                   "buffer uniform pass @b {\n  x : f4\n}\n"
                   "sampler pass @c : sampler binding(1, 0)\n"
                   "image read_only material @d : image_color_2d register(\"t3\", 2)\n"
                   "sampler pass @e : sampler register(\"\", 1)\n"
                   "buffer uniform pass @f register(\"b0\", 0) binding(7, 3) {\n  x : f4\n}\n"),
            "b 0.2\nc 0.1\na 0.0\ne 1.0\nd 2.3\nf 3.7\n");
}

TEST(TypedInterface, NumbersThatMeet_AreRefused) {
  const auto messages = [](const std::string& declarations) {
    return Messages({declarations + std::string(kMain)}, {"compute:main"});
  };
  EXPECT_THAT(messages("sampler pass @a : sampler binding(1, 0)\nsampler pass @b : sampler "
                       "register(\"s1\", 0)\n"),
              HasSubstr("LAY2001 'b' overlaps 'a'"));
  EXPECT_THAT(messages("sampler pass @a : sampler register(\"q1\", 0)\n"), HasSubstr("LAY2006"));
  EXPECT_THAT(messages("sampler pass @a : sampler binding(0, 4)\n"), HasSubstr("LIM1001"));
}

TEST(TypedInterface, BufferOfADeclaredStruct_HasItsMembersAsParameters) {
  const BuiltVariant variant = Built({R"(struct @light_t {
  color : f3
  reach : f1
}
struct @scene_t {
  ambient : f4
  sun : @light_t
}
buffer uniform pass @scene : @scene_t
function @main() -> f4 semantic("SV_Target", 0) {
  %1 = global none @scene : @scene_t
  %2 = const u1 0
  %3 = access %1 [%2] : f4
  %4 = load %3 : f4
  return %4
}
)"},
                                     {"fragment:main"});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  ASSERT_EQ(variant.metadata().sets[0].buffers.size(), 1U);
  std::string text;
  for (const artifact::Parameter& parameter :
       variant.metadata().sets[0].buffers[0].main_parameters) {
    text += parameter.name + " " + std::to_string(parameter.offset) + "\n";
  }
  EXPECT_EQ(text, "ambient 0\nsun.color 16\nsun.reach 28\n");
}

TEST(TypedInterface, ResourcesOfOneName_AreOneDeclaration) {
  const std::string shared = "buffer uniform pass @frame {\n  x : f4\n}\n";
  const auto stage = [&](std::string_view name, std::string_view result) {
    return shared + "function @" + std::string(name) + "() -> f4 " + std::string(result) + R"( {
  %1 = global none @frame : @frame
  %2 = const u1 0
  %3 = access %1 [%2] : f4
  %4 = load %3 : f4
  return %4
}
)";
  };
  const std::string vertex = stage("v", "semantic(\"SV_Position\", 0)");
  const std::string fragment = stage("f", "semantic(\"SV_Target\", 0)");
  const BuiltVariant variant = Built({vertex, fragment}, {"vertex:v", "fragment:f"});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  ASSERT_EQ(variant.metadata().sets[0].buffers.size(), 1U);
  EXPECT_EQ(variant.metadata().sets[0].buffers[0].stages.size(), 2U);
  std::string other = fragment;
  other.replace(other.find("x : f4"), 6, "x : u4");
  other.replace(other.find("] : f4"), 6, "] : u4");
  EXPECT_THAT(Messages({vertex, other}, {"vertex:v"}), HasSubstr("LAY2003 type of 'frame'"));
  other = fragment;
  other.insert(other.find("@frame {") + 6, " binding(3, 0)");
  EXPECT_THAT(Messages({vertex, other}, {"vertex:v"}),
              HasSubstr("LAY2002 explicit bindings of 'frame' differ: binding(3, 0), none"));
}

TEST(TypedInterface, SettingsOfAnEntryPoint_CountWhereItIsChosen) {
  const std::string module =
      "cexpr ?1 = literal uint 8\ncexpr ?2 = literal uint 4\n"
      "function @a() -> void {\n}\nfunction @b() -> void {\n}\n"
      "setting \"workgroup_size_y\" = ?2\n"
      "setting @a \"workgroup_size_x\" = ?1\nsetting @b \"workgroup_size_x\" = ?2\n";
  for (const auto& [entry, size] : {std::pair("compute:a", 8U), std::pair("compute:b", 4U)}) {
    const BuiltVariant variant = Built({module}, {entry});
    ASSERT_TRUE(variant.ok()) << variant.messages();
    EXPECT_EQ(variant.metadata().workgroup_size[0], size);
    EXPECT_EQ(variant.metadata().workgroup_size[1], 4U);
  }
}

TEST(TypedInterface, ASettingMayBeOfOneOutput) {
  const std::string module =
      "cexpr ?1 = literal flag true\nfunction @f() -> f4 semantic(\"SV_Target\", 1) {\n"
      "  %1 = const f4 {f1 0.0, f1 0.0, f1 0.0, f1 0.0}\n  return %1\n}\n";
  const BuiltVariant variant =
      Built({module + "setting @f \"color_output_use_blend\" block 1 = ?1\n"}, {"fragment:f"});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  ASSERT_EQ(variant.metadata().color_outputs.size(), 2U);
  EXPECT_EQ(variant.metadata().color_outputs[0].components_count, 0U);
  EXPECT_EQ(variant.metadata().color_outputs[1].components_count, 4U);
  EXPECT_EQ(variant.metadata().color_outputs[1].name, "target1");
  EXPECT_TRUE(variant.metadata().color_outputs[1].use_blend);
  EXPECT_THAT(
      Messages({module + "setting @f \"color_output_use_blend\" block 2 = ?1\n"}, {"fragment:f"}),
      HasSubstr("RPL7006"));
}

// @b is computed from @a, which nobody else uses; @c is not used.
TEST(TypedInterface, ComputedValues_ComeFirst) {
  const std::string module = R"(buffer read_write_storage shared @memory {
  total : u1
}
function @make_a() -> u1 {
  %1 = const u1 5
  return %1
}
private @a : u1 initialise @make_a
function @make_b() -> u1 {
  %1 = global none @a : u1
  %2 = load %1 : u1
  %3 = binary add %2, %2 : u1
  return %3
}
private @b : u1 initialise @make_b
private @c : u1 initialise @make_b
function @read_b() -> u1 {
  %1 = global none @b : u1
  %2 = load %1 : u1
  return %2
}
function @main() -> void {
  %1 = call @read_b [] : u1
  %2 = global none @memory : @memory
  %3 = const u1 0
  %4 = access %2 [%3] : u1
  store %4, %1
}
)";
  const BuiltVariant variant = Built({module}, {"compute:main"});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const std::string text = ir::Print(variant.specialised());
  EXPECT_THAT(text, Not(HasSubstr("@c")));
  const size_t a = text.find("call @make_a");
  const size_t b = text.find("call @make_b");
  const size_t main = text.find("call @read_b");
  EXPECT_LT(a, b) << text;
  EXPECT_LT(b, main) << text;
}

TEST(TypedInterface, VertexInputs_AreAttributesOfTheirSources) {
  const BuiltVariant variant = Built({R"(struct @mesh_t source("mesh") {
  place : f3 semantic("POSITION", 0)
  normal : f3 pack(snorm16) tags(surface) semantic("NORMAL", 0)
  world : f4x3 semantic("WORLD", 0)
}
function @v(in $mesh : @mesh_t, in $seed : u1 semantic("SEED", 0) rate(instance)) -> f4 semantic("SV_Position", 0) {
  %1 = const f4 {f1 0.0, f1 0.0, f1 0.0, f1 1.0}
  return %1
}
)"},
                                     {"vertex:v"});
  ASSERT_TRUE(variant.ok()) << variant.messages();
  const auto& sources = variant.metadata().attribute_sources;
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_EQ(sources[0].name, "mesh");
  ASSERT_EQ(sources[0].attributes.size(), 6U);
  EXPECT_EQ(sources[0].attributes[1].name, "normal");
  EXPECT_EQ(sources[0].attributes[1].offset, 12U);
  EXPECT_EQ(sources[0].attributes[2].name, "world[0]");
  EXPECT_EQ(sources[0].attributes[5].location, 5U);
  EXPECT_EQ(sources[1].name, "instance");
  EXPECT_EQ(sources[1].rate, artifact::InputRate::kInstance);
  EXPECT_EQ(sources[1].binding, 1U);
  EXPECT_EQ(sources[1].attributes[0].name, "seed");
}

}  // namespace
}  // namespace kiln
