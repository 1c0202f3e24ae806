// SPDX-License-Identifier: MIT
// Why a request hit or missed: what went into it by name, what it came to, and what differs from an
// earlier request. Pure data and pure functions; who stores it is ExplainLog. See spec/cache 11
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::cache {

// (stage, function), (setting, value), (option, value as written), (component, fingerprint and
// build id), (limit, value).
struct NamedText {
  std::string name;
  std::string value;

  friend bool operator==(const NamedText&, const NamedText&) = default;
  friend bool operator<(const NamedText& a, const NamedText& b) {
    return std::tie(a.name, a.value) < std::tie(b.name, b.value);
  }
};

// A module of the program. image: semantic id, zero if the source has no image.
struct ExplainModule {
  std::string path;
  Digest source;
  Hash128 image;

  friend bool operator==(const ExplainModule&, const ExplainModule&) = default;
};

// A file that a front end looked for; no digest: it was not there.
struct ExplainDependency {
  std::string path;
  std::optional<Digest> digest;

  friend bool operator==(const ExplainDependency&, const ExplainDependency&) = default;
};

// Everything that keys are made of. Lists of NamedText have unique names.
struct ExplainInputs {
  std::vector<ExplainModule> modules;           // link order
  std::vector<ExplainDependency> dependencies;  // by path
  std::vector<NamedText> entry_points;          // stage order
  std::string pipeline;
  std::vector<NamedText> target;
  std::vector<NamedText> options;  // all, defaults filled in
  std::vector<NamedText> fingerprints;
  std::vector<NamedText> limits;
  std::vector<std::string> recipes;
  std::vector<NamedText> language = {};  // settings, macros and include roots of the sources

  friend bool operator==(const ExplainInputs&, const ExplainInputs&) = default;
};

// Inputs that many records have in common, with a sum of each field. Immutable; cheap to copy.
class SharedInputs {
 public:
  SharedInputs();
  SharedInputs(ExplainInputs inputs);  // NOLINT(google-explicit-constructor): they are the same

  const ExplainInputs& operator*() const { return state_->inputs; }
  const ExplainInputs* operator->() const { return &state_->inputs; }
  // One sum per name and value, so that two requests are compared in a microsecond; made when first
  // asked for, from any thread. Fields of one program stand at the same places; a field that moved
  // counts as different, which costs an explanation nothing but a better match.
  std::span<const uint64_t> sums() const;
  uint64_t bytes() const { return state_->bytes; }  // that they take, about

  friend bool operator==(const SharedInputs& a, const SharedInputs& b) {
    return a.state_ == b.state_ || *a == *b;
  }

 private:
  struct State {
    ExplainInputs inputs;
    uint64_t bytes = 0;
    std::once_flag summed = {};
    std::vector<uint64_t> sums = {};
  };
  std::shared_ptr<State> state_;
};

// What a request came to. The numbers are stored.
enum class ExplainResult : uint8_t {
  kMiss = 0,
  kHitMemory = 1,
  kHitLocal = 2,
  kHitUpstream = 3,
};

// Why (spec/cache 11.3). The numbers are stored.
enum class Cause : uint8_t {
  kNone = 0,  // hits
  kFirstSeen = 1,
  kSourceChanged = 2,
  kModuleOrder = 3,
  kModules = 4,
  kDependency = 5,
  kOption = 6,
  kEntryPoints = 7,
  kPipeline = 8,
  kTarget = 9,
  kRecipe = 10,
  kLimits = 11,
  kFingerprint = 12,
  kEvicted = 13,
  kExpired = 14,
  kCorrupt = 15,
  kUpstreamUnreachable = 16,
  kStoreOff = 17,
  kForced = 18,
  kLanguage = 19,
};
inline constexpr uint32_t kCauseCount = 20;

// "first_seen", "source_changed", …
std::string_view CauseName(Cause cause);

// Records are kept per slot = (space, project, program, target).
struct ExplainSlot {
  uint32_t space = 0;
  std::string project;
  std::string program;
  std::string target;

  Hash128 Id() const;
  friend bool operator==(const ExplainSlot&, const ExplainSlot&) = default;
};

struct ExplainRecord {
  uint64_t seq = 0;  // given by whoever keeps it; ascends over all slots; not encoded
  ExplainSlot slot;
  int64_t at_ms = 0;  // Unix
  std::string lane;
  std::string trace;  // id of the request; a batch and a fetch make many records
  SharedInputs inputs;
  ExplainResult result = ExplainResult::kMiss;
  std::string level;  // that was reached: "variant", "live", "signature", …
  std::optional<std::vector<std::string>> mask;  // that matched
  std::vector<std::string> live_options;         // of the result
  std::vector<std::pair<std::string, uint64_t>> stage_us;
  uint64_t bytes = 0;  // of the products
  Hash128 signature;   // zero if there is none
  Cause cause = Cause::kNone;
  std::string detail;   // which upstream since when, which flag, when it was removed
  int64_t made_ms = 0;  // hits: when the result was made, 0 if that is not known
  Hash128 watcher;      // the watch session that asked; zero: nobody who watches

  friend bool operator==(const ExplainRecord&, const ExplainRecord&) = default;
};

// That a record takes in memory, and encoded at most, about; inputs that it shares count whole.
uint64_t BytesOf(const ExplainRecord& record);

// One difference between an earlier request and this one.
struct Change {
  Cause cause = Cause::kNone;
  std::string field;   // path, option, setting, component
  std::string before;  // empty: it was not there
  std::string after;   // empty: it is not there
  std::string detail;  // "IR identical", "live", "not live", "now shadowed by a new file"

  friend bool operator==(const Change&, const Change&) = default;
};

// Every differing field, in the order of the table of spec/cache 11.3, by name within a cause.
// Pure. `live`: names of the options that the result depends on; nullopt: nothing is said of it.
std::vector<Change> CompareInputs(const ExplainInputs& before, const ExplainInputs& after,
                                  const std::optional<std::vector<std::string>>& live);

std::vector<const ExplainRecord*> PointersTo(std::span<const ExplainRecord> records);

// The record that agrees with `inputs` in the most fields; ties: the latest. Null if there is none.
const ExplainRecord* ClosestTo(const ExplainInputs& inputs,
                               std::span<const ExplainRecord* const> earlier);

struct Explanation {
  ExplainRecord record;
  Cause cause = Cause::kNone;
  std::vector<Change> changes;
  std::vector<std::string> ignored_options;  // of a hit: options that were not consulted
  std::optional<int64_t> age_ms;             // of a hit
};

// `slot`: what the slot had before, oldest first. What the same request left there counts for
// nothing.
Explanation Explain(const ExplainRecord& record, std::span<const ExplainRecord* const> slot);

// As a person reads it; several lines for several changes, without a newline at the end.
//   miss: source_changed   materials/rock.rpl 3f2a11c0… → 91c07be4…, module re-parsed
std::string ExplanationText(const Explanation& explanation);

inline constexpr uint32_t kExplainPerSlot = 64;
inline constexpr uint32_t kExplainSlots = 100'000;

// Threads: safe from any thread.
class ExplainLog {
 public:
  virtual ~ExplainLog() = default;
  // Larger than the number of every record that is kept.
  virtual uint64_t NextSeq() = 0;
  // Returns at once; may be lost. The oldest record of a full slot goes, and the slot that was used
  // least lately when there are too many. Requires: numbers ascend from call to call.
  virtual void Append(std::span<const std::shared_ptr<const ExplainRecord>> records) = 0;
  // Oldest first. What does not decode is left out.
  virtual Result<std::vector<ExplainRecord>> Records(const ExplainSlot& slot) = 0;
  // Calls back for everything that is kept, in no order. Errors: kCancelled.
  virtual Result<void> Each(const std::stop_token& stop,
                            const std::function<void(const ExplainRecord&)>& each) = 0;
  // The latest record of a result. Reads everything that is kept. Errors: kCancelled.
  virtual Result<std::optional<ExplainRecord>> Find(const Hash128& signature,
                                                    const std::stop_token& stop) = 0;
};

}  // namespace kiln::cache
