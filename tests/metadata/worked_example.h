// SPDX-License-Identifier: MIT
// The worked example of the language (spec/rpl 15) as a specialised variant written by hand: what
// specialising leaves of it for metadata, under two sets of options.
#pragma once

#include <deque>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "compiler/ir/specialised.h"
#include "compiler/ir/types.h"
#include "tests/support/interface_writer.h"

namespace kiln::metadata {

class WorkedExample {
 public:
  struct Options {
    bool baked_occlusion = false;
    uint32_t gust_count = 2;
    bool used_pool = false;  // the pool holds other things already
  };
  explicit WorkedExample(const Options& options) {
    if (options.used_pool) {
      pool_.InternText("tint");
      pool_.Intern(ir::ArrayType(pool_.Matrix(ir::Scalar::kF32, 4, 4), 77));
    }
    WritePass();
    writer_.BeginModule();
    WriteMaterial(options);
    WriteSettings();
    WriteOptions(options);
    WriteEntries(options);
  }
  WorkedExample(const WorkedExample&) = delete;
  WorkedExample& operator=(const WorkedExample&) = delete;

  const ir::SpecialisedProgram& variant() const { return writer_.variant(); }
  ir::SpecialisedProgram& variant() { return writer_.variant(); }
  ir::Pool& pool() { return pool_; }

 private:
  void WritePass();
  void WriteMaterial(const Options& options);
  void WriteSettings();
  void WriteOptions(const Options& options);
  void WriteEntries(const Options& options);

  struct Mentioned {
    std::string_view decl;
    std::string_view field = {};  // of a container
    ir::MemberUse touch = ir::MemberUse::kRead;
  };
  void Entry(ir::Stage stage, std::string_view name, std::initializer_list<Mentioned> mentions);

  ir::Pool pool_;
  layout::InterfaceWriter writer_{pool_};
  std::deque<ir::SpecialisedRegion> regions_;
  std::deque<ir::FunctionRef> functions_;
  std::vector<ir::SpecialisedSetting> settings_;
  ir::SpecialisedDecl signature_;
};

inline void WorkedExample::WritePass() {
  writer_.Container(ir::ContainerKind::kColorOutput, "target", {{"f4", "radiance"}});
  writer_.Buffer(
      ir::BufferKind::kUniform, ir::ResourceSet::kPass, "view",
      {{.type = "f4x4", .name = "clip_from_world", .tags = {"clip_transform"}}, {"f4", "sun"}});
}

inline void WorkedExample::WriteMaterial(const Options& options) {
  std::vector<layout::WrittenField> leaf = {
      {"f3", "position"}, {"f4", "normal_sway", "snorm8"}, {"f2", "uv", "float16"}};
  if (options.baked_occlusion) {
    leaf.push_back({"f1", "occlusion", "unorm8"});
  }
  writer_.Container(ir::ContainerKind::kVertexAttributes, "leaf", leaf);
  writer_.Container(
      ir::ContainerKind::kInstanceAttributes, "plant",
      {{.type = "f4x4", .name = "world_from_leaf", .tags = {"hidden", "world_transform"}},
       {"f4", "tint", "unorm8"}});
  writer_.Container(ir::ContainerKind::kState, "surface",
                    {{"f2", "uv"}, {"f3", "normal"}, {"f3", "tint"}});
  writer_.Struct("gust_t", {{"f4", "direction_speed"}, {"f4", "phase"}});
  writer_.Buffer(ir::BufferKind::kUniform, ir::ResourceSet::kMaterial, "wind",
                 {{"gust_t[" + std::to_string(options.gust_count * 2) + "]", "gusts"},
                  {.type = "f4", .name = "clock", .tags = {"animated"}}});
  writer_.Sampler(ir::ResourceSet::kMaterial, "leaf_sampler");
  writer_.Image(ir::ResourceSet::kMaterial, "image_color_2d", "leaf_albedo");
}

inline void WorkedExample::WriteSettings() {
  settings_ = {
      {.name = "depth_compare_operation",
       .kind = static_cast<uint16_t>(ir::ValueKind::kString),
       .text = "greater_or_equal"},
      {.name = "color_output_write_a",
       .block = 0,
       .kind = static_cast<uint16_t>(ir::ValueKind::kFlag),
       .bits = 0},
      {.name = "cull_mode", .kind = static_cast<uint16_t>(ir::ValueKind::kString), .text = "none"}};
  variant().settings = settings_;
}

inline void WorkedExample::WriteOptions(const Options& options) {
  constexpr auto kLayoutAndCode =
      static_cast<uint8_t>(ir::Influence::kLayout) | static_cast<uint8_t>(ir::Influence::kCode);
  variant().option_uses = {{.name = pool_.InternText("baked_occlusion"),
                            .value = options.baked_occlusion ? 1U : 0U,
                            .influence = kLayoutAndCode},
                           {.name = pool_.InternText("cut_holes"),
                            .scope = ir::OptionScope::kInstance,
                            .value = 1,
                            .influence = static_cast<uint8_t>(ir::Influence::kSettings) |
                                         static_cast<uint8_t>(ir::Influence::kCode)},
                           {.name = pool_.InternText("gust_count"),
                            .kind = ir::OptionKind::kUint,
                            .value = options.gust_count,
                            .influence = kLayoutAndCode},
                           {.name = pool_.InternText("tone_curve"),
                            .scope = ir::OptionScope::kInstance,
                            .kind = ir::OptionKind::kEnum,
                            .text = pool_.InternText("linear"),
                            .influence = static_cast<uint8_t>(ir::Influence::kCode)}};
}

inline void WorkedExample::WriteEntries(const Options& options) {
  using enum ir::MemberUse;
  Entry(ir::Stage::kVertex, "leaf_vertex",
        {{"plant", "world_from_leaf"},
         {"leaf", "position"},
         {"wind"},
         {"view"},
         {"surface", "uv", kWrite},
         {"surface", "normal", kWrite},
         {"surface", "tint", kWrite},
         {options.baked_occlusion ? "leaf" : "plant",
          options.baked_occlusion ? "occlusion" : "tint"}});
  Entry(ir::Stage::kFragment, "leaf_fragment",
        {{"leaf_sampler", {}, kSample},
         {"leaf_albedo", {}, kSample},
         {"surface", "uv"},
         {"surface", "normal"},
         {"surface", "tint"},
         {"view"},
         {"target", "radiance", kWrite}});
}

inline void WorkedExample::Entry(ir::Stage stage, std::string_view name,
                                 std::initializer_list<Mentioned> mentions) {
  ir::SpecialisedRegion& region = regions_.emplace_back();
  for (const Mentioned& mentioned : mentions) {
    const ir::SpecialisedDecl& decl = writer_.Named(mentioned.decl);
    ir::Mention& mention = region.mentions.emplace_back();
    mention.decl = decl.decl;
    mention.touches = static_cast<uint8_t>(mentioned.touch);
    for (const ir::SpecialisedMember& member : decl.members) {
      if (!mentioned.field.empty() && pool_.Text(member.name) == mentioned.field) {
        mention.member = member.member;
      }
    }
  }
  signature_.kind = ir::DeclKind::kFunction;
  const ir::FunctionRef& function =
      functions_.emplace_back(ir::FunctionRef{.number = static_cast<uint32_t>(functions_.size()),
                                              .signature = &signature_,
                                              .regions = {{.specialised = &region}}});
  variant().entries.push_back({.stage = stage, .name = name, .functions = {&function}});
}

}  // namespace kiln::metadata
