// SPDX-License-Identifier: MIT
// A source, its settings and the files that it may include -> what a front end makes of it, in this
// process or, where nobody is trusted, in a worker process. Remembers nothing.
//
// Threads: all functions may run concurrently. See spec/daemon 12.4, spec/hlsl 4.2
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/store.h"
#include "compiler/base/language_limits.h"
#include "compiler/driver/frontends.h"
#include "server/compile/programs/include_texts.h"
#include "server/compile/request.h"
#include "server/jobs/crash_guard.h"
#include "server/worker/pool.h"
#include "server/worker/reading.h"

namespace kiln::compile {

struct ReadRequest {
  const Source& source;
  ir::Language language = ir::Language::kRpl;
  const hlsl::Settings& settings;
  const FileList& files;                // that may be included
  std::span<const std::string> likely;  // paths that earlier readings asked for
  Hash128 key;                          // under which a death of it is noted
  // driver::SourceInputs; a worker process is not told, and makes what may be known.
  std::function<bool(const Hash128&)> is_known = {};
};

struct ModuleReading {
  // Nothing if it is poison, or if files that it includes are missing.
  std::optional<driver::ParsedSource> parsed;
  std::vector<Source> missing;
};

class ModuleReader {
 public:
  // All must outlive the object. `attempts`: null if none are noted. `apart`: runs front ends;
  // null: this process.
  ModuleReader(cache::BlobStore& store, const LanguageLimits& limits, jobs::CrashGuard* attempts,
               worker::Runner* apart)
      : store_(store), limits_(limits), attempts_(attempts), apart_(apart) {}

  // Errors: kFailedPrecondition with reason SOURCES_MISSING if neither the request nor the store
  // has the text.
  Result<std::shared_ptr<const std::string>> Text(const Source& source,
                                                  const cache::Call& call) const;

  // Errors: as Text of the source itself and as worker::Runner::Run; kResourceExhausted with
  // LIMIT_EXCEEDED if macros name files in files that macros name, and so on, too often;
  // kInternal for a malformed answer of a worker.
  Result<ModuleReading> Read(const ReadRequest& wanted, const cache::Call& call) const;

 private:
  Result<std::optional<driver::ParsedSource>> ReadOnce(const ReadRequest& wanted,
                                                       const worker::ReadInputs& inputs,
                                                       const cache::Call& call) const;
  Result<std::optional<driver::ParsedSource>> ReadApart(const ReadRequest& wanted,
                                                        const worker::ReadInputs& inputs,
                                                        const cache::Call& call) const;

  cache::BlobStore& store_;
  const LanguageLimits& limits_;
  jobs::CrashGuard* const attempts_;
  worker::Runner* const apart_;
};

}  // namespace kiln::compile
