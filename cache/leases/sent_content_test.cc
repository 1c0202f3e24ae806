// SPDX-License-Identifier: MIT
#include "cache/leases/sent_content.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

constexpr int64_t kYoung = 600;

Hash128 Id(std::string_view name) { return HashBytes(AsBytes(name)); }

struct Sent {
  const char* owner;
  const char* name;
  uint64_t bytes;
  int64_t at_s;
};

void AddAll(SentContent& sent, const std::vector<Sent>& all) {
  for (const Sent& one : all) {
    sent.Add(one.owner, Id(one.name), one.bytes, one.at_s);
  }
}

// Who has to give up what, of a thousand bytes, where it does not fit; "": nothing may go.
TEST(SentContent, NextToGoTable) {
  const struct {
    const char* what;
    std::vector<Sent> sent;
    const char* owner;
    bool fits;
    const char* goes;
  } table[] = {
      {"half is his", {{"token:a", "1", 500, 0}}, "token:a", true, ""},
      {"more is not, and young", {{"token:a", "1", 501, 600}}, "token:a", false, ""},
      {"what is not young goes", {{"token:a", "1", 501, 400}}, "token:a", false, "1"},
      {"the oldest first",
       {{"token:a", "1", 300, 0}, {"token:a", "2", 300, 1}},
       "token:a",
       false,
       "1"},
      {"three quarters are all the others'",
       {{"token:a", "1", 500, 1000}, {"token:b", "2", 251, 1000}},
       "token:b",
       false,
       "1"},
      {"whoever has most is refused himself",
       {{"token:a", "1", 300, 0}, {"token:b", "2", 460, 1000}},
       "token:b",
       false,
       ""},
      {"the owner has what is left",
       {{"token:a", "1", 500, 1000}, {"token:b", "2", 250, 1000}, {"", "3", 250, 1000}},
       "owner",
       true,
       ""},
      {"and more, of whoever has most",
       {{"token:a", "1", 500, 1000}, {"token:b", "2", 250, 1000}, {"", "3", 251, 1000}},
       "owner",
       false,
       "1"},
  };
  for (const auto& row : table) {
    SentContent sent(1000, kYoung);
    AddAll(sent, row.sent);
    EXPECT_EQ(sent.Fits(row.owner), row.fits) << row.what;
    if (!row.fits) {
      const std::optional<Hash128> next = sent.NextToGo(row.owner, 1000);
      EXPECT_EQ(next.value_or(Id("")), Id(row.goes)) << row.what;
    }
  }
}

TEST(SentContent, KnownContent_StaysWhoseItIsAndIsYoungAgain) {
  SentContent sent(1000, kYoung);
  EXPECT_TRUE(sent.Add("token:a", Id("1"), 300, 0));
  EXPECT_TRUE(sent.Add("token:a", Id("2"), 300, 1));
  EXPECT_FALSE(sent.Add("token:b", Id("1"), 300, 2));
  EXPECT_EQ(sent.Of("token:a"), 600u);
  EXPECT_EQ(sent.Of("token:b"), 0u);
  EXPECT_EQ(sent.NextToGo("token:a", 1000), Id("1"));
  EXPECT_FALSE(sent.Add("token:a", Id("1"), 300, 900));
  EXPECT_EQ(sent.NextToGo("token:a", 1000), Id("2"));
  sent.Forget(Id("1"));
  sent.Forget(Id("never sent"));
  EXPECT_EQ(sent.Of("token:a"), 300u);
  EXPECT_FALSE(sent.empty());
  sent.Forget(Id("2"));
  EXPECT_TRUE(sent.empty());
}

TEST(SentContent, OldestOfMost_AreOfOneAndAsManyAsNeeded) {
  SentContent sent(1000, kYoung);
  EXPECT_TRUE(sent.OldestOfMost(1, 10).empty());
  AddAll(sent, {{"token:a", "1", 100, 0},
                {"token:a", "2", 100, 0},
                {"token:a", "3", 100, 0},
                {"token:b", "4", 299, 0}});
  EXPECT_EQ(sent.OldestOfMost(150, 10), (std::vector<Hash128>{Id("1"), Id("2")}));
  EXPECT_EQ(sent.OldestOfMost(1000, 10).size(), 3u);
  EXPECT_EQ(sent.OldestOfMost(1000, 1).size(), 1u);
  EXPECT_EQ(sent.Shares().at(0).owner, "token:a");
  EXPECT_EQ(sent.Shares().at(0).bytes, 300u);
  EXPECT_EQ(sent.Shares().at(0).contents, 3u);
  EXPECT_EQ(sent.Shares().at(1).owner, "token:b");
}

TEST(SentContent, SentBefore_ComesToEach) {
  SentContent sent(1000, kYoung);
  AddAll(sent, {{"token:a", "1", 10, 0}, {"token:a", "2", 10, 5}, {"token:a", "3", 10, 20}});
  EXPECT_EQ(sent.SentBefore(10, 1), (std::vector<Hash128>{Id("1")}));
  EXPECT_EQ(sent.SentBefore(10, 10), (std::vector<Hash128>{Id("2")}));
  EXPECT_TRUE(sent.SentBefore(0, 10).empty());
}

// However small contents are, their number is bounded, and so is what requests bring unasked.
TEST(SentContent, NumberOfContents_IsBounded) {
  SentContent sent(SentContent::kMostContents * 10, kYoung);
  sent.Add("token:a", Id("1"), 1, 0);
  EXPECT_EQ(sent.Of("token:a"), 11u);
  EXPECT_FALSE(sent.Add(SentContent::kRequests, Id("small"), 4095, 0));
  EXPECT_TRUE(sent.Add(SentContent::kRequests, Id("large"), 4096, 0));
}

}  // namespace
}  // namespace kiln::cache
