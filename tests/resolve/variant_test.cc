// SPDX-License-Identifier: MIT
// What a right variant consists of: live units in order, options read and by what.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "tests/resolve/variant_of.h"

namespace kiln::resolve {
namespace {

// The worked example of spec/rpl 15, with bodies that mention the same things.
const char* const kPass = R"(
instance tone_curve: enum "linear" "filmic";
set_pass uniform_buffer view
{
    meta (clip_transform) f4x4 clip_from_world;
    f4 sun;
    alias (sun_direction, sun.xyz)
    alias (sun_power, sun.w)
};
color_output_container target { f4 radiance; };
setting depth_compare_operation = "greater_or_equal";
setting color_output_write_a block 0 = false;

conditional (tone_curve == "linear") f3 tone (in f3 radiance) { return radiance; }
conditional (tone_curve == "filmic") f3 tone (in f3 radiance)
{
    f3 lifted = max_f3 (radiance - f3 {0.004}, f3 {0.0});
    return lifted / (lifted + f3 {0.155});
}
)";
const char* const kMaterial = R"(
global gust_count: uint 2;
global baked_occlusion: flag false;
instance cut_holes: flag true;
constant hole_threshold = 0.5;
constant gust_slots = gust_count * 2u;
conditional (cut_holes) setting cull_mode = "none";

vertex_attribute_container leaf
{
    f3 position;
    pack (snorm8) f4 normal_sway;
    pack (float16) f2 uv;
    conditional (baked_occlusion) pack (unorm8) f1 occlusion;
    alias (sway, normal_sway.w)
};
instanced_attribute_container plant { meta (hidden, world_transform) f4x4 world_from_leaf; pack (unorm8) f4 tint; };
state_container surface { f2 uv; f3 normal; f3 tint; };
struct gust_t { f4 direction_speed; f4 phase; };
set_material uniform_buffer wind { gust_t[gust_slots] gusts; meta (animated) f4 clock; };
set_material sampler leaf_sampler;
set_material image_color_2d leaf_albedo;

f3 bend (in f3 point, in f1 amount)
{
    f3 moved = point;
    for (u1 slot = 0u; slot < gust_slots; slot = slot + 1u)
    {
        alias (gust, wind.gusts[slot])
        f1 wave = sin_f1 (gust.phase.x + wind.clock.x * gust.direction_speed.w);
        if (wave > 0.0) { moved = moved + gust.direction_speed.xyz * (wave * amount); }
    }
    return moved;
}

void leaf_vertex (void)
{
    f4 world = plant.world_from_leaf * f4 {leaf.position, 1.0};
    f3 bent = bend (world.xyz, leaf.sway);
    vertex_stage_output_position (view.clip_from_world * f4 {bent, 1.0});
    surface.uv = leaf.uv;
    surface.normal = f3x3 {plant.world_from_leaf} * leaf.normal_sway.xyz;
    surface.tint = plant.tint.xyz;
    conditional (baked_occlusion) { surface.tint = plant.tint.xyz * leaf.occlusion; }
}

void leaf_fragment (void)
{
    f4 albedo = sample (leaf_sampler, leaf_albedo, surface.uv);
    conditional (cut_holes) { if (albedo.w < hole_threshold) { fragment_stage_discard (); } }
    f1 facing = clamp_f1 (dot_f3 (normalize_f3 (surface.normal), view.sun_direction), 0.0, 1.0);
    f3 lit = albedo.xyz * surface.tint * (facing * view.sun_power);
    target.radiance = f4 {tone (lit), 1.0};
}
)";
const char* const kEntries = "vertex:leaf_vertex,fragment:leaf_fragment";

std::string InterfaceText(VariantOf& variant) {
  std::string text;
  for (const ir::SpecialisedDecl* decl : variant.specialised().interface) {
    text += std::string(variant.pool().Text(decl->name)) + ":";
    for (const ir::SpecialisedMember& member : decl->members) {
      text += " " + ir::TypeText(variant.pool(), member.type) + " " +
              std::string(variant.pool().Text(member.name));
      for (const ir::StringId tag : member.tags) {
        text += "@" + std::string(variant.pool().Text(tag));
      }
    }
    text += "\n";
  }
  return text;
}

std::string InfluenceText(VariantOf& variant) {
  std::string text;
  for (const ir::OptionUse& use : variant.specialised().option_uses) {
    text += std::string(variant.pool().Text(use.name)) + ":";
    const auto add = [&](ir::Influence influence, const char* name) {
      text += (use.influence & static_cast<uint8_t>(influence)) != 0 ? name : "";
    };
    add(ir::Influence::kLayout, " layout");
    add(ir::Influence::kSettings, " settings");
    add(ir::Influence::kCode, " code");
    add(ir::Influence::kCheck, " check");
    text += "\n";
  }
  return text;
}

std::string EntriesText(VariantOf& variant) {
  std::string text;
  for (const ir::EntryRef& entry : variant.specialised().entries) {
    text += std::string(entry.name) + ":";
    for (const ir::FunctionRef* function : entry.functions) {
      text +=
          " " + std::string(variant.program().Text(variant.program().NameOf(function->function))) +
          "/" + std::to_string(function->regions.size()) + (function->stage_sensitive ? "*" : "");
    }
    text += " reads";
    for (const ir::OptionId id : variant.program().options_by_name()) {
      if (entry.live_options.Test(id.value)) {
        text += " " + std::string(variant.program().Text(variant.program().NameOf(id)));
      }
    }
    text += "\n";
  }
  return text;
}

TEST(SpecialiseVariant, WorkedExample_IsAsTheLanguageSays) {
  VariantOf variant({kPass, kMaterial}, kEntries);
  ASSERT_EQ(variant.Messages(), "");
  EXPECT_EQ(InterfaceText(variant),
            "target: f4 radiance\n"
            "view: f4x4 clip_from_world@clip_transform f4 sun\n"
            "leaf: f3 position f4 normal_sway f2 uv\n"
            "plant: f4x4 world_from_leaf@hidden@world_transform f4 tint\n"
            "surface: f2 uv f3 normal f3 tint\n"
            "wind: gust_t[4] gusts f4 clock@animated\n"
            "leaf_sampler:\n"
            "leaf_albedo:\n");
  EXPECT_EQ(InfluenceText(variant),
            "baked_occlusion: layout code\n"
            "cut_holes: settings code\n"
            "gust_count: layout code\n"
            "tone_curve: code\n");
  EXPECT_EQ(EntriesText(variant),
            "leaf_vertex: leaf_vertex/1 bend/1 reads baked_occlusion gust_count\n"
            "leaf_fragment: leaf_fragment/2* tone/1 reads baked_occlusion cut_holes gust_count "
            "tone_curve\n");
}

TEST(SpecialiseVariant, OtherOptions_GiveOtherUnits) {
  VariantOf variant({kPass, kMaterial}, kEntries, "baked_occlusion=true,gust_count=3");
  ASSERT_EQ(variant.Messages(), "");
  EXPECT_NE(InterfaceText(variant).find("f2 uv f1 occlusion\n"), std::string::npos);
  EXPECT_NE(InterfaceText(variant).find("gust_t[6] gusts"), std::string::npos);
  EXPECT_NE(EntriesText(variant).find("leaf_vertex/2"), std::string::npos);
}

TEST(SpecialiseVariant, SettingsInOrder_LastOneWins) {
  VariantOf variant(
      {"setting cull_mode = \"none\"; setting depth_min = 0.25;\n"
       "setting cull_mode = \"front\"; conditional (false) setting depth_max = 0.5;"});
  std::string text;
  for (const ir::SpecialisedSetting& setting : variant.specialised().settings) {
    text += setting.name + "=" + setting.text + " ";
  }
  EXPECT_EQ(text, "cull_mode=none depth_min= cull_mode=front ");
}

TEST(SpecialiseVariant, SharedFunctions_AreClosedOncePerVariantOrStage) {
  VariantOf variant({R"(
set_pass sampler s; set_pass image_color_2d i;
f1 half_of (in f1 x) { return x * 0.5; }
f4 taken (void) { return sample (s, i, f2 {half_of (1.0)}); }
void v (void) { vertex_stage_output_position (taken ()); }
color_output_container o { f4 c; };
void g (void) { o.c = taken (); }
)"},
                    "vertex:v,fragment:g");
  ASSERT_EQ(variant.Messages(), "");
  EXPECT_EQ(EntriesText(variant),
            "v: v/1* taken/1* half_of/1 reads\ng: g/1* taken/1* half_of/1 reads\n");
  const auto& entries = variant.specialised().entries;
  EXPECT_EQ(entries[0].functions[2]->regions[0].specialised,
            entries[1].functions[2]->regions[0].specialised);
  EXPECT_NE(entries[0].functions[1]->regions[0].specialised,
            entries[1].functions[1]->regions[0].specialised);
}

TEST(SpecialiseVariant, OptionOfAnUnusedConstant_IsOnlyChecked) {
  VariantOf variant(
      {"global a: uint 1; global b: uint 1; constant c = a + 1u; constant d = b + 1u;\n"
       "set_pass uniform_buffer u { f4[d] x; };"});
  EXPECT_EQ(InfluenceText(variant), "a: check\nb: layout\n");
}

TEST(SpecialiseVariant, OutputsAndState_CountAsCodeAndNotAsLayout) {
  VariantOf variant(
      {"instance a: flag true; instance b: flag true;\n"
       "conditional (a) color_output_container o { f4 c; };\n"
       "state_container s { f4 x; conditional (b) f4 y; };"});
  EXPECT_EQ(InfluenceText(variant), "a: settings code\nb: code\n");
}

TEST(SpecialiseVariant, OptionsOfInactiveThings_AreNotRead) {
  VariantOf variant(
      {"global a: flag false; global b: uint 1; global c: flag true;\n"
       "conditional (a) set_pass uniform_buffer u { f4[b] x; };\n"
       "void f (void) { conditional (c) { } }"});
  EXPECT_EQ(InfluenceText(variant), "a: layout\n");
}

TEST(SpecialiseVariant, OptionsBeyondOneWord_AreTold) {
  std::string source;
  for (int i = 0; i < 130; ++i) {
    source += "global o" + std::to_string(100 + i) + ": uint 1;\n";
  }
  VariantOf variant(
      {source + "set_pass uniform_buffer u { f4[o229 + o100] x; f4[o163 + o164] y; };"});
  EXPECT_EQ(InfluenceText(variant), "o100: layout\no163: layout\no164: layout\no229: layout\n");
}

TEST(SpecialiseVariant, AnotherVariantAfterReset_HasItsOwnAnswers) {
  VariantOf variant(
      {"global a: uint 1; constant c = a + 1u; set_pass uniform_buffer u { f4[c] x; };"});
  VariantEvaluator& answers = variant.answers();
  const ir::DeclId constant = variant.program().constants()[0];
  EXPECT_EQ(answers.Constant(constant).bits, 2u);
  const OptionValues other{.bits = {6}};
  answers.Reset(other);
  EXPECT_EQ(answers.Constant(constant).bits, 7u);
}

TEST(SpecialiseVariant, LongChainsOfConstants_DoNotGrowTheStack) {
  std::string source = "constant c0 = 1u;\n";
  constexpr int kCount = 20000;
  for (int i = 1; i < kCount; ++i) {
    source += "constant c" + std::to_string(i) + " = c" + std::to_string(i - 1) + " + 1u;\n";
  }
  VariantOf variant({source});
  EXPECT_EQ(variant.Messages(), "");
  const OptionValues none;
  VariantEvaluator fresh(variant.program(), none, variant.pool(), nullptr);
  EXPECT_EQ(fresh.Constant(variant.program().constants().back()).bits, uint32_t{kCount});
}

TEST(SpecialiseVariant, StructsNestedTooDeep_AreAnError) {
  std::string source = "struct t0_t { f4 x; };\n";
  for (int i = 1; i < 300; ++i) {
    source += "struct t" + std::to_string(i) + "_t { t" + std::to_string(i - 1) + "_t x; };\n";
  }
  VariantOf variant({source + "set_pass read_only_storage_buffer b { t299_t x; };"});
  EXPECT_EQ(variant.Messages(), "RPL1009 't44_t' is nested more than 256 levels deep\n");
}

// f0 calls nobody, and each of the others the one before it.
std::string ChainOfCalls(uint32_t calls) {
  std::string source = "void f0 (void) { }\n";
  for (uint32_t i = 1; i <= calls; ++i) {
    source += "void f" + std::to_string(i) + " (void) { f" + std::to_string(i - 1) + " (); }\n";
  }
  return source;
}

TEST(SpecialiseVariant, CallsInEachOther_AreLimited) {
  const uint32_t most = LanguageLimits{}.call_depth;
  for (const uint32_t calls : {most - 1, most}) {
    VariantOf variant({ChainOfCalls(calls)}, "fragment:f" + std::to_string(calls));
    EXPECT_EQ(variant.Messages(), "") << calls;
    EXPECT_EQ(variant.specialised().entries[0].functions.size(), calls + 1);
  }
  for (const uint32_t calls : {most + 1, most + 2, 3000u}) {  // the last would grow the stack
    VariantOf variant({ChainOfCalls(calls)}, "fragment:f" + std::to_string(calls));
    EXPECT_EQ(variant.Messages(),
              "LIM1001 function 'f257' has too many calls in each other, the limit is 256\n")
        << calls;
    EXPECT_EQ(variant.Details(Code::kLim1001).substr(0, 6), "\"f256 ") << "at the call";
  }
}

// The deep way is found behind a short one, whichever was walked first.
TEST(SpecialiseVariant, CallsInEachOther_AreThoseOfTheLongestWay) {
  const std::string chain = ChainOfCalls(256);
  for (const char* body : {"f256 (); f0 ();", "f0 (); f256 ();", "f3 (); f200 (); f256 ();"}) {
    VariantOf variant({chain + "void last (void) { " + body + " }"}, "fragment:last");
    EXPECT_EQ(variant.Messages(),
              "LIM1001 function 'last' has too many calls in each other, the limit is 256\n")
        << body;
    VariantOf shallow({chain + "void last (void) { f255 (); f0 (); f255 (); }"}, "fragment:last");
    EXPECT_EQ(shallow.Messages(), "");
  }
}

TEST(SpecialiseVariant, CycleOfManyCalls_IsSaidAlone) {
  std::string source = ChainOfCalls(300);
  source.replace(source.find("{ }"), 3, "{ f300 (); }");
  VariantOf variant({source + "void last (void) { f300 (); }"}, "fragment:last");
  EXPECT_EQ(variant.Messages().substr(0, 8), "RPL5020 ");
  EXPECT_EQ(variant.Messages().find("LIM1001"), std::string::npos);
}

TEST(Queries, UnitsAskOnlyWhatTheyNeed) {
  VariantOf variant(
      {"global a: uint 2; global t: enum \"x\" \"y\"; struct s_t { f4[a + 1u] m; };\n"
       "set_pass uniform_buffer u { s_t s; conditional (t == \"x\") f4 n; };\n"
       "color_output_container o { f4 c; };\n"
       "void g (void) { o.c = u.s.m[a] + u.n; conditional (a > 5u) { o.c = u.n; } }\n"},
      "fragment:g");
  ASSERT_EQ(variant.Messages(), "");
  EXPECT_EQ(variant.Queries(),
            "== o\n"
            "== s_t\n"
            "a + 1u = 3u\n"
            "== u\n"
            "struct s_t = struct at 0\n"
            "decl s_t = specialised\n"
            "t == \"x\" = true\n"
            "== g\n"
            "== g region\n"
            "decl g = specialised\n"
            "name o = colour output container at 2\n"
            "member o.c = field 0 of type f4\n"
            "stage = fragment\n"
            "name u = uniform buffer at 1\n"
            "decl u = specialised\n"
            "member u.s = field 0 of type s_t\n"
            "struct s_t = struct at 0\n"
            "member s_t.m = field 0 of type f4[3]\n"
            "option a = 2u\n"
            "member u.n = field 1 of type f4\n");
}

TEST(Queries, Expressions_ReadAsWritten) {
  VariantOf variant(
      {"global a: uint 2; global b: flag true; global f: float 0.5;\n"
       "constant c = (a + 1u) * 2u > 4u && !b || u1 {f} == ~a;"});
  const Program& program = variant.program();
  const ir::DeclId constant = program.constants()[0];
  const ir::CexprId root = program.Wide(0, ir::CexprId{program.Get(constant).body});
  EXPECT_EQ(ExpressionText(program, root), "((((a + 1u) * 2u) > 4u) && !b) || (u1 {f} == ~a)");
}

}  // namespace
}  // namespace kiln::resolve
