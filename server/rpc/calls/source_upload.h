// SPDX-License-Identifier: MIT
// Sources that a client sends before it names them by digest: chunks of PutSources -> content of
// the store. See spec/daemon 4.1, 10
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/reactors/byte_room.h"

namespace kiln::rpc {

// What an upload gave up, and why; for the audit log.
using RejectedContent = std::pair<Digest, std::string_view>;
// Every file and blob of an upload that has not been stored counts for at least so many bytes.
inline constexpr uint64_t kUploadOverhead = 256;
// Uploads of all clients hold what they may.
Error UploadsFull(const ByteRoom& room);

// Chunks of PutSources -> content of the store. What it holds counts against the room, which must
// outlive it. One upload, one thread at a time.
class Upload {
 public:
  Upload(Engine& engine, ByteRoom& room, const ops::Principal& of, const ServiceLimits& /*limits*/)
      : engine_(engine), room_(room), owner_(of.id), held_(room, of.party) {}

  // Errors: kInvalidArgument with DIGEST_MISMATCH or MALFORMED_REQUEST; kResourceExhausted, also
  // with BUFFERS_FULL.
  Result<void> Take(const v1::PutSourcesRequest& message);
  uint64_t waiting() const { return waiting_; }  // bytes not yet stored
  // Stores what is complete. A store that cannot write for now is not an error as long as memory
  // has room for the sources, where they stay. Errors: CACHE_FULL.
  Result<void> Store(const cache::Call& call);
  // Errors: kInvalidArgument if the last source is not complete.
  Result<v1::PutSourcesReply> Finish() const;
  // Since the last time.
  std::vector<RejectedContent> TakeRejected() { return std::exchange(rejected_, {}); }

 private:
  Engine& engine_;
  ByteRoom& room_;
  const std::string owner_;  // whose share what is stored counts for
  ByteRoom::Share held_;
  std::vector<RejectedContent> rejected_;
  bool open_ = false;  // a source is being received
  Digest digest_;
  std::string bytes_;
  std::vector<cache::Item> complete_;
  uint64_t waiting_ = 0;
  uint64_t total_ = 0;
  uint64_t files_ = 0;
  v1::PutSourcesReply reply_;
};

}  // namespace kiln::rpc
