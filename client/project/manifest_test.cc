// SPDX-License-Identifier: MIT
#include "client/project/manifest.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::project {
namespace {

constexpr char kHead[] =
    "[project]\nmanifest = 1\nname = \"demo\"\n[target.vk]\nform = \"spirv\"\n";

TEST(Manifest, ProgramWithEverything_IsRead) {
  const Result<Manifest> manifest = ReadManifest(std::string(kHead) + R"(
[defaults]
targets = ["vk"]
entry_points = { vertex = "v" }
[axes.light]
fog = "*"
shadows = ["off", "low"]
[[program]]
name = "rock/forward"
sources = ["a.rpl", "b.rpl"]
options = { wireframe = false, bias = 0.5 }
use = ["light"]
axes = { lights = [1, 4] }
exclude = ["fog && lights > 1u"]
variants = [ { warm = true, options = { fog = true } } ]
)",
                                                 "/p/kiln.toml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().context;
  ASSERT_EQ(manifest->programs.size(), 1u);
  const ManifestProgram& program = manifest->programs[0];
  EXPECT_EQ(manifest->folder, "/p");
  EXPECT_EQ(program.sources, (std::vector<std::string>{"a.rpl", "b.rpl"}));
  EXPECT_EQ(program.entry_points.at("vertex"), "v");
  EXPECT_TRUE(program.axes.at("fog").all);
  EXPECT_EQ(program.axes.at("shadows").values.size(), 2u);
  EXPECT_EQ(std::get<int64_t>(program.axes.at("lights").values[1].value), 4);
  EXPECT_EQ(std::get<double>(program.options.at("bias").value), 0.5);
  EXPECT_TRUE(program.variants[0].warm);
}

struct Wrong {
  const char* text;
  const char* message;
};

class WrongManifest : public testing::TestWithParam<Wrong> {};

TEST_P(WrongManifest, SaysWhereAndWhat) {
  const Result<Manifest> manifest = ReadManifest(GetParam().text, "kiln.toml");
  ASSERT_FALSE(manifest.ok());
  EXPECT_THAT(manifest.error().context, testing::HasSubstr(GetParam().message));
  EXPECT_EQ(manifest.error().reason, "MANIFEST_WRONG");
}

INSTANTIATE_TEST_SUITE_P(
    Table, WrongManifest,
    testing::Values(
        Wrong{"", "[project] with manifest = 1 is missing"},
        Wrong{"[project]\nmanifest = 2\n", "must be 1"}, Wrong{"[project\n", "kiln.toml:1:"},
        Wrong{"[project]\nmanifest = 1\nnmae = \"x\"\n", "kiln.toml:3: unknown key 'nmae'"},
        Wrong{"[project]\nmanifest = 1\n", "there is no [[program]]"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nsources = [\"a.rpl\"]\n", "needs a name"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\n", "has no sources"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = \"a.rpl\"\n",
              "'sources' must be a list of texts"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n"
              "exclud = [\"x\"]\n",
              "did you mean 'exclude'?"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n"
              "targets = [\"vk\"]\n",
              "names target 'vk', which is not there"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n"
              "axes = { fog = \"all\" }\n",
              "axis 'fog' must be \"*\" or a list"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n"
              "use = [\"light\"]\n",
              "uses [axes.light], which is not there"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n"
              "[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n",
              "two programs are named 'a'"}));

TEST(ReadManifest, Size_IsLimited) {
  const std::string head =
      "[project]\nmanifest = 1\nname = \"p\"\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n#";
  for (const size_t size : {kMaxManifest - 1, kMaxManifest, kMaxManifest + 1}) {
    const Result<Manifest> manifest =
        ReadManifest(head + std::string(size - head.size(), '#'), "kiln.toml");
    EXPECT_EQ(manifest.ok(), size <= kMaxManifest) << size;
    if (!manifest.ok()) {
      EXPECT_EQ(manifest.error().code, ErrorCode::kResourceExhausted);
    }
  }
}

}  // namespace
}  // namespace kiln::project
