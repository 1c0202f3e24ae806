// SPDX-License-Identifier: MIT
// Replies of Compile as bytes that gRPC sends: all but the number of the explain record and the
// bytes of blobs is written once for all calls with the same answer.
#pragma once

#include <span>
#include <string>

#include <grpcpp/support/byte_buffer.h>

#include "cache/store.h"
#include "proto/kiln/v1/compile.pb.h"

namespace kiln::rpc {

// The reply with one outcome that has one artifact; the artifact without bytes.
//
// Threads: immutable.
class CompileMessage {
 public:
  // Requires: one artifact. Its data, metadata_data and the explain_seq do not count.
  explicit CompileMessage(v1::Outcome outcome);

  // Exactly what the message would be with the code as data, stages in order, the metadata as
  // metadata_data and this explain_seq. The blobs stay alive until they are sent.
  grpc::ByteBuffer With(std::span<const cache::Blob> code, ByteView metadata,
                        uint64_t explain_seq) const;

  uint64_t bytes() const { return kind_.size() + before_.size() + after_.size() + rest_.size(); }

 private:
  std::string kind_;    // fields of the outcome before its artifact
  std::string before_;  // those of the artifact before its bytes
  std::string after_;   // and behind them
  std::string rest_;    // fields of the outcome behind the artifact and before the number
};

}  // namespace kiln::rpc
