// SPDX-License-Identifier: MIT
#include "client/project/manifest.h"

#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/project/limits.h"
#include "compiler/base/test_directory.h"

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

TEST(Manifest, HlslOfAProgram_ComesOverThatOfAll) {
  const Result<Manifest> manifest = ReadManifest(std::string(kHead) + R"(
[hlsl]
version = "2018"
matrix_order = "row"
defines = { A = 1, B = true, C = "x" }
include_roots = ["lib", "."]
include = ["generated.h"]
[[program]]
name = "own"
sources = ["a.hlsl"]
hlsl = { version = "2021", defines = { A = -2 }, include_roots = ["other"], include = ["more.h"] }
[[program]]
name = "same"
sources = ["a.hlsl"]
)",
                                                 "kiln.toml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().context;
  using Map = std::map<std::string, std::string>;
  using List = std::vector<std::string>;
  const ManifestHlsl& own = manifest->programs[0].hlsl;
  EXPECT_EQ(own.settings, (Map{{"matrix_order", "row"}, {"version", "2021"}}));
  EXPECT_EQ(own.defines, (Map{{"A", "-2"}, {"B", "1"}, {"C", "x"}}));
  EXPECT_EQ(own.include_roots, List{"other"});
  EXPECT_EQ(own.include, (List{"generated.h", "more.h"}));
  const ManifestHlsl& same = manifest->programs[1].hlsl;
  EXPECT_EQ(same.settings.at("version"), "2018");
  EXPECT_EQ(same.include_roots, (List{"lib", ""}));
}

TEST(Manifest, Macros_HaveAllTheirValues) {
  const Result<Manifest> manifest = ReadManifest(R"([project]
manifest = 1
[[program]]
name = "a"
sources = ["a.hlsl"]
macros = { SHADOWS = [0, 1], FOG = [false, true], FILTER = ["soft", "hard"] }
[[pass]]
name = "p"
[[material]]
name = "m"
sources = ["a.hlsl"]
macros = { LIGHTS = [0, 1, 2, 4] }
passes = ["p"]
)",
                                                 "kiln.toml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().context;
  const ManifestHlsl& own = manifest->programs[0].hlsl;
  ASSERT_EQ(own.macros.size(), 3u);
  EXPECT_EQ(own.macros.at("SHADOWS").values.size(), 2u);
  EXPECT_EQ(std::get<std::string>(own.macros.at("FILTER").values[1].value), "hard");
  for (size_t i = 1; i < manifest->programs.size(); ++i) {
    EXPECT_EQ(manifest->programs[i].hlsl.macros.at("LIGHTS").values.size(), 4u);
  }
}

TEST(Manifest, KeyThatGoesTooDeep_IsRefusedBeforeItIsParsed) {
  const auto key = [](size_t parts) {
    std::string text = "a";
    for (size_t i = 1; i < parts; ++i) {
      text += ".a";
    }
    return text;
  };
  for (const size_t parts : {size_t{33}, size_t{100'000}}) {
    const Result<Manifest> manifest =
        ReadManifest(std::string(kHead) + key(parts) + " = 1\n", "kiln.toml");
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(manifest.error().context, "kiln.toml:6:64: a key of more than 32 parts");
    EXPECT_EQ(manifest.error().reason, kLimitReason);
  }
  // At the limit it is the manifest's own rules that speak.
  EXPECT_THAT(ReadManifest(std::string(kHead) + key(32) + " = 1\n", "kiln.toml").error().context,
              testing::HasSubstr("unknown key 'a' in [target.vk]"));
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
        Wrong{"[project]\nmanifest = 1\n[hlsl]\nvrsion = \"2018\"\n",
              "kiln.toml:4:1: unknown key 'vrsion' in [hlsl]; did you mean 'version'?"},
        Wrong{"[project]\nmanifest = 1\n[hlsl]\nversion = 2018\n", "'version' must be text"},
        Wrong{"[project]\nmanifest = 1\n[hlsl]\ndefines = { A = 1.5 }\n",
              "macro 'A' must be text, a whole number, true or false"},
        Wrong{"[project]\nmanifest = 1\n[hlsl]\ninclude_roots = [\"../up\"]\n",
              "include root '../up'"},
        Wrong{"[project]\nmanifest = 1\n[hlsl]\ninclude = [\"/a.h\"]\n", "file '/a.h'"},
        Wrong{"[project]\nmanifest = 1\n[hlsl]\ninclude = [\"lib/*.h\"]\n", "without wildcards"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.hlsl\"]\n"
              "macros = { A = \"*\" }\n",
              "kiln.toml:6:16: macro 'A' must list its values"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.hlsl\"]\n"
              "macros = { A = [] }\n",
              "axis 'A' has no values"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.hlsl\"]\n"
              "hlsl = { defines = { A = 1 } }\nmacros = { A = [1] }\n",
              "macro 'A' is in 'defines', too"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.hlsl\"]\n"
              "macros = 1\n",
              "'macros' must be a table"},
        Wrong{"hlsl = 1\n[project]\nmanifest = 1\n", "'hlsl' must be a table"},
        Wrong{"[project]\nmanifest = 1\nnmae = \"x\"\n", "kiln.toml:3:1: unknown key 'nmae'"},
        Wrong{"[project]\nmanifest = 1\n", "there is no [[program]] and no [[material]]"},
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
              "kiln.toml:6:1: two programs are named 'a'; the other is in line 3"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a b\"\nsources = [\"a.rpl\"]\n",
              "kiln.toml:4:8: 'a b' is no name"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"../a.rpl\"]\n",
              "kiln.toml:5:12: source '../a.rpl': a path is relative"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"/etc/passwd\"]\n",
              "source '/etc/passwd': a path is relative"},
        Wrong{"[project]\nmanifest = 1\n[target.\"x/../../y\"]\n",
              "kiln.toml:3:9: 'x/../../y' is no name of a target: 1 to 128 letters"},
        Wrong{"[project]\nmanifest = 1\n[target.\"..\"]\n", "'..' is no name of a target"},
        Wrong{"[project]\nmanifest = 1\n[target.\".vk\"]\n", "'.vk' is no name of a target"},
        Wrong{"[project]\nmanifest = 1\n[target.\"a\\nb\"]\n", "is no name of a target"},
        Wrong{"[project]\nmanifest = 1\n[target.\"\"]\n", "'' is no name of a target"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a/b\"\nsources = [\"a.rpl\"]\n"
              "[[program]]\nname = \"a.b\"\nsources = [\"a.rpl\"]\n",
              "kiln.toml:6:1: programs 'a/b' and 'a.b' would have the same files"},
        Wrong{"[project]\nmanifest = 1\nname = \"x\\u001b[31m\"\n",
              "kiln.toml:3:8: 'name' is 'x\\x1b[31m', which has control characters"},
        Wrong{"[project]\nmanifest = 1\nname = \"x\\u202ey\"\n", "which has control characters"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n"
              "entry_points = { vertex = \"v\\u009b\" }\n",
              "kiln.toml:6:27: 'vertex' is 'v\\xc2\\x9b', which has control characters"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a\\u007f.rpl\"]\n",
              "kiln.toml:5:12: source 'a"},
        Wrong{"[project]\nmanifest = 1\nroot = \"../other\"\n", "root '../other' is not a folder"},
        Wrong{"[project]\nmanifest = 1\n[target.a]\nform = \"spir\"\n", "'spir' is no form"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n"
              "priority = 10\n",
              "'priority' must be a number from 0 to 9"},
        Wrong{"[project]\nmanifest = 1\n[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\n"
              "entry_points = { vertx = \"v\" }\n",
              "unknown key 'vertx' in 'entry_points'; did you mean 'vertex'?"},
        Wrong{"[project]\nmanifest = 1\n[budget]\ncpu = \"2 hours\"\n", "no amount such as \"2h\""},
        Wrong{"[project]\nmanifest = 1\n[budget]\non_exceed = \"ask\"\n", "not reject or warn"},
        Wrong{"[project]\nmanifest = 1\n[[pass]]\nname = \"p\"\nsamples = 3\n",
              "kiln.toml:5:11: 'samples' must be 1, 2, 4"},
        Wrong{"[project]\nmanifest = 1\n[[pass]]\nname = \"shadow\"\n[[material]]\n"
              "name = \"m\"\nsources = [\"m.rpl\"]\npasses = [\"shado\"]\n",
              "kiln.toml:8:11: there is no [[pass]] 'shado'; did you mean 'shadow'?"},
        Wrong{"[project]\nmanifest = 1\n[[pass]]\nname = \"p\"\n[[pass]]\nname = \"p\"\n",
              "two passes are named 'p'"},
        Wrong{"[project]\nmanifest = 1\n[[material]]\nname = \"m\"\n", "has no sources"}));

TEST(Manifest, BudgetsAndPacks_AreRead) {
  const Result<Manifest> manifest = ReadManifest(std::string(kHead) + R"(
[budget]
results = 100_000
cpu = "2h"
output = "8G"
on_exceed = "warn"
[watch]
ignore = ["*.tmp"]
debounce_ms = 20
[[pack]]
name = "all"
programs = ["*"]
mode = "small"
[[program]]
name = "a"
sources = ["a.rpl"]
priority = 3
budget = { results = 10, cpu = "1500ms" }
)",
                                                 "kiln.toml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().context;
  EXPECT_EQ(manifest->budget.results, 100'000u);
  EXPECT_EQ(manifest->budget.cpu_ms, 7'200'000u);
  EXPECT_EQ(manifest->budget.output, uint64_t{8} << 30);
  EXPECT_TRUE(manifest->budget_warns);
  EXPECT_EQ(manifest->debounce_ms, 20u);
  EXPECT_EQ(manifest->packs.at(0).mode, "small");
  EXPECT_EQ(manifest->programs[0].priority, 3u);
  EXPECT_EQ(manifest->programs[0].budget.results, 10u);
  EXPECT_EQ(manifest->programs[0].budget.cpu_ms, 1500u);
}

TEST(Manifest, AboveALimit_SaysWhichAndHowMuch) {
  std::string values;
  for (int i = 0; i <= 4096; ++i) {
    values += std::to_string(i) + ",";
  }
  const std::string program = std::string(kHead) + "[[program]]\nname = \"a\"\n";
  const std::string table[][2] = {
      {program + "sources = [\"a.rpl\"]\naxes = { n = [" + values + "] }\n",
       "axis values: 4097 exceeds the limit of 4096"},
      {program + "sources = [\"a.rpl\"]\nexclude = [\"" + std::string(4097, 'a') + "\"]\n",
       "expression size: 4097 exceeds the limit of 4096"},
      {std::string(kHead) + "[budget]\nresults = 100001\n",
       "distinct results per program: 100001 exceeds the limit of 100000"},
      {program + "sources = [\"a.rpl\"]\nbudget = { results = 9223372036854775807 }\n",
       "kiln.toml:9:22: distinct results per program: 9223372036854775807 exceeds"},
      {"#" + std::string(size_t{4} << 20, ' '), "manifest size: 4194305 exceeds"}};
  for (const auto& [text, message] : table) {
    const Result<Manifest> manifest = ReadManifest(text, "kiln.toml");
    ASSERT_FALSE(manifest.ok());
    EXPECT_EQ(manifest.error().code, ErrorCode::kResourceExhausted);
    EXPECT_THAT(manifest.error().context, testing::HasSubstr(message));
  }
}

// A manifest has names of megabytes, a message has not.
TEST(ReadManifest, NameInAMessage_IsCut) {
  const std::string name(1'000'000, 'n');
  const std::string program = "[[program]]\nsources = [\"a.rpl\"]\n";
  for (const std::string& wrong : {program + "name = \"" + name + "\"\n", program + name + " = 1\n",
                                   program + "name = \"a\"\naxes = { " + name + " = [] }\n",
                                   program + "name = \"a\"\ntargets = [\"" + name + "\"]\n"}) {
    const Result<Manifest> manifest = ReadManifest(std::string(kHead) + wrong, "kiln.toml");
    ASSERT_FALSE(manifest.ok());
    EXPECT_LT(manifest.error().context.size(), kMaxMessage + 100);
    EXPECT_THAT(manifest.error().context, testing::HasSubstr("nnn"));
  }
}

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

TEST(OwnManifest, OfAnotherWhereEverybodyMayWrite_IsRefused) {
  const TestDirectory directory;
  const std::string file = (directory.path() / "kiln.toml").string();
  std::ofstream(file) << kHead;
  const uid_t me = ::geteuid();
  const uid_t other = me + 1;  // for whom the file is another's
  const struct {
    mode_t folder;
    uid_t user;
    bool taken;
  } rows[] = {{0700, me, true},
              {01777, me, true},
              {0755, other, true},
              {01777, other, me == 0},
              {0777, other, me == 0}};
  for (const auto& row : rows) {
    ASSERT_EQ(::chmod(directory.path().c_str(), row.folder), 0);
    const Result<std::string> found = OwnManifest(directory.path().string(), row.user);
    ASSERT_EQ(found.ok(), row.taken) << row.folder << " " << row.user;
    EXPECT_EQ(found.ok() ? *found : found.error().reason, row.taken ? file : "FOREIGN_MANIFEST");
  }
  if (me == 0) {  // root's files are everybody's; so another's is made
    ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
    EXPECT_EQ(OwnManifest(directory.path().string()).error().reason, "FOREIGN_MANIFEST");
  }
}

}  // namespace
}  // namespace kiln::project
