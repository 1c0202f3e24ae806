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

}  // namespace
}  // namespace kiln::cli
