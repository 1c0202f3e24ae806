// SPDX-License-Identifier: MIT
// How an explanation of a hit or miss (spec/cache 11) is shown. Explanations from a daemon and from
// a folder are brought into one form, client::Explanation, and only that form is printed
// (spec/cli 6.6).
#include "client/cli/variant/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string AgeText(uint64_t age_ms) {
  const uint64_t seconds = age_ms / 1000;
  // A unit is used up to twice its size, so that "119 s" is not rounded to "1 min".
  return seconds < 120       ? fmt::format("{} s old", seconds)
         : seconds < 7200    ? fmt::format("{} min old", seconds / 60)
         : seconds < 172'800 ? fmt::format("{} h old", seconds / 3600)
                             : fmt::format("{} days old", seconds / 86'400);
}

// A cause that this program does not know comes from a newer daemon and is shown as it is.
std::string EqualityText(const client::Explanation& hit) {
  if (hit.cause == "same_variant") {
    return "same variant";
  }
  if (hit.cause == "same_live_options") {
    return hit.live_options.empty()
               ? "same code for all options"
               : fmt::format("same live options {}", fmt::join(hit.live_options, " "));
  }
  return hit.cause == "same_sources" ? "same sources" : hit.cause;
}

// "cause field before → after, detail". A field that came or went has only one of the two values.
std::string ChangeText(const client::Explanation::Change& change) {
  std::string text = fmt::format("{}   {}", change.cause, change.field);
  if (!change.before.empty() && !change.after.empty()) {
    text += fmt::format(" {} → {}", change.before, change.after);
  } else if (!change.before.empty() || !change.after.empty()) {
    text += fmt::format(" {}{}", change.before, change.after);
  }
  return change.detail.empty() ? text : text + ", " + change.detail;
}

// The first line has the level, the age and what was equal. Options that were asked for but that
// the code does not depend on are named, because they explain why a different variant is a hit.
std::string HitText(const client::Explanation& hit) {
  std::string text =
      fmt::format("hit ({}{}): {}", hit.level, hit.age_ms == 0 ? "" : ", " + AgeText(hit.age_ms),
                  EqualityText(hit));
  if (!hit.ignored_options.empty()) {
    text += fmt::format("; not consulted here: {}", fmt::join(hit.ignored_options, " "));
  }
  for (const client::Explanation::Change& change : hit.changes) {
    // An edit of comments or white space changes the digest of a source but not its module, hence
    // nothing behind it (spec/cache 2.4.3). That is a hit worth a line.
    if (change.cause == "source_changed" && change.detail == "IR identical") {
      text += fmt::format("\nsource changed, IR identical: {}", change.field);
    }
  }
  return text;
}

// The visited types are bool, the numbers and text; each is a JSON value of its own kind.
Json ValueJson(const client::Option& option) {
  return std::visit([](const auto& value) { return Json(value); }, option.value);
}

}  // namespace

client::Explanation ExplanationOf(const cache::Explanation& explanation) {
  const cache::ExplainRecord& record = explanation.record;
  client::Explanation out{.seq = record.seq,
                          .at_ms = static_cast<uint64_t>(record.at_ms),
                          .project = record.slot.project,
                          .program = record.slot.program,
                          .target = record.slot.target,
                          .hit = record.result != cache::ExplainResult::kMiss,
                          .level = record.level,
                          .cause = std::string(cache::CauseName(explanation.cause)),
                          .detail = record.detail,
                          .live_options = record.live_options,
                          .ignored_options = explanation.ignored_options,
                          .age_ms = static_cast<uint64_t>(explanation.age_ms.value_or(0)),
                          .signature = record.signature.zero() ? "" : record.signature.hex(),
                          .trace_id = record.trace};
  // A hit has no cause in the record: what was equal follows from the level at which it was found,
  // and the level of the message is the place that served it.
  if (out.hit) {
    out.cause = record.level == "live"     ? "same_live_options"
                : record.level == "module" ? "same_sources"
                                           : "same_variant";
    out.level = record.result == cache::ExplainResult::kHitMemory  ? "memory"
                : record.result == cache::ExplainResult::kHitLocal ? "local"
                                                                   : "upstream";
  }
  for (const cache::NamedText& option : record.inputs->options) {
    out.options.push_back({.name = option.name, .value = option.value});
  }
  for (const cache::Change& change : explanation.changes) {
    out.changes.push_back({.cause = std::string(cache::CauseName(change.cause)),
                           .field = change.field,
                           .before = change.before,
                           .after = change.after,
                           .detail = change.detail});
  }
  for (const auto& [stage, us] : record.stage_us) {
    out.stage_times.push_back({.stage = stage, .us = us});
  }
  return out;
}

// One line for the answer, and a line more for each further change.
std::string TextOf(const client::Explanation& explanation) {
  if (explanation.hit) {
    return HitText(explanation);
  }
  std::string text = "miss: ";
  size_t next = 0;
  // The first change is the cause in most cases, and then it is told with its two values on the
  // first line.
  const bool is_change =
      !explanation.changes.empty() && explanation.changes.front().cause == explanation.cause;
  if (is_change) {
    text += ChangeText(explanation.changes[next++]);
  } else {
    text += explanation.cause;
    text += explanation.cause == "first_seen" ? "   no earlier request for this program and target"
                                              : "";
    text += explanation.detail.empty() ? "" : "   " + explanation.detail;
  }
  for (; next < explanation.changes.size(); ++next) {
    text += "\n      " + ChangeText(explanation.changes[next]);
  }
  text += is_change && !explanation.detail.empty() ? "\n      " + explanation.detail : "";
  return text;
}

Json JsonOf(const client::Explanation& explanation) {
  Json options = Json::object();
  for (const client::Option& option : explanation.options) {
    options[option.name] = ValueJson(option);
  }
  Json changes = Json::array();
  for (const client::Explanation::Change& change : explanation.changes) {
    changes.push_back({{"field", change.field},
                       {"old", change.before},
                       {"new", change.after},
                       {"detail", change.detail},
                       {"cause", change.cause}});
  }
  Json stages = Json::object();
  for (const client::Explanation::StageTime& time : explanation.stage_times) {
    stages[time.stage] = static_cast<double>(time.us) / 1000;
  }
  return {{"v", 1},
          {"type", "explain"},
          {"program", explanation.program},
          {"options", options},
          {"result", explanation.hit ? "hit" : "miss"},
          {"level", explanation.level},
          {"cause", explanation.cause},
          {"changes", changes},
          {"ignored_options", explanation.ignored_options},
          {"age_ms", explanation.age_ms},
          {"target", explanation.target},
          {"project", explanation.project},
          {"live_options", explanation.live_options},
          {"signature", explanation.signature},
          {"detail", explanation.detail},
          {"stages_ms", stages},
          {"seq", explanation.seq},
          {"at_ms", explanation.at_ms},
          {"trace_id", explanation.trace_id}};
}

// The text goes through Message, because names in it come from sources and must not control the
// terminal.
void PrintExplanation(const Global& global, const client::Explanation& explanation,
                      const std::string& subject) {
  if (global.json) {
    PrintLine(JsonOf(explanation));
    return;
  }
  Print("{}{}{}\n", subject, subject.empty() ? "" : "   ", Message{TextOf(explanation)});
}

}  // namespace kiln::cli
