// SPDX-License-Identifier: MIT
// Parsed modules and linked programs in memory, least recently used first out, bounded in bytes.
// A module is looked up in memory, then in the store, and parsed last: once per source.
// For a call that may not write (cache::Call) it only looks: what such a call parses and links is
// its own, and no order of use changes.
//
// Threads: all functions may run concurrently. One mutex guards the tables; parsing, linking and
// store calls run outside of it, so two threads may parse the same source at once; both get the
// image that came first. Returned values are immutable and outlive the pool.
// See spec/architecture 10.7, spec/cache 2.4, 2.4.3
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/store.h"
#include "compiler/base/cache_usage.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/mutex.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/driver/request.h"
#include "compiler/driver/stages.h"
#include "server/compile/poison.h"
#include "server/compile/programs/module_reader.h"
#include "server/compile/programs/module_rows.h"
#include "server/compile/programs/probe_trail.h"
#include "server/compile/request.h"
#include "server/jobs/crash_guard.h"
#include "server/worker/pool.h"

namespace kiln::compile {

struct PoolCounters {
  uint64_t parsed = 0;         // sources that a front end read
  uint64_t same_tokens = 0;    // of these: lists of macros that left the tokens of another one
  uint64_t images_loaded = 0;  // sources whose image came from the store
  uint64_t linked = 0;
  uint64_t bytes = 0;  // of images held
};

// The key under which a source is kept once it was read.
Hash128 ModuleKeyOf(const Digest& source, ir::Language language, const Hash128& limits);

class ProgramPool final : public CountedCache {
 public:
  // All must outlive the pool. limit: bytes of module images kept. limits: of what is parsed and
  // built; part of every key. `attempts`: null if none are noted. `apart`: runs front ends;
  // null: this process.
  ProgramPool(cache::BlobStore& store, uint64_t limit, const LanguageLimits& limits = {},
              jobs::CrashGuard* attempts = nullptr, worker::Runner* apart = nullptr);

  // `inputs` count for sources in HLSL only. Errors: kFailedPrecondition with reason
  // SOURCES_MISSING if neither the request nor the store has the text, the list of files to
  // include, or one of those that the source includes; kInvalidArgument if no front end reads the
  // file, or the list is none; as ModuleReader::Read. `made`, if not null, is set when a front end
  // had to read the source.
  Result<std::shared_ptr<const ParsedSource>> Parse(const Source& source, const HlslInputs& inputs,
                                                    const cache::Call& call, bool* made = nullptr,
                                                    PoisonPolicy poison = PoisonPolicy::kStands);

  // The text of a source, for snippets and parsing. Errors: as Parse.
  Result<std::shared_ptr<const std::string>> Text(const Source& source, const cache::Call& call) {
    return reader_.Text(source, call);
  }

  // The files that sources may include. Errors: as Parse.
  Result<std::shared_ptr<const FileList>> Files(const HlslInputs& inputs, const cache::Call& call);

  // What parsing a source needs besides itself, as far as it is known: the list of files, those
  // that it includes, or those of them that are not here. May read the source. Errors: as Parse.
  Result<std::vector<Source>> NeedsOf(const Source& source, const HlslInputs& inputs,
                                      const cache::Call& call);

  // Links parsed sources; every one must have a module. `key` names the result: module keys and
  // pipeline decide it. Errors: kDeadlineExceeded if the call is kAtOnce and memory does not have
  // it.
  Result<std::shared_ptr<const Diagnosed<driver::LinkedProgram>>> Link(
      const Hash128& key, std::span<const std::shared_ptr<const ParsedSource>> sources,
      std::vector<std::string> paths, const driver::MacrosOfProgram* macros,
      ir::PipelineType pipeline, const cache::Call& call);

  const LanguageLimits& limits() const { return limits_; }
  const Hash128& limits_id() const { return limits_id_; }

  PoolCounters Counters();
  CacheUsage Usage() override;

 private:
  using ParsedPtr = std::shared_ptr<const ParsedSource>;
  using LinkedPtr = std::shared_ptr<const Diagnosed<driver::LinkedProgram>>;
  // What is held under a key: one of these.
  struct Row {
    Hash128 key;
    ParsedPtr parsed;
    LinkedPtr linked;
    std::shared_ptr<const ProbeRow> probes;
    std::shared_ptr<const FileList> files;
    uint64_t bytes = 0;
  };
  using Rows = std::list<Row>;

  Row* FindRow(const Hash128& key, const cache::Call& call) KILN_REQUIRES(mutex_);
  void AddRow(Row row) KILN_REQUIRES(mutex_);
  // What is to be read: a source, and the key that it is kept under.
  struct ParseRequest {
    const Source& source;
    const Hash128& key;
    ir::Language language;
    PoisonPolicy poison;
  };
  ParsedPtr FindParsed(const Hash128& key, const cache::Call& call);
  ParsedPtr Hold(const Hash128& key, ParsedPtr parsed, const cache::Call& call);
  Result<ParsedPtr> LoadOrParse(const ParseRequest& wanted, const cache::Call& call, bool* made);
  Result<ParsedPtr> Read(const ParseRequest& wanted, const cache::Call& call);

  // Of sources that include.
  std::shared_ptr<const ProbeRow> FindProbes(const Hash128& key, const cache::Call& call);
  void HoldProbes(const Hash128& key, std::shared_ptr<const ProbeRow> row);
  ParsedPtr FollowProbes(ProbeTrail& trail, ir::Language language, const cache::Call& call);
  void KeepProbes(ProbeTrail& trail, std::span<const Probe> probes, const cache::Call& call);
  struct IncludeRequest {
    const Source& source;
    const hlsl::Settings& settings;
    const FileList& files;
    PoisonPolicy poison;
  };
  Result<ParsedPtr> ParseWithIncludes(const IncludeRequest& wanted, const cache::Call& call,
                                      bool* made);
  void HoldStream(const ParsedPtr& parsed, const std::optional<Hash128>& key,
                  const cache::Call& call);
  Result<ParsedPtr> ReadWithIncludes(const IncludeRequest& wanted, ProbeTrail& trail,
                                     const cache::Call& call);

  cache::BlobStore& store_;
  const uint64_t limit_;
  const LanguageLimits limits_;
  const Hash128 limits_id_;
  const ModuleReader reader_;
  Mutex mutex_;
  Rows rows_ KILN_GUARDED_BY(mutex_);  // most recently used first
  std::unordered_map<Hash128, Rows::iterator, Hash128Hash> index_ KILN_GUARDED_BY(mutex_);
  PoolCounters counters_ KILN_GUARDED_BY(mutex_);
  uint64_t hits_ KILN_GUARDED_BY(mutex_) = 0;
  uint64_t misses_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::compile
