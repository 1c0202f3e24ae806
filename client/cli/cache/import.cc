// SPDX-License-Identifier: MIT
// `kiln cache import` (spec/cli 6.11): merges an exported file into a cache. A row that is here
// already is never overwritten, so an import can be repeated, and one that was interrupted is
// continued by running it again.
#include "client/cli/cache/import.h"

#include <functional>

#include "cache/pack/write/cache_export.h"
#include "client/cli/add_verb.h"
#include "client/cli/cache/local_cache.h"
#include "client/cli/failure.h"
#include "client/cli/output/byte_progress.h"
#include "client/cli/output/print.h"

namespace kiln::cli {
namespace {

struct ImportArguments {
  std::string file;
};

// The pack is opened and its tables are checked before the cache is, so a damaged file never makes
// this process the owner of a folder.
Result<pack::ImportReport> Import(const Global& global, const std::string& dir,
                                  const ImportArguments& arguments) {
  KILN_TRY(const std::unique_ptr<pack::Pack> file, pack::Pack::Open(arguments.file, {}));
  SystemClock clock;
  ByteProgress progress(global, "cache import", clock);
  KILN_TRY(const std::unique_ptr<client::Client> daemon, HolderOf(global, dir));
  if (daemon != nullptr) {
    // The daemon's rows and content are written through the same interface as those of a folder; it
    // checks each of them as it would check a stranger's.
    return pack::ImportCache(*file, *daemon->CacheStore(clock), std::ref(progress));
  }
  KILN_TRY(const std::unique_ptr<LocalCache> opened, OpenCache(dir, Use::kChange));
  return pack::ImportCache(*file, *opened->content, std::ref(progress));
}

int RunCacheImport(const Global& global, const std::string& dir, const ImportArguments& arguments) {
  const Result<pack::ImportReport> imported = Import(global, dir, arguments);
  if (!imported.ok()) {
    return Fail(global, imported.error());
  }
  if (!global.json && !global.quiet) {
    Print("{}: {} rows, {} blobs; {} new, {} known, {} known with another result\n", arguments.file,
          imported->rows, imported->blobs, imported->added, imported->present, imported->other);
  }
  // A key that leads to another result here means that one of two builds is not deterministic. The
  // row that is here stays (spec/cache 4.5).
  return Finish("cache import", imported->other == 0 ? kSuccess : kIntegrity,
                {{"rows", imported->rows},
                 {"blobs", imported->blobs},
                 {"added", imported->added},
                 {"present", imported->present},
                 {"other", imported->other}});
}

}  // namespace

void AddCacheImport(CLI::App& cache, CommandLine& line,
                    const std::shared_ptr<const std::string>& dir) {
  const auto arguments = std::make_shared<ImportArguments>();
  CLI::App* in = AddVerb(
      cache, line,
      {"import", "Merge an exported file; overwrites nothing",
       "  kiln cache import cache.kpack\n  kiln cache import cache.kpack --dir build/cache"},
      [&line, dir, arguments] { return RunCacheImport(line.global, *dir, *arguments); });
  in->add_option("file", arguments->file, "File to read")->required();
}

}  // namespace kiln::cli
