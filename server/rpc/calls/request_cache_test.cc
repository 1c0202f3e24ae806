// SPDX-License-Identifier: MIT
#include "server/rpc/calls/request_cache.h"

#include <string>

#include <gtest/gtest.h>

namespace kiln::rpc {
namespace {

std::shared_ptr<const CachedRequest> Any() {
  v1::Outcome outcome;
  (void)outcome.add_artifacts();
  return std::make_shared<CachedRequest>(
      CachedRequest{.recalled = {}, .reply = CompileMessage(std::move(outcome)), .explained = {}});
}

TEST(RequestCache, WhatIsKept_IsFoundByAllItsBytes) {
  RequestCache requests;
  const auto a = Any(), b = Any();
  requests.Keep("a", a);
  EXPECT_EQ(requests.Find("a", {}), a);
  EXPECT_EQ(requests.Find("b", {}), nullptr);
  EXPECT_EQ(requests.Find(std::string_view("a\0", 2), {}), nullptr);
  requests.Keep("a", b);  // what it leads to now
  EXPECT_EQ(requests.Find("a", {}), b);
}

TEST(RequestCache, TheOneUsedLeastLately_MakesRoom) {
  RequestCache requests;
  const auto known = Any();
  const std::string padding(10'000, 'x');
  const uint64_t room = RequestCache::kMaxBytes / (known->bytes() + padding.size() + 4);
  const auto request = [&](uint64_t i) { return std::to_string(1000 + i) + padding; };
  for (uint64_t i = 0; i < room; ++i) {
    requests.Keep(request(i), known);
    requests.Keep(request(i), known);  // takes no room of its own
  }
  EXPECT_NE(requests.Find(request(0), {}), nullptr);
  requests.Keep(request(room), known);
  EXPECT_NE(requests.Find(request(0), {}), nullptr);
  EXPECT_EQ(requests.Find(request(1), {}), nullptr);
  EXPECT_NE(requests.Find(request(room), {}), nullptr);
}

TEST(RequestCache, LargeRequest_IsNotKept) {
  RequestCache requests;
  const std::string most(RequestCache::kMaxRequestBytes, 'x');
  requests.Keep(most, Any());
  EXPECT_NE(requests.Find(most, {}), nullptr);
  requests.Keep(most + "x", Any());
  EXPECT_EQ(requests.Find(most + "x", {}), nullptr);
}

}  // namespace
}  // namespace kiln::rpc
