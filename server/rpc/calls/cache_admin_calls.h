// SPDX-License-Identifier: MIT
// The calls of AdminService about the cache, as functions over messages. They run inside jobs and
// beside everything else that uses the store. See spec/cache 9, spec/daemon 4.6
#pragma once

#include <cstdint>
#include <functional>

#include "cache/leases/actor.h"
#include "proto/kiln/v1/admin.pb.h"
#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

using PushMaintenance = std::function<void(const v1::CacheMaintenance&)>;

enum class Paths : uint8_t { kWhole, kNamesOnly };  // whole ones are the owner's alone

// Without a database: what the memory of this process has.
Result<void> CacheStatsTo(Engine& engine, Paths paths, v1::CacheStats& out);

// All of these end with `done`. Errors: kFailedPrecondition with READ_ONLY if there is no database
// or no writing to it; kCancelled.
Result<void> GcCache(Engine& engine, const v1::GcCacheRequest& request, const cache::Call& call,
                     const PushMaintenance& push);
Result<void> VerifyCache(Engine& engine, const v1::VerifyCacheRequest& request,
                         const cache::Call& call, const PushMaintenance& push);
Result<void> RepairCache(Engine& engine, const cache::Call& call, const PushMaintenance& push);

// A pin belongs to who made it. Errors: kAlreadyExists PIN_TAKEN; kPermissionDenied NOT_YOURS;
// kNotFound for a batch or for results that are not stored; kResourceExhausted PINS_TOO_LARGE or
// TOO_MANY_PINS.
Result<void> Pin(Engine& engine, const v1::PinRequest& request, const cache::Actor& actor,
                 const cache::Call& call, v1::PinInfo& reply);
Result<void> Unpin(Engine& engine, const v1::UnpinRequest& request, const cache::Actor& actor);
Result<void> ListPins(Engine& engine, const v1::ListPinsRequest& request, v1::ListPinsReply& reply);
Result<void> ListQuarantine(Engine& engine, const v1::ListQuarantineRequest& request,
                            v1::ListQuarantineReply& reply);
// Errors: kUnimplemented for a filter: records do not say what they were made from.
Result<void> ClearNegative(Engine& engine, const v1::ClearNegativeRequest& request,
                           const cache::Call& call, v1::ClearNegativeReply& reply);

}  // namespace kiln::rpc
