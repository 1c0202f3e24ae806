// SPDX-License-Identifier: MIT
// Connections of other users of the machine, led to gRPC through a pair of sockets. A unix socket
// has no count of the bytes that came, so a guard looks at them on their way (http2_guard.h). One
// thread moves the bytes of all; of a connection at most 256 KiB are on their way here. A user
// whose calls come to nothing (reset, or open when their connection goes) more than 2,000 at once
// and 200 a second loses his connections, and gets none for ten seconds. The owner's connections do
// not come here.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "compiler/base/log.h"
#include "compiler/base/mutex.h"
#include "compiler/base/threads/thread.h"
#include "server/ops/party.h"
#include "server/rpc/transport/fruitless_calls.h"
#include "server/rpc/transport/relay_line.h"

namespace kiln::rpc {

// Safe from any thread.
class UserRelay {
 public:
  struct Options {
    size_t block_bytes = 0;      // of one block of headers
    uint64_t message_bytes = 0;  // of one message
    // Is told whose connection was closed because it did not hold to the bounds, by the relay's
    // thread. May be null.
    std::function<void(const ops::Party&)> on_flood = nullptr;
  };

  UserRelay(Options options, LogSink& log);  // which must outlive the object
  // Closes what is open.
  ~UserRelay();
  UserRelay(const UserRelay&) = delete;
  UserRelay& operator=(const UserRelay&) = delete;

  // Takes the connection `fd` of the party, which does not block. What gRPC is to have in its
  // place, the caller's; below 0 if the party may have none now, or the system has no descriptor
  // left: then `fd` is closed.
  int Lead(int fd, const ops::Party& party);

 private:
  static constexpr double kOfUsers = 20;  // times what strangers may make of calls for nothing
  static constexpr Duration kPause = std::chrono::seconds(10);

  struct RelayedConnection {
    std::unique_ptr<RelayLine> line;
    ops::Party party;
  };

  void Run(const std::stop_token& stop);
  void Wait();
  void TakeNew() KILN_EXCLUDES(mutex_);
  void MoveAll() KILN_EXCLUDES(mutex_);
  // False: the line has ended.
  bool MoveOne(const RelayedConnection& led, Duration now) KILN_EXCLUDES(mutex_);
  void Wake() const;

  const Options options_;
  SystemClock clock_;
  const int wake_;
  Mutex mutex_;
  std::vector<RelayedConnection> new_ KILN_GUARDED_BY(mutex_);
  FruitlessCalls fruitless_ KILN_GUARDED_BY(mutex_);
  std::vector<RelayedConnection> open_;  // of the thread
  Thread thread_;
};

}  // namespace kiln::rpc
