// SPDX-License-Identifier: MIT
// How it works: a request is a list of named fields (ExplainInputs). Two requests are compared
// field by field (Comparison) into changes, in the order of how much they explain, and the first
// change is the cause of a miss. Which earlier request to compare with is a question of agreement,
// answered twice: exactly here, for one explanation, and by sums in ExplainRing, for every request.
#include "cache/explain/explain.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "cache/key.h"
#include "compiler/base/threads/slow_step.h"

namespace kiln::cache {
namespace {

// In the order of the enumeration. The words are interface: they are in JSON, in metrics and in the
// protocol.
constexpr std::array<std::string_view, kCauseCount> kCauseNames = {"",
                                                                   "first_seen",
                                                                   "source_changed",
                                                                   "module_order",
                                                                   "modules",
                                                                   "dependency",
                                                                   "option",
                                                                   "entry_points",
                                                                   "pipeline",
                                                                   "target",
                                                                   "recipe",
                                                                   "limits",
                                                                   "fingerprint",
                                                                   "evicted",
                                                                   "expired",
                                                                   "corrupt",
                                                                   "upstream_unreachable",
                                                                   "store_off",
                                                                   "forced",
                                                                   "language"};

// Enough to see that two digests differ; nobody copies them from an explanation.
constexpr size_t kShownDigits = 8;

std::string Short(const Digest& digest) { return digest.id.hex().substr(0, kShownDigits) + "…"; }

// Of thousands of options each is looked up among thousands of live ones.
using NameSet = std::set<std::string_view>;
NameSet SetOf(std::span<const std::string> names) { return {names.begin(), names.end()}; }

class Comparison {
 public:
  Comparison(const ExplainInputs& before, const ExplainInputs& after,
             const std::optional<std::vector<std::string>>& live)
      : before_(before), after_(after), live_(live) {}

  // The order is that of how much a field explains: the first change becomes the cause of a miss.
  // An edit comes before the option that somebody changed with it.
  std::vector<Change> Run() {
    Modules();
    Dependencies();
    Named(Cause::kLanguage, before_.language, after_.language);
    Named(Cause::kOption, before_.options, after_.options);
    Named(Cause::kEntryPoints, before_.entry_points, after_.entry_points);
    if (before_.pipeline != after_.pipeline) {
      Add(Cause::kPipeline, "pipeline", before_.pipeline, after_.pipeline);
    }
    Named(Cause::kTarget, before_.target, after_.target);
    Recipes();
    Named(Cause::kLimits, before_.limits, after_.limits);
    Named(Cause::kFingerprint, before_.fingerprints, after_.fingerprints);
    return std::move(changes_);
  }

 private:
  void Add(Cause cause, std::string field, std::string before, std::string after,
           std::string detail = {}) {
    changes_.push_back({.cause = cause,
                        .field = std::move(field),
                        .before = std::move(before),
                        .after = std::move(after),
                        .detail = std::move(detail)});
  }
  void Modules();
  void Dependencies();
  void Named(Cause cause, const std::vector<NamedText>& before,
             const std::vector<NamedText>& after);
  void Recipes();

  const ExplainInputs& before_;
  const ExplainInputs& after_;
  const std::optional<std::vector<std::string>>& live_;
  std::vector<Change> changes_;
};

std::vector<std::string> PathsOf(const ExplainInputs& inputs) {
  std::vector<std::string> paths;
  for (const ExplainModule& module : inputs.modules) {
    paths.push_back(module.path);
  }
  return paths;
}

std::string Joined(std::span<const std::string> texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += (out.empty() ? "" : " ") + text;
  }
  return out;
}

// Modules are matched by path. A changed source is told apart by whether its image stayed: a
// comment that was edited explains no miss.
void Comparison::Modules() {
  std::map<std::string, const ExplainModule*> old;
  for (const ExplainModule& module : before_.modules) {
    old.emplace(module.path, &module);
  }
  std::vector<Change> swapped;
  std::map<std::string, const ExplainModule*> gone = old;
  std::map<std::string, const ExplainModule*> now;
  for (const ExplainModule& module : after_.modules) {
    now.emplace(module.path, &module);
    // What is left in `gone` was there before and is not now.
    gone.erase(module.path);
  }
  for (const auto& [path, module] : now) {
    const auto found = old.find(path);
    if (found != old.end() && found->second->source != module->source) {
      const bool same_image = !module->image.zero() && module->image == found->second->image;
      Add(Cause::kSourceChanged, path, Short(found->second->source), Short(module->source),
          same_image ? "IR identical" : "module re-parsed");
    }
  }
  std::vector<std::string> before = PathsOf(before_);
  std::vector<std::string> after = PathsOf(after_);
  std::vector<std::string> sorted_before = before;
  std::vector<std::string> sorted_after = after;
  std::sort(sorted_before.begin(), sorted_before.end());
  std::sort(sorted_after.begin(), sorted_after.end());
  // The same modules: then at most their order differs. Otherwise modules came or went, and an
  // order says nothing.
  if (sorted_before == sorted_after) {
    if (before != after) {
      Add(Cause::kModuleOrder, "modules", Joined(before), Joined(after));
    }
    return;
  }
  for (const auto& [path, module] : gone) {
    Add(Cause::kModules, path, Short(module->source), {}, "removed");
  }
  for (const auto& [path, module] : now) {
    if (!old.contains(path)) {
      Add(Cause::kModules, path, {}, Short(module->source), "added");
    }
  }
}

// Files that includes led to, found or not: one that was looked for in vain matters as soon as it
// is there.
void Comparison::Dependencies() {
  std::map<std::string, std::optional<Digest>> old;
  std::map<std::string, std::optional<Digest>> now;
  for (const ExplainDependency& file : before_.dependencies) {
    old.emplace(file.path, file.digest);
  }
  for (const ExplainDependency& file : after_.dependencies) {
    now.emplace(file.path, file.digest);
  }
  const auto text = [](const std::optional<Digest>& digest) {
    return digest.has_value() ? Short(*digest) : std::string();
  };
  for (const auto& [path, digest] : old) {
    const auto found = now.find(path);
    // A file that was looked for and absent before is not lost if it is not looked for now.
    if (found == now.end()) {
      if (digest.has_value()) {
        Add(Cause::kDependency, path, text(digest), {}, "lost");
      }
    } else if (found->second != digest) {
      Add(Cause::kDependency, path, text(digest), text(found->second),
          !digest.has_value()          ? "now shadowed by a new file"
          : !found->second.has_value() ? "is not there any more"
                                       : "changed");
    }
  }
  for (const auto& [path, digest] : now) {
    if (digest.has_value() && !old.contains(path)) {
      Add(Cause::kDependency, path, {}, text(digest), "gained");
    }
  }
}

// Requires: names are unique on each side, as keys have them. What only one side has is a change
// from or to the empty text.
void Comparison::Named(Cause cause, const std::vector<NamedText>& before,
                       const std::vector<NamedText>& after) {
  const bool knows_live = cause == Cause::kOption && live_.has_value();
  const NameSet live = knows_live ? SetOf(*live_) : NameSet();
  // Both sides by name: a value that one side lacks is empty there.
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const NamedText& row : before) {
    values[row.name].first = row.value;
  }
  for (const NamedText& row : after) {
    values[row.name].second = row.value;
  }
  for (auto& [name, value] : values) {
    if (value.first == value.second) {
      continue;
    }
    std::string detail;
    // An option that is not live cannot have caused the miss. It is listed, with that word, for
    // whoever changed it.
    if (knows_live) {
      detail = live.contains(name) ? "live" : "not live";
    }
    Add(cause, name, std::move(value.first), std::move(value.second), std::move(detail));
  }
}

// As a whole, since a recipe works on what the one before it made: their order is part of what they
// do.
void Comparison::Recipes() {
  if (before_.recipes != after_.recipes) {
    Add(Cause::kRecipe, "recipes", Joined(before_.recipes), Joined(after_.recipes));
  }
}

// Linear where both lists have the same names in the same order, which is the rule.
size_t Agreement(const std::vector<NamedText>& a, const std::vector<NamedText>& b) {
  size_t equal = 0;
  if (a.size() == b.size()) {  // of one program: nearly always the same names in the same order
    size_t i = 0;
    for (; i < a.size() && a[i].name == b[i].name; ++i) {
      equal += a[i].value == b[i].value ? 1 : 0;
    }
    if (i == a.size()) {
      return equal;
    }
  }
  // Other names or another order: only then the rows are put into a set, which costs most of the
  // comparison.
  const std::set<NamedText> rows(a.begin(), a.end());
  return static_cast<size_t>(
      std::count_if(b.begin(), b.end(), [&](const NamedText& row) { return rows.contains(row); }));
}

bool SamePaths(const ExplainInputs& a, const ExplainInputs& b) {
  return std::equal(
      a.modules.begin(), a.modules.end(), b.modules.begin(), b.modules.end(),
      [](const ExplainModule& x, const ExplainModule& y) { return x.path == y.path; });
}

// How many rows of `a` are in `b` as they are. Nearly always they stand at the same places; only
// for those that do not, `b` is put into a map, so a long list costs no square of its length.
template <class Row>
size_t CommonRows(const std::vector<Row>& a, const std::vector<Row>& b) {
  std::multimap<std::string_view, const Row*> by_path;
  size_t equal = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (i < b.size() && a[i] == b[i]) {
      ++equal;
      continue;
    }
    if (by_path.empty()) {
      for (const Row& row : b) {
        by_path.emplace(row.path, &row);
      }
    }
    const auto [first, last] = by_path.equal_range(a[i].path);
    equal += std::any_of(first, last, [&](const auto& row) { return *row.second == a[i]; }) ? 1 : 0;
  }
  return equal;
}

// In how many fields two requests agree.
// The earlier request that agrees in most fields is the one to compare with: its differences are
// what a person did since.
size_t Agreement(const ExplainInputs& a, const ExplainInputs& b) {
  size_t equal = a.pipeline == b.pipeline ? 1 : 0;
  equal += a.recipes == b.recipes ? 1 : 0;
  equal += SamePaths(a, b) ? 1 : 0;
  equal += CommonRows(a.modules, b.modules) + CommonRows(a.dependencies, b.dependencies);
  return equal + Agreement(a.entry_points, b.entry_points) + Agreement(a.target, b.target) +
         Agreement(a.options, b.options) + Agreement(a.limits, b.limits) +
         Agreement(a.fingerprints, b.fingerprints) + Agreement(a.language, b.language);
}

// In the unit in which the number is small.
std::string AgeText(int64_t age_ms) {
  const int64_t seconds = age_ms / 1000;
  if (seconds < 120) {
    return std::to_string(seconds) + " s old";
  }
  if (seconds < 7200) {
    return std::to_string(seconds / 60) + " min old";
  }
  return seconds < 172'800 ? std::to_string(seconds / 3600) + " h old"
                           : std::to_string(seconds / 86'400) + " d old";
}

// An arrow between old and new where both are known, the one that is known otherwise.
std::string ChangeText(const Change& change) {
  std::string text(CauseName(change.cause));
  text += "   " + change.field;
  if (!change.before.empty() && !change.after.empty()) {
    text += " " + change.before + " → " + change.after;
  } else {
    const std::string& value = change.before + change.after;
    text += value.empty() ? "" : " " + value;
  }
  return change.detail.empty() ? text : text + ", " + change.detail;
}

std::string_view ResultName(ExplainResult result) {
  switch (result) {
    case ExplainResult::kMiss:
      return "miss";
    case ExplainResult::kHitMemory:
      return "memory";
    case ExplainResult::kHitLocal:
      return "local";
    case ExplainResult::kHitUpstream:
      return "upstream";
  }
  return "";
}

// What a result found under this level is equal to.
std::string EqualityText(const ExplainRecord& record) {
  if (record.level == "variant") {
    return "same variant";
  }
  if (record.level == "live") {
    const std::string names = Joined(record.live_options);
    return names.empty() ? "same code for all options" : "same live options " + names;
  }
  return record.level == "signature" ? "same answers of another variant"
                                     : "same code from another program";
}

// Comparing a new request with the earlier ones of its slot field by field would cost more than a
// hit. A request is hashed once, into a row of numbers at the same places for the same fields, and
// rows are compared number by number.
std::vector<uint64_t> SumsOf(const ExplainInputs& inputs) {
  std::vector<uint64_t> sums;
  sums.reserve(inputs.modules.size() + inputs.dependencies.size() + inputs.options.size() +
               inputs.target.size() + inputs.limits.size() + inputs.fingerprints.size() +
               inputs.entry_points.size() + inputs.language.size() + 5);
  Bytes text;
  const auto add = [&](std::string_view name, std::string_view value) {
    text.clear();
    Append(text, AsBytes(name));
    text.push_back(std::byte{0});
    Append(text, AsBytes(value));
    sums.push_back(Hash64(text));
  };
  const auto add_all = [&](const std::vector<NamedText>& rows) {
    for (const NamedText& row : rows) {
      add(row.name, row.value);
    }
    sums.push_back(rows.size());
  };
  for (const ExplainModule& module : inputs.modules) {
    add(module.path, AsText(std::as_bytes(std::span(module.source.id.bytes))));
  }
  // Lengths are numbers of the row, so requests of other lengths do not agree by accident.
  sums.push_back(inputs.modules.size());
  for (const ExplainDependency& file : inputs.dependencies) {
    add(file.path, file.digest.has_value() ? AsText(std::as_bytes(std::span(file.digest->id.bytes)))
                                           : std::string_view());
  }
  add("pipeline", inputs.pipeline);
  for (const std::string& recipe : inputs.recipes) {
    add("recipe", recipe);
  }
  for (const auto* rows : {&inputs.entry_points, &inputs.target, &inputs.options, &inputs.limits,
                           &inputs.fingerprints, &inputs.language}) {
    add_all(*rows);
  }
  return sums;
}

constexpr uint64_t kRowBytes = 48;  // of a text or an id in a list, beside its letters

uint64_t InputBytes(const ExplainInputs& inputs) {
  uint64_t bytes = inputs.pipeline.size();
  for (const ExplainModule& module : inputs.modules) {
    bytes += 2 * kRowBytes + module.path.size();
  }
  for (const ExplainDependency& file : inputs.dependencies) {
    bytes += 2 * kRowBytes + file.path.size();
  }
  for (const auto* rows : {&inputs.entry_points, &inputs.target, &inputs.options, &inputs.limits,
                           &inputs.fingerprints, &inputs.language}) {
    for (const NamedText& row : *rows) {
      bytes += 2 * kRowBytes + row.name.size() + row.value.size();
    }
  }
  for (const std::string& recipe : inputs.recipes) {
    bytes += kRowBytes + recipe.size();
  }
  return bytes;
}

}  // namespace

// Never freed, like everything that lives as long as the process.
SharedInputs::SharedInputs() {
  // All records without inputs share one.
  static const auto* const none = new std::shared_ptr<State>(std::make_shared<State>());
  state_ = *none;
}

SharedInputs::SharedInputs(ExplainInputs inputs) {
  state_ = std::make_shared<State>();
  state_->inputs = std::move(inputs);
  state_->bytes = InputBytes(state_->inputs);
}

uint64_t BytesOf(const ExplainRecord& record) {
  uint64_t bytes = sizeof(record) + record.inputs.bytes() + record.slot.project.size() +
                   record.slot.program.size() + record.slot.target.size() + record.detail.size() +
                   record.trace.size() + record.stage_us.size() * sizeof(record.stage_us[0]);
  for (const std::string& option : record.live_options) {
    bytes += kRowBytes + option.size();
  }
  for (const std::string& option : record.mask.value_or(std::vector<std::string>())) {
    bytes += kRowBytes + option.size();
  }
  return bytes;
}

// Made once, by the first thread that needs them: most records of a slot are never compared.
std::span<const uint64_t> SharedInputs::sums() const {
  std::call_once(state_->summed, [this] { state_->sums = SumsOf(state_->inputs); });
  return state_->sums;
}

Hash128 ExplainSlot::Id() const { return SlotId(space, project, program, target); }

std::string_view CauseName(Cause cause) { return kCauseNames[static_cast<size_t>(cause)]; }

std::vector<Change> CompareInputs(const ExplainInputs& before, const ExplainInputs& after,
                                  const std::optional<std::vector<std::string>>& live) {
  return Comparison(before, after, live).Run();
}

std::vector<const ExplainRecord*> PointersTo(std::span<const ExplainRecord> records) {
  std::vector<const ExplainRecord*> pointers;
  for (const ExplainRecord& record : records) {
    pointers.push_back(&record);
  }
  return pointers;
}

// The exact comparison, for the few records of one slot; ExplainRing::Closest compares sums on the
// way of every request.
const ExplainRecord* ClosestTo(const ExplainInputs& inputs,
                               std::span<const ExplainRecord* const> earlier) {
  const ExplainRecord* closest = nullptr;
  size_t most = 0;
  for (const ExplainRecord* record : earlier) {
    // Requests with thousands of options of other names take milliseconds each. A single one asks
    // nothing, because then the ring may hold its mutex.
    if (record != earlier.front()) {
      CheckStopBetweenSlowSteps();
    }
    const size_t equal = Agreement(inputs, *record->inputs);
    if (closest == nullptr || equal >= most) {  // of equals the latest
      closest = record;
      most = equal;
    }
  }
  return closest;
}

// Requires: `slot` is in the order of the requests. A hit lists what was ignored and how old its
// result is (spec/cache 11.4); a miss lists every difference (spec/cache 11.3).
Explanation Explain(const ExplainRecord& record, std::span<const ExplainRecord* const> slot) {
  std::vector<const ExplainRecord*> earlier;
  for (const ExplainRecord* row : slot) {
    // The calls of one command explain nothing to each other: its look-up was a miss because its
    // compile comes after it.
    if (row->trace.empty() || row->trace != record.trace) {
      earlier.push_back(row);
    }
  }
  Explanation out{.record = record,
                  .cause = record.cause,
                  .changes = {},
                  .ignored_options = {},
                  .age_ms = std::nullopt};
  const ExplainRecord* closest = ClosestTo(*record.inputs, earlier);
  // What is certain to be the first request of its kind has nothing to be compared with.
  if (closest != nullptr && out.cause != Cause::kFirstSeen) {
    out.changes = CompareInputs(*closest->inputs, *record.inputs, record.live_options);
  }
  if (record.result != ExplainResult::kMiss) {
    const NameSet live = SetOf(record.live_options);
    for (const NamedText& option : record.inputs->options) {
      if (!live.contains(option.name)) {
        out.ignored_options.push_back(option.name);
      }
    }
    if (record.made_ms != 0) {
      out.age_ms = std::max<int64_t>(0, record.at_ms - record.made_ms);
    }
    return out;
  }
  if (out.cause == Cause::kNone) {
    // With equal inputs the result was there once, and somebody removed it.
    out.cause = closest == nullptr     ? Cause::kFirstSeen
                : !out.changes.empty() ? out.changes.front().cause
                                       : Cause::kEvicted;
  }
  return out;
}

// One line for a hit; for a miss one line for each change, the cause first.
std::string ExplanationText(const Explanation& explanation) {
  const ExplainRecord& record = explanation.record;
  if (record.result != ExplainResult::kMiss) {
    std::string text = "hit (" + std::string(ResultName(record.result));
    text += explanation.age_ms.has_value() ? ", " + AgeText(*explanation.age_ms) + "): " : "): ";
    text += EqualityText(record);
    if (!explanation.ignored_options.empty()) {
      text += "; not consulted here: " + Joined(explanation.ignored_options);
    }
    for (const Change& change : explanation.changes) {
      if (change.cause == Cause::kSourceChanged && change.detail == "IR identical") {
        text += "\nsource changed, IR identical: " + change.field;
      }
    }
    return text;
  }
  std::string text = "miss: ";
  if (explanation.changes.empty() || explanation.cause != explanation.changes.front().cause) {
    text += CauseName(explanation.cause);
    if (explanation.cause == Cause::kFirstSeen) {
      text += "   no earlier request for this program and target";
    }
    text += record.detail.empty() ? "" : "   " + record.detail;
    for (const Change& change : explanation.changes) {
      text += "\n      " + ChangeText(change);
    }
    return text;
  }
  // The cause is the first change, so it needs no line of its own.
  for (size_t i = 0; i < explanation.changes.size(); ++i) {
    text += (i == 0 ? "" : "\n      ") + ChangeText(explanation.changes[i]);
  }
  text += record.detail.empty() ? "" : "\n      " + record.detail;
  return text;
}

}  // namespace kiln::cache
