// SPDX-License-Identifier: MIT
#include "server/project/counter.h"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "compiler/base/threads/stop.h"
#include "compiler/driver/stages.h"
#include "server/project/space.h"

namespace kiln::project {
namespace {

// A program that declares flags f0 to f39, numbers n0 to n3 and an enum, and mentions those that
// `mentioned` asks for.
driver::LinkedProgram Declared(const std::string& mentioned = "") {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "global f" + std::to_string(i) + ": flag false;\n";
  }
  for (int i = 0; i < 4; ++i) {
    text += "global n" + std::to_string(i) + ": uint 1;\n";
  }
  text += "global kind: enum \"a\" \"b\" \"c\";\n" + mentioned;
  const SourceFile source("declared.rpl", text);
  return std::move(
      *driver::LinkSources(std::span(&source, 1), ir::PipelineType::kGraphicsClassic).value);
}

Axis Flag(int number) { return {.name = "f" + std::to_string(number), .all = true, .values = {}}; }

Axis Number(int number, uint32_t count) {
  Axis axis{.name = "n" + std::to_string(number), .all = false, .values = {}};
  for (uint32_t i = 0; i < count; ++i) {
    axis.values.push_back(
        {.name = axis.name, .scope = {}, .kind = ir::OptionKind::kUint, .bits = i, .text = {}});
  }
  return axis;
}

SpaceRequest Request(std::vector<Axis> axes, std::vector<std::string> exclude,
                     std::vector<std::string> require = {}) {
  return {.fixed = {},
          .axes = std::move(axes),
          .exclude = std::move(exclude),
          .require = std::move(require),
          .variants = {}};
}

Counter::Count CountOf(const driver::LinkedProgram& program, const SpaceRequest& request) {
  Diagnosed<Space> space = Space::Make(program, request);
  std::optional<Counter> counter = space.value->MakeCounter();
  FakeClock clock;
  return counter->All({}, clock);
}

TEST(Counter, Conditions_CountAsByHand) {
  const driver::LinkedProgram program = Declared();
  const struct {
    std::vector<Axis> axes;
    std::vector<std::string> exclude, require;
    std::string points;
  } rows[] = {
      {{}, {}, {}, "1"},
      {{Flag(0), Flag(1)}, {}, {}, "4"},
      {{Flag(0), Flag(1)}, {"f0 && f1"}, {}, "3"},
      {{Flag(0), Flag(1)}, {"f0 && !f1", "!f0 && f1"}, {}, "2"},
      {{Flag(0), Flag(1)}, {}, {"f0"}, "2"},
      {{Flag(0), Flag(1)}, {"true"}, {}, "0"},
      {{Flag(0), Flag(1)}, {"f2"}, {}, "4"},  // no axis: has its default
      {{Flag(0), Number(0, 10)}, {"n0 * 2u > 9u && f0"}, {}, "15"},
      {{{.name = "kind", .all = true, .values = {}}, Flag(0)}, {"kind == \"b\" && f0"}, {}, "5"},
  };
  for (const auto& row : rows) {
    const Counter::Count count = CountOf(program, Request(row.axes, row.exclude, row.require));
    EXPECT_TRUE(count.exact);
    EXPECT_EQ(TextOf(count.points), row.points) << (row.exclude.empty() ? "" : row.exclude[0]);
  }
}

std::string RandomExclusion(std::mt19937_64& random) {
  const auto term = [&]() -> std::string {
    switch (random() % 4) {
      case 0:
        return "n" + std::to_string(random() % 2) + " > " + std::to_string(random() % 4) + "u";
      case 1:
        return "!f" + std::to_string(random() % 6);
      default:
        return "f" + std::to_string(random() % 6);
    }
  };
  std::string text = term();
  for (uint64_t more = random() % 3; more > 0; --more) {
    text.insert(0, 1, '(');
    text.append(random() % 3 == 0 ? " || " : " && ").append(term()).append(")");
  }
  return text;
}

// The counter against walking: count, every rank, live points and what they serve.
TEST(Counter, RandomSpaces_AgreeWithWalking) {
  const driver::LinkedProgram program = Declared();
  std::mt19937_64 random(5);
  for (int round = 0; round < 60; ++round) {
    std::vector<Axis> axes;
    axes.reserve(8);
    for (int i = 0; i < 6; ++i) {
      axes.push_back(Flag(i));
    }
    axes.push_back(Number(0, 4));
    axes.push_back(Number(1, 3));
    std::vector<std::string> exclude;
    for (uint64_t i = random() % 6; i > 0; --i) {
      exclude.push_back(RandomExclusion(random));
    }
    Diagnosed<Space> space = Space::Make(program, Request(axes, exclude));
    const auto walked = space.value->List(0, 1'000'000).value->points;
    std::optional<Counter> counter = space.value->MakeCounter();
    FakeClock clock;
    const Counter::Count count = counter->All({}, clock);
    ASSERT_TRUE(count.exact);
    ASSERT_EQ(static_cast<size_t>(count.points), walked.size());
    std::map<std::vector<uint32_t>, uint64_t> served;  // by values of the first three axes
    std::vector<bool> live(axes.size(), false);
    live[0] = live[1] = live[2] = true;
    for (size_t rank = 0; rank < walked.size(); ++rank) {
      const std::vector<uint32_t> values = counter->Unrank(rank);
      for (size_t axis = 0; axis < axes.size(); ++axis) {
        ASSERT_EQ(space.value->SettingsOf(values)[axis].bits, walked[rank][axis].bits);
      }
      ++served[{values[0], values[1], values[2]}];
    }
    const auto points = counter->LivePoints(live, 1000);
    ASSERT_TRUE(points.has_value());
    ASSERT_EQ(points->size(), served.size());
    for (const Counter::LivePoint& point : *points) {
      EXPECT_EQ(static_cast<uint64_t>(point.served),
                served.at({point.values[0], point.values[1], point.values[2]}));
    }
  }
}

// Every assignment of some axes: how many points agree with it, and which one is the first.
TEST(Counter, HeldAxes_AgreeWithWalking) {
  const driver::LinkedProgram program = Declared();
  const SpaceRequest request = Request({Flag(0), Flag(1), Flag(2), Number(0, 3)},
                                       {"f0 && f1", "!f2 && n0 == 1u", "f1 && f2 && n0 == 2u"});
  Diagnosed<Space> space = Space::Make(program, request);
  std::optional<Counter> counter = space.value->MakeCounter();
  FakeClock clock;
  const PointCount all = counter->All({}, clock).points;
  std::vector<std::vector<uint32_t>> points;
  for (PointCount rank = 0; rank < all; ++rank) {
    points.push_back(counter->Unrank(rank));
  }
  const std::vector<std::vector<uint32_t>> values = counter->AxisValues();
  ASSERT_EQ(values.size(), 4u);
  std::vector<Counter::Held> held = {{}};
  for (const std::vector<uint32_t>& of_axis : values) {
    std::vector<Counter::Held> next;
    for (const Counter::Held& before : held) {
      next.push_back(before);
      next.back().emplace_back(std::nullopt);
      for (const uint32_t value : of_axis) {
        next.push_back(before);
        next.back().emplace_back(value);
      }
    }
    held = std::move(next);
  }
  EXPECT_EQ(held.size(), 3u * 3 * 3 * 4);
  for (const Counter::Held& some : held) {
    std::vector<std::vector<uint32_t>> agree;
    for (const std::vector<uint32_t>& point : points) {
      bool agrees = true;
      for (size_t axis = 0; axis < some.size(); ++axis) {
        agrees = agrees && (!some[axis].has_value() || *some[axis] == point[axis]);
      }
      if (agrees) {
        agree.push_back(point);
      }
    }
    EXPECT_EQ(counter->CountOf(some), agree.size());
    const std::optional<std::vector<uint32_t>> first = counter->First(some);
    EXPECT_EQ(first.has_value(), !agree.empty());
    if (first.has_value() && !agree.empty()) {
      EXPECT_EQ(*first, agree.front());
    }
  }
}

TEST(Counter, ManyAxesWithChainedExclusions_FewEntries) {
  const driver::LinkedProgram program = Declared();
  std::vector<Axis> axes;
  std::vector<std::string> exclude;
  for (int i = 0; i < 36; ++i) {
    axes.push_back(Flag(i));
    if (i > 0 && i < 30) {
      exclude.push_back("f" + std::to_string(i - 1) + " && f" + std::to_string(i));
    }
  }
  Diagnosed<Space> space = Space::Make(program, Request(axes, exclude));
  std::optional<Counter> counter = space.value->MakeCounter();
  FakeClock clock;
  const Counter::Count count = counter->All({}, clock);
  EXPECT_TRUE(count.exact);
  // Strings of 30 bits without two ones in a row, times 2^6.
  EXPECT_EQ(TextOf(count.points), std::to_string(uint64_t{2178309} * 64));
  EXPECT_LT(counter->entries(), 1000u);
}

// At its bound the memory loses what was used longest ago and not all of it, which would make the
// next call count everything again.
TEST(Counter, AtItsBound_KeepsWhatWasUsedLately) {
  const driver::LinkedProgram program = Declared();
  std::vector<Axis> axes;
  std::vector<std::string> exclude;
  for (int i = 0; i < 20; ++i) {
    axes.push_back(Flag(i));
    if (i > 0) {
      exclude.push_back("f" + std::to_string(i - 1) + " && f" + std::to_string(i));
    }
  }
  Diagnosed<Space> space = Space::Make(program, Request(axes, exclude));
  std::optional<Counter> counter = space.value->MakeCounter();
  std::optional<Counter> unbounded = space.value->MakeCounter();
  FakeClock clock;
  ASSERT_TRUE(unbounded->All({}, clock).exact);
  const size_t bound = unbounded->entries() + 1;
  ASSERT_TRUE(counter->All({.entries = bound}, clock).exact);
  for (uint32_t point = 0; point < 200; ++point) {
    Counter::Held held(20);
    for (uint32_t axis = 0; axis < 20; axis += 3) {
      held[axis] = point >> (axis / 3) & 1;
    }
    EXPECT_EQ(TextOf(counter->CountOf(held)), TextOf(unbounded->CountOf(held)));
    EXPECT_GE(counter->entries(), bound - 1);
    EXPECT_LT(counter->entries(), 3 * bound);
  }
  EXPECT_GT(unbounded->entries(), bound);
}

TEST(Counter, BeyondTheLimits_UpperBound) {
  const driver::LinkedProgram program = Declared();
  std::vector<Axis> axes;
  std::vector<std::string> exclude;
  for (int i = 0; i < 20; ++i) {
    axes.push_back(Flag(i));
    exclude.push_back("f" + std::to_string(i) + " && f" + std::to_string((i * 7 + 3) % 20) +
                      " && f" + std::to_string((i * 11 + 5) % 20));
  }
  Diagnosed<Space> space = Space::Make(program, Request(axes, exclude));
  std::optional<Counter> counter = space.value->MakeCounter();
  FakeClock clock;
  const Counter::Count count = counter->All({.entries = 3}, clock);
  EXPECT_FALSE(count.exact);
  EXPECT_EQ(TextOf(count.points), "1048576");
}

TEST(Counter, AxesThatNothingMentions_AreDead) {
  const driver::LinkedProgram program = Declared(
      "conditional (f3 || n1 > 2u) setting cull_mode = \"back\";\n"
      "constant from_kind = kind == \"a\";\n");
  std::vector<Axis> axes;
  axes.reserve(42);
  for (int i = 0; i < 40; ++i) {
    axes.push_back(Flag(i));
  }
  axes.push_back(Number(1, 4));
  axes.push_back({.name = "kind", .all = true, .values = {}});
  Diagnosed<Space> space = Space::Make(program, Request(axes, {"f0 && f1"}));
  const std::vector<bool> live = space.value->LiveAxes();
  const std::vector<std::string> names = space.value->AxisNames();
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(live[i], names[i] == "f3" || names[i] == "n1" || names[i] == "kind") << names[i];
  }
  std::optional<Counter> counter = space.value->MakeCounter();
  FakeClock clock;
  ASSERT_TRUE(counter->All({}, clock).exact);
  const auto points = counter->LivePoints(live, 100);
  ASSERT_TRUE(points.has_value());
  EXPECT_EQ(points->size(), 2u * 4 * 3);
  for (const Counter::LivePoint& point : *points) {
    EXPECT_EQ(TextOf(point.served), std::to_string((uint64_t{1} << 37) * 3));
  }
  EXPECT_FALSE(counter->LivePoints(live, 23).has_value());
}

// Exclusions that no order of the axes takes apart: counting them takes long.
SpaceRequest Tangled(int flags, int exclusions) {
  std::mt19937 random(7);
  std::vector<Axis> axes;
  for (int i = 0; i < flags; ++i) {
    axes.push_back(Flag(i));
  }
  std::vector<std::string> exclude;
  for (int i = 0; i < exclusions; ++i) {
    std::string text;
    for (int k = 0; k < 4; ++k) {
      text += (k == 0 ? "" : " && ") + std::string(random() % 2 == 0 ? "!" : "") + "f" +
              std::to_string(random() % static_cast<uint32_t>(flags));
    }
    exclude.push_back(text);
  }
  return Request(std::move(axes), std::move(exclude));
}

TEST(Counter, Memory_IsBoundedAndThenTheCountIsNotExact) {
  const driver::LinkedProgram program = Declared();
  Diagnosed<Space> space = Space::Make(program, Tangled(40, 120));
  std::optional<Counter> counter = space.value->MakeCounter();
  FakeClock clock;
  EXPECT_FALSE(counter->All({.bytes = uint64_t{1} << 20}, clock).exact);
}

TEST(Counter, CallerLeaves_CountingEnds) {
  const driver::LinkedProgram program = Declared();
  Diagnosed<Space> space = Space::Make(program, Tangled(40, 120));
  std::optional<Counter> counter = space.value->MakeCounter();
  FakeClock clock;  // stands still: no limit of time ends it
  std::stop_source stop;
  stop.request_stop();
  const StopScope scope({.stop = stop.get_token()}, clock);
  EXPECT_THROW((void)counter->All({.entries = SIZE_MAX, .bytes = UINT64_MAX}, clock), Stopped);
}

// 2^40 points: whoever allows that many gets as many as fit into the memory of the call.
TEST(Counter, PointsWithoutEnd_EndAtTheMemoryOfTheCall) {
  const driver::LinkedProgram program = Declared();
  std::vector<Axis> axes;
  for (int i = 0; i < 40; ++i) {
    axes.push_back(Flag(i));
  }
  Diagnosed<Space> space = Space::Make(program, Request(axes, {}));
  std::optional<Counter> counter = space.value->MakeCounter();
  FakeClock clock;
  ASSERT_TRUE(counter->All({}, clock).exact);
  const StopScope scope({.bytes = uint64_t{1} << 20}, clock);
  try {
    (void)counter->LivePoints(std::vector<bool>(axes.size(), true), SIZE_MAX);
    FAIL();
  } catch (const Stopped& stopped) {
    EXPECT_EQ(stopped.why(), Stopped::Why::kMemory);
  }
}

// Each of them was linked with the whole program for itself.
TEST(Space, ThousandsOfExpressions_AreCompiledWithOneProgram) {
  const driver::LinkedProgram program = Declared();
  SpaceRequest request = Request({Flag(0), Flag(1)}, {});
  for (int i = 0; i < 2000; ++i) {
    request.exclude.push_back("f0 && !f1 && n0 == " + std::to_string(i + 2) + "u");
  }
  request.exclude.push_back("f0 && f1");
  FakeClock clock;
  const StopScope scope({.bytes = uint64_t{64} << 20}, clock);
  EXPECT_EQ(TextOf(CountOf(program, request).points), "3");
}

}  // namespace
}  // namespace kiln::project
