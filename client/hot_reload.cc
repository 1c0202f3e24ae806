// SPDX-License-Identifier: MIT
#include "client/hot_reload.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "client/connection.h"
#include "client/convert.h"
#include "client/includes/include_set.h"
#include "compiler/base/mutex.h"
#include "proto/kiln/v1/watch.grpc.pb.h"

namespace kiln::client {
namespace {

constexpr size_t kMaxInline = size_t{256} << 10;              // of one source (spec/daemon 3)
constexpr size_t kMaxMessage = size_t{3} << 20;               // of what travels inline in one push
constexpr auto kFirstPause = std::chrono::milliseconds(100);  // spec/daemon 2.5
constexpr auto kLongestPause = std::chrono::seconds(5);

// One stream. A thread that writes holds it, whatever happens to the connection meanwhile.
struct WatchStream {
  Context context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::WatchRequest, v1::WatchEvent>> stream;
};

const char* ReasonText(v1::WatchEvent::Unchanged::Reason reason) {
  return reason == v1::WatchEvent::Unchanged::IR_IDENTICAL     ? "IR identical"
         : reason == v1::WatchEvent::Unchanged::CODE_IDENTICAL ? "code identical"
                                                               : "not reachable";
}

WatchArtifact ArtifactFrom(const v1::WatchEvent::NewArtifact& message) {
  WatchArtifact artifact{.generation = message.generation(),
                         .program = message.program(),
                         .data = message.artifact().data(),
                         .metadata = message.artifact().metadata_data(),
                         .code = message.change().code(),
                         .settings = message.change().settings(),
                         .layout = message.change().layout()};
  for (const v1::OptionValue& option : message.options()) {
    artifact.options.push_back(FromProto(option));
  }
  v1::Outcome outcome;
  *outcome.add_artifacts() = message.artifact();
  // The one conversion of artifacts takes an outcome, so the artifact of an event travels in one.
  Outcome converted = FromProto(outcome);
  artifact.artifact = std::move(converted.artifacts[0]);
  return artifact;
}

WatchDiagnostics DiagnosticsFrom(const v1::WatchEvent::Diagnostics& message) {
  WatchDiagnostics diagnostics{.generation = message.generation(),
                               .program = message.program(),
                               .all = FromProto(message.errors()),
                               .cleared = message.cleared()};
  const std::vector<PlacedDiagnostic> warnings = FromProto(message.warnings());
  diagnostics.all.insert(diagnostics.all.end(), warnings.begin(), warnings.end());
  return diagnostics;
}

// Nothing for an event that only newer daemons send.
std::optional<WatchEvent> EventFrom(const v1::WatchEvent& message) {
  WatchEvent event{.seq = message.seq(), .conflated = message.conflated()};
  switch (message.event_case()) {
    case v1::WatchEvent::kOpened: {
      const v1::WatchEvent::Opened& opened = message.opened();
      event.body = WatchOpened{.epoch = opened.epoch(),
                               .programs = {opened.programs().begin(), opened.programs().end()},
                               .source_present = opened.source_present(),
                               .resumed = opened.resumed()};
      return event;
    }
    case v1::WatchEvent::kChanged: {
      const v1::WatchEvent::Changed& changed = message.changed();
      event.body = WatchChanged{.generation = changed.generation(),
                                .paths = {changed.paths().begin(), changed.paths().end()},
                                .programs = {changed.programs().begin(), changed.programs().end()}};
      return event;
    }
    case v1::WatchEvent::kArtifact:
      event.body = ArtifactFrom(message.artifact());
      return event;
    case v1::WatchEvent::kUnchanged:
      event.body = WatchUnchanged{.generation = message.unchanged().generation(),
                                  .program = message.unchanged().program(),
                                  .reason = ReasonText(message.unchanged().reason())};
      return event;
    case v1::WatchEvent::kDiagnostics:
      event.body = DiagnosticsFrom(message.diagnostics());
      return event;
    case v1::WatchEvent::kSettled:
      event.body = WatchSettled{.generation = message.settled().generation(),
                                .ms = message.settled().ms(),
                                .compiled = message.settled().compiled(),
                                .shared = message.settled().shared(),
                                .failed = message.settled().failed()};
      return event;
    case v1::WatchEvent::kSnapshot:
      event.body = WatchSnapshot{.begin = message.snapshot().begin()};
      return event;
    case v1::WatchEvent::kProblem:
      event.body = WatchProblem{.text = message.problem().text(), .code = message.problem().code()};
      return event;
    case v1::WatchEvent::EVENT_NOT_SET:
      break;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<FetchedBlob>> InlineBlobs(const WatchArtifact& artifact) {
  std::vector<FetchedBlob> blobs;
  // Metadata is never empty, so this event came without its bytes: they are too large, or nobody
  // asked for them.
  if (artifact.metadata.empty()) {
    return blobs;
  }
  const auto add = [&](const Digest& digest, std::string_view text) -> Result<void> {
    if (DigestOf(text) != digest) {
      return Error{.code = ErrorCode::kDataLoss,
                   .context = "the bytes of " + digest.id.hex() + " did not arrive whole",
                   .reason = {}};
    }
    const ByteView bytes = AsBytes(text);
    blobs.push_back({.digest = digest, .bytes = Bytes(bytes.begin(), bytes.end())});
    return {};
  };
  // The modules stand one after the other without lengths between them; the digests have their
  // sizes. No cut passes the end: a module that is too short fails the check of its digest.
  std::string_view rest = artifact.data;
  for (const StageCode& code : artifact.artifact.code) {
    KILN_TRY_VOID(add(code.digest, rest.substr(0, code.digest.size)));
    rest.remove_prefix(std::min<size_t>(code.digest.size, rest.size()));
  }
  KILN_TRY_VOID(add(artifact.artifact.metadata, artifact.metadata));
  return blobs;
}

struct HotReload::Link {
  Link(Client& use_client, Options use_options, std::vector<ProgramSpace> use_spaces)
      : client(use_client),
        options(std::move(use_options)),
        stub(v1::WatchService::NewStub(use_client.connection().channel)),
        spaces(std::move(use_spaces)) {}

  Result<void> Connect();
  Result<void> Upload();
  v1::WatchRequest OpenMessage() KILN_REQUIRES(mutex);
  void Send(const v1::WatchRequest& request);
  std::optional<WatchEvent> Lost(const Error& error);
  std::optional<WatchEvent> Reconnect();
  std::optional<WatchEvent> Read();
  bool Pause();
  void Note(std::span<const Source> changed, std::span<const std::string> gone)
      KILN_REQUIRES(mutex);

  Client& client;
  const Options options;
  const std::unique_ptr<v1::WatchService::Stub> stub;
  Result<void> ended;

  // State of the thread that reads.
  bool connected = false;
  bool told = false;  // that the connection is lost
  bool upload_first = true;
  bool uploaded = false;  // for this attempt
  std::chrono::milliseconds pause = kFirstPause;

  Mutex write_mutex;  // one message at a time; taken before `mutex`, and held while it waits
  Mutex mutex;
  CondVar stopped;
  bool stop KILN_GUARDED_BY(mutex) = false;
  std::vector<ProgramSpace> spaces KILN_GUARDED_BY(mutex);
  std::set<std::string> removed KILN_GUARDED_BY(mutex);
  std::shared_ptr<WatchStream> connection KILN_GUARDED_BY(mutex);
  uint64_t epoch KILN_GUARDED_BY(mutex) = 0;
  uint64_t seq KILN_GUARDED_BY(mutex) = 0;
};

HotReload::HotReload(Client& client, Options options, std::vector<ProgramSpace> spaces)
    : link_(std::make_unique<Link>(client, std::move(options), std::move(spaces))) {}
HotReload::~HotReload() { Stop(); }

const Result<void>& HotReload::ended() const { return link_->ended; }

// Made anew for each connection, from the spaces as they are now: what was pushed before a
// reconnection is in there.
v1::WatchRequest HotReload::Link::OpenMessage() {
  v1::WatchRequest request;
  v1::WatchRequest::Open& open = *request.mutable_open();
  open.set_project(options.project);
  open.set_workspace(options.workspace);
  open.set_session_id(options.session_id);
  open.set_role(static_cast<v1::WatchRequest::Open::Role>(options.role));
  open.set_inline_data(options.inline_data);
  open.mutable_programs()->Add(options.programs.begin(), options.programs.end());
  open.mutable_targets()->Add(options.targets.begin(), options.targets.end());
  for (const Interest& interest : options.interest) {
    v1::Variant& variant = *open.add_variants_of_interest();
    variant.set_program_name(interest.program);
    for (const Option& option : interest.options) {
      ToProto(option, variant.add_options());
    }
  }
  if (options.role != Role::kSubscriber) {
    for (const ProgramSpace& space : spaces) {
      ToProto(space, open.add_spaces());
    }
  }
  // Resuming: with the same epoch and a number that the daemon still has, only what was missed
  // comes (spec/daemon 8.3.5).
  if (epoch != 0) {
    open.mutable_resume()->set_epoch(epoch);
    open.mutable_resume()->set_seq(seq);
  }
  return request;
}

// Sources are copied under the lock and sent without it, because sending may take seconds in which
// the other thread must be able to note an edit.
Result<void> HotReload::Link::Upload() {
  std::vector<Source> sources;
  {
    const MutexLock lock(mutex);
    std::set<Digest> seen;
    for (const ProgramSpace& space : spaces) {
      for (Source& source : UploadsOf(space.program)) {
        if (seen.insert(source.digest).second) {
          sources.push_back(std::move(source));
        }
      }
    }
  }
  return options.role == Role::kSubscriber || sources.empty() ? Result<void>()
                                                              : client.PutSources(sources);
}

Result<void> HotReload::Link::Connect() {
  // The first connection uploads, later ones only if the daemon has lost the sources: a connection
  // that merely broke needs no question for digests.
  uploaded = std::exchange(upload_first, false);
  if (uploaded) {
    KILN_TRY_VOID(Upload());
  }
  const MutexLock write_lock(write_mutex);
  auto made = std::make_shared<WatchStream>();
  v1::WatchRequest open;
  v1::WatchRequest gone;
  {
    const MutexLock lock(mutex);
    if (stop) {
      return {};
    }
    // Made under the lock, so that Stop() either prevents the stream or finds it to cancel.
    made->stream = stub->Watch(&made->context.grpc);
    connection = made;
    open = OpenMessage();
    gone.mutable_push()->mutable_removed()->Add(removed.begin(), removed.end());
  }
  // Open goes first, before any push of the other thread: the write lock is held since before the
  // stream became visible. Files that are gone are pushed behind it, as spaces cannot say that.
  (void)made->stream->Write(open);
  if (!gone.push().removed().empty()) {
    (void)made->stream->Write(gone);
  }
  return {};
}

// A failed write does not matter: the reader finds out, and the next connection says it all.
void HotReload::Link::Send(const v1::WatchRequest& request) {
  const MutexLock write_lock(write_mutex);
  std::shared_ptr<WatchStream> to;
  {
    const MutexLock lock(mutex);
    to = connection;
  }
  // Without a connection nothing is lost: Note() has the change, and the next Open says it.
  if (to != nullptr) {
    (void)to->stream->Write(request);
  }
}

// Waits a little longer each time. False: there is nothing to wait for any more.
bool HotReload::Link::Pause() {
  const auto until = std::chrono::steady_clock::now() + pause;
  pause = std::min<std::chrono::milliseconds>(pause * 2, kLongestPause);
  const MutexLock lock(mutex);
  while (!stop && std::chrono::steady_clock::now() < until) {
    (void)stopped.WaitFor(mutex, until - std::chrono::steady_clock::now());
  }
  return !stop;
}

// What is told to the reader; nothing if that was told already, or if it is over.
std::optional<WatchEvent> HotReload::Link::Lost(const Error& error) {
  connected = false;
  {
    const MutexLock lock(mutex);
    if (stop) {
      return std::nullopt;
    }
  }
  // The daemon is a new one, or has dropped sources. They are uploaded and the session opened
  // again, at once the first time; if that was just done, the usual pauses apply, so two sides that
  // disagree do not spin.
  if (error.reason == "SOURCES_MISSING") {
    upload_first = true;
    if (!uploaded) {
      return std::nullopt;  // at once again
    }
  } else if (error.code != ErrorCode::kUnavailable && error.code != ErrorCode::kCancelled &&
             error.code != ErrorCode::kDeadlineExceeded && error.reason != "QUEUE_FULL") {
    // Anything but an absent or busy daemon is an answer: the session cannot be had, and asking
    // again would not change that.
    ended = error;
    const MutexLock lock(mutex);
    stop = true;
    return std::nullopt;
  }
  // Reported once for each time without a connection, not for each attempt.
  if (std::exchange(told, true)) {
    return std::nullopt;
  }
  return WatchEvent{.body = WatchProblem{.text = error.context, .code = "DISCONNECTED"}};
}

// Connects; what to tell if that failed.
std::optional<WatchEvent> HotReload::Link::Reconnect() {
  // The first attempt after a loss goes out at once, later ones wait. `before_attempt` may start a
  // daemon.
  if (told) {
    if (!Pause()) {
      return std::nullopt;
    }
    if (options.before_attempt != nullptr) {
      options.before_attempt();
    }
  }
  const Result<void> made = Connect();
  connected = made.ok();
  return made.ok() ? std::nullopt : Lost(made.error());
}

std::optional<WatchEvent> HotReload::Link::Read() {
  std::shared_ptr<WatchStream> from;
  {
    const MutexLock lock(mutex);
    // The reference keeps the stream alive while Stop() or a new connection replaces it.
    from = connection;
  }
  v1::WatchEvent message;
  if (!from->stream->Read(&message)) {
    const grpc::Status status = from->stream->Finish();
    return Lost(status.ok() ? Error{.code = ErrorCode::kUnavailable,
                                    .context = "the daemon ended the session"}
                            : from->context.Failed(status));
  }
  // An event proves that the daemon is there; a stream that merely opened would not.
  told = false;
  pause = kFirstPause;
  const MutexLock lock(mutex);
  seq = message.seq();
  epoch = message.has_opened() ? message.opened().epoch() : epoch;
  return EventFrom(message);
}

// Called by one thread. Each round either reads or connects, and comes back without an event when
// there was nothing to tell.
std::optional<WatchEvent> HotReload::Next() {
  for (;;) {
    {
      const MutexLock lock(link_->mutex);
      if (link_->stop) {
        return std::nullopt;
      }
    }
    std::optional<WatchEvent> event = link_->connected ? link_->Read() : link_->Reconnect();
    if (event.has_value()) {
      return event;
    }
  }
}

void HotReload::Push(std::span<const Source> changed, std::span<const std::string> removed) {
  Link& link = *link_;
  size_t bytes = 0;
  std::vector<Source> large;
  for (const Source& source : changed) {
    // An edit of a file or two travels in the push itself, which saves a round trip. A push that
    // would be too large, such as the switch of a branch, uploads first and sends digests.
    bytes += source.text.size();
    if (source.text.size() > kMaxInline) {
      large.push_back(source);
    }
  }
  const bool upload_all = bytes > kMaxMessage;
  if (upload_all || !large.empty()) {
    // Without a connection it fails, and is part of the next one.
    (void)link.client.PutSources(upload_all ? changed : std::span<const Source>(large));
  }
  v1::WatchRequest request;
  v1::WatchRequest::Push& push = *request.mutable_push();
  for (const Source& source : changed) {
    v1::SourceRef& ref = *push.add_changed();
    ref.set_path(source.path);
    ToProto(source.digest, ref.mutable_digest());
    if (!upload_all && source.text.size() <= kMaxInline) {
      ref.set_inline_(source.text);
    }
  }
  push.mutable_removed()->Add(removed.begin(), removed.end());
  {
    const MutexLock lock(link.mutex);
    // Noted before it is sent: if the connection breaks in between, the next one says it, and
    // saying it twice does no harm.
    link.Note(changed, removed);
  }
  link.Send(request);
}

// The next connection begins with what is so now.
void HotReload::Link::Note(std::span<const Source> changed, std::span<const std::string> gone) {
  for (ProgramSpace& space : spaces) {
    for (Source& source : space.program.sources) {
      const auto found = std::ranges::find(changed, source.path, &Source::path);
      source = found != changed.end() ? *found : source;
    }
  }
  // What a push does not name stays where it was: nothing is looked for on disk here.
  std::vector<Program*> programs;
  for (ProgramSpace& space : spaces) {
    programs.push_back(&space.program);
  }
  (void)ChangeIncluded(programs, changed, gone, [](const std::string&) {
    return Result<std::optional<Source>>(std::nullopt);
  });
  for (const Source& source : changed) {
    removed.erase(source.path);
  }
  removed.insert(gone.begin(), gone.end());
}

void HotReload::PushSpaces(std::vector<ProgramSpace> spaces) {
  Link& link = *link_;
  v1::WatchRequest request;
  for (const ProgramSpace& space : spaces) {
    ToProto(space, request.mutable_push()->add_spaces());
  }
  {
    const MutexLock lock(link.mutex);
    link.spaces = std::move(spaces);
    link.removed.clear();
  }
  // New spaces may name sources that the daemon never saw.
  (void)link.Upload();
  link.Send(request);
}

void HotReload::Stop() {
  const MutexLock lock(link_->mutex);
  link_->stop = true;
  link_->stopped.NotifyAll();
  if (link_->connection != nullptr) {
    link_->connection->context.grpc.TryCancel();
  }
}

}  // namespace kiln::client
