// SPDX-License-Identifier: MIT
// Follows the lengths of gRPC messages in the data of HTTP/2 streams, to refuse one that is too
// long before its bytes arrive. A place of a stream is five bytes of head and what is left of the
// message.
#include "server/rpc/transport/message_lengths.h"

#include <algorithm>

namespace kiln::rpc {

// False ends the connection: a message above the limit, or more streams in the middle of a message
// than a client has reason for.
bool MessageLengths::Take(uint32_t stream, ByteView data) {
  const auto known = open_.find(stream);
  Place place = known == open_.end() ? Place() : known->second;
  while (!data.empty()) {
    if (place.head < kHead) {
      // The first byte says whether it is compressed, and is shifted out by the four behind it.
      place.length = place.length << 8 | std::to_integer<uint32_t>(data.front());
      data = data.subspan(1);
      if (++place.head == kHead && place.length > most_bytes_) {
        return false;
      }
    } else {
      const size_t part = std::min<size_t>(place.length, data.size());
      place.length -= static_cast<uint32_t>(part);
      data = data.subspan(part);
    }
    if (place.head == kHead && place.length == 0) {
      place = {};
    }
  }
  // Streams that are between messages take no memory here.
  if (place.head == 0) {
    open_.erase(stream);
    return true;
  }
  open_[stream] = place;
  return open_.size() <= kMostOpen;
}

}  // namespace kiln::rpc
