// SPDX-License-Identifier: MIT
#include "server/reload/included_files.h"

#include <gtest/gtest.h>

namespace kiln::reload {
namespace {

ListedFile File(std::string path, std::string_view text) {
  return {.path = std::move(path), .digest = DigestOf(text)};
}

std::shared_ptr<const FileList> ListOf(std::vector<ListedFile> files) {
  return std::make_shared<const FileList>(*FileList::Of(std::move(files)));
}

compile::Source Edit(std::string path, std::string_view text) {
  return {.path = std::move(path), .digest = DigestOf(text), .text = nullptr};
}

ProbedPaths Probed(std::set<std::string, std::less<>> paths) {
  return std::make_shared<const std::set<std::string, std::less<>>>(std::move(paths));
}

TEST(IncludedFiles, DifferingPaths_AreThoseOfOneListOnlyOrWithOtherContent) {
  struct Row {
    std::vector<ListedFile> a, b;
    std::vector<std::string> differ;
  };
  const Row rows[] = {
      {{}, {}, {}},
      {{File("a", "1")}, {File("a", "1")}, {}},
      {{File("a", "1")}, {File("a", "2")}, {"a"}},
      {{File("a", "1"), File("c", "1")}, {File("b", "1"), File("c", "1")}, {"a", "b"}},
      {{}, {File("a", "1"), File("b", "1")}, {"a", "b"}},
      {{File("a", "1"), File("b", "1")}, {}, {"a", "b"}},
      {{File("b", "1")}, {File("a", "1"), File("b", "1"), File("c", "1")}, {"a", "c"}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(DifferingPaths(*ListOf(row.a), *ListOf(row.b)), row.differ);
  }
}

TEST(IncludedFiles, ProgramsLookAtWhatTheyAskedFor_ThereOrNot) {
  EXPECT_TRUE(LooksAt(Probed({"a.h", "lib/a.h"}), std::vector<std::string>{"x", "lib/a.h"}));
  EXPECT_FALSE(LooksAt(Probed({"a.h"}), std::vector<std::string>{"b.h"}));
  EXPECT_FALSE(LooksAt(Probed({}), std::vector<std::string>{"b.h"}));
  EXPECT_TRUE(LooksAt(nullptr, std::vector<std::string>{"b.h"})) << "nobody knows yet";
}

TEST(IncludedFiles, APush_ChangesAddsAndRemoves) {
  PushedChange change{.changed = {Edit("a", "2"), Edit("new", "1")}, .removed = {"b", "never"}};
  ListChanges lists(change);
  const auto before = ListOf({File("a", "1"), File("b", "1"), File("c", "1")});
  const ListChanges::ListChange& after = **lists.Of(before);
  EXPECT_EQ(after.files->digest(),
            ListOf({File("a", "2"), File("c", "1"), File("new", "1")})->digest());
  EXPECT_EQ(after.paths, (std::vector<std::string>{"a", "b", "new"}));
  EXPECT_EQ((*lists.Of(ListOf({File("a", "1"), File("b", "1"), File("c", "1")})))->files,
            after.files)
      << "equal lists stay one";
  EXPECT_EQ((*lists.Of(nullptr))->paths, (std::vector<std::string>{"a", "new"}));
}

TEST(IncludedFiles, APushOfWhatIsThere_ChangesNothing) {
  PushedChange change{.changed = {Edit("a", "1")}, .removed = {}};
  const auto before = ListOf({File("a", "1")});
  EXPECT_TRUE((*ListChanges(change).Of(before))->paths.empty());
}

TEST(IncludedFiles, PathThatIsNotLogical_IsRefused) {
  PushedChange change{.changed = {Edit("../a", "1")}, .removed = {}};
  EXPECT_FALSE(ListChanges(change).Of(nullptr).ok());
}

TEST(IncludedFiles, OnlyHlsl_MayInclude) {
  compile::ProgramRequest program;
  program.sources.push_back(Edit("a.rpl", ""));
  EXPECT_FALSE(MayInclude(program));
  program.sources.push_back(Edit("a.hlsl", ""));
  EXPECT_TRUE(MayInclude(program));
}

}  // namespace
}  // namespace kiln::reload
