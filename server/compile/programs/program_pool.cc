// SPDX-License-Identifier: MIT
#include "server/compile/programs/program_pool.h"

#include <utility>

#include "cache/decorators/memory_store.h"
#include "cache/key.h"
#include "cache/record.h"
#include "compiler/diag/encode.h"
#include "compiler/driver/fingerprint.h"
#include "compiler/driver/frontends.h"
#include "compiler/driver/stages.h"
#include "server/compile/programs/limits_id.h"
#include "server/worker/reading.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kSpace = 0;

cache::Key ModuleRow(const Hash128& key) {
  return {.level = cache::Level::kModule, .space = kSpace, .id = key};
}

Error MissingSource(const Source& source) {
  return {.code = ErrorCode::kFailedPrecondition,
          .context = "source '" + source.path + "' (" + source.digest.id.hex() +
                     ") is not here; upload it with PutSources and repeat",
          .reason = "SOURCES_MISSING"};
}

void SetModule(ParsedSource& parsed, ir::Module module) {
  parsed.module = std::make_shared<const ir::Module>(std::move(module));
  parsed.semantic_id = parsed.module->semantic_id();
  parsed.image_id = HashBytes(parsed.module->image());
}

}  // namespace

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
      attempts_(attempts),
      apart_(apart) {}

Result<std::shared_ptr<const std::string>> ProgramPool::Text(const Source& source,
                                                             const cache::Call& call) {
  if (source.text != nullptr) {
    return source.text;
  }
  const Result<cache::Blob> blob = store_.Get(cache::ContentKey(source.digest), call);
  if (blob.ok()) {
    return std::make_shared<const std::string>(AsText(blob->bytes));
  }
  if (blob.error().code == ErrorCode::kNotFound) {
    return MissingSource(source);
  }
  return blob.error();
}

Result<std::shared_ptr<const ParsedSource>> ProgramPool::Parse(const Source& source,
                                                               const cache::Call& call, bool* made,
                                                               PoisonPolicy poison) {
  const std::optional<ir::Language> language = driver::LanguageOf(source.path);
  if (!language.has_value()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "no front end reads '" + source.path + "'; known extensions: .rpl",
                 .reason = "UNKNOWN_LANGUAGE"};
  }
  if (*language == ir::Language::kHlsl) {  // its keys would need what its includes ask for
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .context = "'" + source.path + "' is HLSL, which kilnc reads and this daemon does not",
        .reason = "UNKNOWN_LANGUAGE"};
  }
  const Hash128 key = ModuleKeyOf(source.digest, *language, limits_id_);
  {
    const MutexLock lock(mutex_);
    const Row* const row = FindRow(key, call);
    ++(row == nullptr ? misses_ : hits_);
    if (row != nullptr) {
      return row->parsed;
    }
  }
  // Whoever asks at once gets what memory has. Loading and parsing are work for a job.
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  return LoadOrParse({.source = source, .key = key, .language = *language, .poison = poison}, call,
                     made);
}

Result<std::shared_ptr<const ParsedSource>> ProgramPool::LoadOrParse(const ParseRequest& wanted,
                                                                     const cache::Call& call,
                                                                     bool* made) {
  const Hash128& key = wanted.key;
  std::shared_ptr<const ParsedSource> parsed = Load(key, wanted.language, call);
  if (parsed != nullptr && parsed->poison && wanted.poison == PoisonPolicy::kStands) {
    return parsed;  // not held: the store knows how long it stands
  }
  // A front end takes much longer than the store, so the store is asked first. Poison that the
  // caller does not accept is read once more.
  if (parsed == nullptr || parsed->poison) {
    KILN_TRY(parsed, Read(wanted, call));
    if (made != nullptr) {
      *made = true;
    }
    if (parsed->poison) {
      return parsed;
    }
  }
  if (!call.may_write) {
    return parsed;
  }
  const MutexLock lock(mutex_);
  if (const Row* row = FindRow(key, call); row != nullptr) {
    return row->parsed;  // another thread was faster
  }
  ++(parsed->from_store ? counters_.images_loaded : counters_.parsed);
  const uint64_t bytes = parsed->module != nullptr ? parsed->module->image().size() : 0;
  AddRow({.key = key, .parsed = parsed, .linked = nullptr, .bytes = bytes + sizeof(ParsedSource)});
  return parsed;
}

Diagnosed<ir::Module> ProgramPool::ReadHere(const ParseRequest& wanted, const std::string& text,
                                            const cache::Call& call) {
  // Noted while the front end reads, so that a source which ends the process is known to the next
  // one.
  const jobs::CrashGuard::Running running(call.may_write ? attempts_ : nullptr,
                                          ModuleRow(wanted.key));
  return driver::ParseSource(wanted.language, SourceFile(wanted.source.path, text), /*module=*/0,
                             limits_);
}

// Nothing if it is poison. Errors: as worker::Runner::Run; kInternal for a malformed answer.
Result<std::optional<Diagnosed<ir::Module>>> ProgramPool::ReadApart(const ParseRequest& wanted,
                                                                    const std::string& text,
                                                                    const cache::Call& call) {
  const Bytes input = worker::InputOf(limits_, text);
  KILN_TRY(const worker::Answer answer,
           apart_->Run({.work = worker::Work::kRead,
                        .recipe = worker::LanguageAndPath(wanted.language, wanted.source.path),
                        .input = input},
                       call.stop, call.deadline));
  if (answer.kind == worker::AnswerKind::kPoison) {
    const cache::Item item = PoisonItem(ModuleRow(wanted.key));
    (void)store_.Put(std::span(&item, 1), cache::Durability::kRelaxed, call);
    return std::optional<Diagnosed<ir::Module>>();
  }
  Result<Diagnosed<ir::Module>> read =
      answer.kind == worker::AnswerKind::kMade
          ? worker::DecodeReading(wanted.language, answer.bytes, text.size())
          : Result<Diagnosed<ir::Module>>(
                Error{.code = ErrorCode::kInternal, .context = answer.report, .reason = "BUG"});
  if (!read.ok()) {
    return Error{.code = ErrorCode::kInternal,
                 .context = "a worker process that read '" + wanted.source.path +
                            "': " + read.error().context,
                 .reason = "BUG"};
  }
  return std::optional(std::move(read).value());
}

// What a front end makes of a source.
Result<std::shared_ptr<const ParsedSource>> ProgramPool::Read(const ParseRequest& wanted,
                                                              const cache::Call& call) {
  KILN_TRY(const std::shared_ptr<const std::string> text, Text(wanted.source, call));
  auto fresh = std::make_shared<ParsedSource>();
  std::optional<Diagnosed<ir::Module>> read;
  if (apart_ != nullptr) {
    KILN_TRY(read, ReadApart(wanted, *text, call));
  } else {
    read = ReadHere(wanted, *text, call);
  }
  if (!read.has_value()) {
    fresh->poison = true;
    return std::shared_ptr<const ParsedSource>(std::move(fresh));
  }
  fresh->diagnostics = std::move(read->diagnostics);
  if (read->value.has_value()) {
    SetModule(*fresh, std::move(*read->value));
  }
  if (call.may_write) {
    Keep(wanted.key, wanted.source, *fresh, call);
  }
  return std::shared_ptr<const ParsedSource>(std::move(fresh));
}

// An image from the store; null is a miss, whatever the reason.
std::shared_ptr<const ParsedSource> ProgramPool::Load(const Hash128& key, ir::Language language,
                                                      const cache::Call& call) {
  const Result<cache::Blob> row = store_.Get(ModuleRow(key), call);
  if (!row.ok()) {
    return nullptr;
  }
  const Result<cache::ModuleRecord> record = cache::DecodeModuleRecord(row->bytes);
  if (!record.ok()) {
    return nullptr;
  }
  // A record whose content is gone is no record: the source is read again, and what is missing is
  // put again.
  const auto get = [&](std::string_view product) -> std::optional<cache::Blob> {
    const Digest* digest = record->Find(product);
    if (digest == nullptr) {
      return std::nullopt;
    }
    Result<cache::Blob> blob = store_.Get(cache::ContentKey(*digest), call);
    return blob.ok() ? std::optional(std::move(blob).value()) : std::nullopt;
  };
  auto parsed = std::make_shared<ParsedSource>();
  parsed->from_store = true;
  if (record->kind == cache::RecordKind::kPoison) {
    parsed->poison = true;
    return parsed;
  }
  if (const Digest* digest = record->Find("diag"); digest != nullptr) {
    const std::optional<cache::Blob> blob = get("diag");
    if (!blob.has_value()) {
      return nullptr;
    }
    Result<std::vector<Diagnostic>> diagnostics = DecodeDiagnostics(blob->bytes);
    if (!diagnostics.ok()) {
      return nullptr;
    }
    parsed->diagnostics = std::move(diagnostics).value();
  }
  if (record->kind != cache::RecordKind::kOk) {
    return parsed->diagnostics.empty() ? nullptr : parsed;
  }
  const std::optional<cache::Blob> image = get("image");
  if (!image.has_value()) {
    return nullptr;
  }
  // Bytes from a store may have come from an upstream. The image is bound-checked before anything
  // reads it.
  Result<ir::Module> module = driver::LoadModule(language, image->bytes);
  if (!module.ok()) {
    return nullptr;
  }
  SetModule(*parsed, std::move(module).value());
  const ir::ModuleView& view = parsed->module->view();
  // Diagnostics are stored by number of span and not by place (compiler/diag/encode.h).
  FillPositions(parsed->diagnostics, [&](uint32_t, uint32_t number) {
    return number < view.spans.size() ? std::optional(view.spans[number]) : std::nullopt;
  });
  return parsed;
}

// Best effort: if the store does not take the image, a later request parses again.
void ProgramPool::Keep(const Hash128& key, const Source& source, const ParsedSource& parsed,
                       const cache::Call& call) {
  std::vector<cache::Item> items;
  cache::ModuleRecord record;
  record.kind = parsed.module != nullptr ? cache::RecordKind::kOk : cache::RecordKind::kSourceError;
  const auto add = [&](std::string_view name, ByteView bytes) {
    const Digest digest = DigestOf(bytes);
    items.push_back(cache::ContentItem(digest, cache::CopiedBlob(bytes)));
    record.products.push_back({.name = std::string(name), .digest = digest});
  };
  if (!parsed.diagnostics.empty()) {
    add("diag", EncodeDiagnostics(parsed.diagnostics));
  }
  if (parsed.module != nullptr) {
    add("image", parsed.module->image());
    record.semantic_id = parsed.semantic_id;
  }
  if (source.text != nullptr) {  // later requests may name it by digest alone
    items.push_back(cache::ContentItem(source.digest, cache::CopiedBlob(AsBytes(*source.text))));
  }
  // The row is the last item: content comes before what names it.
  items.push_back(cache::ModuleItem(kSpace, key, record));
  (void)store_.Put(items, cache::Durability::kRelaxed, call);
}

Result<std::shared_ptr<const Diagnosed<driver::LinkedProgram>>> ProgramPool::Link(
    const Hash128& key, std::span<const std::shared_ptr<const ParsedSource>> sources,
    std::vector<std::string> paths, ir::PipelineType pipeline, const cache::Call& call) {
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
  // Linked outside of the lock. A program that cannot be linked is kept as well: its diagnostics
  // are the answer to the next request.
  auto linked = std::make_shared<const Diagnosed<driver::LinkedProgram>>(
      driver::LinkModules(std::move(modules), std::move(paths), pipeline, limits_));
  if (!call.may_write) {
    return linked;
  }
  const MutexLock lock(mutex_);
  if (const Row* row = FindRow(key, call); row != nullptr) {
    return row->linked;
  }
  ++counters_.linked;
  const uint64_t bytes = linked->ok() ? linked->value->program.bytes_used() : 0;
  AddRow({.key = key,
          .parsed = nullptr,
          .linked = linked,
          .bytes = sizeof(driver::LinkedProgram) + bytes});
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

// A call that may not write leaves no trace, so it does not count as a use either.
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

void ProgramPool::AddRow(Row row) {
  counters_.bytes += row.bytes;
  const Hash128 key = row.key;
  rows_.push_front(std::move(row));
  index_[key] = rows_.begin();
  // The row that was just added stays, however large: dropping it would only make the next request
  // parse it again.
  while (counters_.bytes > limit_ && rows_.size() > 1) {
    counters_.bytes -= rows_.back().bytes;
    index_.erase(rows_.back().key);
    rows_.pop_back();
  }
}

}  // namespace kiln::compile
