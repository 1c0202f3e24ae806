// SPDX-License-Identifier: MIT
#include "client/startup_fetch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "client/connection.h"
#include "client/convert.h"
#include "client/fetch_calls.h"
#include "client/includes/include_set.h"
#include "compiler/base/mutex.h"

namespace kiln::client {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr auto kFirstPause = std::chrono::milliseconds(100);  // spec/daemon 2.5
constexpr auto kLongestPause = std::chrono::seconds(5);
// A request has 4 MiB (spec/daemon 10): variants take their part, known content the rest.
constexpr size_t kVariantBytes = size_t{2} << 20;
constexpr size_t kMostHave = 60'000;  // digests of at most 28 bytes

// Whether another attempt may go better.
// Network, restart, overload, and bytes that arrived damaged: all of these may go better. Anything
// else, wrong sources above all, would fail the same way again.
bool IsPassing(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kDeadlineExceeded ||
         error.code == ErrorCode::kAborted || error.code == ErrorCode::kDataLoss ||
         error.reason == "QUEUE_FULL" || error.reason == "STREAM_CUT";
}

// A daemon that lost its store does not know the batch any more. With its spaces at hand it can be
// built again.
bool IsForgotten(const Error& error) {
  return error.reason == "BATCH_FORGOTTEN" || error.reason == "UNKNOWN_BATCH";
}

Error Cancelled() {
  return {.code = ErrorCode::kCancelled, .context = "the fetch was cancelled", .reason = {}};
}

// One result of one target, whatever it is named.
std::string KeyOf(const Artifact& artifact) { return artifact.signature + "/" + artifact.target; }

}  // namespace

struct StartupFetch::Session {
  Session(Client& use_client, StartupSubject use_subject, StartupOptions use_options)
      : client(use_client), subject(std::move(use_subject)), options(std::move(use_options)) {}

  // One attempt each: what is not there yet.
  Result<void> Fetch(StartupBatch& batch);
  Result<void> Fetch(StartupPin& pin);
  Result<void> Fetch(StartupVariants& wanted);

  Result<void> Build(StartupBatch& batch);
  Result<void> NameItems(const StartupBatch& batch);
  Result<void> Read(v1::FetchRequest request,
                    const std::function<Result<void>(const Outcome&)>& on_outcome);
  Result<void> TakeNamed(const Outcome& outcome);
  Result<void> Deliver(const std::string& program, const std::vector<Option>& with,
                       const Outcome& outcome);
  Result<void> Hand(const StartupArtifact& artifact);
  Result<void> Tell();
  Result<void> Upload(std::span<const Program* const> programs);
  Result<void> Again(const Error& error);
  bool Stopped() {
    const MutexLock lock(mutex);
    return stop;
  }

  Client& client;
  StartupSubject subject;
  const StartupOptions options;
  const StartupHandlers* handlers = nullptr;

  // Of the thread that runs.
  StartupReport report;
  std::set<Digest> have;
  std::set<std::string> taken;  // results of a batch or pin that were handed over
  std::multimap<std::string, std::pair<std::string, std::vector<Option>>> named;
  std::vector<uint32_t> order;   // of variants: warm ones first
  std::vector<bool> done;        // of variants
  std::optional<Error> refused;  // by a handler
  bool uploaded = false;         // to this daemon
  bool built = false;            // the batch, by this daemon
  bool made_good = false;        // what an attempt lacked, and nothing was heard since
  SteadyClock::time_point heard = SteadyClock::now();
  std::chrono::milliseconds pause = kFirstPause;

  Mutex mutex;
  CondVar stopped;
  bool stop KILN_GUARDED_BY(mutex) = false;
  Context* reading KILN_GUARDED_BY(mutex) = nullptr;
};

StartupFetch::StartupFetch(Client& client, StartupSubject subject, StartupOptions options)
    : session_(std::make_unique<Session>(client, std::move(subject), std::move(options))) {}
StartupFetch::~StartupFetch() = default;

void StartupFetch::Cancel() {
  const MutexLock lock(session_->mutex);
  // A fetch may be reading, waiting, or between both. The flag, the condition and the cancelled
  // call reach it in each of the three.
  session_->stop = true;
  session_->stopped.NotifyAll();
  if (session_->reading != nullptr) {
    session_->reading->grpc.TryCancel();
  }
}

Result<void> StartupFetch::Session::Tell() {
  if (handlers->on_progress && handlers->on_progress(report.progress) == Next::kStop) {
    const MutexLock lock(mutex);
    stop = true;
  }
  return Stopped() ? Result<void>(Cancelled()) : Result<void>();
}

Result<void> StartupFetch::Session::Hand(const StartupArtifact& artifact) {
  return handlers->on_artifact ? handlers->on_artifact(artifact) : Result<void>();
}

// An outcome that is known by name; it has nothing if the daemon may not build it.
Result<void> StartupFetch::Session::Deliver(const std::string& program,
                                            const std::vector<Option>& with,
                                            const Outcome& outcome) {
  ++report.progress.artifacts;
  if (outcome.kind != OutcomeKind::kOk) {
    report.failures.push_back({.program = program, .options = with, .outcome = outcome});
  }
  for (const Artifact& artifact : outcome.artifacts) {
    KILN_TRY_VOID(Hand({.program = program, .options = with, .artifact = artifact}));
  }
  return Tell();
}

// A result of a batch or pin, under every name that it has.
Result<void> StartupFetch::Session::TakeNamed(const Outcome& outcome) {
  if (outcome.artifacts.empty()) {
    return Deliver({}, {}, outcome);
  }
  const std::string key = KeyOf(outcome.artifacts.front());
  // Came with an earlier attempt already.
  if (!taken.insert(key).second) {
    return {};
  }
  const auto [first, last] = named.equal_range(key);
  // A pin has results without names, because pins hold keys.
  if (first == last) {
    return Deliver({}, {}, outcome);
  }
  for (auto name = first; name != last; ++name) {
    KILN_TRY_VOID(Deliver(name->second.first, name->second.second, outcome));
  }
  return {};
}

Result<void> StartupFetch::Session::Read(
    v1::FetchRequest request, const std::function<Result<void>(const Outcome&)>& on_outcome) {
  size_t quoted = 0;
  for (const Digest& digest : have) {
    if (++quoted > kMostHave) {
      break;  // the rest is sent again, which costs time only
    }
    ToProto(digest, request.add_have());
  }
  Context context;
  {
    const MutexLock lock(mutex);
    if (stop) {
      return Cancelled();
    }
    reading = &context;
  }
  // Every arrival moves the patience on and begins pauses anew. The first refusal of a handler
  // cancels the call; what is still in flight is dropped.
  const auto refuse = [&](const Result<void>& result) {
    heard = SteadyClock::now();
    pause = kFirstPause;
    made_good = false;
    if (!result.ok() && !refused.has_value()) {
      refused = result.error();
      context.grpc.TryCancel();
    }
  };
  const auto on_blob = [&](const FetchedBlob& blob) -> Result<void> {
    // `have` holds what the caller has, so a blob that comes again after a lost connection is not
    // handed over twice.
    if (!refused.has_value() && have.insert(blob.digest).second) {
      ++report.blobs;
      report.progress.bytes += blob.bytes.size();
      Result<void> handed = handlers->on_blob ? handlers->on_blob(blob) : Result<void>();
      refuse(handed.ok() ? Tell() : std::move(handed));
    }
    return {};
  };
  const Result<FetchDone> read = ReadFetch(client.connection(), request,
                                           {.on_outcome =
                                                [&](const Outcome& outcome) {
                                                  if (!refused.has_value()) {
                                                    refuse(on_outcome(outcome));
                                                  }
                                                },
                                            .on_blob = on_blob},
                                           context);
  const MutexLock lock(mutex);
  reading = nullptr;
  if (refused.has_value()) {
    return *refused;
  }
  // A call that was cancelled from outside failed because of that.
  return read.ok() ? Result<void>() : Result<void>(stop ? Cancelled() : read.error());
}

Result<void> StartupFetch::Session::Upload(std::span<const Program* const> programs) {
  std::vector<Source> sources;
  std::set<Digest> seen;
  for (const Program* const program : programs) {
    for (Source& source : UploadsOf(*program)) {
      if (seen.insert(source.digest).second) {
        sources.push_back(std::move(source));
      }
    }
  }
  KILN_TRY_VOID(sources.empty() ? Result<void>() : client.PutSources(sources));
  uploaded = true;
  return {};
}

// Starts the batch, or attaches to it, and waits until it is over.
Result<void> StartupFetch::Session::Build(StartupBatch& batch) {
  if (!uploaded) {
    std::vector<const Program*> programs;
    for (const ProgramSpace& space : batch.spaces) {
      programs.push_back(&space.program);
    }
    KILN_TRY_VOID(Upload(programs));
  }
  KILN_TRY(batch.id, client.StartBatch(batch.project, batch.spaces, batch.how));
  // The events show that the daemon lives and is at work. What they say is not needed: the items
  // are listed in the end.
  KILN_TRY_VOID(client.WatchBatch(batch.id, [&](const BatchEvent&) {
    heard = SteadyClock::now();
    return Tell().ok() ? Next::kGoOn : Next::kStop;
  }));
  built = true;
  return Stopped() ? Result<void>(Cancelled()) : Result<void>();
}

// Outcomes of a batch have no names; its items have.
Result<void> StartupFetch::Session::NameItems(const StartupBatch& batch) {
  // An attempt begins with the list of now, as a batch that was built again may have other results.
  named.clear();
  report.progress.total = 0;
  return client.EachBatchItem(batch.id, {}, [&](const BatchItem& item) -> Result<void> {
    ++report.progress.total;
    if (!item.outcome.artifacts.empty()) {
      named.emplace(KeyOf(item.outcome.artifacts.front()), std::pair(item.program, item.options));
    } else if (taken.insert(item.program + OptionsText(item.options)).second) {
      KILN_TRY_VOID(Deliver(item.program, item.options, item.outcome));  // failures are no results
    }
    return {};
  });
}

Result<void> StartupFetch::Session::Fetch(StartupBatch& batch) {
  // Without spaces the batch was built by somebody else and is only fetched.
  if (!batch.spaces.empty() && !built) {
    KILN_TRY_VOID(Build(batch));
  }
  KILN_TRY_VOID(NameItems(batch));
  v1::FetchRequest request;
  request.set_batch_id(IdOf(batch.id));
  return Read(request, [&](const Outcome& outcome) { return TakeNamed(outcome); });
}

Result<void> StartupFetch::Session::Fetch(StartupPin& pin) {
  v1::FetchRequest request;
  request.set_pin(pin.name);
  return Read(request, [&](const Outcome& outcome) { return TakeNamed(outcome); });
}

// As many variants as a request holds, one request after the other.
Result<void> StartupFetch::Session::Fetch(StartupVariants& wanted) {
  if (!uploaded) {
    std::vector<const Program*> programs;
    for (const Program& program : wanted.programs) {
      programs.push_back(&program);
    }
    KILN_TRY_VOID(Upload(programs));
  }
  for (size_t next = 0; next < order.size();) {
    v1::FetchRequest request;
    request.set_project(wanted.project);
    request.set_on_miss(v1::FetchRequest::COMPILE);
    std::vector<uint32_t> asked;
    // `order` has warm variants first, so an engine can draw after the first request.
    for (size_t bytes = 0; next < order.size() && bytes < kVariantBytes; ++next) {
      if (done[order[next]]) {
        continue;
      }
      const StartupVariants::Variant& variant = wanted.variants[order[next]];
      v1::Variant& message = *request.add_variants();
      ToProto(wanted.programs[variant.program], message.mutable_inline_program());
      for (const Option& option : variant.options) {
        ToProto(option, message.add_options());
      }
      message.set_warm(variant.warm);
      bytes += message.ByteSizeLong();
      asked.push_back(order[next]);
    }
    if (asked.empty()) {
      break;
    }
    KILN_TRY_VOID(Read(std::move(request), [&](const Outcome& outcome) -> Result<void> {
      // The index is the daemon's word: it may be out of range, or answer one variant twice.
      if (outcome.index >= asked.size() || done[asked[outcome.index]]) {
        return Error{.code = ErrorCode::kInternal,
                     .context = "the daemon answered what nobody asked for",
                     .reason = {}};
      }
      const StartupVariants::Variant& variant = wanted.variants[asked[outcome.index]];
      done[asked[outcome.index]] = true;
      return Deliver(wanted.programs[variant.program].name, variant.options, outcome);
    }));
  }
  return {};
}

// Whether to try again; waits a little longer each time.
Result<void> StartupFetch::Session::Again(const Error& error) {
  if (Stopped()) {
    return Cancelled();
  }
  if (refused.has_value()) {
    return error;
  }
  const auto* batch = std::get_if<StartupBatch>(&subject);
  const bool forgotten = IsForgotten(error) && batch != nullptr && !batch->spaces.empty();
  // What the daemon lacks is given to it again, at once but only once: if it lacks the same again
  // without having sent anything, this goes the slow way.
  if ((error.reason == "SOURCES_MISSING" || forgotten) && !std::exchange(made_good, true)) {
    uploaded = built = false;
    return {};  // at once
  }
  if (!IsPassing(error)) {
    return error;
  }
  uploaded = built = false;  // it may be another daemon
  const SteadyClock::time_point until = SteadyClock::now() + pause;
  // Patience counts from the last thing that was heard and not from the begin, so a fetch of any
  // size is given the time that it needs, as long as something arrives.
  if (until - heard > options.patience) {
    return WithContext(error, fmt::format("{} of {} artifacts have arrived",
                                          report.progress.artifacts, report.progress.total));
  }
  pause = std::min<std::chrono::milliseconds>(pause * 2, kLongestPause);
  {
    const MutexLock lock(mutex);
    while (!stop && SteadyClock::now() < until) {
      (void)stopped.WaitFor(mutex, until - SteadyClock::now());
    }
  }
  ++report.progress.reconnects;
  if (options.before_attempt) {
    options.before_attempt();
  }
  return {};
}

Result<StartupReport> StartupFetch::Run(const StartupHandlers& handlers) {
  Session& session = *session_;
  session.handlers = &handlers;
  session.have.insert(session.options.have.begin(), session.options.have.end());
  session.heard = SteadyClock::now();
  if (const auto* const wanted = std::get_if<StartupVariants>(&session.subject)) {
    session.done.resize(wanted->variants.size());
    // Two passes keep the caller's order within each kind.
    for (const bool warm : {true, false}) {
      for (uint32_t i = 0; i < wanted->variants.size(); ++i) {
        if (wanted->variants[i].warm == warm && (warm || !wanted->warm_only)) {
          session.order.push_back(i);
        }
      }
    }
    session.report.progress.total = session.order.size();
  }
  for (;;) {
    const Result<void> fetched =
        std::visit([&](auto& subject) { return session.Fetch(subject); }, session.subject);
    if (fetched.ok()) {
      break;
    }
    KILN_TRY_VOID(session.Again(fetched.error()));
  }
  // A total that was an estimate is exact now.
  session.report.progress.total = session.report.progress.artifacts;
  return session.report;
}

}  // namespace kiln::client
