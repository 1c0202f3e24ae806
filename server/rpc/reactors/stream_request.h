// SPDX-License-Identifier: MIT
// The request of a stream of pages: bytes until the first job of the stream parses them, and then a
// message that lies in memory as long as its reader takes his time. So it has a share of the room
// of slow readers, unless it is small.
#pragma once

#include "server/rpc/messages/wire.h"
#include "server/rpc/reactors/byte_room.h"
#include "server/rpc/reactors/unary_call.h"

namespace kiln::rpc {

// Threads: one at a time.
template <class Request>
class StreamRequest {
 public:
  // Requires: the room outlives this.
  StreamRequest(ByteRoom& room, const ops::Party& reader, const grpc::ByteBuffer& bytes)
      : bytes_(bytes), held_(room, reader) {}

  // Once. Errors: as MessageFrom; kResourceExhausted with BUFFERS_FULL.
  Result<Request> Parse() {
    Result<Request> request = MessageFrom<Request>(bytes_);
    bytes_.Clear();
    const uint64_t size = request.ok() ? request->SpaceUsedLong() : 0;
    if (size > kUncountedReply && !held_.Take(size)) {
      return Error{.code = ErrorCode::kResourceExhausted,
                   .context = "requests of streams that are read slowly hold what they may",
                   .reason = "BUFFERS_FULL"};
    }
    return request;
  }

 private:
  grpc::ByteBuffer bytes_;
  ByteRoom::Share held_;
};

}  // namespace kiln::rpc
