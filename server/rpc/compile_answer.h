// SPDX-License-Identifier: MIT
// One call of Compile: the bytes of a request -> the bytes of its reply. What was answered from
// memory before is answered by its bytes, without reading them again. See spec/daemon 4.1
#pragma once

#include <string_view>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "cache/store.h"
#include "compiler/base/result.h"
#include "proto/kiln/v1/common.pb.h"
#include "proto/kiln/v1/compile.pb.h"
#include "server/rpc/calls/compile_calls.h"
#include "server/rpc/calls/request_cache.h"

namespace kiln::rpc {

// Threads: one at a time.
class CompileAnswer {
 public:
  // All must outlive the object.
  CompileAnswer(Engine& engine, RequestCache& known, const grpc::ByteBuffer& request,
                grpc::ByteBuffer& reply);

  // May be called again with another call if one that is cache::kAtOnce was not answered. `detail`
  // has the id of the trace. Errors: as CompileVariant; kInvalidArgument if it is not a request.
  Result<void> Run(const cache::Call& call, v1::ErrorDetail& detail);

 private:
  std::string_view bytes() const;
  bool IsKnown(const cache::Call& call, const std::string& trace);
  void Remember(const v1::CompileRequest& request, const v1::Outcome& outcome,
                const cache::Call& call);

  Engine& engine_;
  RequestCache& known_;
  grpc::ByteBuffer& reply_;
  grpc::Slice request_;  // its bytes, in one piece
};

}  // namespace kiln::rpc
