// SPDX-License-Identifier: MIT
#include "server/reload/source_index.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::reload {
namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

compile::Source SourceOf(const std::string& path, uint64_t size) {
  return {.path = path, .digest = {.id = {}, .size = size}, .text = nullptr};
}

WatchedProgram ProgramOf(const std::string& name, std::vector<compile::Source> sources) {
  WatchedProgram program;
  program.program.program.name = name;
  program.program.program.sources = std::move(sources);
  return program;
}

std::vector<std::string> Paths(const std::string& prefix, size_t count) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < count; ++i) {
    paths.push_back(prefix + std::to_string(i));
  }
  return paths;
}

TEST(SourceIndex, Uses_AreAllMentionsOfAPath) {
  const std::vector<WatchedProgram> programs = {
      ProgramOf("a", {SourceOf("x", 1), SourceOf("y", 2)}),
      ProgramOf("b", {SourceOf("y", 2), SourceOf("y", 2)})};
  const SourceIndex index(programs);
  const auto text_of = [&](const std::string& path) {
    std::string text;
    for (const SourceIndex::Use& use : index.UsesOf(path)) {
      text += use.program + std::to_string(use.at) + " ";
    }
    return text;
  };
  EXPECT_EQ(text_of("x"), "a0 ");
  EXPECT_EQ(text_of("y"), "a1 b0 b1 ");
  EXPECT_EQ(text_of("z"), "");
}

TEST(SourceIndex, Limits_CountEveryPathOfAPush) {
  const std::vector<WatchedProgram> programs = {ProgramOf("a", {SourceOf("x", 1)})};
  const SourceIndex index(programs);
  struct Row {
    const char* what;
    std::vector<compile::Source> changed;
    std::vector<std::string> removed;
    const char* limit;  // null: it is within all of them
  };
  std::vector<compile::Source> many, more;
  for (const std::string& path : Paths("new", 19'999)) {
    many.push_back(SourceOf(path, 1));
  }
  more = many;
  more.push_back(SourceOf("one more", 1));
  const Row table[] = {
      {"nothing", {}, {}, nullptr},
      {"as many files as there may be", many, {}, nullptr},
      {"one more", more, {}, "files of a manifest"},
      {"as many that are gone", {}, Paths("gone", 19'999), nullptr},
      {"one more that is gone", {}, Paths("gone", 20'000), "files of a manifest"},
      {"both", many, {"gone"}, "files of a manifest"},
      {"one that is there twice", many, {"x"}, nullptr},
      {"as many bytes as there may be", {SourceOf("x", 512 * kMegabyte)}, {}, nullptr},
      {"one more byte", {SourceOf("x", 512 * kMegabyte + 1)}, {}, "source set of a manifest"},
      {"a byte beside it", {SourceOf("y", 512 * kMegabyte)}, {}, "source set of a manifest"},
  };
  for (const Row& row : table) {
    const Result<void> result = index.CheckSize(row.changed, row.removed);
    EXPECT_EQ(result.ok(), row.limit == nullptr) << row.what;
    if (!result.ok()) {
      EXPECT_TRUE(result.error().context.starts_with(row.limit)) << result.error().context;
      EXPECT_EQ(result.error().reason, "LIMIT_EXCEEDED");
    }
  }
}

TEST(SourceIndex, Resize_IsWhatCounts) {
  const std::vector<WatchedProgram> programs = {
      ProgramOf("a", {SourceOf("x", 1), SourceOf("y", 1)})};
  SourceIndex index(programs);
  const std::vector<compile::Source> large = {SourceOf("x", 511 * kMegabyte)};
  EXPECT_TRUE(index.CheckSize(large, {}).ok());
  index.Resize("y", 2 * kMegabyte);
  EXPECT_FALSE(index.CheckSize(large, {}).ok());
  index.Resize("y", 1);
  index.Resize("nobody's", 512 * kMegabyte);
  EXPECT_TRUE(index.CheckSize(large, {}).ok());
}

}  // namespace
}  // namespace kiln::reload
