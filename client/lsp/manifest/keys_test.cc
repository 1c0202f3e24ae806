// SPDX-License-Identifier: MIT
#include "client/lsp/manifest/keys.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::lsp {
namespace {

// The table of the end of a text.
std::string TableBehind(const std::string& text) {
  return TableAt(text, static_cast<uint32_t>(text.size()));
}

TEST(ManifestKeys, TableOfAPlace) {
  const struct {
    const char* text;
    const char* table;
  } rows[] = {
      {"", ""},
      {"[project]\n", "project"},
      {"[target.vk]\nform = \"spirv\"\n", "target"},
      {"[project]\n  [[program]]  # a comment, with commas\n", "program"},
      {"[[program]]\nname = \"a\"\n[[program.variants]]\n", "program"},
      {"[project]\n[unknown]\n", "unknown"},
      {"[project]\n[", ""},
      {"[project]\n[targ", "targ"},
      {"[[program]]\nlist = [\n  [\"a\", \"b\"],\n", "program"},
      {"[[program]]\nlist = [\n  ['a'],\n", "program"},
      {"[[program]]\nlist = [\n  [1, 2],\n", "program"},
      {"[[program]]\nlist = [\n  [[\"a\"]],\n", "program"},
      {"[[program]]\nlist = [\n  [{ a = 1 }],\n", "program"},
      {"[[program]]\nlist = [\n  [],\n", "program"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(TableBehind(row.text), row.table) << row.text;
  }
}

}  // namespace
}  // namespace kiln::lsp
