// SPDX-License-Identifier: MIT
// The group `kiln cache` (spec/cli 6.11, spec/cache 9). All verbs below share --dir, hence the
// shared pointer: it is filled when the group's words are parsed, which is after the verbs were
// declared.
#include "client/cli/cache/cache.h"

#include <string>

#include "client/cli/add_verb.h"
#include "client/cli/cache/export.h"
#include "client/cli/cache/gc.h"
#include "client/cli/cache/import.h"
#include "client/cli/cache/pins.h"
#include "client/cli/cache/repair.h"
#include "client/cli/cache/stats.h"
#include "client/cli/cache/verify.h"
#include "client/cli/cache/why.h"

namespace kiln::cli {

void AddCache(CLI::App& app, CommandLine& line) {
  CLI::App* cache = AddGroup(app, "cache", "The cache of this user");
  const auto dir = std::make_shared<std::string>();
  cache->add_option("--dir", *dir,
                    "Folder of the cache; default: KILN_CACHE_DIR, "
                    "else ~/.cache/kiln");
  AddCacheStats(*cache, line, dir);
  AddCacheGc(*cache, line, dir);
  AddCacheVerify(*cache, line, dir);
  AddCacheRepair(*cache, line, dir);
  AddCacheExport(*cache, line, dir);
  AddCacheImport(*cache, line, dir);
  AddCachePin(*cache, line, dir);
  AddCacheUnpin(*cache, line, dir);
  AddCacheWhy(*cache, line, dir);
  AddCachePins(*cache, line, dir);
}

}  // namespace kiln::cli
