// SPDX-License-Identifier: MIT
#include "client/cli/watch/kept_programs.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

client::Source Text(std::string path, std::string text) {
  const Digest digest = DigestOf(std::string_view(text));
  return {.path = std::move(path), .digest = digest, .text = std::move(text)};
}

client::ProgramSpace Space(const std::string& name, const std::string& text) {
  client::ProgramSpace space;
  space.program.name = name;
  space.program.sources.push_back(Text(name + ".rpl", text));
  return space;
}

// After an edit a fetch must ask for what was pushed, not for what was loaded.
TEST(KeptPrograms, AfterAnEdit_AreThoseOfTheEdit) {
  std::vector<client::ProgramSpace> spaces = {Space("a", "one"), Space("b", "two")};
  KeptPrograms kept;
  KeepPrograms(spaces, kept);
  const char* const untouched = kept["b"].sources[0].text.data();
  spaces[0].program.sources[0] = Text("a.rpl", "three");
  KeepPrograms(spaces, kept);
  EXPECT_EQ(kept["a"].sources[0].text, "three");
  EXPECT_EQ(kept["b"].sources[0].text.data(), untouched) << "it is not copied again";
}

TEST(KeptPrograms, OtherFilesToInclude_AreKept) {
  std::vector<client::ProgramSpace> spaces = {Space("a", "one")};
  spaces[0].program.hlsl.emplace();
  spaces[0].program.hlsl->files = std::make_shared<client::IncludeSet>();
  KeptPrograms kept;
  KeepPrograms(spaces, kept);
  spaces[0].program.hlsl->files = std::make_shared<client::IncludeSet>();
  KeepPrograms(spaces, kept);
  EXPECT_EQ(kept["a"].hlsl->files, spaces[0].program.hlsl->files);
}

}  // namespace
}  // namespace kiln::cli
