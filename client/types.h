// SPDX-License-Identifier: MIT
// What a client of kilnd says and hears, as plain values: no generated types reach a user of the
// library. See spec/daemon 3
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/diag/place.h"

namespace kiln::client {

enum class Stage : uint8_t { kNone = 0, kVertex = 1, kFragment = 2, kCompute = 3 };
enum class OptionScope : uint8_t { kAny = 0, kGlobal = 1, kInstance = 2 };

struct Source {
  std::string path;  // logical
  Digest digest;
  std::string text;
};

struct EntryPoint {
  Stage stage = Stage::kVertex;
  std::string function;
};

// A typed option value; the order of the alternatives is flag, uint, sint, float, enum.
struct Option {
  std::string name;
  std::variant<bool, uint32_t, int32_t, float, std::string> value;
  OptionScope scope = OptionScope::kAny;
};

// "4u"; "fog=true lights=4u".
std::string ValueText(const Option& option);
// As the command line takes it: without the 'u' that RPL writes behind such numbers.
std::string WordOf(const Option& option);
std::string OptionsText(const std::vector<Option>& options);

enum class Form : uint8_t { kSpirv = 1, kWgsl = 2, kMeta = 3, kMsl = 4, kGlsl = 5, kHlsl = 6 };
enum class Debug : uint8_t { kNone = 0, kNames = 1, kFull = 2 };

struct Target {
  std::string name = "spirv";
  Form form = Form::kSpirv;
  std::string env = "vulkan1.1";
  std::string version;  // empty: that of the environment
  Debug debug = Debug::kNames;
  bool combined = false;
  std::vector<std::string> recipes = {};  // in order
};

// Files that sources in HLSL may include. Made by include_set.h.
struct IncludeSet {
  std::vector<Source> files;        // ascending by path
  std::vector<std::string> absent;  // paths where they were looked for and are not; ascending
  Source list;                      // that names the files (compiler/source/file_list)
};

// A macro that is an option of its program: all its values, the default first.
struct Macro {
  std::string name;
  std::vector<Option> values;  // flags, whole numbers or words; their own names are empty
};

// What sources in HLSL need besides their texts.
struct HlslInputs {
  std::map<std::string, std::string> settings;  // by name; others have their defaults
  std::map<std::string, std::string> defines;   // macro -> value
  std::vector<std::string> include_roots;       // folders, in order; "" is the root
  std::vector<std::string> named;           // files that are sent whether a line names them or not
  std::shared_ptr<const IncludeSet> files;  // null: none
  std::vector<Macro> macros = {};           // by name
};

struct Program {
  std::string name;
  std::vector<Source> sources;  // link order
  std::string pipeline = "graphics_classic";
  std::vector<EntryPoint> entries;
  std::vector<Option> options;  // fixed part
  std::vector<Target> targets;
  std::optional<HlslInputs> hlsl = {};
};

struct Axis {
  std::string name;
  bool all = false;
  std::vector<Option> values;
};

// A condition over options, and where its text stands.
struct Expression {
  std::string text;
  std::string path;
  uint32_t line = 0, column = 0;
};

// Limits of a batch or program; 0: the daemon's.
struct Budget {
  uint64_t results = 0, variants = 0, cpu_ms = 0, output = 0;
};

struct ProgramSpace {
  Program program;
  std::vector<Axis> axes;
  std::vector<Expression> exclude;
  std::vector<Expression> require;
  std::vector<std::vector<Option>> variants;           // explicit
  std::vector<bool> warm;                              // of these: built first, listed in packs
  std::vector<std::vector<uint32_t>> variant_targets;  // of these: indexes; empty: all
  bool only_explicit = false;
  std::vector<std::string> tags;
  uint32_t priority = 0;
  Budget budget;
  std::string family;  // programs of one have equal layouts but for the pass set; or empty
};

struct StageCode {
  Stage stage = Stage::kNone;  // kNone: a combined module
  Digest digest;
};

enum class Origin : uint8_t { kUnknown, kCompiled, kMemory, kLocal, kUpstream, kShared };

struct Artifact {
  std::string target;
  std::vector<StageCode> code;
  Digest metadata;
  std::vector<std::string> live_options;
  std::string layout_hash;  // hex
  std::string signature;    // hex
  Origin origin = Origin::kUnknown;
  bool stored = false;
  uint64_t cpu_us = 0;
};

enum class OutcomeKind : uint8_t { kUnknown, kOk, kSourceError, kLimit, kPoison };

struct Outcome {
  OutcomeKind kind = OutcomeKind::kUnknown;
  std::vector<Artifact> artifacts;
  std::vector<PlacedDiagnostic> diagnostics;
  uint64_t index = 0;
  uint64_t explain_seq = 0;  // for Client::Explain
  struct IncludedFile {
    std::string path;
    bool present = false;
  };
  std::vector<IncludedFile> included = {};  // what includes asked for, there or not; by path
};

// A declared option, as tools show it and as values are typed by.
struct OptionInfo {
  std::string name;
  OptionScope scope = OptionScope::kGlobal;
  std::string type;                  // flag, uint, sint, float, enum
  std::vector<std::string> values;   // enum, and of a macro of any type
  Option default_value;              // named like the option
  std::vector<std::string> affects;  // code, settings, layout: what can consult it
  std::vector<std::string> targets;  // that can depend on it
  std::vector<std::string> readers;  // "function apply_fog, materials/rock.rpl:88"
  std::string declared_at;           // "materials/rock.rpl:12"
  bool macro = false;                // its values choose a list of defines
};

struct OptionList {
  std::vector<OptionInfo> options;
  std::vector<PlacedDiagnostic> diagnostics;
};

// How much an axis contributes: all variants over those with the axis at its default.
struct AxisCount {
  std::string name;
  uint64_t values = 0;
  double factor = 0;
};
// How large a space is; counts are decimal and may exceed 64 bits.
struct VariantCount {
  std::string variants, results_upper;
  std::string cached;  // distinct results in the cache; empty: too many to look
  bool exact = false;  // false: upper bounds
  std::vector<AxisCount> axes;
  std::vector<PlacedDiagnostic> diagnostics;
};

enum class VariantState : uint8_t { kUnknown, kCached, kFailed };
std::string_view StateName(VariantState state);  // "cached"
struct VariantRow {
  std::string rank;  // decimal
  std::vector<Option> options;
  std::string signature;  // hex; empty unless cached
  VariantState state = VariantState::kUnknown;
};
struct VariantPage {
  std::vector<VariantRow> rows;
  std::string next;  // token of the next page; empty: this is the last
};

struct ServerInfo {
  struct Fingerprint {
    std::string component, id;  // id: hex
    bool release = false;
  };
  struct Limit {
    std::string name;
    uint64_t value = 0;
    std::string kind;  // D, T, S
  };
  std::string version, build_id, started_by;
  std::string config_file, tokens_file;  // told to the daemon's own user only
  uint64_t pid = 0;
  uint64_t uptime_ms = 0;
  uint32_t api_min = 0, api_max = 0;
  std::vector<std::string> transports, features;
  std::vector<Fingerprint> fingerprints;
  std::vector<Limit> limits;
};

struct LaneStatus {
  std::string name;
  uint64_t queued = 0, running = 0, oldest_ms = 0;
};
struct ServerStatus {
  struct Warning {
    uint64_t at_ms = 0;  // Unix
    std::string text;
  };
  // Another daemon that this one asks for what it does not have.
  struct Upstream {
    std::string url;
    bool asked = false;  // since the daemon was started
    bool answers = false;
    bool writes = false;      // results are sent there
    std::string cause;        // why it does not answer, and what to do
    uint64_t since_ms = 0;    // Unix: since when
    uint64_t latency_us = 0;  // 0: not measured

    // "answers", "fails"; "not asked" is a state of its own: an upstream that nothing was asked for
    // yet has neither answered nor failed.
    std::string_view State() const;
  };
  // What the daemon remembers in memory. A bound of 0: there is none.
  struct Cache {
    std::string name;
    uint64_t bytes = 0, max_bytes = 0, entries = 0, max_entries = 0;
    uint64_t hits = 0, misses = 0;  // since the daemon was started
  };
  std::string health;  // SERVING, DEGRADED, …
  std::vector<std::string> reasons;
  std::vector<LaneStatus> lanes;
  std::vector<std::string> batches;  // "demo RUNNING"
  std::vector<Warning> warnings;
  uint64_t uptime_ms = 0;
  uint64_t resident = 0, soft_limit = 0, hard_limit = 0;  // bytes
  uint64_t connections = 0, watch_sessions = 0, subscribers = 0;
  std::string last_crash;           // report of the run before, or empty
  std::vector<Upstream> upstreams;  // nearest first
  std::vector<Cache> caches;        // of who administers it
};

struct CallTrace {
  struct Span {
    std::string name;
    uint64_t start_us = 0, us = 0;  // since the call began
  };
  std::string id, method, code;
  uint64_t at_ms = 0, us = 0;
  std::vector<Span> spans;
};

struct JobRow {
  std::string id, lane, tenant, stage;
  uint64_t age_ms = 0, cpu_ms = 0;
};

// Counts of spec/daemon 7.3.
struct BatchProgress {
  struct Slow {
    std::string program;
    std::vector<Option> options;
    uint64_t ms = 0;
  };
  std::string variants_total, variants_served, results_upper, stage, slowed_by;
  uint64_t results_done = 0, hit_memory = 0, hit_local = 0, hit_upstream = 0, shared = 0;
  uint64_t compiled = 0, failed = 0, limited = 0, poisoned = 0, retried = 0;
  uint64_t code_distinct = 0, validated = 0, optimised = 0;
  uint64_t cpu_ms = 0, cpu_saved_ms = 0, bytes_out = 0, eta_ms = 0, queue = 0, running = 0;
  double rate_results = 0, rate_variants = 0, dedup_ratio = 0, cache_hit_ratio = 0;
  std::vector<Slow> slowest;
};
// A result, or all that fails in a program.
struct BatchItem {
  std::string program;
  std::vector<Option> options;  // a representative
  Outcome outcome;
  std::string served;  // variants
  uint64_t cpu_us = 0;
};
struct BatchInfo {
  std::string id;  // hex
  std::string project;
  std::string owner;      // tenant or token that started it; "local": a user of the machine
  std::string paused_by;  // the principal; empty if it is not paused
  std::string state;      // QUEUED, RUNNING, PAUSED, DONE, FAILED, CANCELLED
  std::string variants_total, variants_served, results_upper;
  uint64_t results_done = 0, ok = 0, failed = 0, limited = 0, poisoned = 0, compiled = 0, hits = 0;
  uint64_t shared = 0, code_distinct = 0, programs_total = 0, programs_done = 0;
  uint64_t started_ms = 0, updated_ms = 0;  // Unix
};
struct BatchFinal {
  std::string state;  // DONE, FAILED, CANCELLED
  uint32_t exit_hint = 0;
  std::string problem;  // why results were not built or are not kept; or empty
};
using BatchEvent = std::variant<BatchProgress, BatchItem, std::string, BatchFinal>;

struct FetchedBlob {
  Digest digest;
  Bytes bytes;  // verified
};
// What messages about the filter of a request name as its file.
inline constexpr char kFilterPath[] = "--where";

struct FetchDone {
  uint64_t outcomes = 0, skipped = 0, failed = 0, blobs_sent = 0, bytes_sent = 0;
  std::string root;  // hex; names everything that was sent or quoted
};

// One view of one artifact, whole.
struct InspectedView {
  std::string view;    // as it was asked for
  std::string target;  // of the artifact; empty if the daemon does not know it
  std::string text;
  std::string json;  // empty for views without this form
};

// Why a request was a hit or a miss; spec/cache 11.
struct Explanation {
  struct Change {
    std::string cause, field, before, after, detail;
  };
  struct StageTime {
    std::string stage;
    uint64_t us = 0;
  };
  uint64_t seq = 0;  // 0: a question, not a request
  uint64_t at_ms = 0;
  std::string project, program, target;
  std::vector<Option> options;
  bool hit = false;
  std::string level;  // memory, local, upstream; of misses the one that was reached
  std::string cause;  // of hits the kind of equality
  std::string detail;
  std::vector<Change> changes;
  std::vector<std::string> live_options, ignored_options;
  uint64_t age_ms = 0;
  std::vector<StageTime> stage_times;
  std::string signature;  // hex, or empty
  std::string trace_id;
};
struct ExplainReply {
  std::vector<Explanation> records;
  struct CauseCount {
    std::string cause;
    uint64_t count = 0;
  };
  std::vector<CauseCount> causes;  // of a batch, most frequent first
  uint64_t results = 0;            // of a batch
};

struct CacheLevel {
  std::string name;
  uint64_t records = 0, bytes = 0, hits = 0, misses = 0;
  uint64_t source_errors = 0, limits = 0, poison = 0;
};
struct CacheStats {
  std::string path;
  bool read_only = false;
  std::vector<CacheLevel> levels;
  std::vector<ExplainReply::CauseCount> misses;
  uint64_t file_bytes = 0, used_bytes = 0, max_bytes = 0, raw_bytes = 0, memory_bytes = 0;
  uint64_t variants = 0, signatures = 0, code_distinct = 0;
  uint64_t cpu_saved_us = 0, cpu_kept_us = 0;
  uint64_t pins = 0, pinned_records = 0, leases = 0, corrupt = 0;
  uint64_t orphans = 0, quarantined = 0, explained = 0;
};
struct MaintenanceDone {
  uint64_t records = 0, bytes = 0, damaged = 0, repaired = 0, kept = 0;
  uint64_t used_before = 0, used_after = 0;
  uint64_t blobs = 0, aliases = 0, orphans = 0, dropped = 0, left = 0;
  std::string set_aside;
  uint64_t refetched = 0, recompiled = 0;  // of what was dropped
  // Of a GC that could not go as far as it was asked to:
  uint64_t pinned = 0;                                  // records
  int64_t kept_until_s = 0;                             // Unix: when all others may go
  std::vector<std::pair<std::string, int64_t>> leases;  // owner and when it ends, Unix
};
struct PinnedSet {
  std::string name, note, owner;  // owner: the principal that made it
  uint64_t records = 0, bytes = 0, made_s = 0, until_s = 0;
};

struct PackProgress {
  std::string stage;
  uint64_t done = 0, total = 0;
  uint64_t bytes_done = 0, bytes_total = 0;  // 0: not known
};
struct BuiltPack {
  std::string id;  // hex
  uint64_t size = 0;
  uint64_t programs = 0, artifacts = 0, blobs = 0, pipelines = 0;
  uint64_t failed = 0;  // variants without artifact
};

}  // namespace kiln::client
