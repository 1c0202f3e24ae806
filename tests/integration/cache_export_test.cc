// SPDX-License-Identifier: MIT
// A cache goes into a file and out of it again, in any order; what is hostile never gets in.
#include "cache/pack/write/cache_export.h"

#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/pack/errors.h"
#include "cache/pack/format.h"
#include "cache/pack/test_pack_file.h"
#include "cache/sqlite/maintenance/maintenance.h"
#include "cache/sqlite/tables/lease_tables.h"
#include "cache/test_contents.h"
#include "compiler/base/test_directory.h"
#include "tests/integration/cache_records.h"

namespace kiln::tests {
namespace {

using cache::sqlite::SqliteStore;

// A store as the daemon composes it, as far as exports meet it.
struct Store {
  explicit Store(Clock& clock)
      : sqlite(*SqliteStore::Open({.dir = directory.path(), .writer = {.group_wait = {}}}, clock,
                                  log)),
        compressing(*sqlite, *sqlite, &sqlite->dictionaries()),
        checked(compressing, *sqlite),
        maintenance(*sqlite, clock) {}

  void Put(uint64_t first, uint64_t end) {
    for (uint64_t number = first; number < end; ++number) {
      EXPECT_TRUE(checked.Put(NumberedItems(number), cache::Durability::kDurable, {}).ok());
    }
  }
  uint64_t Whole(uint64_t first, uint64_t end) {
    uint64_t whole = 0;
    for (uint64_t number = first; number < end; ++number) {
      whole += LookUp(checked, number) == Found::kAll ? 1 : 0;
    }
    return whole;
  }
  Result<pack::WriteReport> Export(const std::string& path, const cache::RowFilter& filter = {}) {
    return pack::ExportCache(maintenance, checked, filter, {}, path);
  }
  Result<pack::ImportReport> Import(const std::string& path) {
    KILN_TRY(const std::unique_ptr<pack::Pack> file, pack::Pack::Open(path, {}));
    return pack::ImportCache(*file, checked);
  }

  TestDirectory directory;
  NullLog log;
  std::unique_ptr<SqliteStore> sqlite;
  cache::CompressingStore compressing;
  cache::CheckedStore checked;
  cache::sqlite::StoreMaintenance maintenance;
};

class CacheExport : public testing::Test {
 protected:
  std::string Path(const std::string& name) const {
    return (folder.path() / (name + ".kpack")).string();
  }
  SystemClock clock;
  TestDirectory folder;
};

TEST_F(CacheExport, EverythingGoesOutAndIn_AndOutAgainWithTheSameBytes) {
  Store from(clock);
  from.Put(0, 40);
  const Result<pack::WriteReport> written = from.Export(Path("a"));
  ASSERT_TRUE(written.ok()) << ErrorText(written.error());
  EXPECT_EQ(written->rows, 120u);
  Store to(clock);
  const Result<pack::ImportReport> imported = to.Import(Path("a"));
  ASSERT_TRUE(imported.ok()) << ErrorText(imported.error());
  EXPECT_EQ(imported->added, 160u);
  EXPECT_EQ(to.Whole(0, 40), 40u);
  EXPECT_TRUE(to.maintenance.Verify({})->clean());
  ASSERT_TRUE(to.Export(Path("b")).ok());
  EXPECT_EQ(ReadFile(Path("a")).value(), ReadFile(Path("b")).value());
  const Result<pack::ImportReport> again = to.Import(Path("a"));
  EXPECT_EQ(again->added, 0u);
  EXPECT_EQ(again->present, 160u);
}

TEST_F(CacheExport, ContentThatNoPackHolds_CostsItsRowsOnly) {
  Store from(clock);
  from.Put(0, 3);
  const cache::Item content =
      cache::ContentItem(cache::OwnedBlob(Bytes(pack::kMaxBlobBytes + 1, std::byte{7})));
  const Digest digest{.id = content.key.id, .size = pack::kMaxBlobBytes + 1};
  const Hash128 signature = HashBytes(AsBytes("signature")),
                variant = HashBytes(AsBytes("variant"));
  const std::vector<cache::Item> large = {
      content,
      cache::RecordItem(cache::Level::kSignature, 0, signature,
                        {.kind = cache::RecordKind::kSourceError,
                         .products = {{.name = "diag", .digest = digest}}}),
      cache::AliasItem(0, variant, signature)};
  ASSERT_TRUE(from.checked.Put(large, cache::Durability::kDurable, {}).ok());
  const Result<pack::WriteReport> written = from.Export(Path("a"));
  ASSERT_TRUE(written.ok()) << ErrorText(written.error());
  EXPECT_EQ(written->rows, 9u);
  EXPECT_EQ(written->left_out, 2u);
  Store to(clock);
  const Result<pack::ImportReport> imported = to.Import(Path("a"));
  ASSERT_TRUE(imported.ok()) << ErrorText(imported.error());
  EXPECT_EQ(to.Whole(0, 3), 3u);
}

TEST_F(CacheExport, ImportTellsHowFarItIs_UpToTheEnd) {
  Store from(clock);
  from.Put(0, 40);
  ASSERT_TRUE(from.Export(Path("a")).ok());
  Store to(clock);
  const auto file = pack::Pack::Open(Path("a"), {});
  ASSERT_TRUE(file.ok());
  std::vector<std::pair<uint64_t, uint64_t>> told;
  ASSERT_TRUE(pack::ImportCache(**file, to.checked, [&](uint64_t done, uint64_t total) {
                told.emplace_back(done, total);
              }).ok());
  ASSERT_FALSE(told.empty());
  uint64_t content = 0;
  for (const auto& blob : (*file)->tables().blobs) {
    content += blob.raw_size;
  }
  uint64_t before = 0;
  for (const auto& [done, total] : told) {
    EXPECT_EQ(total, content);
    EXPECT_GE(done, before);
    before = done;
  }
  EXPECT_EQ(before, content) << "all of it was put";
}

// What leaves a store does not depend on how it is compressed there.
TEST_F(CacheExport, StoreWithDictionaries_GivesTheSameFileAsOneWithout) {
  const auto items = [](uint64_t number) {
    const cache::Item code = cache::ContentItem(cache::OwnedBlob(cache::LikeCode(number)));
    return std::vector<cache::Item>{
        code, cache::RecordItem(cache::Level::kSignature, 0, code.key.id,
                                {.products = {{"code", DigestOf(code.value.bytes)}}})};
  };
  Store trained(clock);
  Store plain(clock);
  for (uint64_t number = 0; number < 100; ++number) {
    if (number == 80) {
      ASSERT_EQ(trained.sqlite->Train()->size(), 1u);
    }
    for (Store* store : {&trained, &plain}) {
      ASSERT_TRUE(store->checked.Put(items(number), cache::Durability::kDurable, {}).ok());
    }
  }
  ASSERT_TRUE(trained.Export(Path("a")).ok());
  ASSERT_TRUE(plain.Export(Path("b")).ok());
  EXPECT_EQ(ReadFile(Path("a")).value(), ReadFile(Path("b")).value());
  const Result<pack::ImportReport> again = trained.Import(Path("b"));
  ASSERT_TRUE(again.ok()) << ErrorText(again.error());
  EXPECT_EQ(again->present, 200u);
}

TEST_F(CacheExport, FilesThatOverlap_MergeInAnyOrder) {
  Store first(clock);
  Store second(clock);
  first.Put(0, 20);
  second.Put(10, 30);
  ASSERT_TRUE(first.Export(Path("1")).ok());
  ASSERT_TRUE(second.Export(Path("2")).ok());
  std::vector<std::string> results;
  for (const std::vector<std::string>& order :
       {std::vector<std::string>{"1", "2"}, std::vector<std::string>{"2", "1"}}) {
    Store to(clock);
    for (const std::string& name : order) {
      ASSERT_TRUE(to.Import(Path(name)).ok());
    }
    EXPECT_EQ(to.Whole(0, 30), 30u);
    ASSERT_TRUE(to.Export(Path("merged")).ok());
    results.push_back(ReadFile(Path("merged")).value());
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(CacheExport, OtherResultOfAKey_DoesNotOverwrite) {
  Store from(clock);
  Store to(clock);
  from.Put(0, 1);
  std::vector<cache::Item> items = NumberedItems(1);
  const cache::Record other{.products = {{"code.vertex", DigestOf(items[0].value.bytes)}}};
  items[1] = cache::RecordItem(cache::Level::kSignature, 0, NumberedId("signature", 0), other);
  items.resize(2);
  ASSERT_TRUE(to.checked.Put(items, cache::Durability::kDurable, {}).ok());
  ASSERT_TRUE(from.Export(Path("a")).ok());
  EXPECT_EQ(to.Import(Path("a"))->other, 1u);
  EXPECT_EQ(cache::DecodeRecord(to.checked.Get(items[1].key, {})->bytes).value(), other);
}

TEST_F(CacheExport, PinOnly_GoesOutWithWhatLeadsToIt) {
  Store from(clock);
  from.Put(0, 10);
  const std::vector<cache::Key> keys = {NumberedItems(3)[1].key, NumberedItems(4)[2].key};
  ASSERT_TRUE(cache::sqlite::PinTable(*from.sqlite).Add({.name = "two"}, keys).ok());
  EXPECT_EQ(from.Export(Path("a"), {.pin = "two"})->rows, 6u);
  Store to(clock);
  ASSERT_TRUE(to.Import(Path("a")).ok());
  EXPECT_EQ(to.Whole(0, 10), 2u);
  EXPECT_EQ(from.Export(Path("a"), {.pin = "none"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(from.Export(Path("a"), {.since_s = int64_t{1} << 40})->rows, 0u);
  EXPECT_EQ(to.Import(Path("a"))->rows, 0u);  // an export of nothing is one
}

TEST_F(CacheExport, DamagedFiles_ChangeNothing) {
  Store from(clock);
  from.Put(0, 8);
  ASSERT_TRUE(from.Export(Path("a")).ok());
  const std::string sound = ReadFile(Path("a")).value();
  Store to(clock);
  std::mt19937 random(4);
  for (int i = 0; i < 400; ++i) {
    pack::testing::AlignedBytes bytes(sound);
    bytes.bytes()[random() % sound.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    if (i % 2 == 0) {  // with sums that fit
      const ByteView text = AsBytes(sound);
      pack::testing::Seal(bytes.bytes(), pack::testing::HeaderIn(text),
                          pack::testing::TableIn(text));
    }
    const auto file = pack::Pack::OpenBytes(bytes.bytes(), {});
    if (file.ok()) {
      static_cast<void>(pack::ImportCache(**file, to.checked));
    }
  }
  EXPECT_TRUE(to.maintenance.Verify({})->clean());
  for (uint64_t number = 0; number < 8; ++number) {
    EXPECT_NE(LookUp(to.checked, number), Found::kWrong);
  }
}

struct HostileRow {
  std::string_view what;
  std::function<void(pack::Contents&)> change;
};

TEST_F(CacheExport, RowsThatLie_AreRefusedBeforeAnythingIsPut) {
  const std::vector<cache::Item> items = NumberedItems(1);
  for (const HostileRow& row : std::vector<HostileRow>{
           {"a value that does not decode", [](pack::Contents& c) { c.rows[0].value = Bytes(10); }},
           {"a record of content that is not there",
            [](pack::Contents& c) {
              const cache::Record record{.products = {{"meta", DigestOf("absent")}}};
              c.rows[0].value = cache::EncodeRecord(record);
            }},
           {"a record of another size",
            [&](pack::Contents& c) {
              Digest digest = DigestOf(items[0].value.bytes);
              ++digest.size;
              const cache::Record record{.products = {{"meta", digest}}};
              c.rows[0].value = cache::EncodeRecord(record);
            }},
       }) {
    pack::Contents contents;
    contents.cache_export = true;
    contents.rows.push_back(
        {.key = items[1].key,
         .value = Bytes(items[1].value.bytes.begin(), items[1].value.bytes.end()),
         .refs = {DigestOf(items[0].value.bytes)}});
    row.change(contents);
    const pack::BlobSource source = [&](const Digest&) -> Result<Bytes> {
      return NumberedBytes(1);
    };
    ASSERT_TRUE(pack::WritePack(contents, source, {}, Path("a")).ok()) << row.what;
    Store to(clock);
    const Result<pack::ImportReport> imported = to.Import(Path("a"));
    ASSERT_FALSE(imported.ok()) << row.what;
    EXPECT_EQ(imported.error().reason, pack::kCorrupt) << row.what;
    EXPECT_EQ(to.maintenance.Stats()->levels[0].rows, 0u) << row.what;
  }
}

TEST_F(CacheExport, PackOfArtifacts_IsNoExport) {
  const pack::testing::Sample sample = pack::testing::MakeSample(1, 1, 2);
  ASSERT_TRUE(pack::WritePack(sample.contents, sample.Source(), {}, Path("a")).ok());
  Store to(clock);
  EXPECT_EQ(to.Import(Path("a")).error().reason, "NOT_AN_EXPORT");
}

}  // namespace
}  // namespace kiln::tests
