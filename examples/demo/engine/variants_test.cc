// SPDX-License-Identifier: MIT
#include "examples/demo/engine/variants.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kiln::demo {
namespace {

const VariantRequest kRequest = {"fill/all", {{"a", true}, {"b", 4U}, {"c", std::string("x")}}};

// A folder with one compute variant.
class VariantFoldersTest : public ::testing::Test {
 protected:
  // Tests run side by side, each in a process of its own.
  VariantFoldersTest()
      : root(::testing::TempDir() + "kiln_variants_" + std::to_string(::getpid())) {
    folder = root + "/" + VariantFolder(kRequest);
    std::filesystem::create_directories(folder);
    Write("metadata.json", R"({"pipelineType": "compute",
                               "entryPoints": [{"stage": "compute", "name": "fill"}]})");
    Write("compute.spv", std::string("\x03\x02\x23\x07", 4));
  }
  ~VariantFoldersTest() override { std::filesystem::remove_all(root); }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name, std::ios::binary) << text;
  }
  Error ErrorOf(const VariantRequest& request) { return VariantFolders(root).Get(request).error(); }

  std::string root;
  std::string folder;
};

TEST_F(VariantFoldersTest, Folder_HoldsMetadataAndWords) {
  const auto code = VariantFolders(root).Get(kRequest);
  ASSERT_TRUE(code.ok()) << ErrorText(code.error());
  EXPECT_EQ(code->metadata.entry_points[0].name, "fill");
  ASSERT_EQ(code->artifact.code.size(), 1U);
  EXPECT_EQ(code->artifact.code[0].stage, artifact::Stage::kCompute);
  const auto words = code->source->Read(code->artifact.code[0].digest);
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(ReadLittle<uint32_t>(words->bytes), 0x07230203U);
}

TEST_F(VariantFoldersTest, MissingFiles_AreNotFound) {
  VariantRequest other = kRequest;
  other.options["b"] = 5U;
  EXPECT_EQ(ErrorOf(other).code, ErrorCode::kNotFound);
  std::filesystem::remove(folder + "/compute.spv");
  EXPECT_EQ(ErrorOf(kRequest).context, "there is no " + folder + "/compute.spv");
}

TEST_F(VariantFoldersTest, DamagedFiles_AreErrors) {
  Write("compute.spv", "abc");
  EXPECT_EQ(ErrorOf(kRequest).code, ErrorCode::kCorrupt);
  Write("metadata.json", "{");
  EXPECT_EQ(ErrorOf(kRequest).reason, "METADATA_INVALID");
}

TEST(VariantFolder, Name_DependsOnEveryOption) {
  VariantRequest other = kRequest;
  EXPECT_EQ(VariantFolder(other), VariantFolder(kRequest));
  other.options["a"] = false;
  EXPECT_NE(VariantFolder(other), VariantFolder(kRequest));
  EXPECT_TRUE(VariantFolder(kRequest).starts_with("fill.all."));
}

}  // namespace
}  // namespace kiln::demo
