// SPDX-License-Identifier: MIT
// Edits of sources become new pipelines in a running engine. Two threads work: one waits for files
// and pushes edits, the other reads events and calls the handlers. They share the sources only,
// under `mutex`; handlers_mutex keeps handlers from running at the same time. No thread
// ever holds both.
#include "client/engine/live_reload.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "client/hot_reload.h"
#include "client/includes/include_set.h"
#include "client/project/watch.h"
#include "client/project/workspace.h"
#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"
#include "compiler/diag/render.h"

namespace kiln::client {
namespace {

std::string LinesOf(std::span<const PlacedDiagnostic> diagnostics) {
  std::string text;
  for (const PlacedDiagnostic& diagnostic : diagnostics) {
    text += RenderShort(diagnostic);
  }
  return text;
}

// Equal whatever their order: a daemon may sort them.
bool SameOptions(std::vector<Option> a, std::vector<Option> b) {
  std::ranges::sort(a, {}, &Option::name);
  std::ranges::sort(b, {}, &Option::name);
  return OptionsText(a) == OptionsText(b);
}

// Only the variants of the subject, so that a save costs what is on the screen.
std::vector<ProgramSpace> SpacesOf(const StartupVariants& subject) {
  std::vector<ProgramSpace> spaces;
  for (const Program& program : subject.programs) {
    spaces.push_back({.program = program, .only_explicit = true});
  }
  for (const StartupVariants::Variant& variant : subject.variants) {
    spaces[variant.program].variants.push_back(variant.options);
  }
  return spaces;
}

// All variants of the subject are of interest, so they are built in the interactive lane
// (spec/daemon 5).
HotReload::Options SessionOptions(const StartupVariants& subject, const LiveOptions& options) {
  HotReload::Options out{
      .project = subject.project,
      .workspace = project::WorkspaceId(options.folder.empty() ? std::string(".") : options.folder),
      // The id names this session of this process: another one that opens under the same id takes
      // its place (spec/daemon 8.3.5).
      .session_id = fmt::format("kiln-engine-{}-{:x}", getpid(), SystemClock().Monotonic().count()),
      .role = HotReload::Role::kBoth,
      .before_attempt = options.before_attempt};
  for (const StartupVariants::Variant& variant : subject.variants) {
    const std::string& program = subject.programs[variant.program].name;
    out.interest.push_back({.program = program, .options = variant.options});
    if (std::ranges::find(out.programs, program) == out.programs.end()) {
      out.programs.push_back(program);
    }
  }
  return out;
}

std::vector<Program*> PointersTo(std::vector<Program>& programs) {
  std::vector<Program*> pointers;
  for (Program& program : programs) {
    pointers.push_back(&program);
  }
  return pointers;
}

std::vector<project::Watcher::KnownFile> FilesOf(StartupVariants& subject) {
  std::vector<project::Watcher::KnownFile> files;
  for (const Program& program : subject.programs) {
    for (const Source& source : TextsOf(program)) {
      files.push_back({.path = source.path, .digest = source.digest});
    }
  }
  for (const std::string& path : AbsentOf(PointersTo(subject.programs))) {
    files.push_back({.path = path, .digest = {}, .missing = true});
  }
  return files;
}

}  // namespace

ArtifactContent ContentOf(const Artifact& artifact) {
  ArtifactContent content = {artifact.metadata};
  for (const StageCode& code : artifact.code) {
    content.push_back(code.digest);
  }
  return content;
}

// The members stand in the order of their making, and are destroyed from the last to the first:
// threads, session, watcher, data.
struct LiveReload::Session {
  Session(Client& use_client, std::string folder, StartupVariants use_subject,
          LiveHandlers use_handlers)
      : client(use_client),
        root(std::move(folder)),
        subject(std::move(use_subject)),
        handlers(std::move(use_handlers)) {}

  void WatchFiles(const std::stop_token& stop);
  void ReadEvents();
  void Tell(LiveNews::Kind kind, const std::string& program, std::string text);

  void On(const WatchArtifact& artifact);
  void On(const WatchDiagnostics& diagnostics);
  void On(const WatchSettled& settled);
  void On(const WatchProblem& problem);
  // What engines need not know.
  void On(const WatchOpened&) {}
  void On(const WatchChanged&) {}
  void On(const WatchUnchanged&) {}
  void On(const WatchSnapshot&) {}

  Result<void> Deliver(uint32_t variant, const WatchArtifact& artifact);
  Result<void> DeliverBytes(const WatchArtifact& artifact);

  Client& client;
  const std::string root;  // folder of the project
  SystemClock clock;
  std::vector<ArtifactContent> known;  // of each variant; of the thread that reads events
  Mutex handlers_mutex;                // held while a handler runs
  Mutex mutex;                         // of the sources
  StartupVariants subject KILN_GUARDED_BY(mutex);
  const LiveHandlers handlers;
  std::unique_ptr<project::Watcher> watcher;
  std::unique_ptr<HotReload> reload;
  Thread events;  // behind what it uses, so that it ends first
  Thread files;
};

// Called by both threads. It must not be called with `mutex` held, since a handler may take as long
// as it likes.
void LiveReload::Session::Tell(LiveNews::Kind kind, const std::string& program, std::string text) {
  if (handlers.on_news) {
    const MutexLock lock(handlers_mutex);
    handlers.on_news({.kind = kind, .program = program, .text = std::move(text)});
  }
}

// ---- The thread that reads events ---------------------------------------------------------------

void LiveReload::Session::ReadEvents() {
  while (const std::optional<WatchEvent> event = reload->Next()) {
    std::visit([this](const auto& body) { On(body); }, event->body);
  }
  if (const Result<void>& ended = reload->ended(); !ended.ok()) {
    Tell(LiveNews::Kind::kEnded, "", ErrorText(ended.error()));
  }
}

// Code and metadata: as they came along, or fetched where they were too large for that.
Result<void> LiveReload::Session::DeliverBytes(const WatchArtifact& artifact) {
  const auto hand_over = [this](const FetchedBlob& blob) {
    const MutexLock lock(handlers_mutex);
    return handlers.on_blob(blob);
  };
  KILN_TRY(const std::vector<FetchedBlob> blobs, InlineBlobs(artifact));
  for (const FetchedBlob& blob : blobs) {
    KILN_TRY_VOID(hand_over(blob));
  }
  if (!blobs.empty()) {
    return {};
  }
  Program program;
  std::string project;
  {
    const MutexLock lock(mutex);
    project = subject.project;
    // The program is copied, since fetching below takes a while and the other thread writes new
    // sources into it. It is there, because On() found a variant of it. The sources are those of
    // now: if they changed again meanwhile, the newer result replaces this one soon.
    program = *std::ranges::find(subject.programs, artifact.program, &Program::name);
  }
  // Only the target of this artifact is fetched.
  std::erase_if(program.targets,
                [&](const Target& target) { return target.name != artifact.artifact.target; });
  KILN_TRY_VOID(client.FetchVariants(project, program, std::span(&artifact.options, 1), {},
                                     {.on_outcome = [](const Outcome&) {}, .on_blob = hand_over}));
  return {};
}

Result<void> LiveReload::Session::Deliver(uint32_t variant, const WatchArtifact& artifact) {
  // Bytes before the artifact that names them: a handler must never see a digest that it cannot
  // resolve.
  KILN_TRY_VOID(DeliverBytes(artifact));
  {
    const MutexLock lock(handlers_mutex);
    KILN_TRY_VOID(handlers.on_artifact(
        variant,
        {.program = artifact.program, .options = artifact.options, .artifact = artifact.artifact}));
  }
  Tell(LiveNews::Kind::kReplaced, artifact.program, OptionsText(artifact.options));
  return {};
}

// Several variants of the list may be one.
void LiveReload::Session::On(const WatchArtifact& artifact) {
  std::vector<uint32_t> wanted;
  {
    const MutexLock lock(mutex);
    for (uint32_t i = 0; i < subject.variants.size(); ++i) {
      const StartupVariants::Variant& variant = subject.variants[i];
      if (subject.programs[variant.program].name == artifact.program &&
          SameOptions(variant.options, artifact.options)) {
        wanted.push_back(i);
      }
    }
  }
  // A reconnection replays what was built before, so what the engine has already is left out. The
  // handlers run without `mutex`, or a slow engine would hold up the thread of files.
  const ArtifactContent content = ContentOf(artifact.artifact);
  for (const uint32_t variant : wanted) {
    if (known[variant] == content) {
      continue;
    }
    known[variant] = content;
    if (const Result<void> done = Deliver(variant, artifact); !done.ok()) {
      Tell(LiveNews::Kind::kProblem, artifact.program, ErrorText(done.error()));
    }
  }
}

void LiveReload::Session::On(const WatchDiagnostics& diagnostics) {
  // Warnings alone are not told: an engine shows mistakes, and that they are gone.
  const bool wrong = std::ranges::any_of(diagnostics.all, [](const PlacedDiagnostic& one) {
    return one.severity == Severity::kError;
  });
  if (diagnostics.cleared || wrong) {
    Tell(diagnostics.cleared ? LiveNews::Kind::kRight : LiveNews::Kind::kMistakes,
         diagnostics.program, LinesOf(diagnostics.all));
  }
}

void LiveReload::Session::On(const WatchSettled& settled) {
  Tell(LiveNews::Kind::kSettled, "",
       fmt::format("{} built, {} failed, {} ms", settled.compiled, settled.failed, settled.ms));
}

void LiveReload::Session::On(const WatchProblem& problem) {
  Tell(LiveNews::Kind::kProblem, "", fmt::format("{} ({})", problem.text, problem.code));
}

// ---- The thread that waits for files ------------------------------------------------------------

void LiveReload::Session::WatchFiles(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    // The time only bounds how late a stop may be seen that came between two waits; Stop() wakes
    // the watcher otherwise.
    const std::optional<project::FileChanges> changes = watcher->Wait(std::chrono::seconds(10));
    if (!changes.has_value()) {
      continue;
    }
    if (changes->root_lost) {
      return Tell(LiveNews::Kind::kProblem, "", "the project's folder is gone");
    }
    std::vector<Source> changed;
    bool more = false;
    for (const project::ChangedFile& file : changes->changed) {
      changed.push_back({.path = file.path, .digest = file.digest, .text = file.text});
    }
    {
      const MutexLock lock(mutex);
      // DeliverBytes sends the subject's sources if it has to fetch, so they must be those of now
      // before the daemon is told.
      for (Program& program : subject.programs) {
        for (Source& source : program.sources) {
          const auto found = std::ranges::find(changed, source.path, &Source::path);
          source = found != changed.end() ? *found : source;
        }
      }
      const std::vector<Program*> programs = PointersTo(subject.programs);
      const std::set<std::string> absent = AbsentOf(programs);
      const Result<std::vector<Source>> fresh =
          ChangeIncluded(programs, changed, changes->removed, ReaderBeneath(root));
      if (fresh.ok()) {  // else the edit goes out alone, and the daemon says what it does not find
        changed.insert(changed.end(), fresh->begin(), fresh->end());
        more = !fresh->empty() || AbsentOf(programs) != absent;
      }
      if (more) {
        watcher->SetFiles(FilesOf(subject));
      }
    }
    reload->Push(changed, changes->removed);
  }
}

// ---- Life ---------------------------------------------------------------------------------------

LiveReload::LiveReload(std::unique_ptr<Session> session) : session_(std::move(session)) {}

// Nothing is running if Start fails: the threads are the last thing that is made.
Result<std::unique_ptr<LiveReload>> LiveReload::Start(Client& client, StartupVariants subject,
                                                      LiveOptions options, LiveHandlers handlers) {
  const std::string root = options.folder.empty() ? std::string(".") : options.folder;
  const size_t variants = subject.variants.size();
  // Digests of the sources as they were sent: a file that changed since is reported by the first
  // wait.
  const std::vector<project::Watcher::KnownFile> files = FilesOf(subject);
  auto reload =
      std::make_unique<HotReload>(client, SessionOptions(subject, options), SpacesOf(subject));
  auto session = std::make_unique<Session>(client, root, std::move(subject), std::move(handlers));
  session->reload = std::move(reload);
  session->known = std::move(options.known);
  session->known.resize(variants);
  KILN_TRY(session->watcher, project::Watcher::Start({.root = root}, session->clock));
  session->watcher->SetFiles(files);
  Session& running = *session;
  std::unique_ptr<LiveReload> made(new LiveReload(std::move(session)));
  // The threads begin last, when everything that they use is in its place. They use the session by
  // reference; it is on the heap and ends after them.
  running.events = Thread({.name = "reload events", .after_throw = Thread::AfterThrow::kEnds},
                          [&running](const std::stop_token&) { running.ReadEvents(); });
  running.files = Thread({.name = "reload files", .after_throw = Thread::AfterThrow::kEnds},
                         [&running](const std::stop_token& stop) { running.WatchFiles(stop); });
  return made;
}

// May be called more than once. It returns before the threads have ended.
void LiveReload::Stop() {
  // Each thread is told in its own way: the stream ends, the watcher wakes. They are joined when
  // the session goes.
  session_->reload->Stop();
  session_->files.request_stop();
  session_->watcher->Wake();
}

LiveReload::~LiveReload() { Stop(); }

}  // namespace kiln::client
