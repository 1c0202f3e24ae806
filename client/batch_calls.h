// SPDX-License-Identifier: MIT
// Calls about batches and the packs that are made of them, as plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::client {

struct Connection;

// Keep going or stop: what callbacks of streams return.
enum class Next : uint8_t { kGoOn, kStop };

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

class BatchCalls {
 public:
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
  // Distinct results as they come, a million at most; `kinds`: failed, poison, slow, deduped; none:
  // all. Errors: also that of `take`, which ends it.
  Result<void> EachBatchItem(const std::string& id, const std::vector<std::string>& kinds,
                             const std::function<Result<void>(BatchItem)>& take);
  Result<std::vector<std::string>> BatchIds();  // hex

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

 protected:
  explicit BatchCalls(Connection& connection) : connection_(connection) {}
  ~BatchCalls() = default;

 private:
  Connection& connection_;
};

}  // namespace kiln::client
