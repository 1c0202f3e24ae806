// SPDX-License-Identifier: MIT
#include "server/rpc/messages/fetch_messages.h"

#include <algorithm>
#include <utility>

#include <grpc/slice.h>

#include "server/rpc/messages/wire.h"

namespace kiln::rpc {
namespace {

// For fewer bytes a copy costs less than a slice with an owner.
constexpr uint64_t kCopied = 2048;

// gRPC stores slices of less than 24 bytes inline, so a slab has more.
constexpr size_t kSlab = size_t{16} << 10;

// Messages of a page; more cost a copy of each, since a ByteBuffer cannot be moved.
constexpr size_t kReserved = 264;

std::span<const uint8_t> Unsigned(ByteView bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

FetchMessages::FetchMessages(bool together) : together_(together) { messages_.reserve(kReserved); }

void FetchMessages::AddOutcome(const v1::Outcome& outcome) { Add(OutcomeField(), outcome); }

void FetchMessages::AddOutcome(std::string_view bytes) {
  const WireHead head = WireHead().Length(OutcomeField(), bytes.size());
  Begin(head.bytes().size() + bytes.size());
  Copy(head.bytes());
  Copy(Unsigned(AsBytes(bytes)));
  End();
}

int FetchMessages::OutcomeField() const {
  return together_ ? v1::FetchReply::kOutcomesFieldNumber : v1::FetchReply::kOutcomeFieldNumber;
}

void FetchMessages::AddProgress(const v1::Progress& progress) {
  Add(v1::FetchReply::kProgressFieldNumber, progress);
}

void FetchMessages::AddDone(const v1::FetchDone& done) {
  Add(v1::FetchReply::kDoneFieldNumber, done);
}

void FetchMessages::Add(int field, const google::protobuf::MessageLite& message) {
  const size_t size = message.ByteSizeLong();
  const WireHead head = WireHead().Length(field, size);
  Begin(head.bytes().size() + size);
  Copy(head.bytes());
  // The sizes were computed a moment ago; computing them again would walk the message twice.
  (void)message.SerializeWithCachedSizesToArray(Room(size));
  End();
}

void FetchMessages::AddChunk(const Digest& digest, const cache::Blob& blob, uint64_t offset,
                             uint64_t size) {
  // A chunk is nested three deep: digest in chunk in reply. The heads are built from the inside
  // out, because each has the length of what it contains.
  WireHead name;
  name.Bytes(v1::Digest::kIdFieldNumber, digest.id.bytes);
  name.Number(v1::Digest::kSizeFieldNumber, digest.size);
  WireHead chunk;
  chunk.Bytes(v1::BlobChunk::kDigestFieldNumber, name.bytes());
  chunk.Number(v1::BlobChunk::kOffsetFieldNumber, offset);
  if (!blob.sum.zero()) {
    chunk.Bytes(v1::BlobChunk::kSumFieldNumber, blob.sum.bytes);
  }
  chunk.Length(v1::BlobChunk::kDataFieldNumber, size);
  WireHead reply;
  reply.Length(together_ ? v1::FetchReply::kBlobsFieldNumber : v1::FetchReply::kBlobFieldNumber,
               chunk.bytes().size() + size);
  Begin(reply.bytes().size() + chunk.bytes().size() + size);
  Copy(reply.bytes());
  Copy(chunk.bytes());
  const ByteView bytes = blob.bytes.subspan(offset, size);
  // A slice of its own costs more than a copy of few bytes. Larger ones are sent from where they
  // lie, and the slice keeps their owner.
  if (size < kCopied) {
    Copy(Unsigned(bytes));
  } else {
    CutCopied();
    slices_.push_back(SliceOf(bytes, blob.owner));
  }
  End();
}

std::vector<grpc::ByteBuffer> FetchMessages::Take() {
  CutMessage();
  events_ = 0;
  bytes_ = 0;
  std::vector<grpc::ByteBuffer> page = std::exchange(messages_, {});
  messages_.reserve(kReserved);
  return page;
}

void FetchMessages::Begin(size_t size) {
  // A message that is full ends before the event that does not fit; an event is never cut.
  if (open_bytes_ + size > kTogether) {
    CutMessage();
  }
  ++events_;
  open_bytes_ += size;
  bytes_ += size;
}

void FetchMessages::End() {
  if (!together_) {
    CutMessage();
  }
}

uint8_t* FetchMessages::Room(size_t size) {
  // A new slab for what does not fit. The rest of the old one is lost, which is less than that.
  if (slab_.size() - slab_end_ < size) {
    CutCopied();
    slab_ = grpc::Slice(std::max(kSlab, size));
    slab_begin_ = slab_end_ = 0;
  }
  // Slices are shared and must not change. This part of the slab has not been handed out yet, so
  // nobody else can see it.
  uint8_t* const room = const_cast<uint8_t*>(slab_.begin()) + slab_end_;
  slab_end_ += size;
  return room;
}

void FetchMessages::Copy(std::span<const uint8_t> bytes) {
  std::ranges::copy(bytes, Room(bytes.size()));
}

void FetchMessages::CutCopied() {
  if (slab_begin_ != slab_end_) {
    // c_slice() adds a reference to the slab, the sub-slice takes it over without adding one, and
    // STEAL_REF gives it to the message: it is counted once.
    slices_.emplace_back(grpc_slice_sub_no_ref(slab_.c_slice(), slab_begin_, slab_end_),
                         grpc::Slice::STEAL_REF);
    slab_begin_ = slab_end_;
  }
}

void FetchMessages::CutMessage() {
  CutCopied();
  if (slices_.empty()) {
    return;
  }
  messages_.emplace_back(slices_.data(), slices_.size());
  slices_.clear();
  open_bytes_ = 0;
}

}  // namespace kiln::rpc
