// SPDX-License-Identifier: MIT
// What PackService does, without the transport. Runs inside jobs. See spec/daemon 4.4
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "cache/leases/actor.h"
#include "proto/kiln/v1/pack.pb.h"
#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

// Ends with `done`. Errors: those of the service in pack.proto; kInvalidArgument.
Result<void> BuildPack(Engine& engine, const v1::BuildPackRequest& request,
                       const cache::Actor& actor, const cache::Call& call,
                       const std::function<void(const v1::BuildPackReply&)>& push,
                       v1::ErrorDetail& detail);

// A part of a pack as a sequence of pages. One thread at a time.
class PackPages {
 public:
  PackPages(Engine& engine, v1::ReadPackRequest request)
      : engine_(engine), request_(std::move(request)) {}

  // About 1 MiB; none after the last. Errors: kNotFound, UNKNOWN_PACK; kOutOfRange,
  // OFFSET_BEYOND_END; kDataLoss, DAMAGED.
  Result<std::vector<v1::ReadPackReply>> Next(const cache::Call& call, v1::ErrorDetail& detail);

 private:
  Engine& engine_;
  const v1::ReadPackRequest request_;
  std::shared_ptr<const compile::KeptPack> pack_;
  uint64_t next_ = 0, end_ = 0;
};

// Errors: kNotFound, UNKNOWN_PACK; kDataLoss, DAMAGED.
Result<void> DescribePack(Engine& engine, const v1::DescribePackRequest& request,
                          v1::DescribePackReply& reply);

}  // namespace kiln::rpc
