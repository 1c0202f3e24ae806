// SPDX-License-Identifier: MIT
#include "server/rpc/transport/http2_guard.h"

#include <algorithm>
#include <iterator>

namespace kiln::rpc {
namespace {

// RFC 9113, section 6.
constexpr uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPushPromise = 5,
                  kContinuation = 9;
constexpr uint8_t kAck = 1, kEndStream = 1;
constexpr uint32_t kStreamBits = 0x7FFFFFFF;

}  // namespace

bool Http2Guard::Append(ByteView bytes, Bytes& out) {
  // Once a block is held, all that follows is held behind it, or frames would change their order.
  // Only the acknowledgement that is waited for overtakes.
  Bytes& to = holds_ && !passes_ ? held_ : out;
  to.insert(to.end(), bytes.begin(), bytes.end());
  return held_.size() <= kMostHeld;
}

// The heads of frames count, or frames without a payload would be free.
bool Http2Guard::BeginBlock(uint8_t type, uint32_t length) {
  // HEADERS begin a block, and each CONTINUATION makes it longer.
  block_ = (type == kHeaders ? 0 : block_) + kHead + length;
  holds_ = holds_ || !acknowledged_;
  return block_ <= most_in_block_;
}

// gRPC 1.51 refuses data with other flags, padding among them, and so does this: where the bytes of
// a message are would have to be found out for nobody.
bool Http2Guard::BeginFrame(uint8_t type, uint8_t flags, uint32_t length) {
  is_data_ = type == kData;
  ends_stream_ = (is_data_ && (flags & kEndStream) != 0) || type == kReset;
  if (ends_stream_ && length == 0) {
    messages_.End(stream_);
  }
  return !is_data_ || (flags & ~kEndStream) == 0;
}

bool Http2Guard::TakePayload(ByteView bytes, Bytes& out) {
  if ((is_data_ && !messages_.Take(stream_, bytes)) || !Append(bytes, out)) {
    return false;
  }
  left_ -= bytes.size();
  if (left_ == 0 && ends_stream_) {
    messages_.End(stream_);
  }
  return true;
}

bool Http2Guard::TakeHead(Bytes& out) {
  // A frame's head is 24 bits of length, type, flags and 31 bits of stream, big endian.
  const auto at = [this](size_t i) { return std::to_integer<uint32_t>(head_[i]); };
  const uint32_t length = at(0) << 16 | at(1) << 8 | at(2);
  const auto type = static_cast<uint8_t>(at(3));
  stream_ = (at(5) << 24 | at(6) << 16 | at(7) << 8 | at(8)) & kStreamBits;
  left_ = length;
  head_size_ = 0;
  passes_ = type == kSettings && (at(4) & kAck) != 0 && length == 0;
  calls_ += type == kHeaders ? 1 : 0;
  if (type == kReset && ++resets_ > most_resets_) {
    return false;
  }
  if (type == kPushPromise ||  // a server's
      ((type == kHeaders || type == kContinuation) && !BeginBlock(type, length)) ||
      !BeginFrame(type, static_cast<uint8_t>(at(4)), length) || !Append(head_, out)) {
    return false;
  }
  // From now on gRPC holds to the length that it told the client, and what was held goes on.
  if (passes_ && !acknowledged_) {
    acknowledged_ = true;
    holds_ = false;
    out.insert(out.end(), held_.begin(), held_.end());
    held_ = {};
  }
  return true;
}

bool Http2Guard::Take(ByteView in, Bytes& out) {
  // Bytes come in any pieces: what is left of a payload goes first, then a head is gathered until
  // it is whole. The preface counts as the payload of no frame.
  while (!in.empty()) {
    if (left_ != 0) {
      const size_t part = std::min(left_, in.size());
      if (!TakePayload(in.first(part), out)) {
        return false;
      }
      in = in.subspan(part);
      continue;
    }
    const size_t part = std::min(kHead - head_size_, in.size());
    std::copy_n(in.begin(), part, head_.begin() + static_cast<std::ptrdiff_t>(head_size_));
    head_size_ += part;
    in = in.subspan(part);
    if (head_size_ == kHead && !TakeHead(out)) {
      return false;
    }
  }
  return true;
}

}  // namespace kiln::rpc
