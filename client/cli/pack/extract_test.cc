// SPDX-License-Identifier: MIT
// kiln pack extract, from packs whose names lead elsewhere.
#include "client/cli/pack/extract.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "cache/pack/sample_contents.h"
#include "cache/pack/write/writer.h"
#include "client/cli/failure.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

class PackExtract : public testing::Test {
 protected:
  PackExtract() {
    fs::create_directories(top / "a/b");
    global.quiet = true;
  }

  // A pack of one program that has one target, under these names.
  int Extract(const std::string& program, const std::string& target, const std::string& code = {}) {
    pack::testing::SampleMaker maker(7);
    maker.AddProgram(0);
    pack::testing::Sample sample = maker.Take();
    sample.contents.programs[0].name = program;
    sample.contents.entries[0].target = target;
    if (!code.empty()) {
      for (pack::Artifact& artifact : sample.contents.artifacts) {
        artifact.code = {{.stage = 1, .digest = sample.Add(code)}};
      }
    }
    const std::string file = top / "a.kpack";
    const auto written = pack::WritePack(sample.contents, sample.Source(), {}, file);
    EXPECT_TRUE(written.ok()) << ErrorText(written.error());
    PackExtractArguments arguments;
    arguments.file = file;
    arguments.program = program;
    arguments.target = target;
    arguments.options = {"z_kind=on"};
    arguments.out = top / "a/b/out";
    return RunPackExtract(global, arguments);
  }

  // Every file and link below `top`, but for the pack and what is directly in the folder.
  std::vector<std::string> Elsewhere() const {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
      if (!entry.is_directory() && entry.path().parent_path() != top / "a/b/out" &&
          entry.path() != top / "a.kpack") {
        found.push_back(entry.path().string());
      }
    }
    return found;
  }

  TestDirectory directory;
  fs::path top = directory.path();
  Global global;
};

TEST_F(PackExtract, HostileNames_StayInTheFolder) {
  const struct {
    std::string program, target;
  } rows[] = {{"rock", "x/../../../pwned/t"},
              {"rock", "../../pwned"},
              {"rock", "/tmp/kiln-pwned-target"},
              {"rock", ".."},
              {"rock", "a\nb\x1b[31m"},
              {"rock", std::string(3000, 'x')},
              {"../../evil", "vk"},
              {"/../..", "../.."},
              {std::string(3000, '/'), "vk"}};
  size_t files = 0;
  for (const auto& row : rows) {
    EXPECT_EQ(Extract(row.program, row.target), kSuccess) << row.program << " " << row.target;
    EXPECT_TRUE(Elsewhere().empty()) << Elsewhere().front();
    const auto now = static_cast<size_t>(
        std::distance(fs::directory_iterator(top / "a/b/out"), fs::directory_iterator()));
    EXPECT_GT(now, files) << "each has files of its own: " << row.program << " " << row.target;
    files = now;
  }
}

TEST_F(PackExtract, Files_AreNamedByTheirForm) {
  const struct {
    std::string code, extension;
  } rows[] = {{std::string("\x03\x02\x23\x07\x00\x00\x01\x00", 8), ".spv"},
              {"@vertex fn main() {}", ".wgsl"},
              {"#version 450", ".glsl"},
              {"nobody knows", ".code"}};
  for (const auto& row : rows) {
    fs::remove_all(top / "a/b/out");
    ASSERT_EQ(Extract("rock", "any", row.code), kSuccess);
    std::set<std::string> extensions;
    for (const fs::directory_entry& entry : fs::directory_iterator(top / "a/b/out")) {
      extensions.insert(entry.path().extension());
    }
    EXPECT_EQ(extensions, (std::set<std::string>{row.extension, ".meta"})) << row.code;
  }
}

TEST_F(PackExtract, LinkInTheFolder_IsReplacedAndNotFollowed) {
  ASSERT_EQ(Extract("rock", "vk"), kSuccess);
  const fs::path victim = top / "victim";
  std::ofstream(victim) << "mine";
  for (const fs::directory_entry& entry : fs::directory_iterator(top / "a/b/out")) {
    const fs::path path = entry.path();
    fs::remove(path);
    fs::create_symlink(victim, path);
  }
  ASSERT_EQ(Extract("rock", "vk"), kSuccess);
  EXPECT_EQ(*ReadFile(victim), "mine");
}

}  // namespace
}  // namespace kiln::cli
