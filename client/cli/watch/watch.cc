// SPDX-License-Identifier: MIT
#include "client/cli/watch/watch.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client/cli/add_verb.h"
#include "client/cli/batch/batch_run.h"
#include "client/cli/failure.h"
#include "client/cli/heeded_signal.h"
#include "client/cli/output/print.h"
#include "client/cli/output/results.h"
#include "client/cli/session.h"
#include "client/cli/watch/exec.h"
#include "client/cli/watch/kept_programs.h"
#include "client/cli/watch/outputs.h"
#include "client/cli/watch/report.h"
#include "client/hot_reload.h"
#include "client/includes/include_set.h"
#include "client/project/watch.h"
#include "client/project/workspace.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"

namespace kiln::cli {
namespace {

struct WatchArguments {
  std::vector<std::string> programs;  // names or globs; none = all
  std::vector<std::string> options;   // NAME=VALUE: the variant of interest
  std::string out;                    // folder for the current artifacts
  std::string exec;                   // command after each generation without errors
  bool no_source = false;             // subscribe only
  std::string workspace;              // who meets in one session; empty: this folder
};

// 128 + SIGTERM, as shells report it.
constexpr int kTerminated = 143;

volatile std::sig_atomic_t stopped_by = 0;
// Waking the watcher is a write to a descriptor, which a signal handler may do. Without it Ctrl-C
// would take effect with the next save.
const project::Watcher* volatile waiting = nullptr;

void OnSignal(int signal) {
  if (stopped_by != 0) {
    std::_Exit(128 + signal);  // the second time: at once
  }
  stopped_by = signal;
  if (const project::Watcher* const watcher = waiting; watcher != nullptr) {
    watcher->Wake();
  }
}

// Only what decides over types of values and over axes: a default or a place that moved needs no
// new space.
bool SameOptions(const client::OptionList& a, const client::OptionList& b) {
  return std::ranges::equal(a.options, b.options,
                            [](const client::OptionInfo& x, const client::OptionInfo& y) {
                              return x.name == y.name && x.type == y.type && x.values == y.values;
                            });
}

// The session: one thread waits for files and pushes, another one reads events.
class WatchSession {
 public:
  WatchSession(const Global& global, const WatchArguments& arguments,
               client::DaemonConnection connected)
      : global_(global), arguments_(arguments), connected_(std::move(connected)) {}

  int Run();

 private:
  Result<void> Load();
  Result<std::vector<client::HotReload::Interest>> Interest() const;
  client::HotReload::Options Options(std::vector<client::HotReload::Interest> interest) const;
  std::vector<project::Watcher::KnownFile> Files();
  std::vector<client::Source> Sources() const;
  std::vector<client::Program*> Programs();
  std::string Root() const;
  std::string NameOfProject() const;
  std::string ManifestFile() const;
  void ReadEvents();
  void WriteOutputs(const client::WatchEvent& event);
  void OnEvent(const client::WatchEvent& event);
  void OnFiles(const project::FileChanges& changes);
  void FollowEdits(std::vector<client::Source>& changed, std::span<const std::string> removed);
  void OnManifest();
  void Retype(std::span<const client::Source> changed);
  Result<std::map<Hash128, Bytes>> FetchBytes(const client::WatchArtifact& artifact);
  void Complain(const Error& error);
  int Ended(bool root_lost);

  const Global& global_;
  const WatchArguments& arguments_;
  client::DaemonConnection connected_;
  SystemClock clock_;
  const Duration began_ = clock_.Monotonic();
  Project project_;  // of the thread that waits for files alone: a save may load it anew
  // Of the session, and so of the project as it was when it began: a name that the manifest gets
  // later is that of another session. Set before the reader starts.
  std::string name_;
  std::string session_id_ = fmt::format("kiln-watch-{}-{:x}", getpid(), clock_.UnixTime().count());
  std::unique_ptr<project::Watcher> watcher_;
  std::unique_ptr<client::HotReload> reload_;
  std::set<std::string> built_;  // programs with new artifacts, of the reading thread
  WatchCommand command_;
  std::optional<WatchOutputs> outputs_;
  bool reader_done_ = false;  // under the mutex, as what follows
  Mutex mutex_;
  std::optional<WatchReport> report_ KILN_GUARDED_BY(mutex_);
  Duration saved_at_ KILN_GUARDED_BY(mutex_){};
  KeptPrograms programs_ KILN_GUARDED_BY(mutex_);  // as they were pushed last
};

Result<void> WatchSession::Load() {
  if (arguments_.no_source) {  // the sources may be elsewhere
    KILN_TRY(project_.manifest, LoadManifest(global_));
    for (const project::ManifestProgram& program : project_.manifest.programs) {
      project_.declared.emplace_back(program.name, client::OptionList());
    }
    return {};
  }
  KILN_TRY(project_, LoadProject(global_, {}, *connected_.client));
  for (const std::string& pattern : arguments_.programs) {
    if (std::ranges::none_of(project_.programs, [&](const LoadedProgram& loaded) {
          return Matches(pattern, loaded.program.name);
        })) {
      return Error{
          .code = ErrorCode::kNotFound,
          .context = fmt::format("'{}' has no program '{}'", project_.manifest.path, pattern),
          .reason = "UNKNOWN_PROGRAM"};
    }
  }
  const MutexLock lock(mutex_);
  programs_.clear();
  KeepPrograms(project_.spaces, programs_);
  return {};
}

// -o for every program that is watched and declares such an option.
Result<std::vector<client::HotReload::Interest>> WatchSession::Interest() const {
  std::vector<client::HotReload::Interest> interest;
  for (const auto& [program, declared] : project_.declared) {
    const bool wanted =
        arguments_.programs.empty() ||
        std::ranges::any_of(arguments_.programs, [&name = program](const std::string& pattern) {
          return Matches(pattern, name);
        });
    if (arguments_.options.empty() || !wanted) {
      continue;
    }
    client::HotReload::Interest one{.program = program};
    bool fits = true;
    for (const std::string& text : arguments_.options) {
      KILN_TRY(client::Option option, TypedOption(text, declared));
      // Of a program whose options nobody knows, because its sources are elsewhere or wrong, the
      // daemon decides whether it has them.
      fits = fits && (declared.options.empty() ||
                      std::ranges::find(declared.options, option.name, &client::OptionInfo::name) !=
                          declared.options.end());
      one.options.push_back(std::move(option));
    }
    if (fits) {
      interest.push_back(std::move(one));
    }
  }
  if (interest.empty() && !arguments_.options.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = fmt::format("no watched program has the options {}",
                                        fmt::join(arguments_.options, " ")),
                 .reason = "UNKNOWN_OPTION"};
  }
  return interest;
}

// "before_attempt" starts the daemon again if it has gone: the connection is made anew and the
// session resumed where it was.
client::HotReload::Options WatchSession::Options(
    std::vector<client::HotReload::Interest> interest) const {
  return {.project = name_,
          .workspace =
              !arguments_.workspace.empty() ? arguments_.workspace : project::WorkspaceId(Root()),
          .session_id = session_id_,
          .role = arguments_.no_source ? client::HotReload::Role::kSubscriber
                                       : client::HotReload::Role::kBoth,
          .programs = arguments_.programs,
          .interest = std::move(interest),
          .inline_data = outputs_.has_value(),
          .before_attempt = [this] { (void)ConnectTo(global_); }};
}

std::string WatchSession::Root() const {
  return project_.manifest.folder.empty() ? "." : project_.manifest.folder;
}

// A project without a name goes by that of its folder.
std::string WatchSession::NameOfProject() const {
  return !project_.manifest.name.empty()
             ? project_.manifest.name
             : std::filesystem::absolute(Root()).lexically_normal().filename().string();
}

std::string WatchSession::ManifestFile() const {
  return std::filesystem::path(project_.manifest.path).lexically_proximate(Root()).string();
}

std::vector<client::Source> WatchSession::Sources() const {
  std::vector<client::Source> sources;
  for (const client::ProgramSpace& space : project_.spaces) {
    for (const client::Source& source : client::TextsOf(space.program)) {
      // Programs share files, and each is watched once.
      if (std::ranges::find(sources, source.path, &client::Source::path) == sources.end()) {
        sources.push_back(source);
      }
    }
  }
  return sources;
}

std::vector<client::Program*> WatchSession::Programs() {
  std::vector<client::Program*> programs;
  for (client::ProgramSpace& space : project_.spaces) {
    programs.push_back(&space.program);
  }
  return programs;
}

std::vector<project::Watcher::KnownFile> WatchSession::Files() {
  std::vector<project::Watcher::KnownFile> files;
  for (const client::Source& source : Sources()) {
    if (std::ranges::none_of(project_.manifest.ignore,
                             [&](const std::string& glob) { return Matches(glob, source.path); })) {
      files.push_back({.path = source.path, .digest = source.digest});
    }
  }
  for (const std::string& path : client::AbsentOf(Programs())) {
    files.push_back({.path = path, .digest = {}, .missing = true});
  }
  const Result<client::Source> manifest =
      ReadSource(project_.manifest.path, project_.manifest.path);
  // The manifest is watched like a source, and OnFiles tells it apart by its path.
  files.push_back({.path = ManifestFile(),
                   .digest = manifest.ok() ? manifest->digest : Digest{},
                   .may_be_link = true});
  return files;
}

// Reports what is wrong and goes on.
void WatchSession::Complain(const Error& error) {
  (void)Fail(global_, error);
  (void)std::fflush(stdout);  // who reads lines waits for this one
}

// ---- The thread that reads ----------------------------------------------------------------------

void WatchSession::ReadEvents() {
  while (const std::optional<client::WatchEvent> event = reload_->Next()) {
    OnEvent(*event);
  }
  {
    const MutexLock lock(mutex_);
    reader_done_ = true;
  }
  watcher_->Wake();
}

Result<std::map<Hash128, Bytes>> WatchSession::FetchBytes(const client::WatchArtifact& artifact) {
  client::Program program;
  {
    const MutexLock lock(mutex_);
    program = programs_[artifact.program];
  }
  // Only the target of the event: the others have events of their own.
  std::erase_if(program.targets, [&](const client::Target& target) {
    return target.name != artifact.artifact.target;
  });
  if (program.sources.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "the bytes of '" + artifact.program + "' are too large to come along",
                 .reason = {}};
  }
  FetchResult fetched;
  KILN_TRY(fetched.done,
           connected_.client->FetchVariants(name_, program, std::span(&artifact.options, 1), {},
                                            Collect(fetched)));
  return std::move(fetched.blobs);
}

// Files are written before the event is shown, so its reader finds them.
void WatchSession::WriteOutputs(const client::WatchEvent& event) {
  Result<void> written;
  if (const auto* artifact = std::get_if<client::WatchArtifact>(&event.body)) {
    written = outputs_->Add(*artifact,
                            [this](const client::WatchArtifact& of) { return FetchBytes(of); });
  } else if (std::holds_alternative<client::WatchSettled>(event.body)) {
    written = outputs_->Settle();
  }
  if (!written.ok()) {
    Complain(written.error());
  }
}

void WatchSession::OnEvent(const client::WatchEvent& event) {
  // Taken before files are written, so the time that is shown is that of the daemon and the
  // network.
  const Duration arrived = clock_.Monotonic();
  if (outputs_.has_value()) {
    WriteOutputs(event);
  }
  {
    const MutexLock lock(mutex_);
    report_->Show(event, std::chrono::duration<double, std::milli>(arrived - saved_at_).count());
  }
  if (const auto* artifact = std::get_if<client::WatchArtifact>(&event.body)) {
    built_.insert(artifact->program);
  } else if (const auto* settled = std::get_if<client::WatchSettled>(&event.body)) {
    // Run by the reading thread, so the next generation is shown after the command ends and never
    // in the middle of its output.
    if (!arguments_.exec.empty() && settled->failed == 0) {
      if (const int exit = command_.Run(arguments_.exec, built_); exit != 0 && stopped_by == 0) {
        Print(stderr, "kiln: --exec ended with {}\n", exit);
      }
    }
    built_.clear();
  }
}

// ---- The thread that waits for files ------------------------------------------------------------

void WatchSession::OnFiles(const project::FileChanges& changes) {
  std::vector<client::Source> changed;
  std::vector<std::string> removed;
  bool manifest = false;
  for (const project::ChangedFile& file : changes.changed) {
    if (file.path == ManifestFile()) {
      manifest = true;
    } else {
      changed.push_back({.path = file.path, .digest = file.digest, .text = file.text});
    }
  }
  std::ranges::copy_if(changes.removed, std::back_inserter(removed),
                       [&](const std::string& path) { return path != ManifestFile(); });
  {
    const MutexLock lock(mutex_);
    saved_at_ = changes.since;
  }
  if (!changed.empty() || !removed.empty()) {
    for (client::ProgramSpace& space : project_.spaces) {
      for (client::Source& source : space.program.sources) {
        const auto found = std::ranges::find(changed, source.path, &client::Source::path);
        source = found != changed.end() ? *found : source;
      }
    }
    // Before the push: an edit may lead to files that the daemon does not have.
    FollowEdits(changed, removed);
    {
      // Before the push as well: its artifacts may be fetched as soon as it is out.
      const MutexLock lock(mutex_);
      KeepPrograms(project_.spaces, programs_);
    }
    reload_->Push(changed, removed);
    const MutexLock lock(mutex_);
    report_->SetSources(Sources());
  }
  // A new manifest brings its types with it, so nothing has to be retyped beside it.
  if (manifest) {
    OnManifest();
  } else if (!changed.empty()) {
    Retype(changed);
  }
}

// What the includes lead to may be other files now. Those that are new to the daemon go out with
// the edit that names them. If one cannot be read, the edit goes out alone and the daemon says what
// it does not find.
void WatchSession::FollowEdits(std::vector<client::Source>& changed,
                               std::span<const std::string> removed) {
  const std::vector<client::Program*> programs = Programs();
  const std::set<std::string> absent = client::AbsentOf(programs);
  Result<std::vector<client::Source>> fresh =
      client::ChangeIncluded(programs, changed, removed, client::ReaderBeneath(Root()));
  if (!fresh.ok()) {
    return Complain(fresh.error());
  }
  changed.insert(changed.end(), fresh->begin(), fresh->end());
  if (!fresh->empty() || client::AbsentOf(programs) != absent) {
    watcher_->SetFiles(Files());
  }
}

// The last good manifest stays while it is broken.
void WatchSession::OnManifest() {
  if (const Result<void> loaded = Load(); !loaded.ok()) {
    return Complain(loaded.error());
  }
  watcher_->SetFiles(Files());
  {
    const MutexLock lock(mutex_);
    report_->SetSources(Sources());
    std::set<std::string> programs;
    for (const client::ProgramSpace& space : project_.spaces) {
      programs.insert(space.program.name);
    }
    report_->SetPrograms(programs);
  }
  reload_->PushSpaces(project_.spaces);
}

// Values of the manifest have the types that the sources declare. Those may have changed.
void WatchSession::Retype(std::span<const client::Source> changed) {
  for (size_t i = 0; i < project_.spaces.size(); ++i) {
    const client::Program& program = project_.spaces[i].program;
    const std::vector<client::Source> texts = client::TextsOf(program);
    const bool affected = std::ranges::any_of(texts, [&](const client::Source& source) {
      return std::ranges::find(changed, source.path, &client::Source::path) != changed.end();
    });
    if (!affected) {
      continue;
    }
    const Result<client::OptionList> declared = Declared(*connected_.client, program);
    const bool readable = declared.ok() && !client::HasErrors(*declared);
    // A program with errors keeps its types until it can be read again.
    if (readable && !SameOptions(*declared, project_.declared[i].second)) {
      return OnManifest();
    }
  }
}

int WatchSession::Ended(bool root_lost) {
  // A watch ends by a signal, which is no failure but has its code.
  int exit = stopped_by == SIGTERM ? kTerminated : int{kInterrupted};
  if (root_lost) {
    exit = Fail(global_, {.code = ErrorCode::kNotFound,
                          .context = "the project folder is gone",
                          .reason = "ROOT_LOST"});
  } else if (stopped_by == 0 && !reload_->ended().ok()) {
    const Error& why = reload_->ended().error();
    exit = Fail(global_, why.reason == "SCOPE"
                             ? WithContext(why, "a watch session has every edit compiled and kept")
                             : why);
  }
  NoteResult("watch", std::chrono::duration<double>(clock_.Monotonic() - began_).count(), {});
  return exit;
}

// The order matters: the watcher takes in the digests of the sources that were loaded before the
// session is opened, so an edit in between is seen as a change and not lost.
int WatchSession::Run() {
  if (const Result<void> loaded = Load(); !loaded.ok()) {
    return Fail(global_, loaded.error());
  }
  name_ = NameOfProject();
  Result<std::vector<client::HotReload::Interest>> interest = Interest();
  if (!interest.ok()) {
    return Fail(global_, interest.error());
  }
  Result<std::unique_ptr<project::Watcher>> watcher = project::Watcher::Start(
      {.root = Root(), .quiet = std::chrono::milliseconds(project_.manifest.debounce_ms)}, clock_);
  if (!watcher.ok()) {
    return Fail(global_, watcher.error());
  }
  watcher_ = std::move(watcher).value();
  if (!arguments_.out.empty()) {
    outputs_.emplace(arguments_.out);
  }
  std::set<std::string> shown;
  for (const client::HotReload::Interest& one : *interest) {
    shown.insert(client::OptionsText(one.options));
  }
  {
    const MutexLock lock(mutex_);
    saved_at_ = clock_.Monotonic();
    report_.emplace(global_, shown);
    report_->SetSources(Sources());
  }
  if (!global_.json && !global_.quiet) {
    Print("watching {} ({} sources)   {}   {}\n", Root(), Sources().size(),
          arguments_.programs.empty() ? std::string("all programs")
                                      : fmt::format("{}", fmt::join(arguments_.programs, " ")),
          interest->empty() ? std::string("every variant at batch priority")
                            : fmt::format("{} variant{} of interest, the rest at batch priority",
                                          interest->size(), interest->size() == 1 ? "" : "s"));
    (void)std::fflush(stdout);
  }
  if (!arguments_.no_source) {
    watcher_->SetFiles(Files());
  }
  reload_ = std::make_unique<client::HotReload>(*connected_.client, Options(std::move(*interest)),
                                                project_.spaces);
  // The handlers are set once there is something to wake.
  waiting = watcher_.get();
  HandleUnlessIgnored(SIGINT, OnSignal);
  HandleUnlessIgnored(SIGTERM, OnSignal);
  Thread reader({.name = "events"}, [this](const std::stop_token&) { ReadEvents(); });
  bool root_lost = false;
  bool warned = false;
  const auto over = [&] {
    const MutexLock lock(mutex_);
    return stopped_by != 0 || reader_done_ || root_lost;
  };
  while (!over()) {
    // Told once. Polling works, and only its delay is worth knowing.
    if (!watcher_->degraded().empty() && !std::exchange(warned, true) && !global_.quiet) {
      Print(stderr, "kiln: files are looked at once a second: {}\n", watcher_->degraded());
    }
    // Wake ends the wait at once. The ten seconds are only for what might wake nobody.
    const std::optional<project::FileChanges> changes = watcher_->Wait(std::chrono::seconds(10));
    if (changes.has_value()) {
      root_lost = changes->root_lost;
      if (!root_lost) {
        OnFiles(*changes);
      }
    }
  }
  // The stream ends, the reader sees its end and is joined before anything that it uses goes.
  command_.End();  // the reader may be waiting for it
  reload_->Stop();
  reader.join();
  waiting = nullptr;
  return Ended(root_lost);
}

int RunWatch(const Global& global, const WatchArguments& arguments) {
  Result<client::DaemonConnection> connected = ConnectTo(global);
  if (!connected.ok()) {
    return Fail(global, connected.error());
  }
  return WatchSession(global, arguments, std::move(connected).value()).Run();
}

}  // namespace

void AddWatch(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<WatchArguments>();
  CLI::App* verb = AddVerb(app, line,
                           {"watch", "Rebuild on save, show diagnostics, keep outputs current",
                            "  kiln watch rock/forward -o fog -o shadows=high --out run/shaders\n"
                            "  kiln watch --exec 'touch reload'"},
                           [&line, arguments] { return RunWatch(line.global, *arguments); });
  verb->add_option("programs", arguments->programs, "Names or globs; default: all");
  verb->add_option("-o,--option", arguments->options,
                   "The variant of interest: NAME=VALUE; repeatable")
      ->take_all();
  verb->add_option("--out", arguments->out, "Folder for the current artifacts");
  verb->add_option("--exec", arguments->exec,
                   "Command after each generation without errors; KILN_CHANGED has the programs");
  verb->add_flag("--no-source", arguments->no_source, "Subscribe only; somebody else pushes");
  verb->add_option("--workspace", arguments->workspace,
                   "Meet those who give the same name; default: this folder on this machine")
      ->type_name("NAME");
}

}  // namespace kiln::cli
