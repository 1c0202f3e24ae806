// SPDX-License-Identifier: MIT
// Relays connections of other users to gRPC, in one thread (spec/daemon 9.4, 11). Behind a unix
// socket nothing but its data tells how much a client asks for, hence the guard in between. The
// mutex guards new lines and balances.
#include "server/rpc/transport/user_relay.h"

#include <array>
#include <cstdint>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "compiler/base/check.h"

namespace kiln::rpc {
namespace {

constexpr int kLookMs = 500;  // while a client is given time for its last bytes

}  // namespace

UserRelay::UserRelay(Options options, LogSink& log)
    : options_(std::move(options)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      fruitless_(kOfUsers) {
  KILN_CHECK(wake_ >= 0);
  thread_ =
      Thread({.name = "relay", .log = &log}, [this](const std::stop_token& stop) { Run(stop); });
}

UserRelay::~UserRelay() {
  thread_.request_stop();
  Wake();
  thread_.join();
  (void)close(wake_);
}

void UserRelay::Wake() const {
  const uint64_t one = 1;
  (void)!write(wake_, &one, sizeof(one));
}

// The returned descriptor is the end that gRPC gets, and -1 if the party gets no connection. `fd`
// belongs to the relay in both cases.
int UserRelay::Lead(int fd, const ops::Party& party) {
  std::array<int, 2> pair{};
  const auto may_come = [&] {
    const MutexLock lock(mutex_);
    return fruitless_.Left(party, clock_.Monotonic()) >= 1;
  };
  // A party that spent all it had gets no connection until time has given it some back.
  if (!may_come() ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    (void)close(fd);
    return -1;
  }
  RelayedConnection led{.line = std::make_unique<RelayLine>(
                            fd, pair[0], Http2Guard(options_.block_bytes, options_.message_bytes)),
                        .party = party};
  {
    const MutexLock lock(mutex_);
    new_.push_back(std::move(led));
  }
  Wake();
  return pair[1];
}

// Lines come from the accepting thread and live in this one: the mutex is held for handing them
// over, and never while bytes are moved.
void UserRelay::TakeNew() {
  const MutexLock lock(mutex_);
  for (RelayedConnection& led : new_) {
    open_.push_back(std::move(led));
  }
  new_.clear();
}

void UserRelay::Wait() {
  std::vector<pollfd> awaited = {{.fd = wake_, .events = POLLIN, .revents = 0}};
  bool is_timed = false;
  for (const RelayedConnection& led : open_) {
    const std::array<pollfd, 2> of_line = led.line->Awaited();
    awaited.insert(awaited.end(), of_line.begin(), of_line.end());
    is_timed = is_timed || led.line->IsLingering();
  }
  // Nothing here has a time of its own but a line that lingers: without one the thread sleeps until
  // a byte comes.
  (void)poll(awaited.data(), awaited.size(), is_timed ? kLookMs : -1);
  uint64_t count = 0;
  (void)!read(wake_, &count, sizeof(count));
}

bool UserRelay::MoveOne(const RelayedConnection& led, Duration now) {
  // The balance of the party is asked before each move, because another of its lines may have spent
  // it.
  const double left = [&] {
    const MutexLock lock(mutex_);
    return fruitless_.Left(led.party, now);
  }();
  const RelayLine::State state =
      left < 1 ? RelayLine::State::kEnded : led.line->Move(now, static_cast<uint64_t>(left));
  const uint64_t fruitless = led.line->TakeFruitless(state);
  if (state == RelayLine::State::kFlooded) {
    if (options_.on_flood != nullptr) {
      options_.on_flood(led.party);
    }
    const MutexLock lock(mutex_);
    fruitless_.Pause(led.party, now, kPause);
  } else if (fruitless != 0) {
    const MutexLock lock(mutex_);
    fruitless_.Spend(led.party, static_cast<double>(fruitless));
  }
  return state == RelayLine::State::kOpen;
}

// A line that goes may leave its party with nothing, so the other lines are looked at once more.
void UserRelay::MoveAll() {
  const Duration now = clock_.Monotonic();
  while (std::erase_if(open_, [&](const RelayedConnection& led) { return !MoveOne(led, now); }) !=
         0) {
  }
}

void UserRelay::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Wait();
    TakeNew();
    MoveAll();
  }
  MoveAll();  // the last words of a server that ended
}

}  // namespace kiln::rpc
