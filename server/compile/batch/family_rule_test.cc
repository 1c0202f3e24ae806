// SPDX-License-Identifier: MIT
// What programs of one material may differ in, and how a difference is told.
#include "server/compile/batch/family_rule.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"

namespace kiln::compile {
namespace {

constexpr char kMaterial[] = R"(
global detail: flag false;
set_material uniform_buffer crate
{
    f4 albedo;
    conditional (detail) f4 scale;
};
)";

class FamilyTest : public testing::Test {
 protected:
  // A program "material/NAME" of a pass with this text and the material.
  std::shared_ptr<const PreparedProgram> Prepared(const std::string& name,
                                                  const std::string& pass) {
    ProgramRequest request;
    request.name = "crate/" + name;
    for (const auto& [path, text] : {std::pair(name + ".rpl", pass),
                                     std::pair(std::string("crate.rpl"), std::string(kMaterial))}) {
      request.sources.push_back({.path = path,
                                 .digest = DigestOf(text),
                                 .text = std::make_shared<const std::string>(text)});
    }
    const auto prepared =
        builder.Prepare(request,
                        {.name = "meta",
                         .target = target::MakeTarget(target::Environment::kVulkan11),
                         .metadata_only = true},
                        {});
    EXPECT_TRUE(prepared.ok() && (*prepared)->ok());
    return *prepared;
  }

  // Adds what the program has at these options.
  std::optional<PlacedDiagnostic> Add(FamilyRule& rule, size_t member,
                                      const PreparedProgram& program,
                                      const std::vector<resolve::OptionSetting>& options) {
    const Result<Outcome> outcome = builder.Build(program, options, {}, {});
    EXPECT_TRUE(outcome.ok() && outcome->artifact.has_value());
    layout_hash = outcome->artifact->layout_hash;
    return rule.Add(member, options, layout_hash, SetLinesOf(*MetadataOf(store, *outcome, {})));
  }

  // What the rule says of the two, at these options.
  std::optional<PlacedDiagnostic> Compare(const std::string& a, const std::string& b,
                                          const std::vector<resolve::OptionSetting>& of_a = {},
                                          const std::vector<resolve::OptionSetting>& of_b = {}) {
    const auto first = Prepared("forward", a);
    const auto second = Prepared("shadow", b);
    FamilyRule rule("crate", {first.get(), second.get()});
    EXPECT_FALSE(Add(rule, 0, *first, of_a).has_value());
    EXPECT_TRUE(rule.Knows(0, of_a, layout_hash));
    EXPECT_FALSE(rule.Knows(1, of_a, layout_hash)) << "of another program";
    const std::optional<PlacedDiagnostic> difference = Add(rule, 1, *second, of_b);
    EXPECT_TRUE(rule.Knows(1, of_b, layout_hash)) << "told or equal";
    EXPECT_EQ(rule.Knows(1, of_b, Hash128{}), difference.has_value()) << "once is enough";
    return difference;
  }

  SystemClock clock;
  cache::MemoryStore store{nullptr, nullptr, {.max_bytes = uint64_t{16} << 20}};
  ProgramPool pool{store, uint64_t{16} << 20};
  CachedBuild builder{store, pool, clock};
  Hash128 layout_hash;  // of what was added last
};

constexpr char kPassOnly[] = "set_pass uniform_buffer view { f4 eye; };\n";

TEST_F(FamilyTest, DifferentPassSets_AreAllowed) {
  EXPECT_FALSE(Compare(kPassOnly, "").has_value());
}

TEST_F(FamilyTest, AnotherBufferInTheObjectSet_IsToldWithBothDeclarations) {
  const auto difference = Compare(kPassOnly, "set_object uniform_buffer bones { f4 first; };\n");
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->code, "FAMILY_MISMATCH");
  EXPECT_THAT(difference->message, testing::HasSubstr("differ in the object set"));
  EXPECT_THAT(difference->message, testing::HasSubstr("'crate/forward' has nothing there"));
  EXPECT_THAT(
      difference->message,
      testing::HasSubstr("'crate/shadow' of shadow.rpl has binding 0: uniform buffer 'bones'"));
}

TEST_F(FamilyTest, DefaultAndTheSameValueGiven_AreComparedAsOne) {
  const resolve::OptionSetting off{.name = "detail", .bits = 0};
  const char* const more = "set_object uniform_buffer bones { f4 first; };\n";
  EXPECT_TRUE(Compare("", more, {}, {off}).has_value());
  EXPECT_TRUE(Compare("", more, {off}, {}).has_value());
}

TEST_F(FamilyTest, OtherGlobalOptions_AreNotCompared) {
  const resolve::OptionSetting detail{.name = "detail", .bits = 1};
  EXPECT_FALSE(Compare("", "", {}, {detail}).has_value());
  EXPECT_FALSE(Compare("", "", {detail}, {detail}).has_value());
}

}  // namespace
}  // namespace kiln::compile
