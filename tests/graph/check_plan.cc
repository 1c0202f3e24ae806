// SPDX-License-Identifier: MIT
// check_plan FILE…: dumped plans of consecutive frames -> what is wrong with them; exit 1 if
// anything is. A file with a list under "frames" stands for all of them.
#include <fstream>

#include <fmt/format.h>

#include "tests/support/hazard_oracle.h"

int main(int argc, char** argv) {
  std::vector<nlohmann::json> frames;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    nlohmann::json plan = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (plan.is_discarded() || !plan.contains("points")) {
      fmt::print(stderr, "{} is no plan\n", argv[i]);
      return 2;
    }
    if (plan.contains("frames")) {
      frames.insert(frames.end(), plan["frames"].begin(), plan["frames"].end());
    } else {
      frames.push_back(std::move(plan));
    }
  }
  size_t problems = 0;
  for (const auto mode : {kiln::test::HazardMode::kVulkan, kiln::test::HazardMode::kStrict}) {
    for (const std::string& problem : kiln::test::FindHazards(frames, mode)) {
      fmt::print("{}\n", problem);
      ++problems;
    }
  }
  fmt::print("{} frames, {} problems\n", frames.size(), problems);
  return problems == 0 ? 0 : 1;
}
