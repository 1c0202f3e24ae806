// SPDX-License-Identifier: MIT
// What a batch costs around the compiler, without a daemon: one worker over the stores that the
// daemon composes. A project is built into an empty cache, and again after an edit of one function
// of one material. cores.py measures the same with kilnd, by number of workers.
//   batch_bench FOLDER [--json | --edits N]     --edits: N edits, for profilers
// See spec/cache 5, 6.5; docs/bench/CORES.md
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/decorators/checked_store.h"
#include "cache/decorators/compressing_store.h"
#include "cache/decorators/limited_store.h"
#include "cache/decorators/memory_store.h"
#include "cache/sqlite/sqlite_store.h"
#include "compiler/base/check.h"
#include "compiler/base/log.h"
#include "compiler/base/test_directory.h"
#include "server/compile/batch/batch.h"
#include "server/jobs/memory_queue.h"
#include "server/jobs/worker.h"
#include "tests/bench/await_batch.h"
#include "tests/bench/measure.h"
#include "tests/support/demo_project.h"

namespace kiln::bench {
namespace {

constexpr uint64_t kMemoryBytes = uint64_t{64} << 20;
constexpr uint64_t kPoolBytes = uint64_t{64} << 20;
constexpr std::string_view kFunction = "* 0.5;";  // of what is edited

class SilentLog final : public LogSink {
  void Take(const LogEntry&) override {}
};

[[noreturn]] void Fail(const std::string& what) {
  fmt::print(stderr, "error: {}\n", what);
  std::exit(2);
}

struct Engine {
  explicit Engine(const std::filesystem::path& dir)
      : file(Open(dir)),
        compressing(*file, *file, &file->dictionaries()),
        checked_file(compressing, *file),
        limited(checked_file, *file, {.min_free_bytes = 0}),
        memory(&limited, file.get(), {.max_bytes = kMemoryBytes}),
        checked(memory, memory) {}
  ~Engine() {
    batches.CancelAll();
    queue.Close();
  }

  std::unique_ptr<cache::sqlite::SqliteStore> Open(const std::filesystem::path& dir) {
    cache::sqlite::SqliteOptions options;
    options.dir = dir;
    options.must_own = true;
    auto opened = cache::sqlite::SqliteStore::Open(options, clock, log);
    KILN_CHECK(opened.ok(), "no store");
    return std::move(opened).value();
  }

  SystemClock clock;
  SilentLog log;
  std::unique_ptr<cache::sqlite::SqliteStore> file;
  cache::CompressingStore compressing;
  cache::CheckedStore checked_file;
  cache::LimitedStore limited;
  cache::MemoryStore memory;
  cache::CheckedStore checked;
  compile::ProgramPool pool{checked, kPoolBytes};
  compile::CachedBuild builder{checked, pool, clock};
  jobs::MemoryQueue queue{{.interactive = 16, .batch = 1000}};
  jobs::Workers workers{{.both = 1, .express = 0}, queue, log};
  compile::Batches batches{
      builder, checked, queue, clock, {.losses = [this] { return file->removals(); }}};
};

struct Row {
  double cpu_s = 0;        // of the process
  double compiling_s = 0;  // of it
  uint64_t results = 0;
  uint64_t compiled = 0;
  uint64_t resident_mib = 0;

  double ratio() const { return compiling_s == 0 ? 0 : cpu_s / compiling_s; }
  std::string Json() const {
    return fmt::format(
        R"({{"cpu_s": {:.4f}, "compiling_s": {:.4f}, "of_compiling": {:.2f}, "results": {}, )"
        R"("compiled": {}, "resident_mib": {}}})",
        cpu_s, compiling_s, ratio(), results, compiled, resident_mib);
  }
};

double CpuSeconds() { return NanosecondsOf(CLOCK_PROCESS_CPUTIME_ID) * 1e-9; }

// As StartBatch does it.
Row Build(Engine& engine, const std::string& name, compile::BatchRequest request) {
  const double before = CpuSeconds();
  const Hash128 id = HashBytes(AsBytes(name));
  compile::Batches::StartHow how;
  how.former = engine.batches.FormerOf(request);
  if (!engine.batches.Start(id, std::move(request), std::move(how)).ok()) {
    Fail("the queue is full");
  }
  const compile::BatchSummary summary = AwaitBatch(engine.batches, id);
  (void)engine.file->Flush();
  return {.cpu_s = CpuSeconds() - before,
          .compiling_s = static_cast<double>(summary.progress.cpu_us) * 1e-6,
          .results = summary.progress.results_done,
          .compiled = summary.progress.compiled,
          .resident_mib = ResidentKib() / 1024};
}

// With another constant in the first material that has one.
DemoProject WithOneFunctionEdited(DemoProject project, std::string_view constant = "0.25") {
  for (const auto& [path, text] : project.sources) {
    if (path.starts_with("materials/") && text.find(kFunction) != std::string::npos) {
      return Edited(std::move(project), path, kFunction, fmt::format("* {};", constant));
    }
  }
  Fail("no material has a function to edit");
}

compile::BatchRequest RequestOf(const DemoProject& project) {
  Result<compile::BatchRequest> request = BatchOf(project);
  if (!request.ok()) {
    Fail(request.error().context);
  }
  return std::move(request).value();
}

std::string Gate(double value, double gate) {
  return fmt::format(R"({{"value": {:.2f}, "gate": {}, "ok": {}}})", value, gate, value <= gate);
}

// One edit after the other, each with another constant; the median of what they cost.
int RunEdits(const DemoProject& project, uint32_t count) {
  const TestDirectory directory;
  Engine engine(directory.path());
  (void)Build(engine, "cold", RequestOf(project));
  std::vector<Row> rows;
  for (uint32_t i = 0; i < count; ++i) {
    rows.push_back(Build(engine, fmt::format("edit {}", i),
                         RequestOf(WithOneFunctionEdited(project, fmt::format("0.25{}1", i)))));
  }
  std::ranges::sort(rows, {}, &Row::cpu_s);
  fmt::print("edited  {}\n", rows[rows.size() / 2].Json());
  return 0;
}

int Main(const std::string& folder, bool json, uint32_t edits) {
  const Result<DemoProject> project = LoadDemo(folder);
  if (!project.ok()) {
    Fail(project.error().context);
  }
  if (edits != 0) {
    return RunEdits(*project, edits);
  }
  compile::BatchRequest whole = RequestOf(*project);
  compile::BatchRequest changed = RequestOf(WithOneFunctionEdited(*project));
  const TestDirectory directory;
  Engine engine(directory.path());
  const Row cold = Build(engine, "cold", std::move(whole));
  const Row edited = Build(engine, "edited", std::move(changed));
  (void)engine.file->Flush();
  const uint64_t bytes = engine.file->Status().used_bytes;
  if (json) {
    fmt::print(
        "{{\"cold\": {}, \"edited\": {}, \"database_bytes\": {}, \"gates\": {{"
        "\"cold_of_compiling\": {}, \"edit_of_compiling\": {}, \"resident_mib\": {}}}}}\n",
        cold.Json(), edited.Json(), bytes, Gate(cold.ratio(), 2.0), Gate(edited.ratio(), 1.3),
        Gate(static_cast<double>(std::max(cold.resident_mib, edited.resident_mib)), 256));
    return 0;
  }
  fmt::print("cold    {}\nedited  {}\ndatabase {} bytes\n", cold.Json(), edited.Json(), bytes);
  return 0;
}

}  // namespace
}  // namespace kiln::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    kiln::bench::Fail("usage: batch_bench FOLDER [--json]");
  }
  const std::string_view how = argc > 2 ? argv[2] : "";
  return kiln::bench::Main(
      argv[1], how == "--json",
      how == "--edits" && argc > 3 ? static_cast<uint32_t>(std::atoi(argv[3])) : 0);
}
