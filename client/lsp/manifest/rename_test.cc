// SPDX-License-Identifier: MIT
#include "client/lsp/manifest/rename.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::lsp {
namespace {

// Two programs: `a` has the file whose name is renamed, `b` has not.
std::string Project(const std::string& of_a, const std::string& of_b) {
  return "[project]\nmanifest = 1\nname = \"x\"\n[target.vk]\nform = \"spirv\"\n"
         "[[program]]\nname = \"a\"\nsources = [\"a.rpl\"]\ntargets = [\"vk\"]\n" +
         of_a + "\n[[program]]\nname = \"b\"\nsources = [\"b.rpl\"]\ntargets = [\"vk\"]\n" + of_b +
         "\n";
}

struct RenameRow {
  const char* name;
  const char* of_a;
  const char* of_b;
  int places;  // -1: refused
};
constexpr RenameRow kRows[] = {
    {"an axis", "axes = { wet = \"*\" }", "", 1},
    {"an option", "options = { wet = true }", "", 1},
    {"a condition", "axes = { wet = \"*\" }\nexclude = ['wet && !wetter']", "", 2},
    {"an entry point", "entry_points = { vertex = \"wet\" }", "", 1},
    {"a variant", "[[program.variants]]\noptions = { wet = true }", "", 1},
    {"not in a comment", "axes = { wet = \"*\" }  # wet", "# wet", 1},
    {"another program has the name", "axes = { wet = \"*\" }", "axes = { wet = \"*\" }", -1},
    {"a value is called so", "axes = { wet = [\"wet\"] }", "", -1},
    {"a tag is called so", "axes = { wet = \"*\" }\ntags = [\"wet\"]", "", -1},
    {"the new name is there", "axes = { wet = \"*\", damp = \"*\" }", "", -1},
};

TEST(RenameInManifest, EveryRow_IsRenamedAloneOrRefused) {
  for (const RenameRow& row : kRows) {
    const SourceFile manifest("/p/kiln.toml", Project(row.of_a, row.of_b));
    const std::optional<ManifestRename> rename =
        RenameInManifest(manifest, {"/p/a.rpl"}, "wet", "damp");
    EXPECT_EQ(rename.has_value() ? static_cast<int>(rename->places.size()) : -1, row.places)
        << row.name;
  }
}

}  // namespace
}  // namespace kiln::lsp
