// SPDX-License-Identifier: MIT
// `kiln cache export` (spec/cli 6.11): rows of a cache, with all content that they lead to, as a
// pack with the flag "cache export" (spec/cache 10). Another machine merges it with `kiln cache
// import`. The export is a copy and changes nothing here, not even the times of use.
#include "client/cli/cache/export.h"

#include <chrono>

#include <fmt/format.h>

#include "cache/pack/write/cache_export.h"
#include "client/cli/add_verb.h"
#include "client/cli/cache/local_cache.h"
#include "client/cli/failure.h"
#include "client/cli/output/print.h"
#include "client/cli/output/units.h"

namespace kiln::cli {
namespace {

struct ExportArguments {
  std::string file;
  std::string pin;
  std::string since;  // "7d"
};

// The age is read before the cache is opened, so that a wrong word costs nothing. --pin and --since
// are both conditions: a row must satisfy each one that is given. Without them everything goes into
// the file.
int RunCacheExport(const Global& global, const std::string& dir, const ExportArguments& arguments) {
  cache::RowFilter filter{.pin = arguments.pin};
  if (!arguments.since.empty()) {
    const Result<uint64_t> seconds = ParseAge(arguments.since);
    if (!seconds.ok()) {
      return Fail(global, seconds.error());
    }
    // An age becomes a time of this machine, which is the one that the rows were stamped with.
    SystemClock clock;
    filter.since_s = std::chrono::duration_cast<std::chrono::seconds>(clock.UnixTime()).count() -
                     static_cast<int64_t>(*seconds);
  }
  // Reading beside a daemon is safe, so an export needs no daemon and stops none.
  const Result<std::unique_ptr<LocalCache>> opened = OpenCache(dir, Use::kLook);
  if (!opened.ok()) {
    return Fail(global, opened.error());
  }
  LocalCache& store = **opened;
  const Result<pack::WriteReport> written =
      pack::ExportCache(*store.maintenance, *store.content, filter, {}, arguments.file);
  if (!written.ok()) {
    return Fail(global, written.error());
  }
  if (!global.json && !global.quiet) {
    Print("{}: {} rows, {} blobs, {}\n", arguments.file, written->rows, written->blobs,
          SizeText(written->file_bytes));
    if (written->left_out != 0) {
      Print("left out: {} rows, whose content is larger than a pack may hold ({})\n",
            written->left_out, SizeText(pack::kMaxBlobBytes));
    }
  }
  // What was left out is told to people only. It is no failure: the importing side compiles those
  // results again.
  return Finish(
      "cache export", kSuccess,
      {{"rows", written->rows}, {"blobs", written->blobs}, {"bytes", written->file_bytes}});
}

}  // namespace

void AddCacheExport(CLI::App& cache, CommandLine& line,
                    const std::shared_ptr<const std::string>& dir) {
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* out =
      AddVerb(cache, line,
              {"export", "Write rows and content into a file",
               "  kiln cache export cache.kpack --since 7d\n  kiln cache export "
               "release.kpack --pin release-12"},
              [&line, dir, arguments] { return RunCacheExport(line.global, *dir, *arguments); });
  out->add_option("file", arguments->file, "File to write")->required();
  out->add_option("--pin", arguments->pin, "Only what this pin holds");
  out->add_option("--since", arguments->since, "Only what was used since, such as 7d");
}

}  // namespace kiln::cli
