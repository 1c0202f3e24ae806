// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/names.h"

#include <gtest/gtest.h>

#include "compiler/emit/wgsl/lower/rows.h"
#include "compiler/emit/wgsl/typed/legal_names.h"

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

// --- of typed modules
TEST(LegalNames, RightName_Stays) {
  for (const char* name : {"light", "a__b", "kiln__bits_1", "_1", "x_1", "größe"}) {
    EXPECT_EQ(LegalName(name), name);
  }
}

TEST(LegalNames, WrongName_BecomesOneThatStays) {
  const std::pair<const char*, const char*> rows[] = {
      {"fn", "fn_1"}, {"vec3", "vec3_1"}, {"$Globals", "_Globals"}, {"__a", "x__a"},  {"_", "x_"},
      {"", "x"},      {"2d", "x2d"},      {"a.b", "a_b"},           {"a\x01z", "a_z"}};
  for (const auto& [source, name] : rows) {
    EXPECT_EQ(LegalName(source), name);
    EXPECT_EQ(LegalName(name), name);
  }
}

TEST(LegalNames, Member_MayBePredeclared) {
  EXPECT_EQ(LegalMember("vec3"), "vec3");
  EXPECT_EQ(LegalMember("fn"), "fn_1");
}

TEST(NameSet, TakenName_GetsTheFirstNumberThatIsFree) {
  NameSet names;
  EXPECT_EQ(names.Take("a"), "a");
  names.Add("a_1");
  EXPECT_EQ(names.Take("a"), "a_2");
  EXPECT_TRUE(names.Has("a_2"));
  EXPECT_FALSE(names.Has("b"));
}

}  // namespace
}  // namespace kiln::wgsl
