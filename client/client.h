// SPDX-License-Identifier: MIT
// A connection to kilnd. Hides transport, retries and generated types; an unreachable daemon is a
// Result, never an exception. Calls are synchronous; one Client may be used from several threads.
// See spec/daemon 2, 4; spec/architecture 13
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln {
class Clock;
namespace cache {
class BlobStore;
}
}  // namespace kiln

namespace kiln::client {

// Keep going or stop: what callbacks of streams return.
enum class Next : uint8_t { kGoOn, kStop };

struct CompileOptions {
  bool retry_failed = false;
  bool durable = false;
};

enum class OnError : uint8_t { kContinue = 0, kStopProgram = 1, kStop = 2 };

struct BatchOptions {
  bool retry_failed = false;
  std::string pin;                   // name under which the results are kept; or empty
  std::vector<std::string> targets;  // names; none: all
  std::string filter;                // only variants where this expression is true; or empty
  OnError on_error = OnError::kContinue;
  uint32_t priority = 0;  // 0 to 9
  bool detach = false;    // goes on by itself after a restart of the daemon
  uint64_t explore = 0;
  bool quorum = false;  // durable at the upstream, too
  Budget budget;
};

// Where a daemon is, and with what to come to it. The files are for https only.
struct Endpoint {
  std::string address;     // unix:PATH or https://HOST:PORT
  std::string token_file;  // one line: kiln_<id>_<secret>
  std::string tls_ca;      // who signs the daemon's certificate; empty: those of the system
  std::string tls_cert, tls_key;
};

// How long a daemon may take to accept a connection and to say who it is: a machine that is full of
// work needs seconds. Where there is no daemon, the socket refuses at once.
inline constexpr std::chrono::milliseconds kPing{10'000};

class Client {
 public:
  // address: "unix:PATH" of a socket that the caller trusts, whoever made it. Connects lazily; Ping
  // tells whether somebody is there.
  static std::unique_ptr<Client> Open(const std::string& address);
  // The same for a socket that must be of this user. Errors: kUnavailable if there is not even its
  // folder; kPermissionDenied with reason NOT_OWN or FOREIGN_SOCKET where another user could have
  // made it: nothing was sent then.
  static Result<std::unique_ptr<Client>> OpenOwn(const std::string& address);
  // DefaultSocket() is opened as this user's own, any other as it was named. Errors: as OpenOwn;
  // kInvalidArgument with reason USAGE for another address or a file that is missing.
  static Result<std::unique_ptr<Client>> Open(const Endpoint& endpoint);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The rows and the content of the daemon's cache. The client and the clock must outlive it.
  std::unique_ptr<cache::BlobStore> CacheStore(Clock& clock);

  // GetServerInfo within `timeout`. Errors: kUnavailable if nobody answers; of a daemon behind
  // https also kUnauthenticated for certificates, and kInvalidArgument for files that hold none,
  // with the cause.
  // A unix socket whose queue others keep full is tried again for as long.
  Result<ServerInfo> Ping(std::chrono::milliseconds timeout);
  // Check: the daemon asks its upstreams first, if it takes work.
  enum class Upstreams : uint8_t { kAsKnown, kCheck };
  Result<ServerStatus> Status(Upstreams upstreams = Upstreams::kAsKnown);
  // Calls with this trace id that the daemon remembers. Errors: kNotFound.
  Result<std::vector<CallTrace>> Traces(const std::string& id);
  Result<std::vector<JobRow>> Jobs();
  Result<void> KillJob(const std::string& id);  // errors: kNotFound
  // Begins to drain; the daemon exits when running work is done.
  Result<void> Drain();
  Result<void> Shutdown();  // at once
  struct ReloadOutcome {
    std::vector<std::string> changed, needs_restart;
  };
  Result<ReloadOutcome> ReloadConfig();
  Result<void> SetLogLevel(const std::string& component, const std::string& level);

  // Uploads what the daemon does not have of these sources; to have nothing to upload, scope read
  // is enough. Errors: kPermissionDenied, which names what would have to be stored.
  Result<void> PutSources(std::span<const Source> sources);

  // Sources must have been uploaded. A wrong source is an outcome.
  Result<Outcome> Compile(const Program& program, std::span<const Option> options,
                          const CompileOptions& how);
  Result<OptionList> ListOptions(const Program& program);
  // The same of many programs, in their order, without what can depend on the options: names,
  // types, values and defaults are all that spaces need.
  Result<std::vector<OptionList>> ListOptionsOf(std::span<const Program* const> programs);

  // How many variants a space has; `filter`, if not empty, keeps those where it is true. What is
  // wrong with the sources or the space is in the result.
  Result<VariantCount> CountVariants(const ProgramSpace& space, const std::string& filter);
  // A page of them in rank order. Errors: kInvalidArgument for a wrong space.
  Result<VariantPage> ListVariants(const ProgramSpace& space, const std::string& filter,
                                   uint32_t page_size, const std::string& page);

  // Returns the id, hex. Errors: kResourceExhausted, LIMIT_VARIANTS, above the budget;
  // kFailedPrecondition, FAMILY_MISMATCH.
  Result<std::string> StartBatch(const std::string& project, std::span<const ProgramSpace> spaces,
                                 const BatchOptions& how);
  // Until the final event, or until the callback stops. Errors: kUnavailable if the daemon went.
  Result<void> WatchBatch(const std::string& id,
                          const std::function<Next(const BatchEvent&)>& on_event);
  // The same, from the event after `from_seq`; the callback gets the number of each event.
  Result<void> WatchBatch(
      const std::string& id, uint64_t from_seq,
      const std::function<Next(const BatchEvent& event, uint64_t seq)>& on_event);
  // All of these: kNotFound for an id that the daemon does not know.
  Result<BatchInfo> GetBatch(const std::string& id);
  Result<BatchInfo> CancelBatch(const std::string& id);
  Result<BatchInfo> PauseBatch(const std::string& id);
  Result<BatchInfo> ResumeBatch(const std::string& id);
  Result<std::vector<BatchInfo>> ListBatches(const std::string& project);  // latest first; "": all
  // Distinct results; `kinds`: failed, poison, slow, deduped; none: all.
  Result<std::vector<BatchItem>> BatchItems(const std::string& id,
                                            const std::vector<std::string>& kinds);
  Result<std::vector<std::string>> BatchIds();  // hex

  // All results of a batch. Each blob is verified before it is handed over.
  struct FetchHandlers {
    std::function<void(const Outcome&)> on_outcome;
    std::function<Result<void>(const FetchedBlob&)> on_blob;
  };
  struct FetchHow {
    std::span<const Digest> have;  // content that need not be sent
    std::string have_root;         // hex, of an earlier fetch: what it names need not be sent
    bool compile = true;           // what is not known; else its outcome has nothing
  };
  Result<FetchDone> FetchBatch(const std::string& id, const FetchHow& how,
                               const FetchHandlers& handlers);
  // Results of variants of one program. `project`: whose earlier requests explain this one.
  Result<FetchDone> FetchVariants(const std::string& project, const Program& program,
                                  std::span<const std::vector<Option>> variants,
                                  const FetchHow& how, const FetchHandlers& handlers);

  // Why requests were hits or misses. Errors: kNotFound if nobody remembers.
  struct ExplainVariant {  // would it hit now?
    std::string project;
    Program program;
    std::vector<Option> options;
  };
  struct ExplainKey {
    std::string hex;  // signature, variant or live key
  };
  struct ExplainRequest {
    uint64_t seq = 0;  // of an outcome
  };
  struct ExplainBatch {
    std::string id;  // hex
  };
  struct ExplainLast {
    uint32_t count = 1;
  };
  using ExplainSubject =
      std::variant<ExplainVariant, ExplainKey, ExplainRequest, ExplainBatch, ExplainLast>;
  Result<ExplainReply> Explain(const ExplainSubject& subject);

  // Views of one result by signature, of one product by digest, or of a variant that was compiled:
  // stats, meta, layout, options, disasm, ir (of a variant), wgsl, msl, glsl, hlsl; none: those of
  // the daemon's choice. By artifact, then in their order. Errors: kNotFound; kInvalidArgument for
  // what is no view of it; kFailedPrecondition for code that does not translate.
  struct InspectSignature {
    std::string hex;
  };
  struct InspectContent {
    std::string hex;
  };
  struct InspectVariant {
    Program program;
    std::vector<Option> options;
  };
  using InspectSubject = std::variant<InspectSignature, InspectContent, InspectVariant>;
  Result<std::vector<InspectedView>> Inspect(const InspectSubject& subject,
                                             std::span<const std::string> views);

  // The cache of the daemon, while it is used.
  Result<CacheStats> CacheStatistics();
  struct GcRequest {
    uint64_t to_bytes = 0;  // 0: the low mark, if nothing else is asked for
    uint64_t older_than_s = 0;
    bool failed = false, vacuum = false, dry_run = false;
  };
  using OnFinding = std::function<void(const std::string& text)>;
  Result<MaintenanceDone> GcCache(const GcRequest& request);
  using OnBytes = std::function<void(uint64_t done, uint64_t total)>;
  Result<MaintenanceDone> VerifyCache(bool fast, uint32_t sample_percent, const OnFinding& on,
                                      const OnBytes& on_bytes = {});
  Result<MaintenanceDone> RepairCache(const OnFinding& on);
  // Gives the number of records. `until_s`: Unix, 0 for ever. Errors: kAlreadyExists,
  // kNotFound, kResourceExhausted.
  Result<uint64_t> Pin(const std::string& name, std::span<const std::string> keys, uint64_t until_s,
                       const std::string& note);
  Result<void> Unpin(const std::string& name);  // errors: kNotFound
  Result<std::vector<PinnedSet>> Pins();

  // Builds a pack of a batch. Errors: kNotFound if the daemon does not have the base.
  struct PackRequest {
    std::string batch;  // id, hex
    std::vector<std::string> targets;
    bool small = false;
    std::string base;  // id of a pack, hex; or empty
    std::string pin;
    std::optional<Digest> manifest;  // of the file that the batch was made from
    struct Warm {
      std::string program;
      std::vector<Option> options;
      uint32_t priority = 0;                       // ascending
      uint32_t creation_us = 0, first_use_us = 0;  // expected
    };
    std::vector<Warm> warm;
  };
  Result<BuiltPack> BuildPack(const PackRequest& request,
                              const std::function<void(const PackProgress&)>& on_progress);
  // The bytes of a pack in order. The callback's error ends the call.
  Result<void> ReadPack(const std::string& id,
                        const std::function<Result<void>(ByteView bytes)>& on_bytes);

  struct State;
  State& state() { return *state_; }  // of other classes of this folder

 private:
  enum class Waits : uint8_t { kNo, kYes };  // for a connection
  Result<ServerInfo> PingOnce(std::chrono::milliseconds timeout, Waits waits);
  static std::unique_ptr<Client> Over(std::unique_ptr<State> state);
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln::client
