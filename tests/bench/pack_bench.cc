// SPDX-License-Identifier: MIT
// What a pack of the demo takes, what reading one artifact of it costs, and how large the delta is
// after an edit of 1 of 40 materials; beside plain zstd, which has no random access, over the same
// bytes in the same run.
//   pack_bench [--json] [--dir DIR] [--rounds N]
// See spec/cache 10.6, 10.9, 10.12
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zstd.h>

#include "cache/module_codec.h"
#include "cache/pack/reader.h"
#include "compiler/base/test_directory.h"
#include "tests/bench/durable_engine.h"
#include "tests/bench/forty_materials.h"
#include "tests/bench/measure.h"
#include "tests/support/demo_project.h"

namespace kiln::bench {
namespace {

constexpr int kPeerLevel = 3;
constexpr int kPeerWindowLog = 27;
constexpr size_t kReads = 400;

struct Options {
  bool json = false;
  int rounds = 5;
  std::filesystem::path dir = std::filesystem::temp_directory_path();
};

[[noreturn]] void Fail(const std::string& what) {
  fmt::print(stderr, "error: {}\n", what);
  std::exit(2);
}

template <class T>
T Must(Result<T> result, const std::string& what) {
  if (!result.ok()) {
    Fail(what + ": " + ErrorText(result.error()));
  }
  return std::move(result).value();
}

double Milliseconds() { return NanosecondsOf(CLOCK_THREAD_CPUTIME_ID) * 1e-6; }

double Median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// `zstd -3 --long=27` of some bytes.
struct Peer {
  uint64_t bytes = 0;
  double ms = 0;
};

Peer CompressedByZstd(const Bytes& raw) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  (void)ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kPeerLevel);
  (void)ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, kPeerWindowLog);
  (void)ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
  Bytes out(ZSTD_compressBound(raw.size()));
  const double start = Milliseconds();
  const size_t size = ZSTD_compress2(context.get(), out.data(), out.size(), raw.data(), raw.size());
  if (ZSTD_isError(size) != 0) {
    Fail("zstd");
  }
  return {.bytes = size, .ms = Milliseconds() - start};
}

// The blobs that a pack has of its own, in no particular order: that of their ids.
Bytes OwnBlobs(const pack::Pack& pack) {
  Bytes raw;
  for (const uint32_t blob : pack.tables().blobs_by_id) {
    if ((pack.tables().blobs[blob].flags & pack::kInBase) == 0) {
      Append(raw, Must(pack.ReadBlob(blob), "reading a blob"));
    }
  }
  return raw;
}

std::shared_ptr<const pack::Pack> Open(const std::string& path,
                                       std::shared_ptr<const pack::Pack> base = nullptr) {
  return Must(pack::Pack::Open(path, {.base = std::move(base)}), "opening " + path);
}

// The rows of BIDX of an artifact.
std::vector<uint32_t> BlobsOfArtifact(const pack::Tables& tables, uint32_t row) {
  const pack::ArtifactRow& artifact = tables.artifacts[row];
  std::vector<uint32_t> blobs{artifact.metadata};
  for (uint32_t i = 0; i < artifact.code_count; ++i) {
    blobs.push_back(tables.code[artifact.first_code + i].blob);
  }
  return blobs;
}

// What of the data an artifact takes: its blocks and their prefixes.
uint64_t FileBytesOf(const pack::Tables& tables, uint32_t artifact) {
  std::set<uint32_t> blocks;
  for (const uint32_t blob : BlobsOfArtifact(tables, artifact)) {
    const uint32_t block = tables.blobs[blob].block;
    blocks.insert(block);
    if (tables.blocks[block].prefix != pack::kNone) {
      blocks.insert(tables.blocks[block].prefix);
    }
  }
  uint64_t bytes = 0;
  for (const uint32_t block : blocks) {
    bytes += tables.blocks[block].stored_size;
  }
  return bytes;
}

struct ReadCost {
  double open_ms = 0;
  double first_ms = 0;      // median over artifacts, in a pack that was just opened
  uint64_t bytes = 0;       // of the file, the most that one takes
  double unpack_gbs = 0;    // all blocks and modules
  double verified_gbs = 0;  // the same with the ids of all blobs
};

// The first artifact after opening, so that nothing was decompressed before.
void MeasureReads(const std::string& path, ReadCost& cost) {
  std::vector<double> opening;
  std::vector<double> reading;
  for (size_t i = 0; i < kReads; ++i) {
    double start = Milliseconds();
    const std::shared_ptr<const pack::Pack> pack = Open(path);
    opening.push_back(Milliseconds() - start);
    const pack::Tables& tables = pack->tables();
    const auto artifact = static_cast<uint32_t>(i * 7919 % tables.artifacts.size());
    start = Milliseconds();
    for (const uint32_t blob : BlobsOfArtifact(tables, artifact)) {
      (void)Must(pack->GetBlob(blob), "reading an artifact");
    }
    reading.push_back(Milliseconds() - start);
  }
  const std::shared_ptr<const pack::Pack> pack = Open(path);
  for (uint32_t row = 0; row < pack->tables().artifacts.size(); ++row) {
    cost.bytes = std::max(cost.bytes, FileBytesOf(pack->tables(), row));
  }
  cost.open_ms = Median(opening);
  cost.first_ms = Median(reading);
}

// Everything once, on this thread. Returns the raw bytes.
uint64_t Unpack(const pack::Pack& pack) {
  const pack::Tables& tables = pack.tables();
  uint64_t raw = 0;
  uint32_t block = pack::kNone;
  Bytes bytes;
  for (const pack::BlobRow& row : tables.blobs) {  // block by block, as they lie
    if (row.block != block) {
      bytes = Must(pack.ReadBlock(row.block), "reading a block");
      block = row.block;
    }
    raw += row.raw_size;
    if ((row.flags & pack::kModule) != 0) {
      Bytes module(row.raw_size);
      const auto symbols = Must(pack.SymbolsOf(block), "reading symbols");
      if (!cache::DecodeModule(ByteView(bytes).subspan(row.offset, row.size), *symbols, module)) {
        Fail("a module does not decode");
      }
    }
  }
  return raw;
}

void MeasureUnpacking(const std::string& path, int rounds, ReadCost& cost) {
  std::vector<double> unpacked;
  std::vector<double> verified;
  for (int round = 0; round < rounds; ++round) {
    const std::shared_ptr<const pack::Pack> pack = Open(path);
    double start = Milliseconds();
    const uint64_t raw = Unpack(*pack);
    unpacked.push_back(static_cast<double>(raw) * 1e-6 / (Milliseconds() - start));
    const std::shared_ptr<const pack::Pack> again = Open(path);
    start = Milliseconds();
    for (uint32_t blob = 0; blob < again->tables().blobs.size(); ++blob) {
      (void)Must(again->GetBlob(blob), "reading a blob");
    }
    verified.push_back(static_cast<double>(raw) * 1e-6 / (Milliseconds() - start));
  }
  cost.unpack_gbs = Median(unpacked);
  cost.verified_gbs = Median(verified);
}

struct Sizes {
  pack::WriteReport written;
  double write_ms = 0;  // planning and compressing, results in memory
  uint64_t raw_bytes = 0;
  Peer peer;
};

Sizes MeasureDemo(const std::filesystem::path& dir, const std::string& path) {
  const DemoProject demo = Must(LoadDemo(KILN_SOURCE_DIR "/examples/demo"), "loading the demo");
  const compile::BatchRequest batch = Must(BatchOf(demo), "linking the demo");
  DurableEngine engine(dir / "demo", nullptr);
  (void)engine.Build(batch);
  const double start = Milliseconds();
  Sizes sizes{.written = Must(engine.Pack(batch, {}, path), "writing the pack")};
  sizes.write_ms = Milliseconds() - start;
  const Bytes raw = OwnBlobs(*Open(path));
  sizes.raw_bytes = raw.size();
  sizes.peer = CompressedByZstd(raw);
  return sizes;
}

struct Delta {
  uint64_t full_bytes = 0;
  uint64_t bytes = 0;
  uint64_t changed_bytes = 0;  // raw
  Peer peer;                   // of what changed
};

Delta MeasureDelta(const std::filesystem::path& dir) {
  const DemoProject project = Must(FortyMaterials(), "reading the manifest");
  DurableEngine engine(dir / "forty", nullptr);
  const compile::BatchRequest before = Must(BatchOf(project), "linking the materials");
  (void)engine.Build(before);
  const std::string base_path = dir / "base.kpack";
  Delta delta;
  delta.full_bytes = Must(engine.Pack(before, {}, base_path), "writing the base").file_bytes;
  const std::shared_ptr<const pack::Pack> base = Open(base_path);
  const compile::BatchRequest after =
      Must(BatchOf(WithOneMaterialEdited(project)), "linking the edited materials");
  (void)engine.Build(after);
  const std::string path = dir / "delta.kpack";
  delta.bytes =
      Must(engine.Pack(after, {.base = base.get()}, path), "writing the delta").file_bytes;
  const Bytes changed = OwnBlobs(*Open(path, base));
  delta.changed_bytes = changed.size();
  delta.peer = CompressedByZstd(changed);
  return delta;
}

struct Gate {
  std::string name;
  double value = 0;
  double gate = 0;
  bool ok = false;
};

Gate AtMost(std::string name, double value, double gate) {
  return {.name = std::move(name), .value = value, .gate = gate, .ok = value <= gate};
}

int Print(const Options& options, const Sizes& sizes, const ReadCost& cost, const Delta& delta) {
  const std::vector<Gate> gates{
      AtMost("pack_demo_bytes", static_cast<double>(sizes.written.file_bytes), 2e6),
      AtMost("pack_artifact_file_bytes", static_cast<double>(cost.bytes), 256 << 10),
      AtMost("pack_artifact_ms", cost.first_ms, 0.3),
      {.name = "pack_unpack_gb_per_s",
       .value = cost.unpack_gbs,
       .gate = 1,
       .ok = cost.unpack_gbs >= 1},
      AtMost("pack_delta_vs_changed",
             static_cast<double>(delta.bytes) / static_cast<double>(delta.peer.bytes), 3)};
  const bool ok = std::ranges::all_of(gates, &Gate::ok);
  if (!options.json) {
    fmt::print(
        "demo   {} artifacts, {} bytes -> {} ({} by zstd -3 --long, without random access); "
        "written in {:.0f} ms, zstd {:.0f} ms\n",
        sizes.written.artifacts, sizes.raw_bytes, sizes.written.file_bytes, sizes.peer.bytes,
        sizes.write_ms, sizes.peer.ms);
    fmt::print(
        "read   open {:.2f} ms, first artifact {:.3f} ms, {} bytes of the file at most; all "
        "{:.2f} GB/s, with ids {:.2f}\n",
        cost.open_ms, cost.first_ms, cost.bytes, cost.unpack_gbs, cost.verified_gbs);
    fmt::print("delta  {} of {} bytes for {} that changed ({} by zstd -3 --long)\n", delta.bytes,
               delta.full_bytes, delta.changed_bytes, delta.peer.bytes);
    for (const Gate& gate : gates) {
      fmt::print("{:<28} {:>12.3f}  gate {:>9}  {}\n", gate.name, gate.value, gate.gate,
                 gate.ok ? "ok" : "MISSED");
    }
    return ok ? 0 : 1;
  }
  std::string text;
  for (const Gate& gate : gates) {
    text += fmt::format("{}\"{}\": {{\"value\": {:.4f}, \"gate\": {}, \"ok\": {}}}",
                        text.empty() ? "" : ", ", gate.name, gate.value, gate.gate, gate.ok);
  }
  fmt::print(
      "{{\"demo\": {{\"artifacts\": {}, \"raw_bytes\": {}, \"pack_bytes\": {}, \"write_ms\": "
      "{:.1f}, "
      "\"zstd_bytes\": {}, \"zstd_ms\": {:.1f}}}, \"read\": {{\"open_ms\": {:.3f}, "
      "\"artifact_ms\": {:.4f}, \"artifact_file_bytes\": {}, \"unpack_gb_per_s\": {:.3f}, "
      "\"verified_gb_per_s\": {:.3f}}}, \"delta\": {{\"full_bytes\": {}, \"bytes\": {}, "
      "\"changed_bytes\": {}, \"zstd_bytes\": {}}}, \"gates\": {{{}}}}}\n",
      sizes.written.artifacts, sizes.raw_bytes, sizes.written.file_bytes, sizes.write_ms,
      sizes.peer.bytes, sizes.peer.ms, cost.open_ms, cost.first_ms, cost.bytes, cost.unpack_gbs,
      cost.verified_gbs, delta.full_bytes, delta.bytes, delta.changed_bytes, delta.peer.bytes,
      text);
  return ok ? 0 : 1;
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      options.json = true;
    } else if (word == "--dir" && i + 1 < argc) {
      options.dir = argv[++i];
    } else if (word == "--rounds" && i + 1 < argc) {
      options.rounds = std::max(1, std::atoi(argv[++i]));
    } else {
      Fail("usage: pack_bench [--json] [--dir DIR] [--rounds N]");
    }
  }
  const TestDirectory directory(options.dir);
  const std::string path = directory.path() / "demo.kpack";
  const Sizes sizes = MeasureDemo(directory.path(), path);
  ReadCost cost;
  MeasureReads(path, cost);
  MeasureUnpacking(path, options.rounds, cost);
  return Print(options, sizes, cost, MeasureDelta(directory.path()));
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) { return kiln::bench::Main(argc, argv); }
