// SPDX-License-Identifier: MIT
// One variant: look it up, and build and keep it if nobody knows it. The order is
// parse → link → check options → variant key → live keys → single flight → walk → signature key →
// build → store → reply;
// nothing in the compiler knows that a cache exists. See spec/cache 2.4, 3.5, 4; spec/daemon 2.2
//
// Threads: Build may be called from any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/explain.h"
#include "cache/record.h"
#include "cache/single_flight.h"
#include "cache/store.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "server/compile/assembler_pool.h"
#include "server/compile/build_trace.h"
#include "server/compile/content_cache.h"
#include "server/compile/masks.h"
#include "server/compile/prepared_program_cache.h"
#include "server/compile/program_pool.h"
#include "server/compile/recipes.h"
#include "server/compile/request.h"

namespace kiln::compile {

// A program with everything that its variants share, ready to be asked for variants.
struct PreparedProgram {
  ProgramRequest request;  // entry points in stage order
  NamedTarget target;
  LanguageLimits limits;
  std::vector<std::shared_ptr<const ParsedSource>> parsed;
  std::shared_ptr<const Diagnosed<driver::LinkedProgram>> linked;  // null if a source is wrong
  Hash128 entry;                                                   // id
  Hash128 family;                                                  // FamilyOf
  bool parsed_now = false;                    // a front end read one of the sources
  bool poison = false;                        // reading one of them ended processes
  std::vector<PlacedDiagnostic> diagnostics;  // of parsing and linking
  cache::ExplainInputs inputs;                // without options

  // False: every variant fails with `diagnostics`.
  bool ok() const { return linked != nullptr && linked->ok(); }
  const resolve::Program& program() const { return linked->value->program; }
};

struct BuildCounters {
  std::atomic<uint64_t> hits{0};
  std::atomic<uint64_t> shared{0};
  std::atomic<uint64_t> compiled{0};
  std::atomic<uint64_t> walked{0};  // asked what they read before anything was built
  std::atomic<uint64_t> failed{0};
  std::atomic<uint64_t> cpu_us{0};
  std::atomic<uint64_t> segments_lowered{0};
  std::atomic<uint64_t> modules_written{0};  // as words
  std::atomic<uint64_t> code_shared{0};      // modules of results that were there already
  std::atomic<uint64_t> saved_us{0};         // what made the hits
};

struct BuildOptions {
  cache::Durability durability = cache::Durability::kRelaxed;
  bool retry_failed = false;  // ignore stored failures once
  bool may_compile = true;    // false: an unknown variant is kNotFound
  bool anew = false;          // builds whatever is known: what it named is gone
  bool all_code = true;       // false: code that the store has is not among the fresh blobs
  // If set, only content is put at once, and this gets the rows that name it, for a caller that
  // puts those of many builds together and durably: a record is acknowledged only if all content it
  // names is there (spec/cache 4.4).
  std::vector<cache::Item>* rows = nullptr;
  bool background = false;  // nobody waits: recipes make way for those that somebody waits for
  // Gets what happened, whatever the outcome; also if an unknown variant may not be compiled.
  BuildTrace* trace = nullptr;
};

// A result that was made now, for checks behind the answer. Valid during the call.
struct FreshResult {
  const PreparedProgram& program;
  const resolve::OptionValues& values;
  const Hash128& signature;
  const std::shared_ptr<const cache::Record>& record;
};

class CachedBuild {
 public:
  // What is known of the result of a variant.
  struct CachedResult {
    Hash128 signature;
    Hash128 sum;  // of the row, if the store had it
    std::shared_ptr<const cache::Record> record;
    std::vector<FreshBlob> fresh;  // products, if they were built now
    Origin origin = Origin::kLocal;
    bool stored = false;   // durable
    bool walked = false;   // found by its signature
    bool was_kept = true;  // in the store, not in memory
  };
  using FoundPtr = std::shared_ptr<const CachedResult>;

  // All must outlive the object. `recipes`: null if targets have none; `attempts`: null if none are
  // noted.
  CachedBuild(cache::BlobStore& store, ProgramPool& pool, Clock& clock, Recipes* recipes = nullptr,
              jobs::CrashGuard* attempts = nullptr)
      : store_(store),
        pool_(pool),
        clock_(clock),
        recipes_(recipes),
        attempts_(attempts),
        assemblers_(kAssemblerBytes),
        kept_(clock),
        flights_(clock),
        masks_(store),
        prepared_(kPreparedBytes) {}

  // Told of every result that is made, by the thread that made it. Set before the first build.
  void OnBuilt(std::function<void(const FreshResult&)> on_built) {
    on_built_ = std::move(on_built);
  }

  // Told of rows that are not what their keys stand for. Set before the first build; outlives the
  // object.
  void ReportTo(cache::DamageSink& sink) { sink_ = &sink; }

  // Parses and links. Errors: as ProgramPool::Parse; kCancelled, kDeadlineExceeded;
  // kResourceExhausted if it takes more memory than a call may. Wrong sources are in the result.
  Result<std::shared_ptr<const PreparedProgram>> Prepare(
      const ProgramRequest& request, const NamedTarget& target, const cache::Call& call,
      PoisonPolicy poison = PoisonPolicy::kStands);

  // Builds or finds one variant; `options` add to the fixed part. Wrong sources and options are
  // outcomes. A call that may not write builds nothing and leaves nothing behind, here or in the
  // store. Errors: kCancelled, kDeadlineExceeded, kNotFound (may_compile false), kInternal;
  // kResourceExhausted as Prepare. A caller that leaves does not end what others wait for, too.
  Result<Outcome> Build(const PreparedProgram& program,
                        std::span<const resolve::OptionSetting> options, const BuildOptions& how,
                        const cache::Call& call);

  // The variant key of options that are right, and what this process found for it lately.
  struct RecentResult {
    Hash128 variant;
    FoundPtr found;  // null: it is to be asked for with Build
  };
  // Nothing is counted. Nullopt: the program or the options are wrong, or the target has recipes.
  std::optional<RecentResult> Recall(const PreparedProgram& program,
                                     std::span<const resolve::OptionSetting> options);
  // Whether Build finds the same for the variant as it did then; counts as a hit if it does.
  bool StillFinds(const RecentResult& recalled);

  // A result by its signature, if the store has it and all that it names. Nothing else is known of
  // it: no diagnostics, no options.
  std::optional<Outcome> Find(const std::string& target, const Hash128& signature,
                              const cache::Call& call);

  // What an outcome of Build names: products, diagnostics. Errors: kNotFound; as BlobStore::Get.
  Result<cache::Blob> Read(const Outcome& outcome, const Digest& digest, const cache::Call& call);

  // Errors: as Recipes::Show; kUnimplemented in a process that runs no recipes.
  Result<Bytes> Show(const std::string& recipe, ByteView module, const cache::Call& call);

  // Something that was put is not there: nothing is taken for granted any more.
  void DistrustStore() {
    ++distrusted_;
    kept_.Clear();
  }
  // How often what was known was given up; never decreases.
  uint64_t distrusted() const { return distrusted_.load(); }
  // The live key of a variant that agrees with `values` on the options of `names`, which are
  // sorted; nothing if one of them is no option of the program. Requires: program.ok().
  static std::optional<Hash128> LiveKey(const PreparedProgram& program,
                                        const resolve::OptionValues& values,
                                        std::span<const std::string> names);

  // Forgets what this process has seen; the store is asked again.
  void Forget();

  const BuildCounters& counters() const { return counters_; }
  // Requests that found what they ask for being built.
  uint64_t merged() const { return flights_.merged(); }

 private:
  static constexpr uint64_t kAssemblerBytes = uint64_t{256} << 20;
  static constexpr uint64_t kPreparedBytes = uint64_t{64} << 20;

  // A variant on its way to a result.
  struct ResultRequest {
    const PreparedProgram& program;
    const resolve::OptionValues& values;
    const Hash128& variant;  // key
    const BuildOptions& how;
  };

  FoundPtr LookUp(const PreparedProgram& program, const resolve::OptionValues& values,
                  const Hash128& variant, BuildTrace& trace, const cache::Call& call);
  Result<Outcome> BuildPlain(const PreparedProgram& program,
                             std::span<const resolve::OptionSetting> options,
                             const BuildOptions& how, const cache::Call& call);
  Result<Outcome> BuildChecked(const PreparedProgram& program, const resolve::OptionValues& values,
                               const BuildOptions& how, BuildTrace& trace, const cache::Call& call);
  static void Describe(const CachedResult& found, BuildTrace& trace);
  // These three find nothing if what the store has is no result of the program (IsResultOf).
  FoundPtr RecordOf(const PreparedProgram& program, const Hash128& alias, bool stored,
                    const cache::Call& call);
  FoundPtr StoredRecord(const PreparedProgram& program, const Hash128& alias,
                        const cache::Call& call);
  FoundPtr RecordOfSignature(const PreparedProgram& program, const Hash128& signature,
                             const cache::Call& call);
  FoundPtr AnyRecordOf(const Hash128& signature, const cache::Call& call);
  void ReportUnfit(const CachedResult& found);
  FoundPtr Recent(const Hash128& alias);
  void Remember(const Hash128& alias, const FoundPtr& found, const cache::Call& call);
  bool HasResults(const PreparedProgram& program, const cache::Call& call);
  Result<FoundPtr> Walk(const ResultRequest& wanted, const cache::Call& call);
  FoundPtr Deadly(const ResultRequest& wanted, const cache::Call& call);
  FoundPtr AfterSlowness(const ResultRequest& wanted, const cache::Call& call);
  // `reads`: what the variant read, if it is known; a record that says otherwise is not its own.
  using Reads = std::optional<std::span<const driver::OptionRead>>;
  FoundPtr KnownSignature(const ResultRequest& wanted, const Hash128& signature, Reads reads,
                          const cache::Call& call);
  Hash128 AddKeys(const ResultRequest& wanted, const Hash128& signature,
                  const cache::Record& record, std::vector<cache::Item>& rows,
                  const cache::Call& call);
  void WriteKeys(const ResultRequest& wanted, const FoundPtr& found, const cache::Call& call);
  Result<FoundPtr> Compile(const ResultRequest& wanted, const cache::Call& call);
  Result<FoundPtr> Fly(const ResultRequest& wanted, cache::SingleFlight<FoundPtr>::JoinResult joined,
                       const cache::Call& call);
  FoundPtr CompileNow(const ResultRequest& wanted, const cache::Call& call);
  Result<std::shared_ptr<const PreparedProgram>> PrepareNow(const ProgramRequest& request,
                                                            const NamedTarget& target,
                                                            const cache::Call& call,
                                                            PoisonPolicy poison);
  FoundPtr Keep(const ResultRequest& wanted, const driver::BuildResult& built,
                const Hash128& signature, uint64_t cpu_us, const cache::Call& call);
  std::optional<driver::BuildResult> Assemble(const ResultRequest& wanted,
                                              const driver::VariantAssembler::IsKnown& is_known,
                                              const cache::Call& call);
  bool IsKept(const driver::Products& products, const cache::Call& call);
  Result<cache::Blob> ContentOf(std::span<const FreshBlob> fresh, const Digest& digest,
                                const cache::Call& call);
  Result<std::vector<PlacedDiagnostic>> PlaceAll(const PreparedProgram& program,
                                                 std::span<const Diagnostic> diagnostics,
                                                 const cache::Call& call);
  Result<Outcome> OutcomeOf(const PreparedProgram& program, const CachedResult& found,
                            const cache::Call& call);

  cache::BlobStore& store_;
  ProgramPool& pool_;
  Clock& clock_;
  Recipes* const recipes_;
  jobs::CrashGuard* const attempts_;
  std::function<void(const FreshResult&)> on_built_;
  cache::DamageSink* sink_ = nullptr;
  AssemblerPool assemblers_;
  ContentCache kept_;
  cache::SingleFlight<FoundPtr> flights_;
  StoredMasks masks_;
  PreparedProgramCache prepared_;
  BuildCounters counters_;
  std::atomic<uint64_t> distrusted_{0};
  Mutex mutex_;
  // By variant, live and signature key: what this process has seen, without blobs; emptied when
  // full.
  std::unordered_map<Hash128, FoundPtr, Hash128Hash> recent_ KILN_GUARDED_BY(mutex_);
};

}  // namespace kiln::compile
