// SPDX-License-Identifier: MIT
#include <functional>
#include <string>

#include "cache/decorators/memory_store.h"
#include "cache/pack/sample_contents.h"
#include "cache/pack/test_pack_file.h"
#include "cache/pack/write/cache_export.h"
#include "cache/pack/write/writer.h"
#include "cache/record.h"
#include "compiler/base/check.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"
#include "tests/fuzz/seeds.h"

namespace kiln::fuzz {
namespace {

// A store with one result, as far as an export asks it.
class OneResult final : public cache::Maintenance {
 public:
  OneResult() {
    content_ = cache::ContentItem(cache::CopiedBlob(AsBytes("content")));
    record_ = cache::RecordItem(cache::Level::kSignature, 0, HashBytes(AsBytes("s")),
                                {.products = {{"meta", DigestOf(content_.value.bytes)}}});
    alias_ = cache::AliasItem(0, HashBytes(AsBytes("v")), record_.key.id);
    const std::vector<cache::Item> items = {content_, record_, alias_};
    KILN_CHECK(store.Put(items, cache::Durability::kRelaxed, {}).ok());
  }
  Result<void> EachRow(
      const cache::RowFilter&,
      const std::function<Result<void>(const cache::Key& key, ByteView value)>& each) override {
    for (const cache::Item* item : {&record_, &alias_}) {
      KILN_TRY_VOID(each(item->key, item->value.bytes));
    }
    return {};
  }
  Result<cache::StoreStats> Stats() override { return cache::StoreStats(); }
  Result<cache::VerifyReport> Verify(const cache::VerifyOptions&) override {
    return cache::VerifyReport();
  }
  Result<cache::RepairReport> Repair(const std::stop_token&) override {
    return cache::RepairReport();
  }
  Result<cache::GcReport> Gc(const cache::GcOptions&) override { return cache::GcReport(); }
  Result<std::vector<cache::QuarantineEntry>> ListQuarantine(int64_t, uint32_t) override {
    return std::vector<cache::QuarantineEntry>();
  }

  cache::MemoryStore store{nullptr, nullptr, {}};

 private:
  cache::Item content_, record_, alias_;
};

Bytes Read(const std::string& path) {
  const std::string text = ReadFile(path).value();
  const ByteView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

// The same pack with sections that are not compressed, so that changes reach the rows.
Bytes Uncompressed(const Bytes& pack) {
  std::string text(AsText(pack));
  for (const pack::SectionEntry& section : pack::testing::TableIn(pack)) {
    if (section.codec != pack::Codec::kRaw) {
      text = pack::testing::WithSection(text, section.kind, [](Bytes&, pack::SectionEntry&) {});
    }
  }
  const ByteView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

// Packs of engines, with modules and without, and an export.
std::vector<Bytes> Seeds() {
  const TestDirectory directory;
  const std::string path = (directory.path() / "seed.kpack").string();
  std::vector<Bytes> seeds;
  for (const uint32_t seed : {1U, 2U}) {
    pack::testing::Sample sample = pack::testing::MakeSample(seed, 2, 3);
    pack::testing::AddModules(sample, seed == 1 ? 0 : 5);
    KILN_CHECK(pack::WritePack(sample.contents, sample.Source(), {}, path).ok());
    seeds.push_back(Read(path));
    seeds.push_back(Uncompressed(seeds.back()));
  }
  OneResult one;
  KILN_CHECK(pack::ExportCache(one, one.store, {}, {}, path).ok());
  seeds.push_back(Read(path));
  return seeds;
}

}  // namespace kiln::fuzz
