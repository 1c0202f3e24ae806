// SPDX-License-Identifier: MIT
// Guaranteed properties of what one type uses, wherever it stands: P21 to P24 of spec/layout 15.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/layout/laid_out.h"
#include "tests/layout/random_programs.h"
#include "tests/layout/runs.h"

namespace kiln::layout {
namespace {

// Places of a block relative to its first space, without its name.
std::vector<std::string> InnerOf(const PlacedParameter& parameter, Platform platform) {
  std::vector<std::string> inner;
  for (PlacedLeaf leaf : parameter.leaves) {
    for (Place& place : leaf.places) {
      place.space -= static_cast<uint32_t>(parameter.spaces ? parameter.spaces->index : 0);
    }
    inner.push_back(leaf.path.substr(parameter.name.size()) + " " + PlacesText(platform, leaf));
  }
  return inner;
}

TEST(TypeProperty, P21_P22_BlocksOfOneTypeAreEqualInside) {
  RandomPrograms random(5);
  for (uint32_t run = 0; run < Runs(); ++run) {
    Json item = random.Program({});
    const std::string type = fmt::format("ParameterBlock<zS{}x0>", random.Below(3));
    Json& units = item["units"];
    const auto insert = [&](Json& unit, const char* name) {
      Json& parameters = unit["params"];
      const auto at = random.Below(static_cast<uint32_t>(parameters.size()) + 1);
      parameters.insert(parameters.begin() + static_cast<ptrdiff_t>(at),
                        Json{{"name", name}, {"type", type}});
    };
    insert(units.front(), "zpFirst");
    insert(units.back(), "zpSecond");
    Json alone = {
        {"structs", item["structs"]},
        {"units",
         Json::array({{{"name", "u0"},
                       {"params", Json::array({{{"name", "zpAlone"}, {"type", type}}})}}})}};
    for (const Platform platform : {Platform::kD3d12, Platform::kVulkan}) {
      const auto laid = LayOutCase<CaseProgram>(item, platform);
      const auto single = LayOutCase<CaseProgram>(alone, platform);
      if (laid == nullptr || single == nullptr) {
        continue;
      }
      const auto inner = [&](const LaidProgram& in, std::string_view name) {
        return InnerOf(*std::ranges::find(in.layout.parameters, name, &PlacedParameter::name),
                       platform);
      };
      ASSERT_EQ(inner(*laid, "zpFirst"), inner(*laid, "zpSecond")) << item.dump();
      ASSERT_EQ(inner(*laid, "zpFirst"), inner(*single, "zpAlone")) << item.dump();
    }
  }
}

TEST(TypeProperty, P23_AnArrayUsesItsRegistersManyTimes) {
  RandomPrograms random(23);
  for (uint32_t run = 0; run < Runs(); ++run) {
    const Json structs = random.Program({.blocks = false})["structs"];
    const std::string type = fmt::format("zS{}x0", random.Below(3));
    const uint32_t many = 1 + random.Below(5);
    const auto program = [&](const std::string& of) {
      return Json{
          {"structs", structs},
          {"units", Json::array({{{"name", "u0"},
                                  {"params", Json::array({{{"name", "zp"}, {"type", of}}})}}})}};
    };
    const Json one = program(type);
    const Json array = program(fmt::format("{}[{}]", type, many));
    const auto single = LayOutCase<CaseProgram>(one, Platform::kD3d12);
    const auto multiple = LayOutCase<CaseProgram>(array, Platform::kD3d12);
    if (single == nullptr || multiple == nullptr) {
      continue;
    }
    const PlacedParameter& a = single->layout.parameters[0];
    const PlacedParameter& b = multiple->layout.parameters[0];
    ASSERT_EQ(a.runs.size(), b.runs.size());
    for (size_t i = 0; i < a.runs.size(); ++i) {
      ASSERT_EQ(a.runs[i].count * many, b.runs[i].count) << array.dump();
    }
    std::map<int, uint64_t> next;
    for (const PlacedLeaf& leaf : b.leaves) {
      for (const Place& place : leaf.places) {
        const auto [at, first] = next.try_emplace(static_cast<int>(place.kind), place.index);
        ASSERT_EQ(place.index, at->second) << array.dump();
        at->second += place.count;
      }
    }
  }
}

TEST(TypeProperty, P24_ASpecialisedStructIsTheHandWrittenOne) {
  RandomPrograms random(24);
  for (uint32_t run = 0; run < Runs(); ++run) {
    Json item = random.Program({});
    const std::string argument = fmt::format("zS{}x0", random.Below(2));
    // Generic<T> { T a; f32 b; T c[2]; } before, specialised, and by hand.
    Types types;
    CaseTypes written(types);
    ASSERT_TRUE(written.ReadStructs(item["structs"]).ok());
    const auto fields = [&](TypeId t) {
      return std::vector<Member>{{.name = "a", .type = t},
                                 {.name = "b", .type = types.Vector(ScalarKind::kF32, 1)},
                                 {.name = "c", .type = types.Array(t, 2)}};
    };
    const TypeId open = types.Struct("Generic", fields(types.Generic("T")));
    const TypeId closed = types.Struct("Generic", fields(written.Read(argument).value()));
    item["structs"]["zSHand"] =
        Json::array({Json::array({"a", argument}), Json::array({"b", "f32"}),
                     Json::array({"c", argument + "[2]"})});
    CaseTypes by_hand(types);
    ASSERT_TRUE(by_hand.ReadStructs(item["structs"]).ok());
    const TypeId hand = by_hand.Read("zSHand").value();
    ByteLayouts bytes(types);
    for (uint32_t r = 0; r < kRulesCount; ++r) {
      const auto rules = static_cast<Rules>(r);
      EXPECT_EQ(bytes.Of(open, rules).fault, TypeFault::kUnspecialised);
      EXPECT_EQ(bytes.Of(closed, rules).size, bytes.Of(hand, rules).size);
      EXPECT_EQ(bytes.Of(closed, rules).offsets, bytes.Of(hand, rules).offsets);
    }
    const SplitContext context{.platform = kPlatforms[run % 4]};
    EXPECT_EQ(Split(types, open, "x", context).fault, SplitFault::kUnspecialised);
    EXPECT_EQ(Split(types, closed, "x", context).counts, Split(types, hand, "x", context).counts);
    ASSERT_FALSE(HasFailure()) << item.dump();
  }
}

}  // namespace
}  // namespace kiln::layout
