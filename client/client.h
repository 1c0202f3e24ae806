// SPDX-License-Identifier: MIT
// A connection to kilnd. Hides transport, retries and generated types; an unreachable daemon is a
// Result, never an exception. Calls are synchronous; one Client may be used from several threads.
// Spec: daemon §2, §4; architecture §13
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/result.h"

namespace kiln::client {

// Keep going or stop: what callbacks of streams return.
enum class Next : uint8_t { kGoOn, kStop };

struct CompileOptions {
  bool retry_failed = false;
  bool durable = false;
};

class Client {
 public:
  // address: "unix:PATH". Connects lazily; Ping tells whether somebody is there.
  static std::unique_ptr<Client> Open(const std::string& address);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // GetServerInfo within `timeout`. Errors: kUnavailable if nobody answers.
  Result<ServerInfo> Ping(std::chrono::milliseconds timeout);
  Result<ServerStatus> Status();
  // Begins to drain; the daemon exits when running work is done.
  Result<uint64_t> Drain();

  // Uploads sources by digest; those the daemon has cost nothing but their digest.
  Result<void> PutSources(std::span<const Source> sources);

  // Sources must have been uploaded. A wrong source is an outcome.
  Result<Outcome> Compile(const Program& program, std::span<const Option> options,
                          const CompileOptions& how);
  Result<ListedOptions> ListOptions(const Program& program);

  // How many variants a space has; `filter`, if not empty, keeps those where it is true. What is
  // wrong with the sources or the space is in the result.
  Result<VariantCount> CountVariants(const ProgramSpace& space, const std::string& filter);
  // A page of them in rank order. Errors: kInvalidArgument for a wrong space.
  Result<VariantPage> ListVariants(const ProgramSpace& space, const std::string& filter,
                                   uint32_t page_size, const std::string& page);

  // Returns the id, hex.
  Result<std::string> StartBatch(const std::string& project, std::span<const ProgramSpace> spaces,
                                 bool retry_failed);
  // Until the final event, or until the callback stops. Errors: kUnavailable if the daemon went.
  Result<void> WatchBatch(const std::string& id,
                          const std::function<Next(const BatchEvent&)>& on_event);
  Result<void> CancelBatch(const std::string& id);

  // All results of a batch. Each blob is verified before it is handed over.
  struct FetchHandlers {
    std::function<void(const Outcome&)> on_outcome;
    std::function<Result<void>(const FetchedBlob&)> on_blob;
  };
  Result<FetchDone> FetchBatch(const std::string& id, std::span<const Digest> have,
                               const FetchHandlers& handlers);
  // Results of variants of one program; unknown ones are compiled.
  Result<FetchDone> FetchVariants(const Program& program,
                                  std::span<const std::vector<Option>> variants,
                                  std::span<const Digest> have, const FetchHandlers& handlers);

 private:
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln::client
