// SPDX-License-Identifier: MIT
#include "cache/explain/explain.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "cache/key.h"

namespace kiln::cache {
namespace {

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
                                                                   "forced"};

constexpr size_t kShownDigits = 8;

std::string Short(const Digest& digest) { return digest.id.hex().substr(0, kShownDigits) + "…"; }

bool Contains(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Comparison {
 public:
  Comparison(const ExplainInputs& before, const ExplainInputs& after,
             const std::optional<std::vector<std::string>>& live)
      : before_(before), after_(after), live_(live) {}

  std::vector<Change> Run() {
    Modules();
    Dependencies();
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

void Comparison::Named(Cause cause, const std::vector<NamedText>& before,
                       const std::vector<NamedText>& after) {
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
    if (cause == Cause::kOption && live_.has_value()) {
      detail = Contains(*live_, name) ? "live" : "not live";
    }
    Add(cause, name, std::move(value.first), std::move(value.second), std::move(detail));
  }
}

void Comparison::Recipes() {
  if (before_.recipes != after_.recipes) {
    Add(Cause::kRecipe, "recipes", Joined(before_.recipes), Joined(after_.recipes));
  }
}

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
  const std::set<NamedText> rows(a.begin(), a.end());
  return static_cast<size_t>(
      std::count_if(b.begin(), b.end(), [&](const NamedText& row) { return rows.contains(row); }));
}

bool SamePaths(const ExplainInputs& a, const ExplainInputs& b) {
  return std::equal(
      a.modules.begin(), a.modules.end(), b.modules.begin(), b.modules.end(),
      [](const ExplainModule& x, const ExplainModule& y) { return x.path == y.path; });
}

// In how many fields two requests agree.
size_t Agreement(const ExplainInputs& a, const ExplainInputs& b) {
  size_t equal = a.pipeline == b.pipeline ? 1 : 0;
  equal += a.recipes == b.recipes ? 1 : 0;
  equal += SamePaths(a, b) ? 1 : 0;
  for (const ExplainModule& module : a.modules) {
    equal += std::find(b.modules.begin(), b.modules.end(), module) != b.modules.end() ? 1 : 0;
  }
  for (const ExplainDependency& file : a.dependencies) {
    equal += std::find(b.dependencies.begin(), b.dependencies.end(), file) != b.dependencies.end()
                 ? 1
                 : 0;
  }
  return equal + Agreement(a.entry_points, b.entry_points) + Agreement(a.target, b.target) +
         Agreement(a.options, b.options) + Agreement(a.limits, b.limits) +
         Agreement(a.fingerprints, b.fingerprints);
}

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

std::vector<uint64_t> SumsOf(const ExplainInputs& inputs) {
  std::vector<uint64_t> sums;
  sums.reserve(inputs.modules.size() + inputs.dependencies.size() + inputs.options.size() +
               inputs.target.size() + inputs.limits.size() + inputs.fingerprints.size() +
               inputs.entry_points.size() + 4);
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
                           &inputs.fingerprints}) {
    add_all(*rows);
  }
  return sums;
}

}  // namespace

SharedInputs::SharedInputs() {
  static const auto* const none = new std::shared_ptr<State>(std::make_shared<State>());
  state_ = *none;
}

SharedInputs::SharedInputs(ExplainInputs inputs) {
  state_ = std::make_shared<State>();
  state_->inputs = std::move(inputs);
}

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

const ExplainRecord* ClosestTo(const ExplainInputs& inputs,
                               std::span<const ExplainRecord* const> earlier) {
  const ExplainRecord* closest = nullptr;
  size_t most = 0;
  for (const ExplainRecord* record : earlier) {
    const size_t equal = Agreement(inputs, *record->inputs);
    if (closest == nullptr || equal >= most) {  // of equals the latest
      closest = record;
      most = equal;
    }
  }
  return closest;
}

Explanation Explain(const ExplainRecord& record, std::span<const ExplainRecord* const> slot) {
  std::vector<const ExplainRecord*> earlier;
  for (const ExplainRecord* row : slot) {
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
  if (closest != nullptr && out.cause != Cause::kFirstSeen) {
    out.changes = CompareInputs(*closest->inputs, *record.inputs, record.live_options);
  }
  if (record.result != ExplainResult::kMiss) {
    for (const NamedText& option : record.inputs->options) {
      if (!Contains(record.live_options, option.name)) {
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
  for (size_t i = 0; i < explanation.changes.size(); ++i) {
    text += (i == 0 ? "" : "\n      ") + ChangeText(explanation.changes[i]);
  }
  text += record.detail.empty() ? "" : "\n      " + record.detail;
  return text;
}

}  // namespace kiln::cache
