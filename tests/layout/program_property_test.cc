// SPDX-License-Identifier: MIT
// Guaranteed properties of policy first_fit over random programs: P2, P3, P5 to P14, P20 and P25
// of spec/layout 15. Each is tried Runs() times, over all targets.
#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/layout/laid_out.h"
#include "tests/layout/random_programs.h"
#include "tests/layout/runs.h"

namespace kiln::layout {
namespace {

using Wanted = RandomPrograms::Wanted;

Platform PlatformOf(uint32_t run) { return kPlatforms[run % 4]; }

// Calls `check` with Runs() programs that have no errors.
void ForAllPrograms(
    const Wanted& wanted,
    const std::function<void(RandomPrograms&, const Json&, Platform, const LaidProgram&)>& check) {
  RandomPrograms random(11);
  for (uint32_t run = 0, tries = 0; run < Runs(); ++tries) {
    ASSERT_LT(tries, 100 * Runs() + 1000) << "hardly any program is right";
    const Json item = random.Program(wanted);
    const Platform platform = PlatformOf(tries);
    const auto laid = LayOutCase<CaseProgram>(item, platform);
    if (laid == nullptr) {
      continue;
    }
    ++run;
    check(random, item, platform, *laid);
    if (testing::Test::HasFailure()) {
      FAIL() << PlatformName(platform) << "\n" << item.dump() << "\n" << laid->dump;
    }
  }
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Other words, and numbers that go down where they went up, so that nothing keeps its place in an
// alphabetical order.
std::string Renamed(const std::string& text) {
  static const std::map<std::string, std::string> words = {
      {"zp", "yq"}, {"zf", "yg"}, {"zS", "yT"}};
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto word = words.find(text.substr(at, 2));
    size_t end = at + 2;
    while (word != words.end() && end < text.size() && text[end] >= '0' && text[end] <= '9') {
      ++end;
    }
    if (word == words.end() || end == at + 2) {
      out += text[at++];
      continue;
    }
    out += fmt::format("{}{}", word->second, 999 - std::stoi(text.substr(at + 2, end - at - 2)));
    at = end;
  }
  return out;
}

// All parameters of a case in global order: (list, index).
std::vector<Json*> ParametersOf(Json& item) {
  std::vector<Json*> parameters;
  for (const char* key : {"units", "imports"}) {
    for (Json& unit : item[key]) {
      for (Json& parameter : unit["params"]) {
        parameters.push_back(&parameter);
      }
    }
  }
  return parameters;
}

// What a parameter uses: kinds and counts, and its leaves relative to its runs.
using UsageRow = std::tuple<int, uint64_t, uint64_t>;
std::vector<UsageRow> UsageOf(const PlacedParameter& parameter, Platform platform) {
  std::vector<UsageRow> rows;
  for (const Place& run : parameter.runs) {
    rows.emplace_back(static_cast<int>(run.kind), run.count, 0);
  }
  for (const PlacedLeaf& leaf : parameter.leaves) {
    for (const Place& place : leaf.places) {
      uint64_t offset = place.index;
      const auto run = std::ranges::find_if(parameter.runs, [&](const Place& r) {
        return r.kind == place.kind && r.space == place.space && r.index <= place.index;
      });
      if (run != parameter.runs.end() && platform != Platform::kWebgpu) {
        offset -= run->index;
      }
      if (run != parameter.runs.end() || parameter.spaces) {
        rows.emplace_back(100 + static_cast<int>(place.kind), place.count,
                          platform == Platform::kWebgpu ? 0 : offset);
      }
    }
  }
  return rows;
}

TEST(ProgramProperty, P2_RenamingChangesNamesOnly) {
  ForAllPrograms({.explicit_bindings = true, .unbounded = true},
                 [](RandomPrograms&, const Json& item, Platform platform, const LaidProgram& laid) {
                   const Json renamed = Json::parse(Renamed(item.dump()));
                   const auto other = LayOutCase<CaseProgram>(renamed, platform);
                   ASSERT_NE(other, nullptr);
                   EXPECT_EQ(other->dump, Renamed(laid.dump));
                 });
}

TEST(ProgramProperty, P3_AppendingMovesNothing) {
  const Wanted wanted{.explicit_bindings = true};
  ForAllPrograms(wanted, [&](RandomPrograms& random, const Json& item, Platform platform,
                             const LaidProgram& laid) {
    Json longer = item;
    Json& units = longer[longer["imports"].empty() ? "units" : "imports"];
    Json appended = random.Parameter({});
    appended["name"] = "zpLast";
    units.back()["params"].push_back(appended);
    const auto other = LayOutCase<CaseProgram>(longer, platform);
    if (other == nullptr || other->layout.globals.has_value() != laid.layout.globals.has_value()) {
      return;
    }
    // The first that needs the default space may move blocks that were there.
    const bool had_default = std::ranges::any_of(
        laid.layout.parameters, [](const PlacedParameter& p) { return !p.runs.empty(); });
    if (!had_default && !laid.layout.globals) {
      return;
    }
    bool automatic = laid.layout.globals.has_value();
    for (const PlacedParameter& p : laid.layout.parameters) {
      automatic = automatic || (!p.is_explicit && !p.runs.empty());
    }
    if (!automatic) {
      return;
    }
    for (const auto& [path, place] : laid.places) {
      EXPECT_EQ(other->places.at(path), place) << path;
    }
  });
}

TEST(ProgramProperty, P5_P6_UsageDependsOnTheParameterOnly) {
  ForAllPrograms(
      {}, [](RandomPrograms& random, const Json& item, Platform platform, const LaidProgram& laid) {
        // Removing one changes the usage of no other.
        Json shorter = item;
        for (const char* key : {"units", "imports"}) {
          for (Json& unit : shorter[key]) {
            Json& parameters = unit["params"];
            if (!parameters.empty() && random.Below(2) == 0) {
              parameters.erase(random.Below(static_cast<uint32_t>(parameters.size())));
            }
          }
        }
        const auto other = LayOutCase<CaseProgram>(shorter, platform);
        ASSERT_NE(other, nullptr);
        for (const PlacedParameter& parameter : other->layout.parameters) {
          const auto before =
              std::ranges::find(laid.layout.parameters, parameter.name, &PlacedParameter::name);
          ASSERT_NE(before, laid.layout.parameters.end());
          EXPECT_EQ(UsageOf(parameter, platform), UsageOf(*before, platform)) << parameter.name;
        }
        // Alone in a program, it uses the same.
        Json alone = item;
        std::vector<Json*> parameters = ParametersOf(alone);
        if (parameters.empty()) {
          return;
        }
        const Json one = *parameters[random.Below(static_cast<uint32_t>(parameters.size()))];
        alone["units"] = Json::array({{{"name", "u0"}, {"params", Json::array({one})}}});
        alone["imports"] = Json::array();
        const auto single = LayOutCase<CaseProgram>(alone, platform);
        ASSERT_NE(single, nullptr);
        const std::string name = one["name"];
        const auto before = std::ranges::find(laid.layout.parameters, std::string_view(name),
                                              &PlacedParameter::name);
        EXPECT_EQ(UsageOf(single->layout.parameters[0], platform), UsageOf(*before, platform));
      });
}

struct Interval {
  uint32_t space = 0;
  int kind = 0;
  uint64_t first = 0;
  uint64_t count = 0;
  bool operator==(const Interval&) const = default;
  std::strong_ordering operator<=>(const Interval& other) const {
    return std::tie(space, kind, first, count) <=>
           std::tie(other.space, other.kind, other.first, other.count);
  }
};

uint64_t NumbersOf(const PlacedLeaf& leaf, const Place& place, Platform platform) {
  return IsD3d(platform) ? place.count : leaf.slots;
}

// Numbers below the reserved area of WebGPU.
std::vector<Interval> IntervalsOf(const PlacedParameter& parameter, Platform platform) {
  std::vector<Interval> intervals;
  for (const PlacedLeaf& leaf : parameter.leaves) {
    for (const Place& place : leaf.places) {
      intervals.push_back({place.space, static_cast<int>(place.kind), place.index,
                           NumbersOf(leaf, place, platform)});
    }
  }
  std::ranges::sort(intervals);
  return intervals;
}

TEST(ProgramProperty, P7_LeavesTileTheRunOfTheirParameter) {
  ForAllPrograms({.explicit_bindings = true}, [](RandomPrograms&, const Json&, Platform platform,
                                                 const LaidProgram& laid) {
    for (const PlacedParameter& parameter : laid.layout.parameters) {
      std::set<int> kinds;
      for (const Place& run : parameter.runs) {
        EXPECT_TRUE(kinds.insert(static_cast<int>(run.kind)).second) << "two runs of a kind";
        uint64_t next = run.index;
        for (const Interval& interval : IntervalsOf(parameter, platform)) {
          const bool inside = interval.kind == static_cast<int>(run.kind) &&
                              interval.space == run.space && interval.first >= run.index &&
                              interval.first < run.index + run.count;
          if (inside) {
            EXPECT_EQ(interval.first, next) << parameter.name;
            next += interval.count;
          }
        }
        EXPECT_EQ(next, run.index + run.count) << parameter.name;
      }
    }
  });
}

TEST(ProgramProperty, P8_RunsAreDisjoint) {
  ForAllPrograms(
      {.explicit_bindings = true, .unbounded = true},
      [](RandomPrograms&, const Json&, Platform platform, const LaidProgram& laid) {
        std::vector<Interval> all;
        for (const PlacedParameter& parameter : laid.layout.parameters) {
          for (const Interval& interval : IntervalsOf(parameter, platform)) {
            all.push_back(interval);
          }
        }
        if (laid.layout.globals) {
          const Place& place = laid.layout.globals->place;
          all.push_back({place.space, static_cast<int>(place.kind), place.index, 1});
        }
        std::ranges::sort(all);
        for (size_t i = 1; i < all.size(); ++i) {
          const Interval& a = all[i - 1];
          const Interval& b = all[i];
          EXPECT_TRUE(a.space != b.space || a.kind != b.kind || a.first + a.count <= b.first);
        }
      });
}

TEST(ProgramProperty, P9_P10_WithoutWrittenNumbersEverythingIsDenseAndInOrder) {
  ForAllPrograms({}, [](RandomPrograms&, const Json&, Platform platform, const LaidProgram& laid) {
    std::map<int, uint64_t> next;
    std::set<uint64_t> spaces;
    uint32_t default_space = 0;
    if (laid.layout.globals) {
      const Place& place = laid.layout.globals->place;
      EXPECT_EQ(place.index, 0u);
      default_space = place.space;
      next[static_cast<int>(place.kind)] = 1;
      spaces.insert(place.space);
    }
    EXPECT_EQ(default_space, 0u);
    // In the order of units and imports, each run starts where the run before it ended.
    uint32_t unit = 0;
    for (const PlacedParameter& parameter : laid.layout.parameters) {
      EXPECT_GE(parameter.unit, unit) << parameter.name;  // imports stand behind all units
      unit = parameter.unit;
      for (const Place& run : parameter.runs) {
        EXPECT_EQ(run.space, 0u);
        EXPECT_EQ(run.index, next[static_cast<int>(run.kind)]) << parameter.name;
        next[static_cast<int>(run.kind)] += run.count;
        spaces.insert(run.space);
      }
      for (const Interval& interval : IntervalsOf(parameter, platform)) {
        spaces.insert(interval.space);
      }
      for (uint64_t i = 0; parameter.spaces && i < parameter.spaces->count; ++i) {
        spaces.insert(parameter.spaces->index + i);
      }
    }
    uint64_t expected = 0;
    for (const uint64_t space : spaces) {
      EXPECT_EQ(space, expected++);
    }
  });
}

// What the author wrote for one parameter and target, by kind; nothing for the others.
std::map<int, Place> WrittenOf(const Json& parameter, Platform platform) {
  std::map<int, Place> written;
  if (IsD3d(platform) && parameter.contains("d3d") && parameter["d3d"].contains("reg")) {
    const std::string text = parameter["d3d"]["reg"];
    const std::map<char, Kind> kinds = {
        {'b', Kind::kB}, {'t', Kind::kT}, {'u', Kind::kU}, {'s', Kind::kS}};
    const Kind kind = kinds.at(text[0]);
    written[static_cast<int>(kind)] = {.kind = kind,
                                       .space = parameter["d3d"].value("space", 0u),
                                       .index = std::stoull(text.substr(1))};
  }
  if (!IsD3d(platform) && parameter.contains("vk") && parameter["vk"].contains("binding")) {
    written[static_cast<int>(Kind::kSlot)] = {.kind = Kind::kSlot,
                                              .space = parameter["vk"].value("set", 0u),
                                              .index = parameter["vk"]["binding"]};
  }
  return written;
}

TEST(ProgramProperty, P11_WrittenNumbersAreHonoured) {
  ForAllPrograms({.explicit_bindings = true}, [](RandomPrograms&, const Json& item,
                                                 Platform platform, const LaidProgram& laid) {
    Json copy = item;
    for (const Json* parameter : ParametersOf(copy)) {
      const std::string name = (*parameter)["name"];
      const auto placed =
          std::ranges::find(laid.layout.parameters, std::string_view(name), &PlacedParameter::name);
      for (const auto& [kind, place] : WrittenOf(*parameter, platform)) {
        const auto run = std::ranges::find_if(placed->runs, [kind = kind](const Place& r) {
          return static_cast<int>(r.kind) == kind;
        });
        if (run == placed->runs.end()) {  // bound by its space: the number is 0
          ASSERT_TRUE(placed->spaces.has_value()) << name;
          EXPECT_EQ(place.index, 0u) << name;
          EXPECT_EQ(placed->spaces->index, place.space) << name;
          continue;
        }
        EXPECT_EQ(run->index, place.index) << name;
        EXPECT_EQ(run->space, place.space) << name;
      }
    }
  });
}

// Registers that are in use, number by number.
class TakenRegisters {
 public:
  void Take(const Place& run) {
    for (uint64_t i = 0; i < run.count; ++i) {
      taken_.insert({run.space, static_cast<int>(run.kind), run.index + i});
    }
  }
  uint64_t LowestRun(uint32_t space, Kind kind, uint64_t count) const {
    for (uint64_t first = 0;; ++first) {
      uint64_t free = 0;
      while (free < count && !taken_.contains({space, static_cast<int>(kind), first + free})) {
        ++free;
      }
      if (free == count) {
        return first;
      }
    }
  }

 private:
  std::set<std::tuple<uint32_t, int, uint64_t>> taken_;
};

// The allocation of spec/layout 7.3 again.
void CheckAllocation(Json item, Platform platform, const LaidProgram& laid) {
  std::map<std::string, std::map<int, Place>> written;
  for (const Json* parameter : ParametersOf(item)) {
    written[(*parameter)["name"]] = WrittenOf(*parameter, platform);
  }
  TakenRegisters taken;
  std::vector<std::pair<std::string, Place>> automatic;
  for (const PlacedParameter& parameter : laid.layout.parameters) {
    const std::string name(parameter.name);
    for (const Place& run : parameter.runs) {
      if (written[name].contains(static_cast<int>(run.kind))) {
        taken.Take(run);
      } else {
        automatic.emplace_back(name, run);
      }
    }
  }
  if (laid.layout.globals) {
    const Place& place = laid.layout.globals->place;
    EXPECT_EQ(place.index, taken.LowestRun(0, place.kind, 1));
    taken.Take(place);
  }
  for (const auto& [name, run] : automatic) {
    EXPECT_EQ(run.space, 0u);
    EXPECT_EQ(run.index, taken.LowestRun(0, run.kind, run.count)) << name;
    taken.Take(run);
  }
}

TEST(ProgramProperty, P12_NoAutomaticParameterHadALowerFreeRun) {
  ForAllPrograms({.explicit_bindings = true, .blocks = false},
                 [](RandomPrograms&, const Json& item, Platform platform, const LaidProgram& laid) {
                   CheckAllocation(item, platform, laid);
                 });
}

TEST(ProgramProperty, P13_ExchangingDisjointKindsChangesTheOrderOnly) {
  int exchanged = 0;
  ForAllPrograms({.blocks = false}, [&](RandomPrograms&, const Json& item, Platform platform,
                                        const LaidProgram& laid) {
    Json swapped = item;
    for (Json& unit : swapped["units"]) {
      Json& parameters = unit["params"];
      for (size_t i = 0; i + 1 < parameters.size(); ++i) {
        const auto kinds = [&](const Json& parameter) {
          std::set<int> found;
          const std::string name = parameter["name"];
          const auto placed = std::ranges::find(laid.layout.parameters, std::string_view(name),
                                                &PlacedParameter::name);
          for (const Place& run : placed->runs) {
            found.insert(static_cast<int>(run.kind));
          }
          const Type& type = laid.program.types()[placed->type];
          if (type.has_bytes) {
            found.insert(1000);
          }
          return found;
        };
        const std::set<int> a = kinds(parameters[i]);
        const std::set<int> b = kinds(parameters[i + 1]);
        if (std::ranges::none_of(a, [&](int kind) { return b.contains(kind); })) {
          std::swap(parameters[i], parameters[i + 1]);
          const auto other = LayOutCase<CaseProgram>(swapped, platform);
          ASSERT_NE(other, nullptr);
          EXPECT_EQ(other->places, laid.places);
          ++exchanged;
          return;
        }
      }
    }
  });
  EXPECT_GT(exchanged, 0);
}

TEST(ProgramProperty, P14_ThreadsAndHistoryChangeNothing) {
  ForAllPrograms(
      {.explicit_bindings = true, .unbounded = true},
      [](RandomPrograms& random, const Json& item, Platform platform, const LaidProgram& laid) {
        // The same object again, after other targets.
        CaseProgram again;
        ASSERT_TRUE(again.Read(item).ok());
        for (const Platform other : kPlatforms) {
          again.LayOutFor(other);
        }
        const ProgramLayout layout = again.LayOutFor(platform);
        EXPECT_EQ(Dump(again.program(), layout, again.bytes()), laid.dump);
        if (random.Below(8) != 0) {
          return;
        }
        std::string dumps[3];
        std::vector<std::thread> threads;
        for (std::string& dump : dumps) {
          threads.emplace_back(
              [&item, &dump, platform] { dump = LayOutCase<CaseProgram>(item, platform)->dump; });
        }
        for (std::thread& thread : threads) {
          thread.join();
        }
        for (const std::string& dump : dumps) {
          EXPECT_EQ(dump, laid.dump);
        }
      });
}

TEST(ProgramProperty, P20_CuttingAUnitKeepsAllPlaces) {
  ForAllPrograms(
      {.explicit_bindings = true, .imports = false},
      [](RandomPrograms& random, const Json& item, Platform platform, const LaidProgram& laid) {
        Json cut = item;
        Json& units = cut["units"];
        Json& last = units.back()["params"];
        const auto at = random.Below(static_cast<uint32_t>(last.size()) + 1);
        Json second = {{"name", "cut"}, {"params", Json::array()}};
        for (uint32_t i = 0; i < at; ++i) {  // what both share
          if (random.Below(2) == 0) {
            second["params"].push_back(last[i]);
          }
        }
        for (size_t i = at; i < last.size(); ++i) {
          second["params"].push_back(last[i]);
        }
        last.erase(last.begin() + static_cast<ptrdiff_t>(at), last.end());
        units.push_back(second);
        const auto other = LayOutCase<CaseProgram>(cut, platform);
        ASSERT_NE(other, nullptr);
        EXPECT_EQ(other->places, laid.places);
      });
}

TEST(ProgramProperty, P25_AUnionGivesAllVariantsOnePlace) {
  ForAllPrograms({.explicit_bindings = true}, [](RandomPrograms& random, const Json& item,
                                                 Platform platform, const LaidProgram& laid) {
    for (int variant = 0; variant < 2; ++variant) {
      CaseProgram program;
      ASSERT_TRUE(program.Read(item).ok());
      program.program().settings.pack_variants = PackVariants::kUnion;
      for (Unit& unit : program.program().units) {
        for (Parameter& parameter : unit.parameters) {
          parameter.absent = random.Below(3) == 0;
        }
      }
      const ProgramLayout layout = program.LayOutFor(platform);
      ASSERT_TRUE(layout.ok());
      const std::string dump = Dump(program.program(), layout, program.bytes());
      EXPECT_EQ(Replaced(dump, " absent\n", "\n"), laid.dump);
    }
  });
}

}  // namespace
}  // namespace kiln::layout
