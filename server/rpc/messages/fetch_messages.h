// SPDX-License-Identifier: MIT
// Messages of Fetch as bytes that gRPC sends. Those of a blob are sent from where the store has
// them: a stream of artifacts is bytes above all, and a copy of each costs as much as sending it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "cache/store.h"
#include "compiler/base/digest.h"
#include "proto/kiln/v1/compile.pb.h"

namespace kiln::rpc {

// Events -> the FetchReplies of one page after the other. Each event is a message, or, for a reader
// that takes them together, as many blobs and outcomes as fit into kTogether bytes are one.
//
// Threads: none of its own.
class FetchMessages {
 public:
  // What gRPC moves fastest (tests/bench/README.md). A larger event is a message of its own.
  static constexpr size_t kTogether = size_t{128} << 10;

  explicit FetchMessages(bool together);

  void AddOutcome(const v1::Outcome& outcome);
  void AddOutcome(std::string_view bytes);  // of a message
  // `size` bytes of the blob from `offset` on, which stays alive until they are sent.
  // Requires: offset + size is within the blob.
  void AddChunk(const Digest& digest, const cache::Blob& blob, uint64_t offset, uint64_t size);
  void AddProgress(const v1::Progress& progress);
  void AddDone(const v1::FetchDone& done);

  // Of the page so far.
  size_t events() const { return events_; }
  uint64_t bytes() const { return bytes_; }

  // The messages of the page, in the order of their events; the next page begins.
  std::vector<grpc::ByteBuffer> Take();

 private:
  int OutcomeField() const;
  // `size` bytes of one event follow.
  void Begin(size_t size);
  void End();
  void Add(int field, const google::protobuf::MessageLite& message);
  // Where `size` bytes of the message are to be written now.
  uint8_t* Room(size_t size);
  void Copy(std::span<const uint8_t> bytes);
  void CutCopied();
  void CutMessage();

  const bool together_;
  grpc::Slice slab_;                 // what is copied, of several messages
  size_t slab_begin_ = 0;            // what is behind the slices begins there
  size_t slab_end_ = 0;              // and ends there
  std::vector<grpc::Slice> slices_;  // of the message that is open
  size_t open_bytes_ = 0;            // of it
  std::vector<grpc::ByteBuffer> messages_;
  size_t events_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace kiln::rpc
