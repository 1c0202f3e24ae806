// SPDX-License-Identifier: MIT
#include "examples/demo/engine/scene.h"

#include <set>

#include <gtest/gtest.h>

namespace kiln::demo {
namespace {

TEST(Scene, EveryDraw_NamesMeshesAndTexturesThatExist) {
  const Scene scene = MakeScene(640, 360);
  for (const auto* const draws : DrawsOf(scene)) {
    EXPECT_FALSE(draws->empty());
    for (const SceneDraw& draw : *draws) {
      EXPECT_TRUE(scene.meshes.contains(draw.mesh)) << draw.name;
      for (const auto& [image, names] : draw.images) {
        for (const std::string& name : names) {
          EXPECT_TRUE(scene.textures.contains(name) || Scene::IsPassImage(name)) << draw.name;
        }
      }
    }
  }
}

TEST(Scene, Variants_AreSortedAndUniqueAndFromEveryProgram) {
  const std::vector<VariantRequest> requests = VariantsOf(MakeScene(640, 360));
  std::set<std::string> programs;
  for (size_t i = 0; i < requests.size(); ++i) {
    programs.insert(requests[i].program);
    EXPECT_TRUE(i == 0 || requests[i - 1] < requests[i]);
  }
  EXPECT_EQ(programs, (std::set<std::string>{"ground/forward", "pbr/forward", "pbr/shadow",
                                             "pbr/shadow_cutout", "screen/bloom", "screen/compose",
                                             "screen/interface", "screen/lighting",
                                             "screen/temporal", "text/forward"}));
}

}  // namespace
}  // namespace kiln::demo
