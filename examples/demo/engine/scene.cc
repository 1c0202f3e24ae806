// SPDX-License-Identifier: MIT
// The scene of the demo: what is drawn, with which variant, and the values of its parameters. It is
// data only and touches no device, so its tests run everywhere. Names of values, images and
// samplers are those that the shaders give them.
#include "examples/demo/engine/scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "examples/demo/engine/textures.h"

namespace kiln::demo {
namespace {

using Options = std::map<std::string, OptionValue>;

constexpr Vec3 kEye = {1.0F, 3.7F, 8.6F};
constexpr Vec3 kLookAt = {0.15F, 1.15F, 0.0F};
constexpr float kAngle = 40.0F * kPi / 180.0F;
constexpr float kNear = 0.1F;
constexpr float kFar = 80.0F;
constexpr uint32_t kJoints = 6;
constexpr float kColumnHeight = 2.6F;

// What the materials of the forward pass share. What the options themselves say comes first: insert
// keeps what is there.
Options Lit(Options options) {
  options.insert({{"light_count", 4U},
                  {"shadow_kind", std::string("pcf")},
                  {"fog_kind", std::string("height")},
                  {"fog_glow", true}});
  return options;
}

// Tint and highlight leave the colour as it is.
ValueTable Material(Vec3 color, float metallic, float roughness) {
  ValueTable values;
  values.Set("base_color", color, 1);
  values.Set("metallic", {metallic, roughness, 1, 0.5F});
  values.Set("emissive", {0, 0, 0, 0});
  values.Set("uv_transform", {1, 1, 0, 0});
  values.Set("highlight", {0, 0, 0, 0});
  values.Set("tint", {1, 1, 1, 1});
  return values;
}

// A thing of the pbr material that casts a shadow: one draw in each pass, with the same values.
struct Thing {
  std::string name;
  std::string mesh;
  ValueTable values;
  Mat4 world_from_mesh;
  Options options;         // of pbr/forward
  Options shadow_options;  // of the shadow program
  bool cutout = false;
  std::map<std::string, std::vector<std::string>> images;
  uint32_t instance_count = 1;
  Streams instances;
};

void AddThing(Scene& scene, Thing thing) {
  thing.values.Set("world_transform", thing.world_from_mesh);
  // Every material samples a map; white leaves the color as it is. What the thing itself names
  // comes first.
  thing.images.insert({"base_color_map", {"white"}});
  SceneDraw draw{.name = thing.name,
                 .variant = {thing.cutout ? "pbr/shadow_cutout" : "pbr/shadow",
                             std::move(thing.shadow_options)},
                 .mesh = thing.mesh,
                 .instance_count = thing.instance_count,
                 .instances = thing.instances,
                 .values = thing.values,
                 .images = thing.images};
  scene.shadow.push_back(draw);
  // The same values and images serve both passes. What only the forward pass reads is not looked
  // for in the other, because metadata says what each variant needs.
  draw.variant = {"pbr/forward", Lit(std::move(thing.options))};
  draw.images.insert({"shadow_map", {Scene::kShadowMap}});
  scene.forward.push_back(std::move(draw));
}

// ---- contents

// The one draw with several layers of material: an array of images, and weights that come with the
// vertices.
void AddGround(Scene& scene) {
  ValueTable values;
  values.Set("world_transform", Mat4());
  values.Set("base_color", {1, 1, 1, 1});
  values.Set("layer_factors", {0.25F, 0.55F, 0, 0, 0.20F, 0.95F, 0, 0});
  values.Set("wetness", {0, 0.1F, 0.5F, 0});
  values.Set("grid_color", {0, 0, 0, 0});
  scene.forward.push_back(
      {.name = "ground",
       .variant = {"ground/forward", Lit({{"layer_slots", 2U},
                                          {"layer_mix", std::string("weights")},
                                          {"wet", false},
                                          {"grid_overlay", false},
                                          {"pcf_radius", int32_t{2}}})},
       .mesh = "ground",
       .values = std::move(values),
       .images = {{"layer_maps", {"checker", "soil"}}, {"shadow_map", {Scene::kShadowMap}}}});
}

// One mesh and one program with five materials, each of which needs other options and so another
// variant.
void AddSpheres(Scene& scene) {
  AddThing(scene, {.name = "gold",
                   .mesh = "sphere",
                   .values = Material({1.0F, 0.72F, 0.32F}, 1, 0.22F),
                   .world_from_mesh = Translation({-2.7F, 0.7F, 1.4F})});
  AddThing(scene, {.name = "enamel",
                   .mesh = "sphere",
                   .values = Material({0.62F, 0.03F, 0.04F}, 0, 0.18F),
                   .world_from_mesh = Translation({-1.1F, 0.7F, 2.3F})});
  AddThing(scene,
           {.name = "brick",
            .mesh = "sphere",
            .values = Material({1, 1, 1}, 0, 1),
            .world_from_mesh = Translation({0.7F, 0.7F, 2.5F}) * RotationY(0.4F),
            .options = {{"has_normal_map", true}, {"has_orm_map", true}, {"has_occlusion", true}},
            .shadow_options = {{"has_normal_map", true}},
            .images = {{"base_color_map", {"bricks"}},
                       {"normal_map", {"brick_normals"}},
                       {"orm_map", {"brick_factors"}}}});
  ValueTable sparks = Material({0.05F, 0.05F, 0.06F}, 0, 0.5F);
  sparks.Set("emissive", {1, 1, 1, 6});
  AddThing(scene, {.name = "sparks",
                   .mesh = "sphere",
                   .values = std::move(sparks),
                   .world_from_mesh = Translation({2.3F, 0.7F, 1.9F}),
                   .options = {{"has_emissive_map", true}},
                   .images = {{"emissive_map", {"sparks"}}}});
  AddThing(scene, {.name = "basket",
                   .mesh = "sphere",
                   .values = Material({1, 1, 1}, 0, 0.6F),
                   .world_from_mesh = Translation({3.4F, 0.7F, 0.4F}),
                   .options = {{"alpha_mode", std::string("mask")}},
                   .shadow_options = {{"two_sided", true}},
                   .cutout = true,
                   .images = {{"base_color_map", {"holes"}}}});
}

// Joints turn one after another, each around its own height, so the pillar leans further the higher
// it gets.
ValueTable LeaningPillar() {
  ValueTable values = Material({1, 1, 1}, 0, 0.45F);
  std::vector<float> pose;
  Mat4 mesh_from_joint;
  for (uint32_t i = 0; i < kJoints; ++i) {
    const float height = kColumnHeight * static_cast<float>(i) / static_cast<float>(kJoints - 1);
    const Mat4 turn = Translation({0, height, 0}) * RotationZ(i == 0 ? 0.0F : -0.16F) *
                      Translation({0, -height, 0});
    mesh_from_joint = mesh_from_joint * turn;
    pose.insert(pose.end(), mesh_from_joint.items.begin(), mesh_from_joint.items.end());
  }
  values.Set("skeleton.pose", pose);
  return values;
}

void AddPillar(Scene& scene) {
  AddThing(scene, {.name = "pillar",
                   .mesh = "pillar",
                   .values = LeaningPillar(),
                   .world_from_mesh = Translation({-0.6F, 0, -0.4F}),
                   .options = {{"skinning", std::string("weights_4")}},
                   .shadow_options = {{"skinning", std::string("weights_4")}},
                   .images = {{"base_color_map", {"stripes"}}}});
}

// Twenty cubes as one draw: what differs between them is data of instances.
void AddRing(Scene& scene) {
  constexpr uint32_t kCubes = 20;
  std::vector<float> placements;
  std::vector<float> tints;
  for (uint32_t i = 0; i < kCubes; ++i) {
    const float angle = 2 * kPi * static_cast<float>(i) / static_cast<float>(kCubes);
    const Vec3 at = {4.6F * std::cos(angle), 0.42F + 0.22F * std::sin(3 * angle),
                     -1.2F + 3.2F * std::sin(angle)};
    const Mat4 placement = Translation(at) * RotationY(angle * 2) * RotationZ(angle) * Scale(0.22F);
    placements.insert(placements.end(), placement.items.begin(), placement.items.end());
    // Three sines a third of a turn apart: the colors of the ring go once round the circle of hues.
    for (const float phase : {0.0F, 2.1F, 4.2F}) {
      tints.push_back(0.55F + 0.45F * std::sin(angle + phase));
    }
    tints.push_back(1);
  }
  Thing ring{.name = "ring",
             .mesh = "cube",
             .values = Material({0.8F, 0.8F, 0.8F}, 0, 0.35F),
             .options = {{"instancing", true}},
             .shadow_options = {{"instancing", true}},
             .instance_count = kCubes};
  ring.instances["world_transform"] = {16, std::move(placements)};
  ring.instances["tint"] = {4, std::move(tints)};
  AddThing(scene, std::move(ring));
}

// Blended things come last, since they must meet what is behind them; they cast no shadow.
void AddGlassAndText(Scene& scene) {
  ValueTable glass = Material({0.55F, 0.85F, 0.9F}, 0, 0.08F);
  glass.Set("base_color", {0.35F, 0.75F, 0.85F, 0.35F});
  glass.Set("world_transform", Translation({1.75F, 0.55F, 3.6F}) * Scale(0.78F));
  Options options = Lit({{"alpha_mode", std::string("blend")}});
  options["shadow_kind"] = std::string("hard");
  scene.forward.push_back(
      {.name = "glass",
       .variant = {"pbr/forward", std::move(options)},
       .mesh = "sphere",
       .values = std::move(glass),
       .images = {{"base_color_map", {"white"}}, {"shadow_map", {Scene::kShadowMap}}}});
  ValueTable text;
  text.Set("world_transform", Translation({0.3F, 2.75F, -1.6F}));
  text.Set("glyph_threshold", {0.5F, 0.03F, 0.12F, 0});
  text.Set("text_color", {1.0F, 0.86F, 0.55F, 1});
  text.Set("outline_color", {0.05F, 0.04F, 0.04F, 1});
  text.Set("backdrop_color", {0, 0, 0, 0});
  scene.forward.push_back(
      {.name = "text",
       .variant = {"text/forward",
                   {{"glyph_kind", std::string("distance")},
                    {"facing", std::string("upright")},
                    {"outline", true},
                    {"fog_kind", std::string("height")},
                    {"fog_glow", true}}},
       .mesh = "text",
       .values = std::move(text),
       .images = {{"glyph_atlas", {"glyphs"}}, {"shadow_map", {Scene::kShadowMap}}}});
}

// One triangle over the screen, by the program's name.
SceneDraw ScreenDraw(std::string name, std::string program, Options options,
                     std::map<std::string, std::vector<std::string>> images) {
  return {.name = std::move(name),
          .variant = {std::move(program), std::move(options)},
          .mesh = "screen",
          .images = std::move(images)};
}

// The light of a frame counts for less the more frames there have been, so that after all phases
// each has the same share. There is one draw for each phase. The image of the first frame is all
// new: its share is 1, so the empty history counts for nothing.
void AddTemporal(Scene& scene, float width, float height) {
  for (uint32_t phase = 0; phase < Scene::kPhases; ++phase) {
    SceneDraw draw =
        ScreenDraw("temporal", "screen/temporal", {{"clamp_history", true}},
                   {{"scene_light", {Scene::kSceneLight}}, {"history", {Scene::kHistory}}});
    draw.values.Set("temporal_tuning",
                    {1 / width, 1 / height, 1 / static_cast<float>(phase + 1), 0});
    scene.temporal.push_back(std::move(draw));
  }
}

void AddBloom(Scene& scene, float width, float height) {
  struct Step {
    const char* step;
    const char* source;
    const char* finer;  // of "up"; else the source again, which is not read
    float divisor;      // of the source's size
  };
  // Down to an eighth and up again. Each step of the way up adds the finer image that lies beside
  // it on the way down.
  constexpr std::array<Step, Scene::kBloomSteps> kSteps = {{
      {"bright", Scene::kResolved, nullptr, 1},
      {"down", Scene::kBloomHalf, nullptr, 2},
      {"down", Scene::kBloomQuarter, nullptr, 4},
      {"up", Scene::kBloomEighth, Scene::kBloomQuarter, 8},
      {"up", Scene::kBloomQuarterUp, Scene::kBloomHalf, 4},
  }};
  constexpr float kThreshold = 0.9F;
  constexpr float kWeight = 0.8F;
  for (const Step& step : kSteps) {
    SceneDraw draw =
        ScreenDraw(std::string("bloom ") + step.step, "screen/bloom",
                   {{"bloom_step", std::string(step.step)}}, {{"source", {step.source}}});
    if (step.finer != nullptr) {
      draw.images["finer"] = {step.finer};
    }
    // The size of a texel of the source: each step halves or doubles what it reads.
    draw.values.Set("bloom_tuning",
                    {step.divisor / width, step.divisor / height, kThreshold, kWeight});
    scene.bloom.push_back(std::move(draw));
  }
}

// A frame around the picture and a bar that is two thirds full, in pixels. All boxes are one mesh,
// so the interface is one draw.
Mesh InterfaceMesh(float width, float height) {
  struct Box {
    float x, y, w, h;
    std::array<float, 4> color;
  };
  const float unit = height / 90;
  const Box boxes[] = {
      {0, 0, width, unit, {0.02F, 0.03F, 0.05F, 0.75F}},
      {0, height - unit, width, unit, {0.02F, 0.03F, 0.05F, 0.75F}},
      {3 * unit, height - 6 * unit, 36 * unit, 3 * unit, {0.02F, 0.03F, 0.05F, 0.65F}},
      {3.5F * unit, height - 5.5F * unit, 24 * unit, 2 * unit, {1.0F, 0.62F, 0.16F, 0.9F}}};
  Mesh mesh;
  std::vector<float> corners;
  std::vector<float> colors;
  for (const Box& box : boxes) {
    const auto first = static_cast<uint32_t>(corners.size() / 2);
    for (const float y : {box.y, box.y + box.h}) {
      for (const float x : {box.x, box.x + box.w}) {
        corners.insert(corners.end(), {x, y});
        colors.insert(colors.end(), box.color.begin(), box.color.end());
      }
    }
    for (const uint32_t corner : {0U, 1U, 2U, 2U, 1U, 3U}) {
      mesh.indices.push_back(first + corner);
    }
  }
  mesh.vertex_count = static_cast<uint32_t>(corners.size() / 2);
  mesh.streams["position"] = {2, std::move(corners)};
  mesh.streams["color"] = {4, std::move(colors)};
  return mesh;
}

// The passes over the whole screen, in the order in which light goes through them. Each names the
// image of the one before.
void AddScreen(Scene& scene, float width, float height) {
  scene.lighting.push_back(
      ScreenDraw("lighting", "screen/lighting",
                 {{"occlusion_kind", std::string("high")},
                  {"bloom", false},
                  {"vignette", false},
                  {"tone_map", std::string("off")},
                  {"encoding", std::string("linear")}},
                 {{"scene_color", {Scene::kSceneColor}}, {"scene_depth", {Scene::kSceneDepth}}}));
  AddTemporal(scene, width, height);
  AddBloom(scene, width, height);
  scene.compose.push_back(ScreenDraw(
      "compose", "screen/compose", {{"vignette", true}, {"tone_map", std::string("filmic")}},
      {{"scene_light", {Scene::kResolved}}, {"bloom", {Scene::kBloom}}}));
  scene.compose.back().values.Set("compose_tuning", {0.8F, 0.7F, 0.35F, 0});
  scene.meshes["interface"] = InterfaceMesh(width, height);
  scene.interface.push_back({.name = "interface",
                             .variant = {"screen/interface", {{"faded", false}}},
                             .mesh = "interface"});
  scene.interface.back().values.Set("window_size", {width, height, 0, 0});
  scene.screen_values.Set("view_from_clip",
                          InversePerspective(kAngle, width / height, kNear, kFar));
  scene.screen_values.Set("image_size", {width, height, 1 / width, 1 / height});
  scene.screen_values.Set("exposure", {1, 0, 0, 0});
  scene.screen_values.Set("occlusion_tuning", {0.45F, 1.4F, 1.1F, 0});
  scene.screen_values.SetUints("frame_index", {0, 0, 0, 0});
}

// ---- light and camera

// The camera of every phase, shifted to another quarter of the pixel. Four frames make one picture:
// the temporal pass takes their mean, which smooths edges.
void AddCameras(Scene& scene, const ValueTable& shared, float width, float height) {
  constexpr std::array<std::array<float, 2>, Scene::kPhases> kShifts = {
      {{-0.25F, -0.25F}, {0.25F, 0.25F}, {-0.25F, 0.25F}, {0.25F, -0.25F}}};
  const Mat4 clip_from_world = Perspective(kAngle, width / height, kNear, kFar) *
                               ViewFromWorld(kEye, LookAxes(kEye, kLookAt));
  for (uint32_t phase = 0; phase < Scene::kPhases; ++phase) {
    // Clip space is two units wide, so a quarter of a pixel is that share of 2 / width.
    const Mat4 shift =
        Translation({kShifts[phase][0] * 2 / width, kShifts[phase][1] * 2 / height, 0});
    scene.forward_values[phase] = shared;
    scene.forward_values[phase].Set("clip_transform", shift * clip_from_world);
  }
}

void AddPassValues(Scene& scene, float width, float height) {
  const ViewAxes axes = LookAxes(kEye, kLookAt);
  ValueTable view;
  view.Set("camera_position", kEye, 1);
  view.Set("camera_right", axes.right, 0);
  view.Set("camera_up", axes.up, 0);

  // The sun sees an orthographic box around the middle of the scene: its rays are parallel. Both
  // passes get the same matrix, or shadows would lie beside what casts them.
  const Vec3 to_sun = Normalized({-0.80F, 0.66F, 0.12F});
  const Vec3 sun_eye = to_sun * 14.0F;
  const Mat4 shadow_from_world =
      Orthographic(8, 1, 28) * ViewFromWorld(sun_eye, LookAxes(sun_eye, {0, 0, 0}));
  view.Set("shadow_transform", shadow_from_world);
  view.Set("sun_direction", to_sun, 0);
  view.Set("sun_radiance", {4.6F, 4.0F, 3.2F, 0});
  view.Set("shadow_tuning", {1.0F / static_cast<float>(scene.shadow_side), 0.02F, 0.001F, 1});
  scene.shadow_values.Set("clip_transform", shadow_from_world);

  view.SetUints("lamp_count", {4, 0, 0, 0});
  view.Set("lamp_position", {-3.6F, 0.9F, 3.0F, 4, 3.6F, 1.1F, 2.6F, 4,  //
                             0.2F, 1.4F, -2.2F, 5, -4.2F, 1.2F, -1.8F, 5});
  view.Set("lamp_radiance", {0.3F, 1.2F, 3.2F, 0, 3.2F, 0.7F, 0.2F, 0,  //
                             0.5F, 2.6F, 0.8F, 0, 2.4F, 0.5F, 2.6F, 0});
  view.Set("ambient_sky", {0.20F, 0.27F, 0.40F, 0});
  view.Set("ambient_ground", {0.10F, 0.085F, 0.07F, 0});
  view.Set("atmosphere.haze.color", {0.34F, 0.47F, 0.68F, 1});
  view.Set("atmosphere.haze.range", {10, 60, 0.012F, 0.3F});
  scene.background = {0.34F, 0.47F, 0.68F, 1};
  AddCameras(scene, view, width, height);
}

// By the names that shaders give them. A shadow map is compared in the sampler, and the depth of
// the scene must not be blended between neighbours.
void AddSamplers(Scene& scene) {
  constexpr VkSamplerAddressMode kClamp = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
  scene.samplers = {{"shadow_sampler", {.address = kClamp, .comparison = true}},
                    {"material_sampler", {}},
                    {"layer_sampler", {}},
                    {"atlas_sampler", {.address = kClamp}},
                    {"color_sampler", {.address = kClamp}},
                    {"depth_sampler", {.filter = VK_FILTER_NEAREST, .address = kClamp}}};
}

}  // namespace

bool Scene::IsPassImage(std::string_view name) {
  constexpr const char* kNames[] = {kShadowMap,   kSceneColor,     kSceneDepth, kSceneLight,
                                    kHistory,     kResolved,       kBloomHalf,  kBloomQuarter,
                                    kBloomEighth, kBloomQuarterUp, kBloom};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// In the order in which the frame draws them.
std::vector<const std::vector<SceneDraw>*> DrawsOf(const Scene& scene) {
  return {&scene.shadow, &scene.forward, &scene.lighting, &scene.temporal,
          &scene.bloom,  &scene.compose, &scene.interface};
}

// Meshes and textures first: draws name them, and a name that is missing is found only when it is
// prepared.
Scene MakeScene(uint32_t width, uint32_t height) {
  Scene scene;
  scene.meshes = {{"sphere", Sphere(0.7F)},     {"cube", Cube(1)},
                  {"ground", Ground(30)},       {"pillar", Column(0.38F, kColumnHeight, kJoints)},
                  {"screen", ScreenTriangle()}, {"text", TextLine(4)}};
  scene.textures = {{"white", White()},
                    {"checker", Checker()},
                    {"soil", Soil()},
                    {"stripes", Stripes()},
                    {"holes", Holes()},
                    {"bricks", Bricks()},
                    {"brick_normals", BrickNormals()},
                    {"brick_factors", BrickFactors()},
                    {"sparks", Sparks()},
                    {"glyphs", GlyphAtlas("KILN")}};
  AddSamplers(scene);
  AddGround(scene);
  AddSpheres(scene);
  AddPillar(scene);
  AddRing(scene);
  AddGlassAndText(scene);
  AddScreen(scene, static_cast<float>(width), static_cast<float>(height));
  AddPassValues(scene, static_cast<float>(width), static_cast<float>(height));
  return scene;
}

// Sorted and without repetition, so a script that builds them does each once.
std::vector<VariantRequest> VariantsOf(const Scene& scene) {
  std::set<VariantRequest> requests;
  for (const auto* const draws : DrawsOf(scene)) {
    for (const SceneDraw& draw : *draws) {
      requests.insert(draw.variant);
    }
  }
  return {requests.begin(), requests.end()};
}

}  // namespace kiln::demo
