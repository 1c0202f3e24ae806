// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/names.h"

#include <gtest/gtest.h>

#include "compiler/emit/wgsl/lower/rows.h"

namespace kiln::wgsl {
namespace {

TEST(WgslNames, SourceName_IsKeptUnlessWgslHasIt) {
  EXPECT_EQ(NameOf("light"), "light");
  EXPECT_EQ(NameOf("_light"), "_light");
  EXPECT_EQ(NameOf("vec4"), "e__vec4");
  EXPECT_EQ(NameOf("fn"), "e__fn");
  EXPECT_EQ(NameOf("filter"), "e__filter");
  EXPECT_EQ(NameOf("my__light"), "e__my__light");
  EXPECT_EQ(NameOf("__x"), "e____x");
  EXPECT_EQ(NameOf("_"), "e___");
  EXPECT_EQ(NameOf("_12"), "e___12");
  EXPECT_EQ(NameOf("_12a"), "_12a");
}

TEST(WgslNames, Members_MayHavePredeclaredNames) {
  EXPECT_EQ(MemberName("length"), "length");
  EXPECT_EQ(MemberName("fn"), "e__fn");
  EXPECT_EQ(MemberName("filter"), "e__filter");
}

TEST(WgslNames, EveryWordOfTheTable_IsEscaped) {
  constexpr std::string_view kWords[] = {
#define KILN_WORD(word, kind) #word,
#include "compiler/emit/wgsl/reserved.def"
  };
  for (const std::string_view word : kWords) {
    EXPECT_NE(KindOfWord(word), WordKind::kFree) << word;
    EXPECT_EQ(NameOf(word), "e__" + std::string(word));
    EXPECT_EQ(KindOfWord(std::string(word) + "_x"), WordKind::kFree) << word;
  }
}

// All short names over an alphabet that is made of what could be mistaken.
std::vector<std::string> ShortNames() {
  std::vector<std::string> names;
  for (const std::string& alphabet : {std::string("e_"), std::string("c_"), std::string("a_1")}) {
    std::vector<std::string> last{""};
    for (int size = 1; size <= 5; ++size) {
      std::vector<std::string> next;
      for (const std::string& name : last) {
        for (const char c : alphabet) {
          if (!name.empty() || c != '1') {
            next.push_back(name + c);
          }
        }
      }
      names.insert(names.end(), next.begin(), next.end());
      last = std::move(next);
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

TEST(WgslNames, DifferentThings_NeverMeet) {
  std::map<std::string, std::string> seen;
  const auto add = [&](const std::string& name, const std::string& what) {
    const auto [known, is_new] = seen.emplace(name, what);
    EXPECT_TRUE(is_new) << name << " is " << known->second << " and " << what;
    EXPECT_FALSE(name.starts_with("__")) << what;
  };
  std::vector<std::string> few;
  for (const std::string& name : ShortNames()) {
    add(NameOf(name), "name " + name);
    if (name.size() <= 3) {
      few.push_back(name);
    }
  }
  for (const std::string& owner : few) {
    for (const std::string& part : few) {
      add(PartName(owner, part), "part " + owner + "." + part);
    }
  }
  for (uint32_t i = 0; i < kHelperCount; ++i) {
    add(std::string(HelperName(static_cast<Helper>(i))), "helper");
  }
  for (uint32_t i = 1; i < 100; ++i) {
    add(ValueName(i), "value");
  }
}

}  // namespace
}  // namespace kiln::wgsl
