// SPDX-License-Identifier: MIT
// Materials × passes × variants: which programs they make, of what.
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "client/project/manifest.h"

namespace kiln::project {
namespace {

constexpr char kHead[] =
    "[project]\nmanifest = 1\n[target.vk]\nform = \"spirv\"\n[defaults]\ntargets = [\"vk\"]\n";

std::string TextOf(const ManifestValue& value) {
  if (const bool* flag = std::get_if<bool>(&value.value)) {
    return (*flag ? "true" : "false") + std::string(value.global ? " global" : "");
  }
  return fmt::format("{}", std::get<int64_t>(value.value));
}

// One line for each program.
std::string Composed(const std::string& text) {
  const Result<Manifest> manifest = ReadManifest(kHead + text, "kiln.toml");
  if (!manifest.ok()) {
    return manifest.error().context;
  }
  std::string lines;
  for (const ManifestProgram& program : manifest->programs) {
    std::string options, entries, axes;
    for (const auto& [name, value] : program.options) {
      options += fmt::format(" {}={}", name, TextOf(value));
    }
    for (const auto& [stage, function] : program.entry_points) {
      entries += fmt::format(" {}:{}", stage, function);
    }
    for (const auto& [name, axis] : program.axes) {
      axes += " " + name;
    }
    lines += fmt::format("{}: {} |{} |{} |{}\n", program.name, fmt::join(program.sources, " "),
                         options, entries, axes);
  }
  return lines;
}

constexpr char kCrate[] = R"([[material]]
name = "crate"
sources = ["crate.rpl"]
options = { detail = true }
entry_points = { vertex = "v", fragment = "f" }
passes = ["shadow"]
tags = ["casts_shadow"]
)";

TEST(Compose, PassAndMaterial_MakeAProgramAndAFamily) {
  EXPECT_EQ(Composed(std::string(R"([[pass]]
name = "shadow"
sources = ["shadow.rpl"]
options = { pancake = true }
disabled_stages = ["fragment"]
requires = ["casts_shadow"]
)") + kCrate),
            "crate: crate.rpl | detail=true global | |\n"
            "crate/shadow: shadow.rpl crate.rpl | detail=true global pancake=true | vertex:v |\n");
}

TEST(Compose, MissingTag_LeavesThePassOut) {
  EXPECT_EQ(Composed(std::string("[[pass]]\nname = \"shadow\"\nrequires = [\"glows\"]\n") + kCrate),
            "crate: crate.rpl | detail=true global | |\n");
}

TEST(Compose, VariantsOfAPass_AreProgramsOfTheirOwn) {
  EXPECT_EQ(Composed(std::string(R"([[pass]]
name = "shadow"
sources = ["shadow.rpl"]
options = { taps = 1, pancake = false }
variants = [
  { name = "cascade", sources = ["cascade.rpl"], options = { taps = 4 } },
  { name = "cube", requires = ["round"] },
]
)") + kCrate),
            "crate: crate.rpl | detail=true global | |\n"
            "crate/shadow/cascade: shadow.rpl cascade.rpl crate.rpl | detail=true global "
            "pancake=false taps=4 | fragment:f vertex:v |\n");
}

TEST(Compose, OptionsOfAPassInAMaterial_ReplaceAllOthers) {
  EXPECT_EQ(Composed(R"([[pass]]
name = "forward"
sources = ["forward.rpl"]
options = { taps = 1 }
[[material]]
name = "rock"
sources = ["rock.rpl"]
axes = { taps = [1, 2], wet = "*" }
exclude = ["wet"]
passes = { forward = { taps = 9 } }
)"),
            "rock: rock.rpl | | |\n"
            "rock/forward: forward.rpl rock.rpl | taps=9 | | wet\n");
}

TEST(Compose, PassOfAProgram_GivesItsNameAndNothingElse) {
  const std::string pass =
      "[[pass]]\nname = \"view\"\nsources = [\"view.rpl\"]\ncolor = [\"rgba8_unorm\"]\n";
  const std::string program = "[[program]]\nname = \"sky\"\nsources = [\"sky.rpl\"]\npass = ";
  const Result<Manifest> manifest =
      ReadManifest(kHead + pass + program + "\"view\"\n", "kiln.toml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().context;
  EXPECT_EQ(manifest->programs[0].pass, "view");
  EXPECT_EQ(manifest->programs[0].sources, std::vector<std::string>{"sky.rpl"});
  EXPECT_EQ(manifest->programs[0].family, "");
  EXPECT_EQ(Composed(pass + program + "\"veiw\"\n"),
            "kiln.toml:14:8: there is no [[pass]] 'veiw'; did you mean 'view'?");
  EXPECT_EQ(Composed(pass + program + "1\n"), "kiln.toml:14:8: 'pass' must be text");
}

TEST(Compose, NameOfAComposedProgramThatIsTaken_IsAnError) {
  EXPECT_EQ(Composed(std::string("[[program]]\nname = \"crate/shadow\"\nsources = [\"a.rpl\"]\n"
                                 "[[pass]]\nname = \"shadow\"\n") +
                     kCrate),
            "kiln.toml:12:1: two programs are named 'crate/shadow'; the other is in line 7");
}

TEST(Compose, MillionsOfPrograms_AreRefusedBeforeTheyAreMade) {
  std::string text;
  std::string names;
  for (int i = 0; i < 200; ++i) {
    text += fmt::format("[[pass]]\nname = \"p{}\"\n", i);
    names += fmt::format("\"p{}\",", i);
  }
  for (int i = 0; i < 200; ++i) {
    text += fmt::format("[[material]]\nname = \"m{}\"\nsources = [\"m.rpl\"]\npasses = [{}]\n", i,
                        names);
  }
  EXPECT_NE(Composed(text).find("programs per manifest: 20100 exceeds the limit of 20000"),
            std::string::npos);
}

// `count` times what `one` makes of a number.
template <class One>
std::string Many(int count, const One& one) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += one(i);
  }
  return text;
}

std::string ProgramLine(int i, const std::string& more) {
  return fmt::format("[[program]]\nname = \"q{}\"\nsources = [\"a.rpl\"]\n{}\n", i, more);
}

// What is written once and taken over by each program: a manifest of a megabyte asks for gigabytes.
TEST(Compose, WhatProgramsInherit_IsBoundedBeforeItIsCopied) {
  const std::string programs = Many(9000, [](int i) { return ProgramLine(i, ""); });
  const auto flag = [](int i) { return fmt::format("x{} = true\n", i); };
  const auto all = [](int i) { return fmt::format("x{} = \"*\"\n", i); };
  const auto row_flag = [](int i) { return fmt::format("x{} = true,", i); };
  const auto word = [](int i) { return fmt::format("\"x{}\",", i); };
  const std::string pass = "[[pass]]\nname = \"p\"\nsources = [\"a.rpl\"]\n";
  const std::string material =
      "[[material]]\nname = \"m\"\nsources = [\"a.rpl\"]\npasses = [\"p\"]\n";
  const std::string variants =
      "variants = [" + Many(4000, [](int i) { return fmt::format("{{name = \"v{}\"}},", i); }) +
      "]\n";
  constexpr const char* kInherited = "bytes that programs of a manifest inherit";
  struct Row {
    const char* what;
    std::string text;
    const char* limit;
  };
  const Row table[] = {
      {"a set of axes",
       "[axes.a]\n" + Many(4000, all) +
           Many(9000, [](int i) { return ProgramLine(i, "use = [\"a\"]"); }),
       kInherited},
      {"a set of axes used many times",
       "[axes.a]\n" + Many(4000, all) +
           ProgramLine(0, "use = [" + Many(100'000, [](int) { return "\"a\","; }) + "]"),
       kInherited},
      {"values of an axis",
       "[axes.a]\nx = [" + Many(4000, [](int) { return "true,"; }) + "]\n" +
           Many(9000, [](int i) { return ProgramLine(i, "use = [\"a\"]"); }),
       kInherited},
      {"options of the defaults", "[defaults.options]\n" + Many(4000, flag) + programs, kInherited},
      {"macros", "[hlsl.defines]\n" + Many(4000, flag) + programs, kInherited},
      {"include roots", "[hlsl]\ninclude_roots = [" + Many(9000, word) + "]\n" + programs,
       kInherited},
      {"options of a material",
       pass + variants + material + "options = {" + Many(4000, row_flag) + "z = 1}\n", kInherited},
      {"options of a pass",
       pass + "options = {" + Many(4000, row_flag) + "z = 1}\n" + variants + material, kInherited},
      {"exclusions", pass + variants + material + "exclude = [" + Many(4000, word) + "]\n",
       kInherited},
      {"pairs that become no program",
       pass + "requires = [\"none\"]\n" + variants +
           Many(1000,
                [](int i) {
                  return fmt::format(
                      "[[material]]\nname = \"m{}\"\nsources = [\"a.rpl\"]\npasses = [\"p\"]\n", i);
                }),
       kInherited},
      {"axes of a program", "[axes.a]\n" + Many(4097, all) + ProgramLine(0, "use = [\"a\"]"),
       "axes per program: 4097 exceeds the limit of 4096"},
      {"expressions of a program", ProgramLine(0, "require = [" + Many(4097, word) + "]"),
       "expressions per program: 4097 exceeds the limit of 4096"},
      {"tags of a material", pass + material + "tags = [" + Many(65, word) + "]\n",
       "tags per program: 65 exceeds the limit of 64"},
      {"targets of a program", ProgramLine(0, "targets = [" + Many(65, word) + "]"),
       "targets per program: 65 exceeds the limit of 64"}};
  for (const auto& [what, text, limit] : table) {
    const Result<Manifest> manifest = ReadManifest(kHead + text, "kiln.toml");
    ASSERT_FALSE(manifest.ok()) << what;
    EXPECT_EQ(manifest.error().code, ErrorCode::kResourceExhausted) << what;
    EXPECT_EQ(manifest.error().reason, "LIMIT_EXCEEDED") << what;
    EXPECT_NE(manifest.error().context.find(limit), std::string::npos)
        << what << ": " << manifest.error().context;
  }
}

TEST(Compose, ProgramsOfALargeProject_InheritWhatTheyNeed) {
  const std::string text =
      "[axes.a]\n" + Many(20, [](int i) { return fmt::format("x{} = \"*\"\n", i); }) +
      "[hlsl.defines]\n" + Many(20, [](int i) { return fmt::format("d{} = 1\n", i); }) +
      Many(20'000, [](int i) { return ProgramLine(i, "use = [\"a\"]"); });
  const Result<Manifest> manifest = ReadManifest(kHead + text, "kiln.toml");
  ASSERT_TRUE(manifest.ok()) << manifest.error().context;
  EXPECT_EQ(manifest->programs.size(), 20'000u);
}

}  // namespace
}  // namespace kiln::project
