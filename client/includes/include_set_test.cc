// SPDX-License-Identifier: MIT
#include "client/includes/include_set.h"

#include <map>

#include <gtest/gtest.h>

namespace kiln::client {
namespace {

using Files = std::map<std::string, std::string>;

Source Text(std::string path, std::string text) {
  const Digest digest = DigestOf(std::string_view(text));
  return {.path = std::move(path), .digest = digest, .text = std::move(text)};
}

// Files in memory; counts what is asked for.
struct Disk {
  Files files;
  int reads = 0;

  FileReader Reader() {
    return [this](const std::string& path) -> Result<std::optional<Source>> {
      ++reads;
      const auto found = files.find(path);
      return found == files.end() ? std::nullopt : std::optional(Text(path, found->second));
    };
  }
};

std::string Listed(const IncludeSet& set) {
  std::string text;
  for (const Source& file : set.files) {
    text += (text.empty() ? "" : " ") + file.path;
  }
  for (const std::string& path : set.absent) {
    text += " -" + path;
  }
  return text;
}

// What a root leads to: paths, those that are absent with a '-'.
std::string Followed(Disk& disk, const std::string& root, std::vector<std::string> roots = {},
                     std::vector<std::string> named = {}) {
  const Source source = Text("a/p.hlsl", root);
  const IncludingSource including{.source = source, .roots = roots};
  const auto set = FollowIncludes(std::span(&including, 1), named, disk.Reader());
  return set.ok() ? Listed(**set) : set.error().reason;
}

TEST(IncludeSet, OfASource_IsWhatItsLinesLeadTo) {
  struct Row {
    const char* root;
    Files files;
    std::vector<std::string> roots;
    std::vector<std::string> named;
    const char* listed;
  };
  const Row rows[] = {
      {"", {{"a/x.h", ""}}, {}, {}, ""},
      {"#include \"x.h\"\n", {{"a/x.h", ""}, {"a/y.h", ""}}, {}, {}, "a/x.h"},
      {"#include \"x.h\"\n",
       {{"a/x.h", "#include \"y.h\"\n"}, {"a/y.h", ""}},
       {},
       {},
       "a/x.h a/y.h"},
      {"#include \"x.h\"\n", {{"a/x.h", "#include \"x.h\"\n"}}, {}, {}, "a/x.h"},
      {"#include \"x.h\"\n", {}, {"lib"}, {}, " -a/x.h -lib/x.h"},
      {"#include \"x.h\"\n", {{"lib/x.h", ""}}, {"lib"}, {}, "lib/x.h -a/x.h"},
      {"#include <x.h>\n", {{"lib/x.h", ""}, {"a/x.h", ""}}, {"lib"}, {}, "lib/x.h"},
      {"#include \"../../x.h\"\n", {}, {}, {}, ""},
      {"#include NAME\n",
       {{"a/m.h", "#include \"n.h\"\n"}, {"a/n.h", ""}},
       {},
       {"a/m.h"},
       "a/m.h a/n.h"},
      {"", {}, {}, {"gone.h"}, " -gone.h"},
  };
  for (const Row& row : rows) {
    Disk disk{.files = row.files};
    EXPECT_EQ(Followed(disk, row.root, row.roots, row.named), row.listed) << row.root;
  }
}

TEST(IncludeSet, ErrorsOfTheReader_EndIt) {
  const Source source = Text("p.hlsl", "#include \"x.h\"\n");
  const IncludingSource including{.source = source, .roots = {}};
  const auto set = FollowIncludes(
      std::span(&including, 1), {}, [](const std::string&) -> Result<std::optional<Source>> {
        return Error{.code = ErrorCode::kPermissionDenied, .context = "no", .reason = "OUTSIDE"};
      });
  EXPECT_EQ(set.error().reason, "OUTSIDE");
}

// A program of one root, as a manifest makes it.
Program ProgramOf(Disk& disk, const std::string& root) {
  Program program{.name = "p", .sources = {Text("p.hlsl", root)}};
  program.hlsl.emplace();
  const IncludingSource including{.source = program.sources[0], .roots = {}};
  program.hlsl->files = *FollowIncludes(std::span(&including, 1), {}, disk.Reader());
  return program;
}

// Each line has a place for the folder of the file and for each root.
TEST(IncludeSet, PlacesWithoutAFile_AreBounded) {
  std::vector<std::string> roots;
  for (int i = 0; i < 63; ++i) {
    roots.push_back("r" + std::to_string(i));
  }
  const auto lines = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "#include \"a" + std::to_string(i) + "\"\n";
    }
    return text;
  };
  Disk disk;
  EXPECT_EQ(Followed(disk, lines(9000), roots), "LIMIT_EXCEEDED");
  EXPECT_EQ(disk.reads, 0) << "all places of a file are counted before the first is looked at";
  EXPECT_NE(Followed(disk, lines(90), roots), "LIMIT_EXCEEDED");
}

TEST(IncludeSet, Edits_AreFollowedWithoutReadingWhatIsKnown) {
  Disk disk{.files = {{"x.h", ""}, {"y.h", ""}}};
  Program program = ProgramOf(disk, "#include \"x.h\"\n#include \"z.h\"\n");
  ASSERT_EQ(Listed(*program.hlsl->files), "x.h -z.h");
  Program* const programs[] = {&program};
  disk.reads = 0;

  // Another text of a file that is known.
  const std::vector<Source> edit{Text("x.h", "// edited\n")};
  EXPECT_TRUE(ChangeIncluded(programs, edit, {}, disk.Reader())->empty());
  EXPECT_EQ(program.hlsl->files->files[0].text, "// edited\n");
  EXPECT_EQ(disk.reads, 0);

  // One that leads to a file that was there all the time.
  const std::vector<Source> leads{Text("x.h", "#include \"y.h\"\n")};
  const std::vector<Source> fresh = *ChangeIncluded(programs, leads, {}, disk.Reader());
  ASSERT_EQ(fresh.size(), 1u);
  EXPECT_EQ(fresh[0].path, "y.h");
  EXPECT_EQ(disk.reads, 1);

  // A file where includes have looked in vain, and one that goes.
  const std::vector<Source> appears{Text("z.h", "")};
  const std::vector<std::string> gone{"x.h"};
  EXPECT_TRUE(ChangeIncluded(programs, appears, gone, disk.Reader())->empty());
  EXPECT_EQ(Listed(*program.hlsl->files), "z.h -x.h");
  EXPECT_EQ(*AbsentOf(programs).begin(), "x.h");
}

TEST(IncludeSet, ProgramsThatShareASet_GoOnSharingOne) {
  Disk disk{.files = {{"x.h", ""}}};
  Program a = ProgramOf(disk, "#include \"x.h\"\n");
  Program b = a;
  Program* const programs[] = {&a, &b};
  const std::vector<Source> edit{Text("x.h", "1")};
  ASSERT_TRUE(ChangeIncluded(programs, edit, {}, disk.Reader()).ok());
  EXPECT_EQ(a.hlsl->files, b.hlsl->files);
}

TEST(IncludeSet, Uploads_AreSourcesListAndFiles) {
  Disk disk{.files = {{"x.h", "1"}}};
  const Program program = ProgramOf(disk, "#include \"x.h\"\n");
  ASSERT_EQ(UploadsOf(program).size(), 3u);
  EXPECT_EQ(TextsOf(program).size(), 2u);
  const Source list = UploadsOf(program)[1];
  EXPECT_EQ(list.digest, DigestOf(std::string_view(list.text)));
  EXPECT_TRUE(list.text.starts_with("kiln.files.1\n"));
  Program rpl{.name = "p", .sources = {Text("p.rpl", "")}};
  EXPECT_EQ(UploadsOf(rpl).size(), 1u);
}

}  // namespace
}  // namespace kiln::client
