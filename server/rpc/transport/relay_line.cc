// SPDX-License-Identifier: MIT
// One connection of another user, relayed between him and gRPC, with a guard that counts what
// HTTP/2 asks for. Both directions have a buffer of one part each, which bounds the memory of a
// line. Used by the relay's thread only.
#include "server/rpc/transport/relay_line.h"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace kiln::rpc {
namespace {

constexpr int kRounds = 16;  // of one direction before others have their turn

bool MustWait() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

RelayLine::RelayLine(int client, int grpc, Http2Guard guard)
    : guard_(std::move(guard)), in_{.from = client, .to = grpc}, out_{.from = grpc, .to = client} {}

RelayLine::~RelayLine() {
  (void)close(in_.from);
  (void)close(in_.to);
}

std::array<pollfd, 2> RelayLine::Awaited() const {
  // A side is read only when what it sent before is gone, so the memory of a line is bounded and a
  // slow reader slows its sender down.
  const auto events = [](const Direction& comes, const Direction& goes) {
    const bool is_wanted = !comes.ended && comes.IsFlushed();
    return static_cast<short>((is_wanted ? POLLIN : 0) | (goes.IsFlushed() ? 0 : POLLOUT));
  };
  const short of_client = events(in_, out_), of_grpc = events(out_, in_);
  // Below 0: poll would tell at once, and again and again, that the other side is gone.
  return {{{.fd = of_client == 0 ? -1 : in_.from, .events = of_client, .revents = 0},
           {.fd = of_grpc == 0 ? -1 : out_.from, .events = of_grpc, .revents = 0}}};
}

// A direction whose receiver is gone drops what it has, so that it counts as flushed and the line
// can end.
void RelayLine::Send(Direction& direction) {
  const ByteView rest = ByteView(direction.pending).subspan(direction.sent);
  const ssize_t sent = send(direction.to, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0) {
    direction.sent += static_cast<size_t>(sent);
  } else if (!MustWait() && errno != EINTR) {  // nobody takes it any more
    direction.ended = true;
    direction.sent = direction.pending.size();
  }
}

bool RelayLine::MoveOne(Direction& direction, Http2Guard* guard) {
  for (int round = 0; round < kRounds; ++round) {
    if (!direction.IsFlushed()) {
      Send(direction);
      if (!direction.IsFlushed()) {
        return true;
      }
    }
    // The memory stays with the line: clearing it and filling it again allocates nothing.
    direction.pending.clear();
    direction.sent = 0;
    if (direction.ended) {
      return true;
    }
    std::array<std::byte, kPart> part;  // NOLINT(*-member-init): recv writes it
    const ssize_t size = recv(direction.from, part.data(), part.size(), MSG_DONTWAIT);
    if (size <= 0) {
      direction.ended = size == 0 || (!MustWait() && errno != EINTR);
      return true;
    }
    const ByteView came = ByteView(part).first(static_cast<size_t>(size));
    if (guard == nullptr) {
      direction.pending.assign(came.begin(), came.end());
    } else if (!guard->Take(came, direction.pending)) {
      return false;
    }
  }
  return true;
}

uint64_t RelayLine::TakeFruitless(State state) {
  const uint64_t resets = guard_.resets() - told_;
  told_ = guard_.resets();
  // A line that ends leaves calls behind whose answers nobody takes. How many are open is not known
  // here, so the most that may be is counted.
  return resets + (state == State::kOpen ? 0 : std::min(guard_.calls(), kOpenCalls));
}

// Never blocks. False answers of the guard end the line at once, without the last bytes.
RelayLine::State RelayLine::Move(Duration now, uint64_t resets) {
  guard_.AllowResets(resets);
  if (!MoveOne(in_, &guard_)) {
    return State::kFlooded;
  }
  const bool was_ended = out_.ended;
  (void)MoveOne(out_, nullptr);
  if (out_.ended && !was_ended) {
    lingers_since_ = now;
  }
  // After gRPC has closed its side the client has five seconds for the last bytes; a client that
  // has closed its own is done when gRPC has all of it.
  const bool is_over = (in_.ended && in_.IsFlushed()) || (out_.ended && out_.IsFlushed()) ||
                       (out_.ended && now - lingers_since_ >= kLastBytes);
  return is_over ? State::kEnded : State::kOpen;
}

}  // namespace kiln::rpc
