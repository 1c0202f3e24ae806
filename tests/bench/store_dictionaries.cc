// SPDX-License-Identifier: MIT
#include "tests/bench/store_dictionaries.h"

#include <set>
#include <span>
#include <vector>

#include "cache/compression/codec.h"
#include "cache/decorators/compressing_store.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/test_directory.h"
#include "tests/bench/durable_engine.h"
#include "tests/bench/store_samples.h"
#include "tests/support/demo_project.h"

namespace kiln::bench {
namespace {

// The distinct contents of a cold build of the demo, in the order in which it puts them.
std::vector<cache::Item> DemoContents(const std::filesystem::path& dir) {
  const Result<DemoProject> demo = LoadDemo(KILN_SOURCE_DIR "/examples/demo");
  Check(demo.ok(), "loading the demo");
  const Result<compile::BatchRequest> batch = BatchOf(*demo);
  Check(batch.ok(), "linking the demo");
  Recording recording;
  {
    const TestDirectory directory(dir);
    DurableEngine engine(directory.path(), &recording);
    (void)engine.Build(*batch);
  }
  std::set<Hash128> distinct;
  std::vector<cache::Item> contents;
  for (const RecordedPut& put : recording) {
    for (const cache::Item& item : put.items) {
      if (item.key.level == cache::Level::kContent && distinct.insert(item.key.id).second) {
        contents.push_back(item);
      }
    }
  }
  return contents;
}

void Add(CompressedKind& sum, const cache::Blob& raw, const cache::Dictionary* dictionary) {
  const cache::Blob plain = cache::Compress(raw);
  ++sum.blobs;
  sum.raw_bytes += raw.bytes.size();
  sum.plain_bytes += plain.bytes.size();
  sum.dictionary_bytes +=
      (dictionary == nullptr ? plain : cache::Compress(raw, *dictionary)).bytes.size();
}

}  // namespace

std::map<std::string, CompressedKind> MeasureDictionaries(const std::filesystem::path& dir) {
  const std::vector<cache::Item> contents = DemoContents(dir);
  const TestDirectory directory(dir);
  SystemClock clock;
  NullLog log;
  const auto store = cache::sqlite::SqliteStore::Open({.dir = directory.path()}, clock, log);
  Check(store.ok(), "open");
  cache::CompressingStore compressing(**store, **store, &(*store)->dictionaries());
  for (size_t i = 0; i < contents.size(); i += 2) {
    Check(compressing.Put(std::span(&contents[i], 1), cache::Durability::kRelaxed, {}).ok(), "put");
  }
  Check((*store)->Flush().ok() && (*store)->Train().ok(), "training");
  std::map<std::string, CompressedKind> sums;
  for (size_t i = 1; i < contents.size(); i += 2) {
    const cache::Blob& raw = contents[i].value;
    const cache::ContentKind kind = cache::ContentKindOf(raw.bytes);
    const cache::DictionaryPtr dictionary = (*store)->dictionaries().Current(kind);
    Add(sums[std::string(ContentKindName(kind))], raw, dictionary.get());
    Add(sums["all"], raw, dictionary.get());
  }
  return sums;
}

}  // namespace kiln::bench
