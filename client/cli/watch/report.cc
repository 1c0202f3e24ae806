// SPDX-License-Identifier: MIT
// What `kiln watch` prints for each event of its session (spec/daemon 8.3): a line of JSON with all
// members, or text that is short enough to read while one edits. The watch calls it under its
// mutex, so events and new sources never meet.
#include "client/cli/watch/report.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "client/cli/output/diagnostics_view.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/results.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

// A daemon that makes programs and variants up fills no memory with them: what is beyond is not
// remembered.
constexpr size_t kMostPrograms = 10'000;
constexpr size_t kMostResults = 1'000'000;
constexpr size_t kShownArtifacts = 8;  // of one generation, if nobody said which matter

std::string TimeOfDay() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  (void)localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

// What an engine must do about the artifact: load code, set state, or rebuild its layouts (spec/cli
// 6.5).
std::vector<std::string> ChangeOf(const client::WatchArtifact& artifact) {
  std::vector<std::string> change;
  if (artifact.code) {
    change.emplace_back("code");
  }
  if (artifact.settings) {
    change.emplace_back("settings");
  }
  if (artifact.layout) {
    change.emplace_back("layout");
  }
  return change;
}

size_t ErrorsIn(const client::WatchDiagnostics& diagnostics) {
  return static_cast<size_t>(
      std::ranges::count(diagnostics.all, Severity::kError, &PlacedDiagnostic::severity));
}

Json ArtifactJson(const client::Artifact& artifact) {
  Json code = Json::array();
  for (const client::StageCode& stage : artifact.code) {
    code.push_back({{"stage", StageName(stage.stage)},
                    {"id", stage.digest.id.hex()},
                    {"bytes", stage.digest.size}});
  }
  return {{"target", artifact.target}, {"code", code}, {"metadata", artifact.metadata.id.hex()}};
}

// Members of an event behind its seq; an event without them is not shown.
// Members are only ever added (spec/cli 7.1). The two events that are not shown are of the protocol
// and tell nothing about shaders.
struct ToJson {
  double ms;

  Json operator()(const client::WatchOpened&) const { return {}; }
  Json operator()(const client::WatchSnapshot&) const { return {}; }
  Json operator()(const client::WatchChanged& e) const {
    return {{"generation", e.generation},
            {"event", "changed"},
            {"paths", e.paths},
            {"programs", e.programs}};
  }
  Json operator()(const client::WatchArtifact& e) const {
    return {{"generation", e.generation},
            {"event", "artifact"},
            {"change", ChangeOf(e)},
            {"program", e.program},
            {"options", OptionsJson(e.options)},
            {"signature", e.artifact.signature},
            {"artifacts", Json::array({ArtifactJson(e.artifact)})},
            {"ms", ms}};
  }
  Json operator()(const client::WatchUnchanged& e) const {
    return {{"generation", e.generation},
            {"event", "unchanged"},
            {"program", e.program},
            {"reason", e.reason},
            {"ms", ms}};
  }
  Json operator()(const client::WatchDiagnostics& e) const {
    return {{"generation", e.generation},
            {"event", "diagnostics"},
            {"program", e.program},
            {"errors", ErrorsIn(e)},
            {"warnings", e.all.size() - ErrorsIn(e)},
            {"cleared", e.cleared},
            {"ms", ms}};
  }
  Json operator()(const client::WatchSettled& e) const {
    return {{"generation", e.generation}, {"event", "settled"}, {"compiled", e.compiled},
            {"shared", e.shared},         {"failed", e.failed}, {"ms", ms}};
  }
  Json operator()(const client::WatchProblem& e) const {
    return {{"event", "problem"}, {"code", e.code}, {"message", e.text}};
  }
};

}  // namespace

// Flushed after each event: a reader of lines waits for this one.
void WatchReport::Show(const client::WatchEvent& event, double ms) {
  global_.json ? ShowJson(event, ms) : ShowText(event, ms);
  (void)std::fflush(stdout);
}

// A session that is resumed goes on where it was; one that is not sends its whole state again, and
// what was told of it before counts no more.
void WatchReport::ShowJson(const client::WatchEvent& event, double ms) {
  if (const auto* opened = std::get_if<client::WatchOpened>(&event.body);
      opened != nullptr && !opened->resumed) {
    mistakes_.Forget();  // the whole state comes
  }
  const Json members = std::visit(ToJson{ms}, event.body);
  if (members.is_null()) {
    return;
  }
  Json object{{"v", 1}, {"type", "watch"}, {"seq", event.seq}};
  object.update(members);
  PrintLine(object);
  if (const auto* changed = std::get_if<client::WatchChanged>(&event.body)) {
    // From here on a mistake of these programs is told again only if it is new.
    mistakes_.Renew(changed->programs);
  } else if (const auto* diagnostics = std::get_if<client::WatchDiagnostics>(&event.body)) {
    (void)mistakes_.Add(diagnostics->program, diagnostics->all, sources_);
  } else if (std::holds_alternative<client::WatchSettled>(event.body)) {
    mistakes_.End();
  }
}

// -q leaves what is wrong. The settled event is not shown then, but it still ends the generation of
// mistakes.
void WatchReport::ShowText(const client::WatchEvent& event, double ms) {
  if (!global_.quiet || std::holds_alternative<client::WatchDiagnostics>(event.body) ||
      std::holds_alternative<client::WatchProblem>(event.body)) {
    std::visit([&](const auto& body) { On(body, ms); }, event.body);
  } else if (std::holds_alternative<client::WatchSettled>(event.body)) {
    mistakes_.End();
  }
}

// Lines of a generation stand below its time.
void WatchReport::Line(const std::string& what, const std::string& text, double ms) {
  Print("          {:<12} {:<60} {:.1f} ms\n", what, text, ms);
}

void WatchReport::On(const client::WatchOpened& opened, double /*ms*/) {
  if (opened.resumed) {
    Print("{}  connected    nothing was missed\n", TimeOfDay());
    return;
  }
  ready_ = false;  // the whole state comes
  results_.clear();
}

// A generation begins: its bounds on lines of artifacts and of diagnostics are its own.
void WatchReport::On(const client::WatchChanged& changed, double /*ms*/) {
  lines_ = 0;
  hidden_ = 0;
  ResetDiagnosticsShown();
  if (ready_) {
    Print("{}  changed      {}\n", TimeOfDay(), fmt::format("{}", fmt::join(changed.paths, " ")));
  }
}

// The time of the last good artifact is kept for each program, to tell which state an engine still
// runs while the sources are wrong.
void WatchReport::On(const client::WatchArtifact& artifact, double ms) {
  if (good_since_.size() < kMostPrograms || good_since_.contains(artifact.program)) {
    good_since_[artifact.program] = TimeOfDay();
  }
  const std::string options = client::OptionsText(artifact.options);
  if (!ready_ && results_.size() < kMostResults) {
    // The first generation is the whole state, of which only the number of results is told.
    results_[{artifact.program, artifact.artifact.target, options}] = artifact.artifact.signature;
  }
  // A variant of interest is always shown. Without one a generation could print a line for each of
  // thousands.
  const bool shown = interest_.empty() ? lines_ < kShownArtifacts : interest_.contains(options);
  if (!ready_ || !shown) {
    hidden_ += ready_ ? 1 : 0;
    return;
  }
  ++lines_;
  Line("artifact",
       fmt::format("{}{}{}    {}", artifact.program, options.empty() ? "" : " ", options,
                   fmt::join(ChangeOf(artifact), " ")),
       ms);
}

void WatchReport::On(const client::WatchUnchanged& unchanged, double ms) {
  if (ready_) {
    const bool is_ir = unchanged.reason == "IR identical";
    Line("unchanged",
         fmt::format("{}    {}{}", unchanged.program, unchanged.reason,
                     is_ir ? " (comment or white space)" : ""),
         ms);
  }
}

// A line is printed only for news. The diagnostics themselves were shown by mistakes_.Add, each of
// them once.
void WatchReport::On(const client::WatchDiagnostics& diagnostics, double ms) {
  if (diagnostics.cleared) {
    if (wrong_.erase(diagnostics.program) != 0) {
      Line("cleared", diagnostics.program + "    is right again", ms);
    }
    return;
  }
  (void)std::fflush(stdout);
  if (wrong_.size() < kMostPrograms) {
    wrong_.insert(diagnostics.program);
  }
  if (mistakes_.Add(diagnostics.program, diagnostics.all, sources_).fresh == 0) {
    return;  // other programs have the same, or it is said again of more variants
  }
  const size_t errors = ErrorsIn(diagnostics);
  const size_t warnings = diagnostics.all.size() - errors;
  std::string text =
      fmt::format("{}: {} error{}", diagnostics.program, errors, errors == 1 ? "" : "s");
  text += warnings == 0 ? "" : fmt::format(", {} warning{}", warnings, warnings == 1 ? "" : "s");
  if (const auto good = good_since_.find(diagnostics.program);
      errors != 0 && good != good_since_.end()) {
    text += "; keeping artifacts of " + good->second;
  }
  Print("          {:<73} {:.1f} ms\n", text, ms);
}

// As `kiln build` counts them: a variant of interest has the result of the variant that it is.
size_t WatchReport::DistinctResults() const {
  std::set<std::array<std::string, 3>> distinct;
  for (const auto& [variant, signature] : results_) {
    distinct.insert({variant[0], variant[1], signature});
  }
  return distinct.size();
}

void WatchReport::On(const client::WatchSettled& settled, double ms) {
  (void)std::fflush(stdout);
  mistakes_.End();
  if (!ready_) {
    ready_ = true;
    Print("{}  ready        {} results, {}{}\n", TimeOfDay(), DistinctResults(),
          settled.compiled == 0 ? std::string("all cached")
                                : fmt::format("{} compiled", settled.compiled),
          settled.failed == 0 ? std::string() : fmt::format(", {} failed", settled.failed));
    return;
  }
  std::string text = fmt::format("{} built, {} not affected", settled.compiled, settled.shared);
  text += settled.failed == 0 ? "" : fmt::format(", {} failed", settled.failed);
  text += hidden_ == 0 ? "" : fmt::format("; {} more artifacts", hidden_);
  Line("settled", text, ms);
}

void WatchReport::On(const client::WatchSnapshot& /*snapshot*/, double /*ms*/) {}

// Of the session and not of a shader, so it goes to stderr. What is buffered for stdout is written
// first, so that both come in their order on a terminal.
void WatchReport::On(const client::WatchProblem& problem, double /*ms*/) {
  (void)std::fflush(stdout);
  Print(stderr, "{}  problem      {} [{}]\n", TimeOfDay(), problem.text, problem.code);
}

}  // namespace kiln::cli
