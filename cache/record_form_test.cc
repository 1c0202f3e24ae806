// SPDX-License-Identifier: MIT
// A record is its form and the rest, byte for byte; whatever else the bytes are, nothing comes out.
#include "cache/record_form.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cache/record.h"

namespace kiln::cache {
namespace {

Hash128 Id(std::string_view name) { return HashBytes(AsBytes(name)); }

Record Usual() {
  return {.kind = RecordKind::kOk,
          .products = {{.name = "code.fragment", .digest = {.id = Id("f"), .size = 1000}},
                       {.name = "code.vertex", .digest = {.id = Id("v"), .size = 70'000}},
                       {.name = "meta", .digest = {.id = Id("m"), .size = 127}}},
          .live_options = {"detail", "fog", "layers"},
          .layout_hash = Id("layout"),
          .state_id = Id("state"),
          .cpu_us = 128,
          .limits = {{.name = "instructions", .amount = 12}},
          .build_id = "0123456789ab"};
}

struct Change {
  const char* what;
  std::function<void(Record&)> change;
};

// What records of one program and options differ in.
const std::vector<Change>& Values() {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  static const std::vector<Change> changes = {
      {"nothing", [](Record&) {}},
      {"an id", [](Record& r) { r.products[0].digest.id = Id("other"); }},
      {"an id of zeros", [](Record& r) { r.products[1].digest.id = {}; }},
      {"an id of ones", [](Record& r) { r.products[2].digest.id.bytes.fill(0xFF); }},
      {"a size of 0", [](Record& r) { r.products[0].digest.size = 0; }},
      {"the largest size", [](Record& r) { r.products[0].digest.size = kMost; }},
      {"layout", [](Record& r) { r.layout_hash = Id("l"); }},
      {"state", [](Record& r) { r.state_id->bytes.fill(1); }},
      {"time", [](Record& r) { r.cpu_us = kMost - 1; }},
      {"amount", [](Record& r) { r.limits[0].amount = 1 << 30; }},
  };
  return changes;
}

const std::vector<Change>& OtherForms() {
  static const std::vector<Change> changes = {
      {"kind", [](Record& r) { r.kind = RecordKind::kLimit; }},
      {"name of a product", [](Record& r) { r.products[1].name = "code.vertey"; }},
      {"a product less", [](Record& r) { r.products.pop_back(); }},
      {"name of an option",
       [](Record& r) {
         r.live_options = {"detail", "fog", "layerz"};
       }},
      {"an option less",
       [](Record& r) {
         r.live_options = {"detail", "fog"};
       }},
      {"no layout", [](Record& r) { r.layout_hash.reset(); }},
      {"no state", [](Record& r) { r.state_id.reset(); }},
      {"name of a limit", [](Record& r) { r.limits[0].name = "instructionz"; }},
      {"no limits", [](Record& r) { r.limits.clear(); }},
      {"build", [](Record& r) { r.build_id = "0123456789ac"; }},
  };
  return changes;
}

Bytes With(const Change& change) {
  Record record = Usual();
  change.change(record);
  return EncodeRecord(record);
}

TEST(RecordForm, Values_AreShortAndComeBackByteForByte) {
  const auto form = RecordForm::Of(EncodeRecord(Usual()));
  ASSERT_TRUE(form.has_value());
  for (const Change& change : Values()) {
    const Bytes record = With(change);
    const std::optional<Bytes> shortened = form->Shorten(record);
    ASSERT_TRUE(shortened.has_value()) << change.what;
    EXPECT_LT(shortened->size(), record.size() / 2) << change.what;
    EXPECT_EQ(form->Expand(*shortened), record) << change.what;
    EXPECT_EQ(RecordForm::Of(record)->number(), form->number()) << change.what;
    const Result<RowSummary> decoded = SummarizeRow(Level::kSignature, record);
    ASSERT_TRUE(decoded.ok()) << change.what;
    const RowSummary summary = form->SummaryOf(record);
    EXPECT_EQ(summary.kind, decoded->kind) << change.what;
    EXPECT_EQ(summary.cost_us, decoded->cost_us) << change.what;
    EXPECT_EQ(summary.products, decoded->products) << change.what;
  }
}

TEST(RecordForm, AnythingElse_IsAnotherForm) {
  const auto form = RecordForm::Of(EncodeRecord(Usual()));
  for (const Change& change : OtherForms()) {
    const Bytes record = With(change);
    EXPECT_EQ(form->Shorten(record), std::nullopt) << change.what;
    const auto other = RecordForm::Of(record);
    ASSERT_TRUE(other.has_value()) << change.what;
    EXPECT_NE(other->number(), form->number()) << change.what;
    EXPECT_EQ(other->Expand(*other->Shorten(record)), record) << change.what;
  }
}

TEST(RecordForm, RecordsOfEveryKind_HaveOne) {
  for (const Record& record : {Record{}, Record{.kind = RecordKind::kPoison},
                               Record{.kind = RecordKind::kSourceError,
                               .products = {{.name = "diag", .digest = {.id = Id("d"), .size = 5}}},
                               .live_options = {"a"}}}) {
    const Bytes bytes = EncodeRecord(record);
    const auto form = RecordForm::Of(bytes);
    ASSERT_TRUE(form.has_value());
    EXPECT_EQ(form->Expand(*form->Shorten(bytes)), bytes);
  }
}

TEST(RecordForm, Bytes_AreReadAgain) {
  const Bytes record = EncodeRecord(Usual());
  const auto form = RecordForm::Of(record);
  const auto read = RecordForm::Read(form->bytes());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->number(), form->number());
  EXPECT_EQ(read->Shorten(record), form->Shorten(record));
}

TEST(RecordForm, WhatIsNoRecord_HasNone) {
  EXPECT_FALSE(RecordForm::Of({}).has_value());
  EXPECT_FALSE(RecordForm::Of(AsBytes("kiln.record.1")).has_value());
  EXPECT_FALSE(RecordForm::Of(EncodeMask({})).has_value());
  EXPECT_FALSE(RecordForm::Of(EncodeModuleRecord({})).has_value());
  EXPECT_FALSE(RecordForm::Read(EncodeRecord(Usual())).has_value()) << "it is not empty";
  Record large;
  large.build_id = std::string(RecordForm::kMostBytes, 'x');
  EXPECT_FALSE(RecordForm::Of(EncodeRecord(large)).has_value());
}

// Every byte of a stored form and of what is stored beside it, cut and flipped: another record, or
// nothing, and never more than the form has.
TEST(RecordForm, DamagedBytes_GiveNothingOrARecordOfThatLength) {
  const Bytes record = EncodeRecord(Usual());
  const auto form = RecordForm::Of(record);
  const Bytes shortened = *form->Shorten(record);
  for (size_t length = 0; length < shortened.size(); ++length) {
    EXPECT_FALSE(form->Expand(ByteView(shortened).first(length)).has_value()) << length;
  }
  Bytes longer = shortened;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(form->Expand(longer).has_value());
  for (size_t bit = 0; bit < shortened.size() * 8; ++bit) {
    Bytes flipped = shortened;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const std::optional<Bytes> expanded = form->Expand(flipped);
    if (expanded.has_value()) {
      EXPECT_EQ(expanded->size(), record.size());
      EXPECT_NE(*expanded, record) << bit;
    }
  }
  const Bytes stored(form->bytes().begin(), form->bytes().end());
  for (size_t bit = 0; bit < stored.size() * 8; ++bit) {
    Bytes flipped = stored;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto read = RecordForm::Read(flipped);
    EXPECT_TRUE(!read.has_value() || read->number() != form->number()) << bit;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) {
    Bytes noise(random() % 300);
    std::ranges::generate(noise, [&] { return static_cast<std::byte>(random()); });
    (void)form->Expand(noise);
    EXPECT_FALSE(RecordForm::Read(noise).has_value());
  }
}

}  // namespace
}  // namespace kiln::cache
