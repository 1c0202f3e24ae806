// SPDX-License-Identifier: MIT
#include "server/jobs/fair_line.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::jobs {
namespace {

bool Everybody(const std::string& /*tenant*/) { return true; }

struct Waiting {
  std::string tenant, session;
  uint32_t priority = 0;
  int jobs = 0;
};

// A line that is told who waits, and tells whose turns come.
class Turns {
 public:
  void Add(const Waiting& who) {
    for (int i = 0; i < who.jobs; ++i) {
      line_.Add(next_, who.tenant, who.session, who.priority);
      who_.emplace(next_++, who);
    }
  }
  // How many of the next turns each tenant has, or each session of one.
  std::map<std::string, int> Count(int turns, bool sessions = false,
                                   const FairLine::TenantMay& may = Everybody) {
    std::map<std::string, int> counts;
    for (int i = 0; i < turns; ++i) {
      const std::string* tenant = line_.Next(may);
      if (tenant == nullptr) {
        break;
      }
      const auto weight = weights.find(*tenant);
      const Waiting& taken =
          who_.at(line_.Take(*tenant, weight == weights.end() ? 1 : weight->second));
      ++counts[sessions ? taken.session : taken.tenant];
    }
    return counts;
  }
  const FairLine& line() const { return line_; }

  std::map<std::string, uint32_t> weights;

 private:
  FairLine line_;
  std::map<uint64_t, Waiting> who_;
  uint64_t next_ = 1;
};

using Counts = std::map<std::string, int>;

std::vector<Waiting> ManySessions(const std::string& tenant, uint32_t priority, int sessions) {
  std::vector<Waiting> all;
  for (int i = 0; i < sessions; ++i) {
    all.push_back({tenant, std::to_string(i), priority, 80});
  }
  return all;
}

// Whatever one tenant asks for, the other one has what its weight says.
TEST(FairLine, WhatATenantAsksFor_TakesNothingFromOthers) {
  struct Row {
    const char* name;
    std::vector<Waiting> greedy;
    std::string other;
    std::map<std::string, uint32_t> weights;
    int turns;
    Counts counts;
  };
  const std::vector<Row> rows = {
      {"one session each", {{"w", "1", 0, 80}}, "w2", {}, 40, {{"w", 20}, {"w2", 20}}},
      {"priority", {{"w", "1", 9, 80}}, "w2", {}, 40, {{"w", 20}, {"w2", 20}}},
      {"priority beyond all", {{"w", "1", 1'000, 80}}, "w2", {}, 40, {{"w", 20}, {"w2", 20}}},
      {"many sessions", ManySessions("w", 0, 8), "w2", {}, 40, {{"w", 20}, {"w2", 20}}},
      {"both", ManySessions("w", 9, 128), "w2", {}, 40, {{"w", 20}, {"w2", 20}}},
      {"both, beside the owner", ManySessions("w", 9, 32), "", {}, 40, {{"w", 20}, {"", 20}}},
      {"weights", ManySessions("w", 9, 8), "w2", {{"w2", 3}}, 40, {{"w", 10}, {"w2", 30}}},
  };
  for (const Row& row : rows) {
    Turns turns;
    turns.weights = row.weights;
    for (const Waiting& one : row.greedy) {
      turns.Add(one);
    }
    turns.Add({row.other, "1", 0, 80});
    EXPECT_EQ(turns.Count(row.turns), row.counts) << row.name;
  }
}

TEST(FairLine, ManyTenants_LeaveTheOwnerAQuarter) {
  Turns turns;
  turns.weights = {{"0", 1'000}};
  for (int i = 0; i < 20; ++i) {
    turns.Add({std::to_string(i), "1", 9, 80});
  }
  turns.Add({"", "1", 0, 80});
  EXPECT_EQ(turns.Count(40)[""], 10);
  // A quarter is what he has at least: beside one tenant it is the half.
  Turns two;
  two.Add({"a", "1", 9, 80});
  two.Add({"", "1", 0, 80});
  EXPECT_EQ(two.Count(40)[""], 20);
}

// What the owner took beyond his share does not keep a new tenant waiting.
TEST(FairLine, WhoComesNew_WaitsForOneTurnOfEverybody) {
  Turns turns;
  for (const char* tenant : {"", "a", "b", "c", "d", "e", "f", "g"}) {
    turns.Add({tenant, "1", 0, 200});
  }
  (void)turns.Count(400);
  turns.Add({"new", "1", 0, 1});
  EXPECT_EQ(turns.Count(12)["new"], 1);
}

TEST(FairLine, InsideOfATenant_PrioritiesAreShares) {
  Turns turns;
  turns.Add({"w", "a", 0, 80});
  turns.Add({"w", "b", 1, 80});
  turns.Add({"w", "c", 2, 80});
  EXPECT_EQ(turns.Count(35, true), (Counts{{"a", 5}, {"b", 10}, {"c", 20}}));
}

TEST(FairLine, WhoMayNot_IsPassedOver) {
  Turns turns;
  turns.Add({"a", "1", 0, 2});
  turns.Add({"b", "1", 0, 2});
  const auto not_a = [](const std::string& tenant) { return tenant != "a"; };
  EXPECT_EQ(turns.Count(4, false, not_a), (Counts{{"b", 2}}));
  EXPECT_EQ(turns.line().WaitingOf("a"), 2u);
  EXPECT_EQ(turns.line().WaitingOf("b"), 0u);
  EXPECT_EQ(turns.Count(4), (Counts{{"a", 2}}));
}

// Names that come and go are not remembered without end, and nobody gains by being forgotten.
TEST(FairLine, ManyNames_AreForgotten) {
  Turns turns;
  turns.Add({"stays", "1", 0, 10'000});
  for (int i = 0; i < 3'000; ++i) {
    turns.Add({std::to_string(i), std::to_string(i), 9, 1});
    EXPECT_EQ(turns.Count(2).size(), 2u) << i;
  }
}

}  // namespace
}  // namespace kiln::jobs
