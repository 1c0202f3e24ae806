// SPDX-License-Identifier: MIT
// Guaranteed properties of policy rpl over random modules: P27, P28, P30, P31 of spec/layout 15.
#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "tests/layout/laid_out.h"
#include "tests/layout/random_programs.h"
#include "tests/layout/runs.h"

namespace kiln::layout {
namespace {

void ForAllModules(
    const std::function<void(RandomPrograms&, const Json&, const LaidModules&)>& check) {
  RandomPrograms random(31);
  for (uint32_t run = 0; run < Runs(); ++run) {
    const Json item = random.Modules();
    const auto laid = LayOutCase<CaseModules>(item, Platform::kVulkan);
    ASSERT_NE(laid, nullptr) << item.dump();
    check(random, item, *laid);
    if (testing::Test::HasFailure()) {
      FAIL() << item.dump() << "\n" << laid->dump;
    }
  }
}

// "set1.": the places of one set start with it.
std::string SetPrefix(const std::string& place) { return place.substr(0, place.find('.') + 1); }

TEST(RplProperty, P27_DeclarationsOfOneSetMoveNoOther) {
  ForAllModules([](RandomPrograms& random, const Json& item, const LaidModules& laid) {
    Json changed = item;
    std::set<std::string> touched;  // sets
    const auto touch = [&](const Json& decl) {
      static const std::map<std::string, std::string> prefixes = {
          {"pass", "set0."}, {"material", "set1."}, {"object", "set2."}, {"shared", "set3."}};
      touched.insert(prefixes.at(decl["set"]));
    };
    Json& decls =
        changed["modules"][random.Below(static_cast<uint32_t>(changed["modules"].size()))]["decls"];
    const uint32_t what = random.Below(3);
    if (what == 0 || decls.empty()) {
      Json added = random.Declaration();
      added["name"] = "zpAdded";
      touch(added);
      decls.insert(decls.begin() + random.Below(static_cast<uint32_t>(decls.size()) + 1), added);
    } else if (what == 1) {
      const uint32_t at = random.Below(static_cast<uint32_t>(decls.size()));
      touch(decls[at]);
      decls.erase(at);
    } else {
      const uint32_t from = random.Below(static_cast<uint32_t>(decls.size()));
      const Json moved = decls[from];
      touch(moved);
      decls.erase(from);
      decls.insert(decls.begin() + random.Below(static_cast<uint32_t>(decls.size()) + 1), moved);
    }
    const auto other = LayOutCase<CaseModules>(changed, Platform::kVulkan);
    ASSERT_NE(other, nullptr);
    for (const auto& [name, place] : laid.places) {
      if (!touched.contains(SetPrefix(place)) && other->places.contains(name)) {
        EXPECT_EQ(other->places.at(name), place) << name;
      }
    }
  });
}

TEST(RplProperty, P28_ModulesAloneKeepTheSetsThatOthersLeaveEmpty) {
  ForAllModules([](RandomPrograms& random, const Json& item, const LaidModules& laid) {
    const uint32_t own = random.Below(static_cast<uint32_t>(item["modules"].size()));
    const Json alone = {{"modules", Json::array({item["modules"][own]})}};
    const auto single = LayOutCase<CaseModules>(alone, Platform::kVulkan);
    ASSERT_NE(single, nullptr);
    std::set<std::string> others;
    for (const auto& [name, place] : laid.places) {
      if (!single->places.contains(name)) {
        others.insert(SetPrefix(place));
      }
    }
    for (const auto& [name, place] : single->places) {
      if (!others.contains(SetPrefix(place))) {
        EXPECT_EQ(laid.places.at(name), place) << name;
      }
    }
  });
}

TEST(RplProperty, P30_EveryTargetHasTheSameNumbers) {
  ForAllModules([](RandomPrograms&, const Json& item, const LaidModules& laid) {
    for (const Platform platform : {Platform::kD3d12, Platform::kD3d11}) {
      const auto other = LayOutCase<CaseModules>(item, platform);
      ASSERT_NE(other, nullptr);
      EXPECT_EQ(other->places, laid.places) << PlatformName(platform);
    }
    const auto webgpu = LayOutCase<CaseModules>(item, Platform::kWebgpu);
    ASSERT_NE(webgpu, nullptr);
    for (const auto& [name, place] : webgpu->places) {
      // The first place without its count; what follows is reserved.
      const std::string first = place.substr(0, place.find(' '));
      const std::string vulkan = laid.places.at(name);
      EXPECT_EQ("set" + first.substr(5), vulkan.substr(0, vulkan.find('['))) << name;
      for (size_t at = place.find(' '); at != std::string::npos; at = place.find(' ', at + 1)) {
        const size_t dot = place.find('.', at);
        const int binding = std::stoi(place.substr(dot + 1));
        EXPECT_TRUE(binding >= 512 && binding < 999) << place;
      }
    }
  });
}

constexpr std::array<const char*, 14> kGroups = {"uniform_buffer",
                                                 "read_only_storage_buffer",
                                                 "push_constant",
                                                 "sampler",
                                                 "image_color_2d",
                                                 "image_color_3d",
                                                 "image_color_cube",
                                                 "image_color_2d_array",
                                                 "image_depth_2d",
                                                 "image_depth_3d",
                                                 "image_depth_cube",
                                                 "image_depth_2d_array",
                                                 "read_write_storage_buffer",
                                                 "storage_image_2d"};
constexpr std::array<const char*, 4> kSets = {"pass", "material", "object", "shared"};

// Declarations of one group and set, module by module in the order of 7.4.
template <class Each>
void ForEachBinding(const Json& item, const char* set, const Each& each) {
  for (const Json& module : item["modules"]) {
    for (const char* group : kGroups) {
      for (const Json& decl : module["decls"]) {
        if (decl["kind"] == group && decl["set"] == set) {
          each(decl);
        }
      }
    }
  }
}

// The oracle: in each set, read the order of spec/layout 7.4 and count from 0.
TEST(RplProperty, P31_CountingReproducesEveryBinding) {
  ForAllModules([&](RandomPrograms&, const Json& item, const LaidModules& laid) {
    std::map<std::string, std::string> expected;
    for (size_t set = 0; set < kSets.size(); ++set) {
      int next = 0;
      ForEachBinding(item, kSets[set], [&](const Json& decl) {
        const uint32_t count = decl.value("count", 1u);
        expected[decl["name"]] =
            fmt::format("set{}.{}{}", set, next++, count == 1 ? "" : fmt::format("[{}]", count));
      });
    }
    EXPECT_EQ(laid.places, expected);
  });
}

}  // namespace
}  // namespace kiln::layout
