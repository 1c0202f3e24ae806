// SPDX-License-Identifier: MIT
#include "server/compile/cached_build.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "cache/call_bounds.h"
#include "cache/key.h"
#include "cache/memory_store.h"
#include "cache/record.h"
#include "compiler/driver/fingerprint.h"
#include "server/compile/build_keys.h"
#include "server/compile/explainer.h"
#include "server/compile/product_list.h"
#include "server/jobs/job.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kSpace = 0;
constexpr size_t kMaxRecent = 200'000;  // rows of the memory of this process

// The build id as the initial metadata of every call has it.
const std::string& BuildId() {
  static const std::string id = driver::BackFingerprint().hex().substr(0, 12);
  return id;
}

cache::Key RowKey(cache::Level level, const Hash128& id) {
  return {.level = level, .space = kSpace, .id = id};
}
uint64_t ThreadCpuMicroseconds() {
  timespec now{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1'000;
}

Error NotCached() {
  return {.code = ErrorCode::kNotFound,
          .context = "this variant is not in the cache",
          .reason = "NOT_CACHED"};
}

Error NoRecipes() {
  return {.code = ErrorCode::kUnimplemented,
          .context = "this process runs no recipes",
          .reason = "NOT_BUILT_IN"};
}

}  // namespace

Result<Outcome> CachedBuild::Build(const PreparedProgram& program,
                                   std::span<const resolve::OptionSetting> options,
                                   const BuildOptions& how, const cache::Call& call) {
  if (call.deadline != cache::kAtOnce) {
    KILN_TRY_VOID(cache::StillWanted(call, clock_));
  } else if (!program.target.recipes.empty()) {
    return cache::NotAtOnce();
  }
  Result<Outcome> outcome = BuildPlain(program, options, how, call);
  if (!outcome.ok() || program.target.recipes.empty()) {
    return outcome;
  }
  if (recipes_ == nullptr) {
    return NoRecipes();
  }
  return recipes_->Apply(std::move(outcome).value(), program.target,
                         {.may_run = how.may_compile,
                          .retry_failed = how.retry_failed,
                          .durability = how.durability,
                          .rows = how.rows,
                          .background = how.background},
                         call);
}

Result<Outcome> CachedBuild::BuildPlain(const PreparedProgram& program,
                                        std::span<const resolve::OptionSetting> options,
                                        const BuildOptions& how, const cache::Call& call) {
  BuildTrace unasked;
  BuildTrace& trace = how.trace != nullptr ? *how.trace : unasked;
  std::vector<resolve::OptionSetting> settings = program.request.options;
  settings.insert(settings.end(), options.begin(), options.end());
  if (!program.ok()) {
    ++counters_.failed;
    trace.level = "module";
    trace.result =
        program.parsed_now ? cache::ExplainResult::kMiss : cache::ExplainResult::kHitMemory;
    if (how.trace != nullptr) {
      trace.options = OptionTexts(settings);
    }
    return Outcome{.kind = program.poison ? OutcomeKind::kPoison : OutcomeKind::kSourceError,
                   .diagnostics = program.diagnostics,
                   .from_negative_cache = program.poison};
  }
  Diagnosed<resolve::OptionValues> values = resolve::CheckOptions(program.program(), settings);
  if (!values.ok()) {  // cheap to find again: not stored
    ++counters_.failed;
    trace.level = "options";
    if (how.trace != nullptr) {
      trace.options = OptionTexts(settings);
    }
    Outcome outcome{.kind = OutcomeKind::kSourceError};
    KILN_TRY(outcome.diagnostics, PlaceAll(program, values.diagnostics, call));
    return outcome;
  }
  return BuildChecked(program, *values.value, how, trace, call);
}

Result<Outcome> CachedBuild::BuildChecked(const PreparedProgram& program,
                                          const resolve::OptionValues& values,
                                          const BuildOptions& how, BuildTrace& trace,
                                          const cache::Call& call) {
  StageWatch watch(clock_, how.trace);
  const Hash128 variant = VariantKeyOf(program.entry, program.program(), values);
  FoundPtr found = how.anew ? nullptr : LookUp(program, values, variant, trace, call);
  watch.Lap("lookup");
  if (found != nullptr && how.retry_failed && found->record->kind != cache::RecordKind::kOk) {
    found = nullptr;
    trace.cause = cache::Cause::kForced;
    trace.detail = "--retry-failed";
  }
  const bool is_hit = found != nullptr;
  if (how.trace != nullptr && (!is_hit || trace.options_of_hits)) {
    trace.options = OptionTexts(program.program(), values);
  }
  BuildOptions now = how;
  if (is_hit) {
    Result<Outcome> outcome = OutcomeOf(program, *found, call);
    if (outcome.ok()) {
      ++(found->origin == Origin::kShared ? counters_.shared : counters_.hits);
      counters_.saved_us += found->record->cpu_us;
      Describe(*found, trace);
      return outcome;
    }
    now.anew = true;  // the record is there, what it names is not (spec/cache 8.5)
  }
  if (call.deadline == cache::kAtOnce) {
    return cache::NotAtOnce();
  }
  trace.result = cache::ExplainResult::kMiss;
  trace.level = "signature";
  trace.mask.reset();
  const ResultRequest wanted{.program = program, .values = values, .variant = variant, .how = now};
  const bool may_compile = how.may_compile && call.may_write;
  if (may_compile) {
    KILN_TRY(found, Compile(wanted, call));
  } else {
    KILN_TRY(found, now.anew ? Result<FoundPtr>(nullptr) : Walk(wanted, call));
  }
  watch.Lap("build");
  Result<Outcome> outcome = found == nullptr ? NotCached() : OutcomeOf(program, *found, call);
  if (found != nullptr && found->walked && outcome.ok()) {
    ++counters_.shared;
    counters_.saved_us += found->record->cpu_us;
    trace.result =
        found->was_kept ? cache::ExplainResult::kHitLocal : cache::ExplainResult::kHitMemory;
  }
  if (!outcome.ok() && outcome.error().code == ErrorCode::kNotFound && may_compile && !now.anew) {
    now.anew = true;
    KILN_TRY(found, Compile(wanted, call));
    outcome = OutcomeOf(program, *found, call);
  }
  if (found != nullptr) {
    Describe(*found, trace);
  }
  return outcome;
}

std::optional<CachedBuild::RecentResult> CachedBuild::Recall(
    const PreparedProgram& program, std::span<const resolve::OptionSetting> options) {
  if (!program.ok() || !program.target.recipes.empty()) {
    return std::nullopt;
  }
  std::vector<resolve::OptionSetting> settings = program.request.options;
  settings.insert(settings.end(), options.begin(), options.end());
  const Diagnosed<resolve::OptionValues> values =
      resolve::CheckOptions(program.program(), settings);
  if (!values.ok()) {
    return std::nullopt;
  }
  const Hash128 variant = VariantKeyOf(program.entry, program.program(), *values.value);
  return RecentResult{.variant = variant, .found = Recent(variant)};
}

bool CachedBuild::StillFinds(const RecentResult& recalled) {
  if (recalled.found == nullptr || Recent(recalled.variant) != recalled.found) {
    return false;
  }
  ++counters_.hits;
  counters_.saved_us += recalled.found->record->cpu_us;
  return true;
}

void CachedBuild::Describe(const CachedResult& found, BuildTrace& trace) {
  trace.signature = found.signature;
  trace.live_options = found.record->live_options;
  for (const cache::Product& product : found.record->products) {
    trace.bytes += product.digest.size;
  }
}

std::optional<Hash128> CachedBuild::LiveKey(const PreparedProgram& program,
                                            const resolve::OptionValues& values,
                                            std::span<const std::string> names) {
  return LiveKeyOf(program.entry, program.program(), values, names);
}

void CachedBuild::Forget() {
  ++distrusted_;
  if (recipes_ != nullptr) {
    recipes_->Forget();
  }
  prepared_.Clear();
  const MutexLock lock(mutex_);
  recent_.clear();
  masks_.Clear();
  kept_.Clear();
}

CachedBuild::FoundPtr CachedBuild::Recent(const Hash128& alias) {
  const MutexLock lock(mutex_);
  const auto found = recent_.find(alias);
  return found == recent_.end() ? nullptr : found->second;
}

void CachedBuild::Remember(const Hash128& alias, const FoundPtr& found, const cache::Call& call) {
  if (!call.may_write) {
    return;
  }
  const MutexLock lock(mutex_);
  if (recent_.size() >= kMaxRecent) {
    recent_.clear();  // it fills again with what is asked now
    masks_.Clear();   // what is stored is read from there again
  }
  recent_.insert_or_assign(alias, found);
}

CachedBuild::FoundPtr CachedBuild::RecordOf(const PreparedProgram& program, const Hash128& alias,
                                            bool stored, const cache::Call& call) {
  FoundPtr recent = Recent(alias);
  return recent != nullptr || !stored ? recent : StoredRecord(program, alias, call);
}

CachedBuild::FoundPtr CachedBuild::StoredRecord(const PreparedProgram& program,
                                                const Hash128& alias, const cache::Call& call) {
  const Result<cache::Blob> row = store_.Get(RowKey(cache::Level::kAlias, alias), call);
  if (!row.ok()) {
    return nullptr;
  }
  const Result<Hash128> signature = cache::DecodeAlias(row->bytes);
  if (!signature.ok()) {
    return nullptr;
  }
  FoundPtr found = RecordOfSignature(program, *signature, call);
  if (found != nullptr && found->record->kind != cache::RecordKind::kPoison) {
    auto remembered = std::make_shared<CachedResult>(*found);
    remembered->origin = Origin::kMemory;
    Remember(alias, remembered, call);
    if (row->from_upstream) {  // and so was the record, which is here by now
      auto fetched = std::make_shared<CachedResult>(*found);
      fetched->origin = Origin::kUpstream;
      return fetched;
    }
  }
  return found;
}

CachedBuild::FoundPtr CachedBuild::RecordOfSignature(const PreparedProgram& program,
                                                     const Hash128& signature,
                                                     const cache::Call& call) {
  FoundPtr found = AnyRecordOf(signature, call);
  if (found != nullptr && !IsResultOf(program, *found->record)) {
    ReportUnfit(*found);
    return nullptr;
  }
  return found;
}

// A row that is not what its key stands for does not stay: the result is built again.
void CachedBuild::ReportUnfit(const CachedResult& found) {
  if (sink_ != nullptr) {
    sink_->Report({.kind = cache::DamageKind::kUnfit,
                   .key = RowKey(cache::Level::kSignature, found.signature),
                   .reason = "it is no result of the program that its key stands for",
                   .found = {.sum = found.sum}});
  }
}

CachedBuild::FoundPtr CachedBuild::AnyRecordOf(const Hash128& signature, const cache::Call& call) {
  const Result<cache::Blob> value = store_.Get(RowKey(cache::Level::kSignature, signature), call);
  if (!value.ok()) {
    return nullptr;
  }
  Result<cache::Record> record = cache::DecodeRecord(value->bytes);
  if (!record.ok()) {
    return nullptr;
  }
  auto found = std::make_shared<CachedResult>();
  found->signature = signature;
  found->sum = value->sum;
  found->record = std::make_shared<const cache::Record>(std::move(record).value());
  found->stored = true;
  found->origin = value->from_upstream ? Origin::kUpstream : Origin::kLocal;
  return found;
}

CachedBuild::FoundPtr CachedBuild::LookUp(const PreparedProgram& program,
                                          const resolve::OptionValues& values,
                                          const Hash128& variant, BuildTrace& trace,
                                          const cache::Call& call) {
  const auto hit = [&](const CachedResult& found, const char* level) {
    trace.level = level;
    trace.result = found.origin == Origin::kLocal      ? cache::ExplainResult::kHitLocal
                   : found.origin == Origin::kUpstream ? cache::ExplainResult::kHitUpstream
                                                       : cache::ExplainResult::kHitMemory;
  };
  if (FoundPtr found = Recent(variant); found != nullptr) {
    hit(*found, "variant");
    return found;
  }
  if (call.deadline == cache::kAtOnce) {
    return nullptr;
  }
  const StoredMasks::Read masks = masks_.Of(program.entry, call);
  if (FoundPtr found = masks.stored ? StoredRecord(program, variant, call) : nullptr;
      found != nullptr) {
    hit(*found, "variant");
    return found;
  }
  for (const MaskList::Names& mask : masks.list.all()) {
    const std::optional<Hash128> live = LiveKeyOf(program.entry, program.program(), values, mask);
    const FoundPtr found =
        live.has_value() ? RecordOf(program, *live, masks.stored, call) : nullptr;
    if (found != nullptr) {
      hit(*found, "live");
      trace.mask = mask;
      auto shared = std::make_shared<CachedResult>(*found);
      shared->origin = Origin::kShared;
      const cache::Item alias = cache::AliasItem(kSpace, variant, found->signature);
      (void)store_.Put(std::span(&alias, 1), cache::Durability::kRelaxed, call);
      auto remembered = std::make_shared<CachedResult>(*found);
      remembered->origin = Origin::kMemory;
      Remember(variant, remembered, call);
      return shared;
    }
  }
  return nullptr;
}

// Whether the store has the products of a result that were not written now.
bool CachedBuild::IsKept(const driver::Products& products, const cache::Call& call) {
  std::vector<cache::Key> asked;
  for (const driver::StageCode& stage : products.code) {
    if (stage.words.empty() && !kept_.Has(stage.content.id)) {
      asked.push_back(cache::ContentKey(stage.content));
    }
  }
  if (asked.empty()) {
    return true;
  }
  const Result<std::vector<cache::Key>> missing = store_.FindMissing(asked, call);
  if (!missing.ok() || !missing->empty()) {
    return false;
  }
  for (const cache::Key& key : asked) {
    kept_.Add(key.id);
  }
  return true;
}

std::optional<driver::BuildResult> CachedBuild::Assemble(
    const ResultRequest& wanted, const driver::VariantAssembler::IsKnown& is_known,
    const cache::Call& call) {
  const PreparedProgram& program = wanted.program;
  const bool all_code = wanted.how.all_code;
  const AssemblerPool::Lease assembler =
      call.may_write
          ? assemblers_.Take({.entry = program.entry, .family = program.family}, program.linked,
                             program.request.entries, program.target.target)
          : AssemblerPool::MakeOwn(program.linked, program.request.entries, program.target.target);
  const driver::VariantAssembler::Counts before = assembler->counts();
  std::optional<driver::BuildResult> built = assembler->BuildUnless(
      is_known, wanted.values,
      all_code ? driver::ModuleSelection::kAll : driver::ModuleSelection::kNew);
  if (built.has_value() && built->ok() && !all_code && !IsKept(*built->products, call)) {
    built = assembler->BuildCopy(wanted.values);
  }
  const driver::VariantAssembler::Counts after = assembler->counts();
  counters_.segments_lowered += after.segments_lowered - before.segments_lowered;
  if (wanted.how.trace != nullptr) {
    wanted.how.trace->segments_lowered += after.segments_lowered - before.segments_lowered;
  }
  counters_.modules_written += after.modules_written - before.modules_written;
  return built;
}

// A result of this signature was built once. It is not built again for another variant, in another
// process, or because a mask was lost (spec/cache 3.2, 3.5).
CachedBuild::FoundPtr CachedBuild::KnownSignature(const ResultRequest& wanted,
                                                  const Hash128& signature, Reads reads,
                                                  const cache::Call& call) {
  if (wanted.how.anew) {
    return nullptr;
  }
  const FoundPtr recent = Recent(signature);
  const FoundPtr known =
      recent != nullptr ? recent : RecordOfSignature(wanted.program, signature, call);
  if (known == nullptr ||
      (wanted.how.retry_failed && known->record->kind != cache::RecordKind::kOk)) {
    return nullptr;
  }
  if (reads.has_value() && !HasRead(*known->record, *reads)) {
    ReportUnfit(*known);
    return nullptr;
  }
  auto found = std::make_shared<CachedResult>(*known);
  found->origin = Origin::kShared;
  found->walked = true;
  found->was_kept = recent == nullptr;
  return found;
}

// The rows by which this result is found without a walk. The key of the mask is returned.
Hash128 CachedBuild::AddKeys(const ResultRequest& wanted, const Hash128& signature,
                             const cache::Record& record, std::vector<cache::Item>& rows,
                             const cache::Call& call) {
  const PreparedProgram& program = wanted.program;
  rows.push_back(cache::AliasItem(kSpace, wanted.variant, signature));
  if (record.kind == cache::RecordKind::kPoison) {
    return wanted.variant;  // nobody knows what it would have read
  }
  std::vector<cache::Item> masks;
  const MaskList::Names mask = masks_.Add(program.entry, record.live_options, masks, call);
  const std::optional<Hash128> live =
      LiveKeyOf(program.entry, program.program(), wanted.values, mask);
  if (!live.has_value()) {
    return wanted.variant;  // widened from a stored mask that is not of this program
  }
  if (*live != wanted.variant) {
    rows.push_back(cache::AliasItem(kSpace, *live, signature));
  }
  rows.insert(rows.end(), masks.begin(), masks.end());
  return *live;
}

// Writes at once the keys that lead to a result which was found only by its signature.
void CachedBuild::WriteKeys(const ResultRequest& wanted, const FoundPtr& found,
                            const cache::Call& call) {
  std::vector<cache::Item> items;
  std::vector<cache::Item>& rows = wanted.how.rows != nullptr ? *wanted.how.rows : items;
  const Hash128 live = AddKeys(wanted, found->signature, *found->record, rows, call);
  if (!items.empty()) {
    (void)store_.Put(items, cache::Durability::kRelaxed, call);
  }
  if (found->record->kind == cache::RecordKind::kPoison) {
    return;  // not remembered: the store knows how long it stands
  }
  auto remembered = std::make_shared<CachedResult>(*found);
  remembered->origin = Origin::kMemory;
  remembered->walked = false;
  for (const Hash128& key : {wanted.variant, live, found->signature}) {
    Remember(key, remembered, call);
  }
}

// Whether the store may have any result of the program: every result has a mask.
bool CachedBuild::HasResults(const PreparedProgram& program, const cache::Call& call) {
  const StoredMasks::Read masks = masks_.Of(program.entry, call);
  return masks.stored || !masks.list.all().empty();
}

// Finds a result by its signature and builds nothing. A call that may not write gets an assembler
// of its own for that, and therefore looks only where there is something to find.
Result<CachedBuild::FoundPtr> CachedBuild::Walk(const ResultRequest& wanted,
                                                const cache::Call& call) {
  FoundPtr known = Deadly(wanted, call);
  if (known != nullptr || (!call.may_write && !HasResults(wanted.program, call))) {
    return known;
  }
  KILN_TRY_VOID(cache::WhileWanted(
      call, jobs::kCallBytes, clock_,
      [&]() -> Result<void> {
        const jobs::CrashGuard::Running running(call.may_write ? attempts_ : nullptr,
                                                RowKey(cache::Level::kSignature, wanted.variant));
        (void)Assemble(
            wanted,
            [&](std::span<const driver::OptionRead> reads) {
              ++counters_.walked;
              known =
                  KnownSignature(wanted, SignatureKeyOf(wanted.program.entry, reads), reads, call);
              return true;
            },
            call);
        return {};
      },
      jobs::kJobCpu));
  if (known != nullptr && call.may_write) {
    WriteKeys(wanted, known, call);
  }
  return known;
}

// The record of a variant whose walk ended processes: it has no signature, so it lies under its own
// key. Looked up only while there is any record of this kind.
CachedBuild::FoundPtr CachedBuild::Deadly(const ResultRequest& wanted, const cache::Call& call) {
  return attempts_ != nullptr &&
                 attempts_->IsDeadly(RowKey(cache::Level::kSignature, wanted.variant))
             ? KnownSignature(wanted, wanted.variant, std::nullopt, call)
             : nullptr;
}

CachedBuild::FoundPtr CachedBuild::CompileNow(const ResultRequest& wanted,
                                              const cache::Call& call) {
  const uint64_t start = ThreadCpuMicroseconds();
  FoundPtr found;
  Hash128 signature;
  std::optional<jobs::CrashGuard::Running> running;
  running.emplace(attempts_, RowKey(cache::Level::kSignature, wanted.variant));
  const std::optional<driver::BuildResult> built = Assemble(
      wanted,
      [&](std::span<const driver::OptionRead> reads) {
        ++counters_.walked;
        signature = SignatureKeyOf(wanted.program.entry, reads);
        found = KnownSignature(wanted, signature, reads, call);
        if (found == nullptr) {  // what is built now is the same for all variants that lead here
          running.emplace(attempts_, RowKey(cache::Level::kSignature, signature));
        }
        return found != nullptr;
      },
      call);
  running.reset();
  if (built.has_value()) {
    found = Keep(wanted, *built, signature, ThreadCpuMicroseconds() - start, call);
  } else {
    WriteKeys(wanted, found, call);
  }
  return found;
}

// Puts the new products and the keys that lead to them.
CachedBuild::FoundPtr CachedBuild::Keep(const ResultRequest& wanted,
                                        const driver::BuildResult& built, const Hash128& signature,
                                        uint64_t cpu_us, const cache::Call& call) {
  auto [record, items, fresh] = ProductsOf(built, wanted.program.target.metadata_only);
  record.cpu_us = cpu_us;
  record.build_id = BuildId();
  std::vector<cache::Item>& rows = wanted.how.rows != nullptr ? *wanted.how.rows : items;
  rows.push_back(cache::RecordItem(cache::Level::kSignature, kSpace, signature, record));
  const Hash128 live = AddKeys(wanted, signature, record, rows, call);
  const Result<cache::PutResult> stored = store_.Put(items, wanted.how.durability, call);
  if (!stored.ok()) {
    kept_.Clear();
  }
  for (const FreshBlob& blob : fresh) {
    if (stored.ok()) {
      kept_.Add(blob.digest.id);
    }
  }
  if (built.ok() && !wanted.program.target.metadata_only) {
    counters_.code_shared += static_cast<uint64_t>(std::ranges::count_if(
        built.products->code, [](const driver::StageCode& stage) { return stage.words.empty(); }));
  }
  ++counters_.compiled;
  counters_.failed += built.ok() ? 0 : 1;
  counters_.cpu_us += record.cpu_us;
  auto found = std::make_shared<CachedResult>();
  found->signature = signature;
  found->stored = stored.ok() && wanted.how.durability != cache::Durability::kRelaxed;
  found->fresh = std::move(fresh);
  found->origin = Origin::kCompiled;
  found->record = std::make_shared<const cache::Record>(std::move(record));
  if (on_built_ != nullptr && built.ok()) {
    on_built_({.program = wanted.program,
               .values = wanted.values,
               .signature = signature,
               .record = found->record});
  }
  auto remembered = std::make_shared<CachedResult>(*found);
  remembered->fresh.clear();
  remembered->origin = Origin::kMemory;
  for (const Hash128& key : {wanted.variant, live, signature}) {
    Remember(key, remembered, call);
  }
  return found;
}

Result<Bytes> CachedBuild::Show(const std::string& recipe, ByteView module,
                                const cache::Call& call) {
  return recipes_ == nullptr ? NoRecipes() : recipes_->Show(recipe, module, call);
}

}  // namespace kiln::compile
