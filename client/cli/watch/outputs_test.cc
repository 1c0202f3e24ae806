// SPDX-License-Identifier: MIT
// Files of a watch session, from a daemon whose names lead elsewhere.
#include "client/cli/watch/outputs.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

client::WatchArtifact ArtifactOf(const std::string& program, const std::string& signature) {
  client::WatchArtifact artifact{.program = program};
  artifact.artifact.signature = signature;
  artifact.artifact.target = "../../target";
  artifact.metadata = "metadata";
  artifact.artifact.metadata = DigestOf(AsBytes(artifact.metadata));
  artifact.data = "code";
  artifact.artifact.code.push_back(
      {.stage = client::Stage::kVertex, .digest = DigestOf(AsBytes(artifact.data))});
  return artifact;
}

TEST(WatchOutputs, HostileNames_StayInTheFolder) {
  const TestDirectory directory;
  const fs::path top = directory.path();
  const fs::path out = top / "a/b/out";
  const fs::path victim = top / "victim";
  std::ofstream(victim) << "mine";
  WatchOutputs outputs(out);
  const auto fetch = [](const client::WatchArtifact&) -> Result<std::map<Hash128, Bytes>> {
    return Error{.code = ErrorCode::kNotFound, .context = "all came inline"};
  };
  for (const auto& [program, signature] :
       {std::pair("../../victim", "8150c5a3"), std::pair("rock", "/../../x"),
        std::pair("/etc/rock", "../../.."), std::pair("..", ""), std::pair("a\x1b\n", "\x1b")}) {
    const Result<void> added = outputs.Add(ArtifactOf(program, signature), fetch);
    EXPECT_TRUE(added.ok()) << added.error().context;
  }
  ASSERT_TRUE(outputs.Settle().ok());
  size_t files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
    if (entry.is_regular_file() && entry.path() != victim) {
      EXPECT_EQ(entry.path().parent_path(), out) << entry.path();
      ++files;
    }
  }
  EXPECT_EQ(files, 11u) << "two of each, and the index";
  EXPECT_EQ(*ReadFile(victim), "mine");
}

TEST(WatchOutputs, Files_AreNamedByTheirForm) {
  const TestDirectory directory;
  WatchOutputs outputs(directory.path());
  const auto fetch = [](const client::WatchArtifact&) -> Result<std::map<Hash128, Bytes>> {
    return Error{.code = ErrorCode::kNotFound, .context = "all came inline"};
  };
  const std::string words("\x03\x02\x23\x07\x00\x00\x01\x00", 8);
  for (const auto& [signature, code] : {std::pair<std::string, std::string>("11111111", words),
                                        {"22222222", "@vertex fn f() {}"}}) {
    client::WatchArtifact artifact = ArtifactOf("rock", signature);
    artifact.data = code;
    artifact.artifact.code[0].digest = DigestOf(AsBytes(code));
    artifact.artifact.target = signature;
    const Result<void> added = outputs.Add(artifact, fetch);
    ASSERT_TRUE(added.ok()) << added.error().context;
  }
  ASSERT_TRUE(outputs.Settle().ok());
  const fs::path out = directory.path();
  EXPECT_TRUE(fs::exists(out / "rock.11111111.vertex.spv"));
  EXPECT_TRUE(fs::exists(out / "rock.22222222.vertex.wgsl"));
  EXPECT_NE(ReadFile(out / "index.json")->find("rock.22222222.vertex.wgsl"), std::string::npos);
}

}  // namespace
}  // namespace kiln::cli
