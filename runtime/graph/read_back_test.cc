// SPDX-License-Identifier: MIT
// A texture that is read back, in a frame that is planned without a device.
#include "runtime/graph/read_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/print_plan.h"
#include "runtime/graph/usual_accesses.h"

namespace kiln::graph {
namespace {

using ::testing::HasSubstr;

class ReadBackTest : public testing::Test {
 protected:
  TextureId Draw(const TextureDesc& desc) {
    graph_.BeginFrame();
    const PassId pass = graph_.CreatePass({.name = "draw"});
    graph_.SetCallback(pass, [](runtime::Device&, const Resources&, CommandBuffer&) {});
    return graph_.CreateTexture(pass, {.name = "picture",
                                       .desc = desc,
                                       .access = kColorTarget,
                                       .contents = ClearedTo(0, 0, 0, 1),
                                       .keep = {}});
  }

  Graph graph_;
  TexelModel model_;
  Planner planner_{model_};
  Carried carried_;
};

TEST_F(ReadBackTest, Texture_IsDrawnThenCopiedThenReadByTheHost) {
  const TextureDesc desc{.format = VK_FORMAT_R8G8B8A8_UNORM, .size = {64, 32, 1}};
  ReadBack(graph_, Draw(desc), desc);
  const auto plan = planner_.Compile(graph_, {}, carried_);
  ASSERT_TRUE(plan.ok()) << plan.error().context;
  const std::string text = PrintPlan(**plan, graph_);
  EXPECT_THAT(text, HasSubstr("draw"));
  EXPECT_LT(text.find("draw"), text.find("read back"));
  EXPECT_THAT(text, HasSubstr("HOST"));
}

TEST_F(ReadBackTest, LevelsAndLayers_OnlyTheFirstIsCopied) {
  const TextureDesc desc{
      .format = VK_FORMAT_R16G16B16A16_SFLOAT, .size = {64, 32, 1}, .mips = 3, .layers = 2};
  const BufferId pixels = ReadBack(graph_, Draw(desc), desc);
  const Declarations& rows = graph_.rows();
  EXPECT_EQ(rows.chains[rows.versions[graph_.Find(pixels)].chain].size, 64u * 32 * 8);
}

TEST_F(ReadBackTest, ForeignTexture_IsAnErrorOfThePlanner) {
  const TextureDesc desc{.format = VK_FORMAT_R8G8B8A8_UNORM, .size = {4, 4, 1}};
  Draw(desc);
  ReadBack(graph_, TextureId{}, desc);
  EXPECT_FALSE(planner_.Compile(graph_, {}, carried_).ok());
}

}  // namespace
}  // namespace kiln::graph
