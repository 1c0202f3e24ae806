// SPDX-License-Identifier: MIT
// Messages of Fetch as bytes that gRPC sends. Those of a blob are sent from where the store has
// them: a stream of artifacts is bytes above all, and a copy of each costs as much as sending it.
#pragma once

#include <cstdint>

#include <grpcpp/support/byte_buffer.h>

#include "cache/store.h"
#include "compiler/base/digest.h"
#include "proto/kiln/v1/compile.pb.h"

namespace kiln::rpc {

// A FetchReply with this outcome.
grpc::ByteBuffer OutcomeMessage(const v1::Outcome& outcome);

// One with `size` bytes of the blob from `offset` on, which stays alive until they are sent.
// Requires: offset + size is within the blob.
grpc::ByteBuffer ChunkMessage(const Digest& digest, const cache::Blob& blob, uint64_t offset,
                              uint64_t size);

grpc::ByteBuffer ProgressMessage(const v1::Progress& progress);
grpc::ByteBuffer DoneMessage(const v1::FetchDone& done);

}  // namespace kiln::rpc
