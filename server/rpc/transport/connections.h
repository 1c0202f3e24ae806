// SPDX-License-Identifier: MIT
// Who holds how many connections. gRPC does not tell when it closes one, so their descriptors are
// looked at when the number matters: one that is closed, or names another socket by now, is gone.
//
// Of `limits.connections` some are the owner's alone. The others are divided: a quarter for clients
// by TCP that have not made a call with a token yet, a quarter for other users of the machine, if
// any may come in, the rest for clients with a token. No party has more than half of its class.
// Newcomers are never turned away for want of room: the oldest one of the host with most of them
// goes. One that makes no such call in time is closed. So is one by TCP that floods: with bytes
// that no call and no message explains (Inflow), or with calls that come to nothing
// (FruitlessCalls). The kernel itself takes little more from a newcomer than it may send
// (BoundInflow), however late this is looked at. A block of headers without its end may stand for a
// thousand times its bytes, and nobody is shown it, so newcomers are closed, too, when the process
// grows while they are there, but for so few that their blocks can be no more than half of that:
// calls of others let the process grow as well, and who has sent least is least to blame. A client
// with a token may leave such a block on so many connections, not on each of them. See spec/daemon
// 10, 11.2, 11.3
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "compiler/base/clock.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"
#include "server/ops/party.h"
#include "server/rpc/transport/fruitless_calls.h"
#include "server/rpc/transport/inflow.h"
#include "server/rpc/transport/waiting_calls.h"

namespace kiln::rpc {

// Safe from any thread.
class Connections {
 public:
  static constexpr size_t kOwnersShare = 64;  // of many; of few a quarter

  static constexpr uint64_t kBlamed = uint64_t{16} << 10;  // bytes of many calls
  // What a newcomer may send beyond newcomer_bytes before the kernel holds it: so much that Tick,
  // which closes it, is sure to see more than those.
  static constexpr uint64_t kHeld = uint64_t{1} << 20;
  static constexpr uint64_t kQuiet = uint64_t{4} << 10;  // unexplained bytes of a quiet client
  static constexpr Duration kPatience = std::chrono::seconds(5);

  struct Options {
    size_t most = 1024;
    bool users = false;                              // others of this machine may come in
    Duration first_call = std::chrono::seconds(30);  // what a newcomer by TCP has for it
    // Bytes without a call or a message: of one by TCP before it is known, of all of those
    // together, and of one with a token.
    uint64_t newcomer_bytes = uint64_t{5} << 20;
    uint64_t newcomers_bytes = uint64_t{32} << 20;
    uint64_t client_bytes = uint64_t{32} << 20;
    // Connections of one client on which something that is not whole stands for kPatience.
    size_t unheard = 64;
    // Bytes that the process has of the machine; null: that is not looked at. By so much it may
    // grow while a newcomer is one.
    std::function<uint64_t()> resident = nullptr;
    uint64_t newcomer_growth = uint64_t{256} << 20;
    // What gRPC makes at most of a block of headers without its end (before settings are known).
    uint64_t newcomer_block = uint64_t{16} << 20;
    // Is told whose connection was closed because it flooded; must not call back. May be null.
    std::function<void(const ops::Party&)> on_flood = nullptr;
  };

  // The clock must outlive the object.
  Connections(const Options& options, Clock& clock);

  // A connection that was accepted; a newcomer's is bounded. False if there is no room for it: the
  // caller closes it.
  bool Add(int fd, const ops::Party& party);
  // A call with a token came by the connection of `grpc_peer`: it is a newcomer's no more, what it
  // has sent is explained, and it may send on. Errors: kResourceExhausted with reason QUOTA if the
  // party has its share.
  Result<void> Prove(std::string_view grpc_peer, const ops::Party& party);
  // A message of a stream was read from the connection of a client.
  void Heard(std::string_view grpc_peer);
  // A call ended that came to nothing. If it was one too many of its party, its connection is
  // closed; all of the party's if `grpc_peer` does not tell which.
  void CameToNothing(std::string_view grpc_peer, const ops::Party& party);
  // A call that gRPC answers itself, of which no more than its headers are known. False: one too
  // many. Then the connections of the party are closed; of newcomers, of which it is not known who
  // called, the one that has sent most, if it is more than a first call takes.
  bool AskedOfGrpc(const ops::Party& party);

  // The headers of a call have come, or its request as well. See WaitingCalls. False: too many of
  // the party's wait for their requests; then its connections are closed, but for newcomers, which
  // have little time anyway.
  bool CallBegan(const ops::Party& party);
  void CallArrived(const ops::Party& party);

  // Time has passed: closes newcomers that are late, those whose calls stay without request, and
  // those that flood.
  void Tick();
  // How soon Tick is to be called again, as long as nothing else happens; max: never.
  Duration NextTick();

  size_t Count();
  uint64_t refused();  // ever, because there was no room
  size_t most() const { return options_.most; }
  const Options& options() const { return options_; }

 private:
  enum class Class : uint8_t { kOwner, kUsers, kNewcomers, kClients };
  static constexpr size_t kClasses = 4;
  struct Row {
    ino_t socket = 0;
    Class of = Class::kOwner;
    ops::Party party;
    std::string peer;  // of TCP
    Duration since{};
    Inflow inflow;
    uint64_t resident = 0;  // of the process, when it came
    Duration quiet{};       // when it was last
    bool bounded = false;   // the kernel holds it (BoundInflow)
  };
  using Rows = std::map<int, Row>;  // by descriptor

  static Class ClassOf(const ops::Party& party);
  size_t CountOf(Class of, const std::string& party) const KILN_REQUIRES(mutex_);
  bool HasRoom(Class of, const std::string& party) const KILN_REQUIRES(mutex_);
  size_t ShareOf(Class of) const;  // of one party
  Rows::iterator RowAt(const std::string& peer) KILN_REQUIRES(mutex_);
  void MakeRoomFor(const std::string& host) KILN_REQUIRES(mutex_);
  void Note(const Row& row, int change) KILN_REQUIRES(mutex_);
  Rows::iterator Forget(Rows::iterator row) KILN_REQUIRES(mutex_);
  Rows::iterator Close(Rows::iterator row) KILN_REQUIRES(mutex_);
  Rows::iterator CloseFlood(Rows::iterator row) KILN_REQUIRES(mutex_);
  // The one that has sent most, if that is so much; how much it was, else 0.
  uint64_t CloseWorstNewcomer(uint64_t least) KILN_REQUIRES(mutex_);
  uint64_t Resident() const { return options_.resident == nullptr ? 0 : options_.resident(); }
  void LookAtInflows(Duration now) KILN_REQUIRES(mutex_);
  void HearOf(Row& row, int fd) KILN_REQUIRES(mutex_);
  uint64_t CloseGrown(std::vector<Rows::iterator> grown) KILN_REQUIRES(mutex_);
  void CloseUnheard(Duration now) KILN_REQUIRES(mutex_);
  void CloseAllOf(const std::string& party) KILN_REQUIRES(mutex_);
  void Sweep() KILN_REQUIRES(mutex_);

  const Options options_;
  std::array<size_t, kClasses> most_;  // by class
  Clock& clock_;
  Mutex mutex_;
  Rows open_ KILN_GUARDED_BY(mutex_);
  std::array<size_t, kClasses> count_ KILN_GUARDED_BY(mutex_) = {};
  std::map<std::string, size_t, std::less<>> of_party_ KILN_GUARDED_BY(mutex_);
  std::map<std::string, int, std::less<>> by_peer_ KILN_GUARDED_BY(mutex_);
  WaitingCalls waiting_ KILN_GUARDED_BY(mutex_);
  FruitlessCalls fruitless_ KILN_GUARDED_BY(mutex_);
  uint64_t refused_ KILN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kiln::rpc
