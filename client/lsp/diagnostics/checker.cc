// SPDX-License-Identifier: MIT
#include "client/lsp/diagnostics/checker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client/lsp/analysis/option_space.h"
#include "client/lsp/documents/languages.h"
#include "client/lsp/manifest/places.h"
#include "compiler/base/threads/stop.h"

namespace kiln::lsp {
namespace {

// Parsers call their source module 0; in its program it has another number.
Diagnostic Renumbered(Diagnostic diagnostic, uint32_t module) {
  const auto set = [module](Location& where) {
    where.module = where.known() ? module : where.module;
  };
  set(diagnostic.primary);
  for (Label& label : diagnostic.labels) {
    set(label.where);
  }
  if (diagnostic.fix.has_value()) {
    set(diagnostic.fix->where);
  }
  return diagnostic;
}

Diagnostic WithVariants(const VariantMessage& message) {
  Diagnostic diagnostic = message.diagnostic;
  // Before the variants have been tried nothing is said about them.
  if (message.tried == 0) {
    return diagnostic;
  }
  if (message.failing == message.tried) {
    return std::move(diagnostic).Note(NoteKind::kFailsAlways, {{"total", message.tried}});
  }
  if (message.condition.empty()) {
    return std::move(diagnostic)
        .Note(NoteKind::kFailsSome, {{"failing", message.failing}, {"total", message.tried}});
  }
  return std::move(diagnostic)
      .Note(NoteKind::kFailsWhen, {{"condition", message.condition},
                                   {"failing", message.failing},
                                   {"total", message.tried}});
}

// Two programs that share a file find the same mistake in it. Their notes differ, because each
// counts its own variants, so only the first line of the text is compared.
bool SaysTheSame(const Json& a, const Json& b) {
  const auto first_line = [](const Json& json) {
    const std::string text = json["message"].get<std::string>();
    return text.substr(0, text.find('\n'));
  };
  return a["range"] == b["range"] && a.value("code", "") == b.value("code", "") &&
         first_line(a) == first_line(b);
}

// Whether a program that had the file as a source does not any more: a manifest has come or gone,
// or has other programs now. `now` are those of the nearest manifest; one of another manifest stays
// as long as that has it.
bool IsFormer(Workspace& workspace, const ProgramSpec& spec, const std::string& path,
              const std::vector<ProgramSpecPtr>& now) {
  const auto is_it = [&spec](const ProgramSpecPtr& one) {
    CheckStop();
    return one->name == spec.name && one->manifest_path == spec.manifest_path;
  };
  if (std::ranges::find(spec.paths, path) == spec.paths.end() || std::ranges::any_of(now, is_it)) {
    return false;
  }
  const Project* project =
      spec.manifest_path.empty() ? nullptr : workspace.ProjectAt(spec.manifest_path);
  return project == nullptr || std::ranges::none_of(project->programs, is_it);
}

}  // namespace

// The line break cannot occur in a path of a manifest or in a name, so two programs never share a
// text.
std::string Checker::NameOf(const ProgramSpec& spec) {
  return fmt::format("{}\n{}", spec.manifest_path.empty() ? spec.paths.front() : spec.manifest_path,
                     spec.name);
}

void Checker::Touch(const std::string& path) {
  open_.insert(path);
  // The file moves to the end of the list, which is worked off from there: what somebody types in
  // is always next.
  std::erase(dirty_, path);
  dirty_.push_back(path);
}

void Checker::TouchOpenFiles() {
  for (const std::string& path : std::set<std::string>(open_)) {
    Touch(path);
  }
  QueueWorkspace();
}

void Checker::WatchWorkspace() {
  if (!watches_workspace_) {
    watches_workspace_ = true;
    QueueWorkspace();
  }
}

// The programs of the roots wait behind everything that somebody has open. A program that did not
// change costs a comparison of its sources (CheckProgram), so they may be queued often.
void Checker::QueueWorkspace() {
  if (!watches_workspace_) {
    return;
  }
  watched_.clear();
  manifests_.clear();
  for (const Project* project : session_.analysis.workspace().Projects()) {
    manifests_.push_back(project->path);
    for (const ProgramSpecPtr& spec : project->programs) {
      const std::string name = NameOf(*spec);
      if (watched_.size() >= kMaxPrograms || !watched_.insert(name).second) {
        continue;
      }
      const bool waits = std::ranges::any_of(
          pending_, [&](const ProgramSpecPtr& one) { return NameOf(*one) == name; });
      if (!waits) {
        pending_.insert(pending_.begin(), spec);
      }
    }
  }
  forget_ = true;  // a program may have left its manifest
}

bool Checker::IsWanted(const CheckedProgram& checked) const {
  const auto is_open = [&](const std::string& one) { return open_.contains(one); };
  return watched_.contains(NameOf(checked.spec)) ||
         std::ranges::any_of(checked.spec.paths, is_open) ||
         std::ranges::any_of(checked.files, is_open, &FileVersion::path);
}

size_t Checker::held_bytes() const {
  size_t bytes = 0;
  for (const std::string& name : running_) {
    const CheckedProgram& checked = checked_.at(name);
    bytes += checked.program == nullptr ? 0 : checked.program->bytes() + checked.check->bytes();
  }
  return bytes;
}

size_t Checker::held_programs() const {
  return static_cast<size_t>(std::ranges::count_if(
      checked_, [](const auto& row) { return row.second.program != nullptr; }));
}

// The last of running_ is the next one to be worked on, so the first are parked first. What their
// variants of interest said stays told; the rest of their space is begun anew when they come back.
void Checker::ParkBeyondBound() {
  for (size_t i = 0; i + 1 < running_.size() && held_bytes() > most_held_; ++i) {
    CheckedProgram& checked = checked_.at(running_[i]);
    checked.check.reset();
    checked.program.reset();
  }
}

void Checker::CheckNow(const std::string& path, std::vector<Json>& out) {
  const auto waits = std::ranges::find(dirty_, path);
  if (waits != dirty_.end()) {
    dirty_.erase(waits);
    CheckDirty(path, out);
  }
}

void Checker::CheckDirty(const std::string& path, std::vector<Json>& out) {
  if (LanguageOf(path) == DocumentLanguage::kManifest) {
    CheckManifest(path, out);
  } else {
    CheckFile(path, out);
  }
}

void Checker::Close(const std::string& path) {
  open_.erase(path);
  std::erase(dirty_, path);
  forget_ = true;
}

// A check that was given up is forgotten as a whole: a part of its rows would look like all of
// them.
void Checker::Abandon() {
  if (!in_work_.empty()) {
    std::erase(running_, in_work_);
    checked_.erase(in_work_);
    in_work_.clear();
  }
}

// What is known of programs that were being tried is what the variant one looks at says. They are
// checked anew when they are touched, also without a change, as those are that were given up by a
// step.
void Checker::GiveUp() {
  for (const std::string& name : running_) {
    checked_.erase(name);
  }
  running_.clear();
  pending_.clear();
  in_work_.clear();
}

// Taken off its list before it is looked at, so that what throws is not looked at again and again.
bool Checker::Step(std::vector<Json>& out) {
  // One step does at most one of: a changed file, another program of it, a slice of the variants of
  // one program. What an editor waits for comes in this order.
  if (forget_) {
    forget_ = false;
    ForgetClosed(out);
  }
  if (!dirty_.empty()) {
    const std::string path = std::move(dirty_.back());
    dirty_.pop_back();
    CheckDirty(path, out);
    return true;
  }
  if (!manifests_.empty()) {
    const std::string path = std::move(manifests_.back());
    manifests_.pop_back();
    PublishManifest(path, out);
    return true;
  }
  // A program more is linked as long as those that run leave room for it.
  if (!pending_.empty() && (running_.empty() || held_bytes() < most_held_)) {
    const ProgramSpecPtr spec = std::move(pending_.back());
    pending_.pop_back();
    if (CheckProgram(*spec)) {
      PublishProgram(checked_[NameOf(*spec)], out);
    }
    return true;
  }
  if (running_.empty()) {
    return false;
  }
  StepRunning(out);
  return true;
}

void Checker::StepRunning(std::vector<Json>& out) {
  // If the step throws, `in_work_` says to Abandon() which program to give up. It is cleared behind
  // everything that can throw.
  in_work_ = running_.back();
  CheckedProgram& checked = checked_[in_work_];
  if (checked.program == nullptr) {
    // It was parked. Without a stamp it is another one than that of now, so it is checked anew.
    checked.stamp = {};
    const ProgramSpec spec = checked.spec;
    if (CheckProgram(spec)) {
      PublishProgram(checked_[NameOf(spec)], out);
    }
    in_work_.clear();
    return;
  }
  // The program that was changed last is tried first, since it was pushed last. Its messages are
  // replaced as a whole when all variants are through.
  if (checked.check->Step(kSlice, clock_)) {
    std::erase(running_, in_work_);
    TakeRows(checked);
    TakeManifestRows(checked);
    checked.check.reset();
    checked.program.reset();
    PublishProgram(checked, out);
  }
  in_work_.clear();
}

void Checker::CheckFile(const std::string& path, std::vector<Json>& out) {
  std::vector<ProgramSpecPtr> specs = session_.analysis.workspace().ProgramsOf(path);
  // Programs that had the file and do not any more take their messages along.
  std::set<std::string> former;
  std::erase_if(checked_, [&](const auto& row) {
    if (!IsFormer(session_.analysis.workspace(), row.second.spec, path, specs)) {
      return false;
    }
    for (const FileVersion& file : row.second.files) {
      former.insert(file.path);
    }
    std::erase(running_, row.first);
    return true;
  });
  for (const std::string& one : former) {
    Publish(one, out);
  }
  const std::optional<ProgramSpec> first = session_.analysis.SpecOf(path);
  if (!first.has_value()) {
    Publish(path, out);
    return;
  }
  // The program that the file is looked at through is checked at once, and the others wait in
  // `pending_`, so that the first answer costs one link and one variant.
  const bool changed = CheckProgram(*first);
  specs.resize(std::min(specs.size(), kMaxPrograms));
  // `pending_` is worked off from its end, so programs go in with the first one last. A program
  // that waits already moves.
  std::ranges::reverse(specs);
  for (ProgramSpecPtr& spec : specs) {
    const std::string name = NameOf(*spec);
    std::erase_if(pending_, [&](const ProgramSpecPtr& one) { return NameOf(*one) == name; });
    if (name != NameOf(*first)) {
      pending_.push_back(std::move(spec));
    }
  }
  if (changed) {
    PublishProgram(checked_[NameOf(*first)], out);
  } else {
    Publish(path, out);
  }
  // The names of the last text that parses are what completion offers in one that does not.
  (void)session_.analysis.ModuleViewOf(path);
}

bool Checker::CheckProgram(const ProgramSpec& spec) {
  const std::string name = NameOf(spec);
  std::shared_ptr<const LinkedSources> program = session_.analysis.Link(spec);
  if (program->sources.empty() && program->typed.empty()) {
    checked_.erase(name);
    std::erase(running_, name);  // a name of running_ is one of checked_
    return false;
  }
  std::vector<resolve::OptionSetting> interest;
  if (program->linked.has_value()) {
    interest = session_.analysis.InterestOf(*program);
  }
  const auto known = checked_.find(name);
  // The same stamp means the same texts. So an edit that is undone, or a touch without a change,
  // costs a comparison.
  if (known != checked_.end() && known->second.stamp == program->stamp &&
      known->second.interest == interest) {
    return false;
  }
  std::erase(running_, name);
  if (known != checked_.end()) {
    known->second.check.reset();
    known->second.program.reset();
  }
  CheckedProgram checked{.spec = program->spec,
                         .stamp = program->stamp,
                         .files = FilesOf(*program),
                         .interest = interest,
                         .program = program,
                         .check = nullptr,
                         .rows = {},
                         .manifest_rows = {}};
  // Variants are only tried of sources without errors: what the compiler says about a mended text
  // is about code that nobody wrote.
  // A module of HLSL or WGSL was checked by its front end; without entry points nothing of it is
  // emitted.
  const bool builds = program->typed.empty() || !program->spec.entries.empty();
  if (program->good && program->linked.has_value() && builds) {
    checked.check = std::make_unique<SpaceCheck>(program, interest);
    checked.check->CheckInterest();
  }
  TakeRows(checked);
  if (checked.check == nullptr) {
    checked.program.reset();
  }
  // Behind everything that can throw: a program that runs is known.
  const bool runs = checked.check != nullptr;
  checked_[name] = std::move(checked);
  if (runs) {
    running_.push_back(name);
    ParkBeyondBound();
  }
  return true;
}

// Requires: checked.program.
void Checker::TakeRows(CheckedProgram& checked) {
  const LinkedSources& program = *checked.program;
  std::vector<Diagnostic> found;
  for (uint32_t i = 0; i < program.sources.size(); ++i) {
    for (const Diagnostic& diagnostic : program.sources[i]->diagnostics()) {
      found.push_back(Renumbered(diagnostic, i));
    }
  }
  // Messages of the link are left out for the same reason. A declaration that mending removed would
  // be reported as missing.
  if (program.good) {
    found.insert(found.end(), program.link_diagnostics.begin(), program.link_diagnostics.end());
  }
  if (checked.check != nullptr) {
    for (const VariantMessage& message : checked.check->Messages()) {
      found.push_back(WithVariants(message));
    }
  }
  for (uint32_t i = 0; i < program.typed.size(); ++i) {
    for (const Diagnostic& diagnostic : program.typed[i]->diagnostics()) {
      found.push_back(Renumbered(diagnostic, i));
    }
  }
  SortAndMerge(found);
  if (!program.typed.empty()) {
    checked.rows = PlacedRows(session_, program, found);
    return;
  }
  checked.rows.clear();
  for (const Diagnostic& diagnostic : found) {
    checked.rows.push_back(JsonOf(session_, program, diagnostic));
  }
}

// What is wrong with options, axes and conditions stands in the manifest.
void Checker::TakeManifestRows(CheckedProgram& checked) {
  checked.manifest_rows.clear();
  const ProgramSpec& spec = checked.spec;
  const std::shared_ptr<const SourceFile> file =
      spec.manifest_path.empty() ? nullptr : session_.documents().FileAt(spec.manifest_path);
  if (file == nullptr || checked.check == nullptr) {
    return;
  }
  const LineTable lines(file->text);
  for (const Diagnostic& diagnostic : checked.check->space_diagnostics()) {
    const Span where = PlaceInManifest(file->text, spec.manifest, diagnostic);
    checked.manifest_rows.push_back(
        ManifestDiagnostic({.start = lines.At(file->text, where.begin, session_.encoding),
                            .end = lines.At(file->text, where.end, session_.encoding)},
                           fmt::format("program '{}': {}", spec.name, Message(diagnostic))));
  }
}

void Checker::CheckManifest(const std::string& path, std::vector<Json>& out) {
  (void)session_.analysis.workspace().ProjectAt(path);
  PublishManifest(path, out);
  // Every open file may belong to another program now. They go to the front of the list, behind
  // whatever is being edited.
  for (const std::string& open : open_) {
    if (open != path && std::ranges::find(dirty_, open) == dirty_.end()) {
      dirty_.insert(dirty_.begin(), open);
    }
  }
  QueueWorkspace();
}

void Checker::PublishProgram(const CheckedProgram& checked, std::vector<Json>& out) {
  for (const FileVersion& file : checked.files) {
    Publish(file.path, out);
  }
  if (!checked.spec.manifest_path.empty()) {
    PublishManifest(checked.spec.manifest_path, out);
  }
}

// The rows of all programs that have the file, each message once. What was found in another version
// of the file is left out: its places are not those of the text.
void Checker::Publish(const std::string& path, std::vector<Json>& out) {
  Json rows = Json::array();
  std::vector<Session::ShownFix> fixes;
  const std::shared_ptr<const SourceFile> now = session_.documents().FileAt(path);
  for (const auto& [name, checked] : checked_) {
    CheckStop();
    const auto has = [&](const FileVersion& one) {
      return one.path == path && one.digest == now->digest;
    };
    if (now == nullptr || std::ranges::none_of(checked.files, has)) {
      continue;
    }
    for (const FileDiagnostic& row : checked.rows) {
      const bool known =
          std::ranges::any_of(rows, [&](const Json& one) { return SaysTheSame(one, row.json); });
      if (row.path != path || known || rows.size() >= kMaxDiagnostics) {
        continue;
      }
      rows.push_back(row.json);
      if (row.fix.has_value()) {
        fixes.push_back(*row.fix);
      }
    }
  }
  // Fixes are kept in step with what is shown, because code actions are asked for what the editor
  // shows.
  session_.fixes[path] = std::move(fixes);
  Send(path, std::move(rows), out);
}

void Checker::PublishManifest(const std::string& path, std::vector<Json>& out) {
  const Project* project = session_.analysis.workspace().ProjectAt(path);
  Json rows = Json::array();
  if (project != nullptr && project->error.has_value()) {
    const std::string& text = project->file->text;
    const LineTable lines(text);
    const ManifestFault fault = FaultOf(*project->error, text);
    rows.push_back(
        ManifestDiagnostic({.start = lines.At(text, fault.bytes.begin, session_.encoding),
                            .end = lines.At(text, fault.bytes.end, session_.encoding)},
                           fault.message));
  }
  for (const auto& [name, checked] : checked_) {
    if (checked.spec.manifest_path == path) {
      for (const Json& row : checked.manifest_rows) {
        const bool known = std::ranges::find(rows, row) != rows.end();
        if (!known && rows.size() < kMaxDiagnostics) {
          rows.push_back(row);
        }
      }
    }
  }
  Send(path, std::move(rows), out);
}

// An open file is told each time, because its editor waits; others when something changed. A client
// that pulls is told nothing: it asks, and Reports knows when it has to ask again.
void Checker::Send(const std::string& path, Json diagnostics, std::vector<Json>& out) {
  const bool is_open = open_.contains(path);
  const std::shared_ptr<const SourceFile> file = session_.documents().FileAt(path);
  const bool changed = session_.reports.Set(path, diagnostics, file.get());
  if (session_.abilities.pull_diagnostics || (!changed && !is_open)) {
    return;
  }
  const std::string uri = session_.documents().UriOfPath(path);
  Json params{{"uri", uri}, {"diagnostics", std::move(diagnostics)}};
  if (const TextDocument* document = session_.documents().Find(uri)) {
    params["version"] = document->version();
  }
  out.push_back(NotificationOf("textDocument/publishDiagnostics", std::move(params)));
}

// Programs without an open file are no longer looked at, and what was said of them is taken back.
void Checker::ForgetClosed(std::vector<Json>& out) {
  std::set<std::string> paths;
  std::erase_if(checked_, [&](const auto& row) {
    // A program stays as long as one of its files is open: its messages in files that are closed
    // are of use, too.
    const CheckedProgram& checked = row.second;
    if (IsWanted(checked)) {
      return false;
    }
    for (const FileVersion& file : checked.files) {
      paths.insert(file.path);
    }
    paths.insert(checked.spec.paths.begin(), checked.spec.paths.end());
    std::erase(running_, row.first);
    return true;
  });
  for (const std::string& path : paths) {
    Publish(path, out);
    // Nothing is shown any more, so nothing has to be remembered, and the tables do not grow with
    // every file that was once open.
    if (session_.reports.ForgetEmpty(path)) {
      session_.fixes.erase(path);
    }
  }
}

}  // namespace kiln::lsp
