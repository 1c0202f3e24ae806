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

}  // namespace
}  // namespace kiln::project
