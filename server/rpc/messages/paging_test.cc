// SPDX-License-Identifier: MIT
#include "server/rpc/messages/paging.h"

#include <string_view>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

TEST(FirstOfPage, TokensTable) {
  constexpr size_t kBad = SIZE_MAX;
  const struct {
    std::string_view token;
    size_t first;
  } rows[] = {{"", 0},           {"list-0", 0},
              {"list-250", 250}, {"list-", kBad},
              {"list-x", kBad},  {"list-7x", kBad},
              {"list--1", kBad}, {"list-99999999999999999999999", kBad},
              {"other-7", kBad}};
  for (const auto& row : rows) {
    const Result<size_t> first = FirstOfPage(row.token, "list-");
    EXPECT_EQ(first.ok() ? *first : kBad, row.first) << row.token;
    if (!first.ok()) {
      EXPECT_EQ(first.error().reason, "BAD_PAGE_TOKEN");
    }
  }
}

}  // namespace
}  // namespace kiln::rpc
