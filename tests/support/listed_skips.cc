// SPDX-License-Identifier: MIT
#include "tests/support/listed_skips.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace kiln::testing_support {

Result<std::vector<ListedSkip>> ReadSkipList(std::string_view text) {
  std::vector<ListedSkip> list;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    std::istringstream words(line);
    std::string where;
    ListedSkip& row = list.emplace_back();
    words >> where >> row.test >> std::ws;
    std::getline(words, row.item);
    if (where == "lavapipe") {
      row.where = SkipWhere::kLavapipe;
    } else if (where == "elsewhere") {
      row.where = SkipWhere::kElsewhere;
    } else if (where != "anywhere") {
      row.item.clear();
    }
    if (row.item.empty() || std::ranges::count(row.test, '.') != 2) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("line {} is not WHERE PROGRAM.SUITE.CASE ITEM: {}", number, line),
                   ""};
    }
  }
  return list;
}

std::string JudgeSkip(const std::vector<ListedSkip>& list, const Outcome& outcome) {
  const auto row = std::ranges::find(list, outcome.test, &ListedSkip::test);
  if (row == list.end()) {
    return outcome.skipped ? fmt::format("{} is skipped ({}) and not in tests/skips.txt",
                                         outcome.test, outcome.reason)
                           : std::string();
  }
  if (!outcome.skipped) {
    return row->where == SkipWhere::kLavapipe && outcome.lavapipe
               ? fmt::format("{} is not skipped on lavapipe, tests/skips.txt says that it lacks {}",
                             outcome.test, row->item)
               : std::string();
  }
  if (row->where == SkipWhere::kElsewhere && outcome.lavapipe) {
    return fmt::format("{} is skipped on lavapipe, which has {}", outcome.test, row->item);
  }
  return outcome.reason.find(row->item) == std::string::npos
             ? fmt::format("{} is skipped without naming {}: {}", outcome.test, row->item,
                           outcome.reason)
             : std::string();
}

}  // namespace kiln::testing_support
