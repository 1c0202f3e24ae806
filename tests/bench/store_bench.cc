// SPDX-License-Identifier: MIT
// The store against its peers in one run: bare SQLite with the same schema, pragmas and
// transactions; plain files; one flat file with an index in memory. A pack against such a flat file
// whose index is read when it is opened.
//   store_bench [--json] [--items N] [--start-records N] [--dir DIR] [--only dictionaries]
// Peers and store take turns; every figure is the median of the rounds. Beside them what one
// explain record costs whoever makes the request. See spec/cache 6.5, 6.11, 11.5.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/explain/explain_ring.h"
#include "cache/pack/reader.h"
#include "cache/pack/write/writer.h"
#include "cache/record.h"
#include "cache/sqlite/database.h"
#include "cache/sqlite/sqlite_store.h"
#include "cache/sqlite/tables/explain_table.h"
#include "compiler/base/test_directory.h"
#include "tests/bench/measure.h"
#include "tests/bench/store_dictionaries.h"
#include "tests/bench/store_peers.h"
#include "tests/bench/store_samples.h"

namespace kiln::bench {
namespace {

using cache::sqlite::SqliteStore;

constexpr int kRounds = 5;

struct Options {
  bool json = false;
  bool only_dictionaries = false;
  size_t items = 8192;
  size_t start_records = 1'000'000;
  std::filesystem::path dir = std::filesystem::temp_directory_path();
};

double Now() { return NanosecondsOf(CLOCK_MONOTONIC) * 1e-9; }

double Seconds(const std::function<void()>& work) {
  const double start = Now();
  work();
  return Now() - start;
}

// --- The store -----------------------------------------------------------------------------------

std::unique_ptr<SqliteStore> OpenStore(const std::filesystem::path& dir) {
  static SystemClock clock;
  static NullLog log;
  auto store = SqliteStore::Open({.dir = dir}, clock, log);
  Check(store.ok(), store.ok() ? "open" : ErrorText(store.error()));
  return *std::move(store);
}

void StorePuts(SqliteStore& store, const std::vector<Sample>& samples) {
  for (size_t i = 0; i < samples.size(); i += kPerPut) {
    std::vector<Item> items;
    for (size_t j = i; j < std::min(samples.size(), i + kPerPut); ++j) {
      const Sample& sample = samples[j];
      items.insert(items.end(), {sample.content, sample.record, sample.variant, sample.live});
    }
    Check(store.Put(items, cache::Durability::kDurable, {}).ok(), "put");
  }
}

void StoreGets(SqliteStore& store, const std::vector<Hash128>& ids) {
  for (const Hash128& id : ids) {
    Check(store.Get({.level = cache::Level::kContent, .id = id}, {}).ok(), "get");
  }
}

// --- Packs ---------------------------------------------------------------------------------------

constexpr size_t kPackReads = 10'000;

// Artifacts of one program, one blob each.
void WritePackOf(const std::vector<Sample>& samples, const std::string& path) {
  pack::Contents contents;
  contents.programs.push_back({.name = "program", .pipeline = "compute", .options = {}});
  contents.entries.push_back({.id = DigestOf("entry").id, .target = "vk", .masks = {{}}});
  std::unordered_map<Hash128, const Sample*, Hash128Hash> by_id;
  for (const Sample& sample : samples) {
    const Digest digest = DigestOf(sample.content.value.bytes);
    by_id.emplace(digest.id, &sample);
    contents.artifacts.push_back({.live_key = sample.live.key.id,
                                  .state_id = digest.id,
                                  .code = {{.stage = 3, .digest = digest}},
                                  .metadata = digest});
  }
  const pack::BlobSource source = [&](const Digest& digest) -> Result<Bytes> {
    const ByteView bytes = by_id.at(digest.id)->content.value.bytes;
    return Bytes(bytes.begin(), bytes.end());
  };
  Check(pack::WritePack(contents, source, {}, path).ok(), "pack write");
}

void PackOpenAndReads(const std::string& path, const std::vector<Hash128>& ids) {
  const auto opened = pack::Pack::Open(path, {});
  Check(opened.ok(), "pack open");
  for (size_t i = 0; i < kPackReads; ++i) {
    const std::optional<uint32_t> row = (*opened)->FindBlob(ids[i % ids.size()]);
    Check(row.has_value(), "pack look-up");
    const Result<cache::Blob> blob = (*opened)->GetBlob(*row);
    Check(blob.ok() && blob->bytes.size() == kBlobBytes, "pack read");
  }
}

struct FlatRow {
  Hash128 id;
  uint64_t offset = 0;
};

void WriteFlatOf(const std::vector<Sample>& samples, const std::string& path) {
  std::ofstream data(path, std::ios::binary);
  std::ofstream index(path + ".index", std::ios::binary);
  uint64_t offset = 0;
  for (const Sample& sample : samples) {
    const ByteView bytes = sample.content.value.bytes;
    const FlatRow row{.id = sample.content.key.id, .offset = offset};
    data.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    index.write(reinterpret_cast<const char*>(&row), sizeof(row));
    offset += bytes.size();
  }
  Check(data.good() && index.good(), "flat write");
}

// Nothing is verified.
void FlatOpenAndReads(const std::string& path, const std::vector<Hash128>& ids) {
  std::ifstream file(path + ".index", std::ios::binary);
  std::unordered_map<Hash128, uint64_t, Hash128Hash> index;
  for (FlatRow row; file.read(reinterpret_cast<char*>(&row), sizeof(row));) {
    index.emplace(row.id, row.offset);
  }
  const int fd = ::open(path.c_str(), O_RDONLY);
  for (size_t i = 0; i < kPackReads; ++i) {
    Bytes bytes(kBlobBytes);  // the caller's own
    Check(::pread(fd, bytes.data(), bytes.size(),
                  static_cast<off_t>(index.at(ids[i % ids.size()]))) ==
              static_cast<ssize_t>(bytes.size()),
          "flat read");
  }
  ::close(fd);
}

// --- Measuring -----------------------------------------------------------------------------------

// Rates per second, by name; several rounds.
class Rates {
 public:
  void Add(const std::string& name, double rate) { rates_[name].push_back(rate); }
  double Median(const std::string& name) const {
    std::vector<double> sorted = rates_.at(name);
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  // Median of the ratios of the same round, which a change of load between rounds leaves alone.
  double MedianRatio(const std::string& name, const std::string& peer) const {
    std::vector<double> ratios;
    for (size_t i = 0; i < rates_.at(name).size(); ++i) {
      ratios.push_back(rates_.at(name)[i] / rates_.at(peer)[i]);
    }
    std::ranges::sort(ratios);
    return ratios[ratios.size() / 2];
  }
  const std::map<std::string, std::vector<double>>& all() const { return rates_; }

 private:
  std::map<std::string, std::vector<double>> rates_;
};

void MeasureRound(const Options& options, uint64_t round, Rates& rates) {
  const TestDirectory directory(options.dir);
  const std::filesystem::path& dir = directory.path();
  const std::vector<Sample> samples = MakeSamples(options.items, round);
  std::vector<Hash128> ids;
  ids.reserve(samples.size());
  for (const Sample& sample : samples) {
    ids.push_back(sample.content.key.id);
  }
  std::ranges::shuffle(ids, std::mt19937(static_cast<uint32_t>(round)));
  {
    const auto store = OpenStore(dir / "store");
    BareSqlite bare(dir);
    PlainFiles files(dir / "files");
    FlatFile flat(dir);
    const auto count = static_cast<double>(samples.size());
    const auto put = [&](const std::string& name, const std::function<void()>& work) {
      rates.Add("put " + name, count / Seconds(work));
    };
    const auto get = [&](const std::string& name, const std::function<void()>& work) {
      work();  // warm
      rates.Add("get " + name, count / Seconds(work));
    };
    // The first one meets a disk that still tidies up after the round before: they change places.
    const auto put_store = [&] { put("store", [&] { StorePuts(*store, samples); }); };
    const auto put_bare = [&] { put("bare", [&] { bare.Puts(samples); }); };
    if (round % 2 == 0) {
      put_bare();
      put_store();
    } else {
      put_store();
      put_bare();
    }
    put("files", [&] { files.Puts(samples); });
    put("flat", [&] { flat.Puts(samples); });
    get("store", [&] { StoreGets(*store, ids); });
    get("bare", [&] { bare.Gets(ids); });
    get("files", [&] { files.Gets(ids); });
    get("flat", [&] { flat.Gets(ids); });
  }
  WritePackOf(samples, dir / "bench.kpack");
  WriteFlatOf(samples, dir / "bench.flat");
  const auto read = [&](const std::string& name, const std::function<void()>& work) {
    work();  // warm
    rates.Add("open " + name, static_cast<double>(kPackReads) / Seconds(work));
  };
  read("pack", [&] { PackOpenAndReads(dir / "bench.kpack", ids); });
  read("flat", [&] { FlatOpenAndReads(dir / "bench.flat", ids); });
}

// One look-up of content through what stands above a database, as a daemon has it without the
// memory above it.
struct HitLatency {
  double p50_us = 0;
  double p99_us = 0;
};

HitLatency MeasureHits(const Options& options) {
  const TestDirectory directory(options.dir);
  const auto store = OpenStore(directory.path());
  cache::CompressingStore compressing(*store, *store, &store->dictionaries());
  cache::CheckedStore checked(compressing, *store);
  constexpr size_t kHitBytes = 16384;
  std::vector<Hash128> ids;
  for (size_t i = 0; i < std::min<size_t>(options.items, 4096); ++i) {
    const Sample sample = MakeSample(i, kHitBytes);
    const std::vector<Item> items = {sample.content, sample.record, sample.variant, sample.live};
    Check(checked.Put(items, cache::Durability::kRelaxed, {}).ok(), "put");
    ids.push_back(sample.content.key.id);
  }
  Check(store->Flush().ok(), "flush");
  std::ranges::shuffle(ids, std::mt19937(1));
  std::vector<double> taken_us;
  for (int round = 0; round < 4; ++round) {  // the first one warms
    for (const Hash128& id : ids) {
      const double start = Now();
      Check(checked.Get({.level = cache::Level::kContent, .id = id}, {}).ok(), "hit");
      if (round > 0) {
        taken_us.push_back((Now() - start) * 1e6);
      }
    }
  }
  std::ranges::sort(taken_us);
  return {.p50_us = taken_us[taken_us.size() / 2], .p99_us = taken_us[taken_us.size() * 99 / 100]};
}

struct Start {
  double seconds = 0;
  double memory_mib = 0;
};

void FillStore(const std::filesystem::path& dir, size_t records) {
  constexpr size_t kPerFill = 4096;
  const auto store = OpenStore(dir);
  for (size_t i = 0; i < records; i += kPerFill) {
    std::vector<Item> items;
    for (size_t j = i; j < std::min(records, i + kPerFill); ++j) {
      Sample sample = MakeSample(j, 64);
      items.insert(items.end(), {std::move(sample.content), std::move(sample.record)});
    }
    Check(store->Put(items, cache::Durability::kDurable, {}).ok(), "fill");
  }
}

// Opens a store of many small records and answers one look-up; memory is taken after some more.
// Another process fills it, so that nothing here was allocated before and is used again.
Start MeasureStart(const Options& options) {
  const TestDirectory directory(options.dir);
  const std::filesystem::path& dir = directory.path();
  const pid_t filler = ::fork();
  if (filler == 0) {
    FillStore(dir, options.start_records);
    ::_exit(0);
  }
  int status = 0;
  Check(::waitpid(filler, &status, 0) == filler && status == 0, "filling");
  constexpr size_t kLookUps = 1000;
  const auto look_up = [&](cache::BlobStore& store, size_t number) {
    const Sample wanted = MakeSample(number % options.start_records, 64);
    Check(store.Get(wanted.record.key, {}).ok(), "get");
    Check(store.Get(wanted.content.key, {}).ok(), "get");
  };
  const double before_mib = static_cast<double>(ResidentKib()) / 1024;
  std::unique_ptr<SqliteStore> store;
  Start start;
  start.seconds = Seconds([&] {
    store = OpenStore(dir);
    look_up(*store, options.start_records / 2);
  });
  std::mt19937 random(1);
  for (size_t i = 0; i < kLookUps; ++i) {
    look_up(*store, random());
  }
  start.memory_mib = static_cast<double>(ResidentKib()) / 1024 - before_mib;
  return start;
}

// CPU microseconds of a miss that is compared with a full slot, the dearest there is.
double MeasureExplain(const Options& options) {
  const TestDirectory directory(options.dir);
  constexpr int kRecords = 4096;
  double microseconds = 0;
  {
    SystemClock clock;
    const auto store = OpenStore(directory.path());
    cache::sqlite::ExplainTable table(*store);
    cache::ExplainRing ring(&table, clock, {});
    cache::ExplainRecord record{.slot = {.project = "demo", .program = "rock", .target = "vk"}};
    cache::ExplainInputs inputs;
    inputs.pipeline = "graphics_classic";
    for (int i = 0; i < 4; ++i) {
      inputs.modules.push_back(
          {.path = "passes/forward" + std::to_string(i) + ".rpl", .source = DigestOf("s")});
    }
    for (int i = 0; i < 24; ++i) {
      inputs.options.push_back({.name = "option_" + std::to_string(i), .value = "false"});
    }
    const double start = ThreadCpuMicroseconds();
    for (int i = 0; i < kRecords; ++i) {
      inputs.options[static_cast<size_t>(i) % 24].value = std::to_string(i);
      record.inputs = inputs;
      ring.Append(record);
    }
    microseconds = ThreadCpuMicroseconds() - start;
  }
  return microseconds / kRecords;
}

double Ratio(uint64_t raw, uint64_t stored) {
  return stored == 0 ? 0 : static_cast<double>(raw) / static_cast<double>(stored);
}

using Ratios = std::map<std::string, CompressedKind>;

void PrintRatios(const Ratios& ratios) {
  for (const auto& [kind, sum] : ratios) {
    fmt::print("demo {:<6} {:>6} blobs {:>9} bytes  zstd {:.2f}x  with dictionary {:.2f}x\n", kind,
               sum.blobs, sum.raw_bytes, Ratio(sum.raw_bytes, sum.plain_bytes),
               Ratio(sum.raw_bytes, sum.dictionary_bytes));
  }
}

std::string RatiosJson(const Ratios& ratios) {
  std::string text;
  for (const auto& [kind, sum] : ratios) {
    text += fmt::format(
        "{}\"{}\": {{\"blobs\": {}, \"raw_bytes\": {}, \"zstd\": {:.3f}, \"dictionary\": {:.3f}}}",
        text.empty() ? "" : ", ", kind, sum.blobs, sum.raw_bytes,
        Ratio(sum.raw_bytes, sum.plain_bytes), Ratio(sum.raw_bytes, sum.dictionary_bytes));
  }
  return "{" + text + "}";
}

struct Gate {
  std::string name;
  double value;
  double gate;
  bool ok;
};

void Print(const Options& options, const Rates& rates, const Start& start, double explain_us,
           const HitLatency& hits, const Ratios& ratios) {
  const double put = rates.MedianRatio("put store", "put bare");
  const double get = rates.MedianRatio("get store", "get bare");
  const double open = rates.MedianRatio("open pack", "open flat");
  const std::vector<Gate> gates = {
      {"durable_puts_vs_bare_sqlite", put, 0.8, put >= 0.8},
      {"verified_gets_vs_bare_sqlite", get, 0.7, get >= 0.7},
      {"pack_open_and_reads_vs_flat_file", open, 0.8, open >= 0.8},
      {"start_seconds", start.seconds, 1.0, start.seconds <= 1.0},
      {"start_memory_mib", start.memory_mib, 64.0, start.memory_mib <= 64.0},
      {"explain_microseconds", explain_us, 50.0, explain_us <= 50.0},
      {"hit_p50_microseconds", hits.p50_us, 30.0, hits.p50_us <= 30.0},
      {"hit_p99_microseconds", hits.p99_us, 300.0, hits.p99_us <= 300.0},
  };
  if (!options.json) {
    PrintRatios(ratios);
    for (const auto& [name, values] : rates.all()) {
      fmt::print("{:<12} {:>12.0f} /s\n", name, rates.Median(name));
    }
    for (const Gate& gate : gates) {
      fmt::print("{:<32} {:>8.3f}  gate {:>6.2f}  {}\n", gate.name, gate.value, gate.gate,
                 gate.ok ? "ok" : "MISSED");
    }
    return;
  }
  std::string per_second;
  for (const auto& [name, values] : rates.all()) {
    per_second +=
        fmt::format("{}\"{}\": {:.0f}", per_second.empty() ? "" : ", ", name, rates.Median(name));
  }
  std::string gate_text;
  for (const Gate& gate : gates) {
    gate_text +=
        fmt::format("{}\"{}\": {{\"value\": {:.4f}, \"gate\": {:.2f}, \"ok\": {}}}",
                    gate_text.empty() ? "" : ", ", gate.name, gate.value, gate.gate, gate.ok);
  }
  fmt::print(
      "{{\"bench\": \"store\", \"items\": {}, \"blob_bytes\": {}, \"items_per_put\": {},"
      " \"start_records\": {}, \"per_second\": {{{}}}, \"dictionaries\": {}, \"gates\": {{{}}}}}\n",
      options.items, kBlobBytes, kPerPut, options.start_records, per_second, RatiosJson(ratios),
      gate_text);
}

bool ParseOptions(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--json") {
      options.json = true;
    } else if (i + 1 < argc && flag == "--items") {
      options.items = std::strtoul(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && flag == "--start-records") {
      options.start_records = std::strtoul(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && flag == "--dir") {
      options.dir = argv[++i];
    } else if (i + 1 < argc && flag == "--only" &&
               std::string_view(argv[i + 1]) == "dictionaries") {
      options.only_dictionaries = true;
      ++i;
    } else {
      return false;
    }
  }
  return options.items > 0 && options.start_records > 0;
}

}  // namespace

int Main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, options)) {
    fmt::print(stderr, "usage: store_bench [--json] [--items N] [--start-records N] [--dir DIR]\n");
    return 2;
  }
  const Ratios ratios = MeasureDictionaries(options.dir);
  if (options.only_dictionaries) {
    options.json ? fmt::print("{}\n", RatiosJson(ratios)) : PrintRatios(ratios);
    return 0;
  }
  const Start start = MeasureStart(options);
  Rates rates;
  for (int round = 0; round < kRounds; ++round) {
    MeasureRound(options, static_cast<uint64_t>(round), rates);
  }
  Print(options, rates, start, MeasureExplain(options), MeasureHits(options), ratios);
  return 0;
}

}  // namespace kiln::bench

int main(int argc, char** argv) { return kiln::bench::Main(argc, argv); }
