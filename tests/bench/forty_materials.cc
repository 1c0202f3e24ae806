// SPDX-License-Identifier: MIT
#include "tests/bench/forty_materials.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace kiln::bench {
namespace {

constexpr int kMaterials = 40;
constexpr std::string_view kPasses[] = {"forward", "gbuffer"};
constexpr std::string_view kWet = "color = color * 0.5;";

std::string PassText(std::string_view pass) {
  return fmt::format(
      "rpl 2;\n"
      "instance {0}_fast: flag false;\n"
      "color_output_container target {{ f4 color; }};\n"
      "set_pass uniform_buffer view {{ f4x4 clip_from_world; f4 time; }};\n"
      "f4 clip_position (in f3 world)\n"
      "{{\n"
      "    f4 clip = view.clip_from_world * f4 {{world, 1.0}};\n"
      "    conditional ({0}_fast) {{ clip.z = clip.z * 0.5; }}\n"
      "    return clip;\n"
      "}}\n"
      "f4 shade_pass (in f4 color) {{ return color * {1}; }}\n",
      pass, pass == kPasses[0] ? "0.25" : "0.75");
}

std::string MaterialText(int number) {
  return fmt::format(
      "rpl 2;\n"
      "global detail: flag false;\n"
      "global layers: uint 2;\n"
      "instance wet: flag false;\n"
      "instance kind: enum \"matte\" \"metal\" \"cloth\";\n"
      "instance fog: flag false;\n"
      "vertex_attribute_container mesh {{ f3 position; f3 normal; f2 uv; }};\n"
      "state_container surface {{ f3 normal; f2 uv; }};\n"
      "set_material uniform_buffer m{0:02} {{ f4 tint; f4[layers] slots; conditional (detail) f4 "
      "detail_tint; }};\n"
      "void m{0:02}_vertex (void)\n"
      "{{\n"
      "    surface.normal = mesh.normal;\n"
      "    surface.uv = mesh.uv;\n"
      "    vertex_stage_output_position (clip_position (mesh.position));\n"
      "}}\n"
      "void m{0:02}_fragment (void)\n"
      "{{\n"
      "    f4 color = m{0:02}.tint * {1:.2f};\n"
      "    for (u1 i = 0u; i < layers; i += 1u) {{ color = color + m{0:02}.slots[i]; }}\n"
      "    conditional (detail) {{ color = color * m{0:02}.detail_tint; }}\n"
      "    conditional (wet) {{ {3} }}\n"
      "    conditional (kind == \"metal\") {{ color = color * surface.normal.x; }}\n"
      "    conditional (kind == \"cloth\") {{ color = color + f4 {{surface.uv, 0.0, 0.0}}; }}\n"
      "    conditional (fog) {{ color = color * {2:.3f}; }}\n"
      "    target.color = shade_pass (color);\n"
      "}}\n",
      number, 1.0 + number / 10.0, 0.9 - number / 100.0, kWet);
}

std::string PathOf(int material) { return fmt::format("materials/m{:02}.rpl", material); }

}  // namespace

Result<DemoProject> FortyMaterials() {
  DemoProject project;
  std::string manifest =
      "[project]\nmanifest = 1\nname = \"forty\"\n"
      "[defaults]\npipeline = \"graphics_classic\"\ntargets = [\"vk\"]\n"
      "[target.vk]\nform = \"spirv\"\nversion = \"1.3\"\nenv = \"vulkan1.1\"\n"
      "[axes.common]\ndetail = \"*\"\nwet = \"*\"\nkind = \"*\"\nfog = \"*\"\n"
      "layers = [1, 2, 3, 4]\n";
  for (const std::string_view pass : kPasses) {
    project.sources.emplace(fmt::format("passes/{}.rpl", pass), PassText(pass));
  }
  for (int material = 0; material < kMaterials; ++material) {
    project.sources.emplace(PathOf(material), MaterialText(material));
    for (const std::string_view pass : kPasses) {
      manifest += fmt::format(
          "[[program]]\nname = \"m{0:02}/{1}\"\n"
          "sources = [\"passes/{1}.rpl\", \"{2}\"]\n"
          "entry_points = {{ vertex = \"m{0:02}_vertex\", fragment = \"m{0:02}_fragment\" }}\n"
          "use = [\"common\"]\naxes = {{ {1}_fast = \"*\" }}\n",
          material, pass, PathOf(material));
    }
  }
  KILN_TRY(project.manifest, project::ReadManifest(manifest, "kiln.toml"));
  return project;
}

DemoProject WithOneMaterialEdited(DemoProject project) {
  return Edited(std::move(project), PathOf(7), kWet, "color = color * 0.25;");
}

}  // namespace kiln::bench
