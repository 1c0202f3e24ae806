// SPDX-License-Identifier: MIT
// Three kinds of rows in one bounded list, by key: modules that were read, programs that were
// linked, and for languages with includes the file lists and probe rows. One mutex guards the list;
// it is never held while the store is asked or a front end runs, so two threads may read one source
// at once, and the first that is done is kept.
#include "server/compile/programs/program_pool.h"

#include <utility>

#include <fmt/format.h>

#include "cache/decorators/memory_store.h"
#include "cache/key.h"
#include "compiler/base/hash/canonical.h"
#include "compiler/driver/fingerprint.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "server/compile/programs/limits_id.h"

namespace kiln::compile {

// Of a source that includes nothing (spec/cache 2.4). Sources in HLSL have the keys of their trail.
Hash128 ModuleKeyOf(const Digest& source, ir::Language language, const Hash128& limits) {
  return cache::ModuleKey({.language = driver::LanguageText(language),
                           .source = source,
                           .front_end = driver::FrontFingerprint(language),
                           .limits = limits});
}

ProgramPool::ProgramPool(cache::BlobStore& store, uint64_t limit, const LanguageLimits& limits,
                         jobs::CrashGuard* attempts, worker::Runner* apart)
    : store_(store),
      limit_(limit),
      limits_(limits),
      limits_id_(LimitsIdOf(limits)),
      reader_(store, limits_, attempts, apart) {}

// Memory first, then the store, then the front end. A call that may not wait (kAtOnce) ends after
// memory; it runs in a thread of gRPC.
Result<std::shared_ptr<const ParsedSource>> ProgramPool::Parse(const Source& source,
                                                               const HlslInputs& inputs,
                                                               const cache::Call& call, bool* made,
                                                               PoisonPolicy poison) {
  const std::optional<ir::Language> language = driver::LanguageOf(source.path);
  if (!language.has_value()) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .context = "no front end reads '" + source.path + "'; known extensions: .rpl, .hlsl, .wgsl",
        .reason = "UNKNOWN_LANGUAGE"};
  }
  if (*language == ir::Language::kHlsl) {
    KILN_TRY(const std::shared_ptr<const FileList> files, Files(inputs, call));
    return ParseWithIncludes(
        {.source = source, .settings = inputs.settings, .files = *files, .poison = poison}, call,
        made);
  }
  const Hash128 key = ModuleKeyOf(source.digest, *language, limits_id_);
  if (ParsedPtr known = FindParsed(key, call); known != nullptr) {
    return known;
  }
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  return LoadOrParse({.source = source, .key = key, .language = *language, .poison = poison}, call,
                     made);
}

// In memory; null: not there.
ProgramPool::ParsedPtr ProgramPool::FindParsed(const Hash128& key, const cache::Call& call) {
  const MutexLock lock(mutex_);
  const Row* const row = FindRow(key, call);
  ++(row == nullptr ? misses_ : hits_);
  return row == nullptr ? nullptr : row->parsed;
}

// What stands under the key from now on: what another thread put there if that was faster.
// Requires: the caller holds no lock. A caller who may not write keeps what it made to itself
// (spec/daemon 11.4).
ProgramPool::ParsedPtr ProgramPool::Hold(const Hash128& key, ParsedPtr parsed,
                                         const cache::Call& call) {
  if (!call.may_write) {
    return parsed;
  }
  const MutexLock lock(mutex_);
  if (const Row* row = FindRow(key, call); row != nullptr) {
    return row->parsed;
  }
  // Counted where it is kept and not where it was made: of two threads that read one source at once
  // only one adds a row.
  ++(parsed->from_store ? counters_.images_loaded : counters_.parsed);
  AddRow({.key = key, .parsed = parsed, .bytes = parsed->memory_bytes()});
  return parsed;
}

// `made` tells the caller that a front end ran, for the explain record. Poison is read again where
// the caller asks to retry failures, and replaced by what comes of it.
Result<ProgramPool::ParsedPtr> ProgramPool::LoadOrParse(const ParseRequest& wanted,
                                                        const cache::Call& call, bool* made) {
  ParsedPtr parsed = LoadModuleRow(store_, wanted.key, wanted.language, call);
  if (parsed != nullptr && parsed->poison && wanted.poison == PoisonPolicy::kStands) {
    return parsed;  // not held: the store knows how long it stands
  }
  if (parsed == nullptr || parsed->poison) {
    KILN_TRY(parsed, Read(wanted, call));
    if (made != nullptr) {
      *made = true;
    }
    if (parsed->poison) {
      return parsed;
    }
  }
  return Hold(wanted.key, std::move(parsed), call);
}

namespace {

// What a reading came to, to be kept; poison if it came to nothing. Poison has neither module nor
// diagnostics: the caller notes which input it was.
std::shared_ptr<ParsedSource> FreshOf(std::optional<driver::ParsedSource> read) {
  auto fresh = std::make_shared<ParsedSource>();
  if (!read.has_value()) {
    fresh->poison = true;
    return fresh;
  }
  fresh->diagnostics = std::move(read->module.diagnostics);
  fresh->files = std::move(read->files);
  fresh->probes = std::move(read->probes);
  if (read->module.value.has_value()) {
    fresh->SetModule(std::move(*read->module.value));
  }
  return fresh;
}

}  // namespace

// What a front end makes of a source that includes nothing.
Result<ProgramPool::ParsedPtr> ProgramPool::Read(const ParseRequest& wanted,
                                                 const cache::Call& call) {
  KILN_TRY(ModuleReading read, reader_.Read({.source = wanted.source,
                                             .language = wanted.language,
                                             .settings = {},
                                             .files = {},
                                             .likely = {},
                                             .key = wanted.key},
                                            call));
  // Rows of the store come after the result is known and are relaxed: losing one costs another
  // reading.
  const std::shared_ptr<ParsedSource> fresh = FreshOf(std::move(read.parsed));
  if (call.may_write && !fresh->poison) {
    KeepModuleRow(store_, wanted.key, wanted.source, *fresh, call);
  }
  return ParsedPtr(fresh);
}

// ---- Sources that include -----------------------------------------------------------------------

// The list of files that a program declares (spec/daemon 3.3), parsed once and then shared, since
// thousands of programs name the same list. The digest of an uploaded list is its key here; keys of
// modules and links are hashes of other domains, so they cannot meet.
Result<std::shared_ptr<const FileList>> ProgramPool::Files(const HlslInputs& inputs,
                                                           const cache::Call& call) {
  if (inputs.files != nullptr) {
    return inputs.files;
  }
  if (!inputs.list.has_value()) {
    return std::make_shared<const FileList>();
  }
  {
    const MutexLock lock(mutex_);
    const Row* const row = FindRow(inputs.list->id, call);
    if (row != nullptr && row->files != nullptr) {
      return row->files;
    }
  }
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  KILN_TRY(
      const std::shared_ptr<const std::string> text,
      Text({.path = "(list of files to include)", .digest = *inputs.list, .text = nullptr}, call));
  KILN_TRY(FileList list, FileList::Read(*text));
  auto files = std::make_shared<const FileList>(std::move(list));
  if (call.may_write) {
    const MutexLock lock(mutex_);
    if (FindRow(inputs.list->id, call) == nullptr) {
      // The text and about as much for the parsed rows.
      AddRow({.key = inputs.list->id, .files = files, .bytes = 2 * text->size()});
    }
  }
  return files;
}

// In memory, or in the store unless the call is kAtOnce; null: nowhere.
std::shared_ptr<const ProbeRow> ProgramPool::FindProbes(const Hash128& key,
                                                        const cache::Call& call) {
  {
    const MutexLock lock(mutex_);
    const Row* const row = FindRow(key, call);
    if (row != nullptr) {
      return row->probes;
    }
  }
  if (call.deadline == cache::kAtOnce) {
    return nullptr;
  }
  std::optional<ProbeRow> loaded = LoadProbeRow(store_, key, call);
  if (!loaded.has_value()) {
    return nullptr;
  }
  auto row = std::make_shared<const ProbeRow>(*std::move(loaded));
  if (call.may_write) {
    HoldProbes(key, row);
  }
  return row;
}

// A row that stands already gives way: it led nowhere.
void ProgramPool::HoldProbes(const Hash128& key, std::shared_ptr<const ProbeRow> row) {
  uint64_t bytes = sizeof(ProbeRow);
  for (const std::string& path : row->paths) {
    bytes += sizeof(std::string) + path.size();
  }
  const MutexLock lock(mutex_);
  if (const auto old = index_.find(key); old != index_.end()) {
    counters_.bytes -= old->second->bytes;
    rows_.erase(old->second);
    index_.erase(old);
  }
  AddRow({.key = key, .probes = std::move(row), .bytes = bytes});
}

// Follows the rows as far as they lead. Null: to be read, or to be loaded by a call that may wait.
// Each row that is no end adds paths that were not asked for before, at most kMostRows of them
// (spec/cache 2.4.4), so the loop ends. A module at the end is taken only if its own probes hold in
// this set.
ProgramPool::ParsedPtr ProgramPool::FollowProbes(ProbeTrail& trail, ir::Language language,
                                                 const cache::Call& call) {
  for (;;) {
    const std::shared_ptr<const ProbeRow> row = FindProbes(trail.NextKey(), call);
    if (row == nullptr) {
      return nullptr;
    }
    if (!row->is_end()) {
      if (!trail.Follow(*row)) {
        return nullptr;
      }
      continue;
    }
    ParsedPtr parsed = FindParsed(row->module, call);
    if (parsed == nullptr && call.deadline != cache::kAtOnce) {
      parsed = LoadModuleRow(store_, row->module, language, call);
    }
    // Rows are hints that anybody with scope peer may have put.
    if (parsed == nullptr || parsed->poison || !trail.LeadsTo(row->module, parsed->probes)) {
      return nullptr;
    }
    return Hold(row->module, std::move(parsed), call);
  }
}

// Writes down where the trail leads from where it ended: what else was asked for, and then the
// module. Rows that other threads wrote meanwhile are followed.
void ProgramPool::KeepProbes(ProbeTrail& trail, std::span<const Probe> probes,
                             const cache::Call& call) {
  for (;;) {
    const Hash128 key = trail.NextKey();
    const std::shared_ptr<const ProbeRow> known = FindProbes(key, call);
    if (known != nullptr && !known->is_end()) {
      if (!trail.Follow(*known)) {
        return;
      }
      continue;
    }
    // A row that leads elsewhere is overwritten in memory and put once in the store, where the
    // first value stays.
    const auto row = std::make_shared<const ProbeRow>(trail.RowTo(probes));
    if (known == nullptr || *known != *row) {
      HoldProbes(key, row);
      KeepProbeRow(store_, key, *row, call);
    }
    if (row->is_end() || !trail.Follow(*row)) {
      return;
    }
  }
}

// Sources that include: the trail says which module this root becomes with this set of files, if
// some reading has told before. Otherwise the source is read, and the trail is written for the next
// time.
Result<ProgramPool::ParsedPtr> ProgramPool::ParseWithIncludes(const IncludeRequest& wanted,
                                                              const cache::Call& call, bool* made) {
  constexpr ir::Language kLanguage = ir::Language::kHlsl;
  ProbeTrail trail(wanted.source, kLanguage, wanted.settings, wanted.files, limits_id_);
  if (ParsedPtr known = FollowProbes(trail, kLanguage, call); known != nullptr) {
    return known;
  }
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  // Poison of a reading is noted under the key of the reading, since the module that it would
  // become is not known (spec/cache 2.4.4).
  if (wanted.poison == PoisonPolicy::kStands) {
    const ParsedPtr dead = LoadModuleRow(store_, trail.ReadingKey(), kLanguage, call);
    if (dead != nullptr && dead->poison) {
      return dead;
    }
  }
  KILN_TRY(ParsedPtr fresh, ReadWithIncludes(wanted, trail, call));
  if (made != nullptr) {
    *made = true;
  }
  if (fresh->poison || !call.may_write) {
    return fresh;
  }
  // After ReadWithIncludes, whose rows name this key.
  const Hash128 key = trail.ModuleKeyOf(fresh->probes);
  return Hold(key, std::move(fresh), call);
}

namespace {

// Of tokens that were read with these settings; limits are those of the pool.
Hash128 StreamKey(const Hash128& stream, const hlsl::Settings& settings) {
  return CanonicalWriter("kiln.stream.1")
      .Hash(1, stream)
      .Text(2, hlsl::LanguageText(settings))
      .Key();
}

}  // namespace

// `trail.asked` are the paths that earlier readings asked for. They are loaded before the first
// reading, so most sources are read once.
Result<ProgramPool::ParsedPtr> ProgramPool::ReadWithIncludes(const IncludeRequest& wanted,
                                                             ProbeTrail& trail,
                                                             const cache::Call& call) {
  // Lists of defines may differ and leave the same tokens. Then what was made of those is shared,
  // and only what the source asked for is this list's own.
  ParsedPtr same;
  ReadRequest reading{.source = wanted.source,
                      .language = ir::Language::kHlsl,
                      .settings = wanted.settings,
                      .files = wanted.files,
                      .likely = trail.asked(),
                      .key = trail.ReadingKey()};
  if (!wanted.settings.macros.empty()) {
    reading.is_known = [&](const Hash128& stream) {
      same = FindParsed(StreamKey(stream, wanted.settings), call);
      return same != nullptr;
    };
  }
  KILN_TRY(ModuleReading read, reader_.Read(reading, call));
  if (!read.missing.empty()) {
    return Error{
        .code = ErrorCode::kFailedPrecondition,
        .context = fmt::format("'{}', which '{}' may include{}, is not here; upload it "
                               "with PutSources and repeat",
                               read.missing.front().path, wanted.source.path,
                               read.missing.size() == 1
                                   ? std::string()
                                   : fmt::format(", and {} files more", read.missing.size() - 1)),
        .reason = "SOURCES_MISSING"};
  }
  std::shared_ptr<ParsedSource> fresh;
  std::optional<Hash128> stream;
  if (read.parsed.has_value() && read.parsed->is_known) {
    fresh = std::make_shared<ParsedSource>(*same);
    fresh->probes = std::move(read.parsed->probes);
    fresh->shares_module = true;
    fresh->from_store = false;
  } else {
    stream = read.parsed.has_value() ? read.parsed->stream : std::nullopt;
    fresh = FreshOf(std::move(read.parsed));
  }
  if (call.may_write && !fresh->poison) {
    KeepModuleRow(store_, trail.ModuleKeyOf(fresh->probes), wanted.source, *fresh, call);
    KeepProbes(trail, fresh->probes, call);
    HoldStream(
        fresh,
        stream.has_value() ? std::optional(StreamKey(*stream, wanted.settings)) : std::nullopt,
        call);
  }
  return ParsedPtr(fresh);
}

// Under the id of its tokens, for the next list that leaves them; without a key it is one of those.
// The row of its list counts its bytes, and this one as much as it may keep alive alone.
void ProgramPool::HoldStream(const ParsedPtr& parsed, const std::optional<Hash128>& key,
                             const cache::Call& call) {
  const MutexLock lock(mutex_);
  if (!key.has_value()) {
    counters_.same_tokens += parsed->shares_module ? 1 : 0;
    return;
  }
  if (FindRow(*key, call) == nullptr) {
    AddRow({.key = *key, .parsed = parsed, .bytes = parsed->memory_bytes()});
  }
}

// For clients that upload what is missing before they ask: all files of the module if it is known,
// else what can be seen to be missing.
Result<std::vector<Source>> ProgramPool::NeedsOf(const Source& source, const HlslInputs& inputs,
                                                 const cache::Call& call) {
  std::vector<Source> needs;
  if (driver::LanguageOf(source.path) != ir::Language::kHlsl) {
    return needs;
  }
  Result<std::shared_ptr<const FileList>> files = Files(inputs, call);
  // Requires: `inputs.list` is set. Files reports missing sources only where there is a list.
  if (!files.ok() && files.error().reason == "SOURCES_MISSING") {
    needs.push_back({.path = "(list of files to include)", .digest = *inputs.list, .text = {}});
    return needs;
  }
  if (!files.ok()) {
    return std::move(files).error();
  }
  ProbeTrail trail(source, ir::Language::kHlsl, inputs.settings, **files, limits_id_);
  const ParsedPtr known = FollowProbes(trail, ir::Language::kHlsl, call);
  if (known != nullptr && known->files.has_value()) {
    for (const ir::ModuleFile& file : known->files->files) {
      needs.push_back({.path = file.path, .digest = file.digest, .text = nullptr});
    }
    return needs;
  }
  KILN_TRY(const ModuleReading read, reader_.Read({.source = source,
                                                   .language = ir::Language::kHlsl,
                                                   .settings = inputs.settings,
                                                   .files = **files,
                                                   .likely = trail.asked(),
                                                   .key = trail.ReadingKey()},
                                                  call));
  return read.missing;
}

// Options, names and functions of all modules together, once for all variants and targets. The key
// has images and paths (LinkKey), because diagnostics of linking have places.
Result<std::shared_ptr<const Diagnosed<driver::LinkedProgram>>> ProgramPool::Link(
    const Hash128& key, std::span<const std::shared_ptr<const ParsedSource>> sources,
    std::vector<std::string> paths, const driver::MacrosOfProgram* macros,
    ir::PipelineType pipeline, const cache::Call& call) {
  {
    const MutexLock lock(mutex_);
    const Row* const row = FindRow(key, call);
    ++(row == nullptr ? misses_ : hits_);
    if (row != nullptr) {
      return row->linked;
    }
  }
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  std::vector<std::shared_ptr<const ir::Module>> modules;
  modules.reserve(sources.size());
  for (const std::shared_ptr<const ParsedSource>& source : sources) {
    modules.push_back(source->module);
  }
  auto linked = std::make_shared<const Diagnosed<driver::LinkedProgram>>(
      driver::LinkModules(std::move(modules), std::move(paths), macros, pipeline, limits_));
  if (!call.may_write) {
    return linked;
  }
  const MutexLock lock(mutex_);
  if (const Row* row = FindRow(key, call); row != nullptr) {
    return row->linked;
  }
  ++counters_.linked;
  // Of programs that fail to link only the struct is counted: their diagnostics are bounded
  // (spec/daemon 10).
  const uint64_t bytes = linked->ok() ? linked->value->program.bytes_used() : 0;
  AddRow({.key = key, .linked = linked, .bytes = sizeof(driver::LinkedProgram) + bytes});
  return linked;
}

PoolCounters ProgramPool::Counters() {
  const MutexLock lock(mutex_);
  return counters_;
}

CacheUsage ProgramPool::Usage() {
  const MutexLock lock(mutex_);
  return {.name = "modules and programs",
          .bytes = counters_.bytes,
          .max_bytes = limit_,
          .entries = rows_.size(),
          .hits = hits_,
          .misses = misses_};
}

// Requires: the lock. A look of a caller who may only read does not make a row younger.
ProgramPool::Row* ProgramPool::FindRow(const Hash128& key, const cache::Call& call) {
  const auto found = index_.find(key);
  if (found == index_.end()) {
    return nullptr;
  }
  if (call.may_write) {
    rows_.splice(rows_.begin(), rows_, found->second);
  }
  return &*found->second;
}

// Requires: the lock, and no row of that key. The oldest rows go until the bytes fit; the new one
// stays, however large it is, so that a program that is used now is not made again for each
// variant.
void ProgramPool::AddRow(Row row) {
  counters_.bytes += row.bytes;
  const Hash128 key = row.key;
  rows_.push_front(std::move(row));
  index_[key] = rows_.begin();
  while (counters_.bytes > limit_ && rows_.size() > 1) {
    counters_.bytes -= rows_.back().bytes;
    index_.erase(rows_.back().key);
    rows_.pop_back();
  }
}

}  // namespace kiln::compile
