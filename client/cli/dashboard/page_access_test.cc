// SPDX-License-Identifier: MIT
#include "client/cli/dashboard/page_access.h"

#include <gtest/gtest.h>

namespace kiln::cli {
namespace {

constexpr uint16_t kPort = 4711;

std::string KeyOf(const std::string& link) { return link.substr(link.find("key=") + 4); }

std::string CookieOf(const PageAccess& access) {
  return access.Cookie().substr(0, access.Cookie().find(';'));
}

TEST(PageAccess, LinkOpensOnce) {
  PageAccess access(kPort);
  const std::string key = KeyOf(access.NewLink());
  EXPECT_EQ(key.size(), 64U);
  EXPECT_FALSE(access.Open(""));
  EXPECT_FALSE(access.Open(key.substr(1)));
  EXPECT_FALSE(access.Open(key + "0"));
  EXPECT_TRUE(access.Open(key));
  EXPECT_FALSE(access.Open(key)) << "used up";
  EXPECT_FALSE(access.Open("")) << "an empty key is never right";
}

TEST(PageAccess, NewLinkVoidsTheOneBefore) {
  PageAccess access(kPort);
  const std::string first = KeyOf(access.NewLink());
  const std::string second = KeyOf(access.NewLink());
  EXPECT_NE(first, second);
  EXPECT_FALSE(access.Open(first));
  EXPECT_TRUE(access.Open(second));
}

TEST(PageAccess, VerdictTable) {
  const PageAccess access(kPort);
  const std::string good = CookieOf(access);
  const std::string name = good.substr(0, good.find('='));
  struct Row {
    const char* what;
    PageRequest request;
    PageVerdict verdict;
  };
  const std::string here = "127.0.0.1:4711";
  for (const Row& row : std::initializer_list<Row>{
           {"address line", {here, "", "none", good}, PageVerdict::kServed},
           {"page", {here, "http://127.0.0.1:4711", "same-origin", good}, PageVerdict::kServed},
           {"old browser", {here, "", "", good}, PageVerdict::kServed},
           {"by name", {"localhost:4711", "http://localhost:4711", "", good}, PageVerdict::kServed},
           {"among others", {here, "", "", "a=b; " + good + "; c=d"}, PageVerdict::kServed},
           {"no host", {"", "", "", good}, PageVerdict::kForeign},
           {"name that points here", {"evil.example:4711", "", "", good}, PageVerdict::kForeign},
           {"other port", {"127.0.0.1:4712", "", "", good}, PageVerdict::kForeign},
           {"other origin", {here, "http://evil.example", "", good}, PageVerdict::kForeign},
           {"no origin", {here, "null", "", good}, PageVerdict::kForeign},
           {"other port's page", {here, "http://127.0.0.1:80", "", good}, PageVerdict::kForeign},
           {"other name's page", {here, "http://localhost:4711", "", good}, PageVerdict::kForeign},
           {"other site", {here, "", "cross-site", good}, PageVerdict::kForeign},
           {"other port of this site", {here, "", "same-site", good}, PageVerdict::kForeign},
           {"without cookie", {here, "", "none", ""}, PageVerdict::kNoCookie},
           {"without value", {here, "", "none", name + "="}, PageVerdict::kNoCookie},
           {"wrong value", {here, "", "none", good + "0"}, PageVerdict::kNoCookie},
           {"longer name", {here, "", "none", "x" + good}, PageVerdict::kNoCookie},
           {"only semicolons", {here, "", "none", ";;; ;"}, PageVerdict::kNoCookie}}) {
    EXPECT_EQ(access.Judge(row.request), row.verdict) << row.what;
  }
}

TEST(PageAccess, CookieIsForThisServerAlone) {
  const PageAccess access(kPort);
  EXPECT_NE(access.Cookie().find("; HttpOnly; SameSite=Lax"), std::string::npos);
  const PageAccess other(kPort);
  EXPECT_EQ(access.Judge({"127.0.0.1:4711", "", "", CookieOf(other)}), PageVerdict::kNoCookie);
}

}  // namespace
}  // namespace kiln::cli
