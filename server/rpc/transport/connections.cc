// SPDX-License-Identifier: MIT
// Which connections there are, and who may have how many (spec/daemon 9.4, 11). Connections are in
// one of four classes, each with a share; within a class no party has more than half. One mutex
// guards all of it. gRPC does not tell when it closes a connection, so descriptors are compared
// with what they were.
#include "server/rpc/transport/connections.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <iterator>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "server/rpc/transport/inflow_bound.h"
#include "server/rpc/transport/peer_name.h"

namespace kiln::rpc {
namespace {

// 0 if the descriptor is closed.
ino_t SocketOf(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

// A newcomer may have sent megabytes before anybody looks; others are worth a look now and then.
constexpr Duration kNewcomersTick = std::chrono::milliseconds(10);
constexpr Duration kTick = std::chrono::milliseconds(250);
constexpr uint64_t kMostToBound = uint64_t{1} << 30;  // sequence numbers have 32 bits
constexpr uint64_t kBusy = uint64_t{256} << 10;       // unexplained bytes that are worth the former

// Does it to the descriptor if that is the socket still. The copy keeps the number from becoming
// another socket's between the comparison and the deed.
template <typename Deed>
void DoTo(int fd, ino_t socket, const Deed& deed) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy >= 0 && SocketOf(copy) == socket) {
    deed(copy);
  }
  if (copy >= 0) {
    (void)close(copy);
  }
}

// The other side closes, as gRPC sees it: in order, or, of who floods, with a reset, which drops
// what gRPC has not read yet and what its client does not read.
enum class End : uint8_t { kInOrder, kReset };
void Cut(int fd, ino_t socket, End how) {
  DoTo(fd, socket, [how](int copy) {
    const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
    if (how == End::kInOrder || connect(copy, &nobody, sizeof(nobody)) != 0) {
      (void)shutdown(copy, SHUT_RDWR);
    }
  });
}

}  // namespace

Connections::Connections(const Options& options, Clock& clock) : options_(options), clock_(clock) {
  // Shares of at least one, so that a small limit still lets in somebody of each class.
  const size_t others = options.most - std::min(kOwnersShare, options.most / 4);
  const size_t quarter = std::max<size_t>(1, others / 4);
  const size_t users = options.users ? quarter : 0;
  most_ = {options.most, users, quarter, std::max<size_t>(1, others - quarter - users)};
}

// A certificate or a host alone is a newcomer: only a token, or the user behind a socket, tells who
// it is.
Connections::Class Connections::ClassOf(const ops::Party& party) {
  switch (party.kind()) {
    case ops::Party::Kind::kOwner:
      return Class::kOwner;
    case ops::Party::Kind::kUser:
      return Class::kUsers;
    case ops::Party::Kind::kToken:
      return Class::kClients;
    case ops::Party::Kind::kCertificate:
    case ops::Party::Kind::kHost:
      break;
  }
  return Class::kNewcomers;
}

// Of a party in its class: a party has one.
size_t Connections::CountOf(Class of, const std::string& party) const {
  const auto found = of_party_.find(party);
  return of == Class::kOwner || found == of_party_.end() ? 0 : found->second;
}

// Half of its class for one party, so there is always room for a second one.
size_t Connections::ShareOf(Class of) const {
  return std::max<size_t>(1, most_[static_cast<size_t>(of)] / 2);
}

bool Connections::HasRoom(Class of, const std::string& party) const {
  return open_.size() < options_.most &&
         count_[static_cast<size_t>(of)] < most_[static_cast<size_t>(of)] &&
         (of == Class::kOwner || CountOf(of, party) < ShareOf(of));
}

// All counts change here, by one up or down, so that they cannot differ from the rows.
void Connections::Note(const Row& row, int change) {
  count_[static_cast<size_t>(row.of)] += static_cast<size_t>(change);
  if (row.of == Class::kOwner) {
    return;
  }
  size_t& count = of_party_[row.party.name()];
  count += static_cast<size_t>(change);
  if (count == 0) {
    of_party_.erase(row.party.name());
  }
}

Connections::Rows::iterator Connections::Forget(Rows::iterator row) {
  Note(row->second, -1);
  // The name may belong to a later connection by now, which must keep it.
  if (const auto peer = by_peer_.find(row->second.peer);
      peer != by_peer_.end() && peer->second == row->first) {
    by_peer_.erase(peer);
  }
  return open_.erase(row);
}

Connections::Rows::iterator Connections::Close(Rows::iterator row) {
  Cut(row->first, row->second.socket, End::kInOrder);
  return Forget(row);
}

void Connections::CloseAllOf(const std::string& party) {
  for (auto row = open_.begin(); row != open_.end();) {
    row = row->second.party.name() == party ? Close(row) : std::next(row);
  }
}

// gRPC closes connections without a word, and the kernel gives their numbers to others. A row is
// stale if its descriptor is closed or is another socket by now. This looks at all of them, so it
// is done only when the count decides something.
void Connections::Sweep() {
  for (auto row = open_.begin(); row != open_.end();) {
    row = SocketOf(row->first) != row->second.socket ? Forget(row) : std::next(row);
  }
}

// The oldest newcomer of the host that has most of them goes, or of this host if it has its share:
// so a host that holds many locks nobody out, not even those behind the same address. Linear in the
// number of connections, and called only when a class is full.
void Connections::MakeRoomFor(const std::string& host) {
  const bool has_share = CountOf(Class::kNewcomers, host) >= ShareOf(Class::kNewcomers);
  auto worst = open_.end();
  const auto goes_before = [this](const Row& a, const Row& b) {
    const size_t of_a = CountOf(a.of, a.party.name()), of_b = CountOf(b.of, b.party.name());
    return of_a != of_b ? of_a > of_b : a.since < b.since;
  };
  for (auto row = open_.begin(); row != open_.end(); ++row) {
    if (row->second.of == Class::kNewcomers && (!has_share || row->second.party.name() == host) &&
        (worst == open_.end() || goes_before(row->second, worst->second))) {
      worst = row;
    }
  }
  if (worst != open_.end()) {
    Close(worst);
  }
}

bool Connections::Add(int fd, const ops::Party& party) {
  const Class of = ClassOf(party);
  // Asked before the lock, as each system call under it would hold up all calls that arrive.
  const std::string peer = PeerNameOf(fd);
  const bool bounded =
      of == Class::kNewcomers &&
      BoundInflow(fd,
                  static_cast<uint32_t>(std::min(options_.newcomer_bytes, kMostToBound) + kHeld));
  const MutexLock lock(mutex_);
  if (const auto before = open_.find(fd); before != open_.end()) {
    Forget(before);  // the number was free: what had it is closed
  }
  if (!HasRoom(of, party.name())) {
    Sweep();
  }
  if (of == Class::kNewcomers && !HasRoom(of, party.name()) && open_.size() < options_.most) {
    MakeRoomFor(party.name());
  }
  if (!HasRoom(of, party.name())) {
    ++refused_;
    return false;
  }
  const Row& row = open_
                       .emplace(fd, Row{.socket = SocketOf(fd),
                                        .of = of,
                                        .party = party,
                                        .peer = peer,
                                        .since = clock_.Monotonic(),
                                        .inflow = {},
                                        .resident = of == Class::kNewcomers ? Resident() : 0,
                                        .quiet = clock_.Monotonic(),
                                        .bounded = bounded})
                       .first->second;
  Note(row, 1);
  if (!peer.empty()) {
    by_peer_[peer] = fd;
  }
  return true;
}

Connections::Rows::iterator Connections::RowAt(const std::string& peer) {
  const auto fd = by_peer_.find(peer);
  return fd == by_peer_.end() ? open_.end() : open_.find(fd->second);
}

// A connection that is not known here, because gRPC closed it meanwhile, is nobody's and needs no
// room.
Result<void> Connections::Prove(std::string_view grpc_peer, const ops::Party& party) {
  const std::string peer = PeerNameOf(grpc_peer);
  const MutexLock lock(mutex_);
  auto row = RowAt(peer);
  if (row == open_.end()) {
    return {};
  }
  // Whatever the share says: the call explains the bytes that it came with.
  HearOf(row->second, row->first);
  if (std::exchange(row->second.bounded, false)) {
    DoTo(row->first, row->second.socket, LiftBound);
  }
  if (row->second.of != Class::kNewcomers) {
    return {};
  }
  const auto change = [&] {  // its class; the number of all stays
    Note(row->second, -1);
    const size_t all = count_[static_cast<size_t>(Class::kClients)];
    const bool fits = all < most_[static_cast<size_t>(Class::kClients)] &&
                      CountOf(Class::kClients, party.name()) < ShareOf(Class::kClients);
    if (fits) {
      row->second.of = Class::kClients;
      row->second.party = party;
    }
    Note(row->second, 1);
    return fits;
  };
  if (change()) {
    return {};
  }
  Sweep();
  row = RowAt(peer);
  if (row == open_.end() || change()) {
    return {};
  }
  ++refused_;
  return Error{.code = ErrorCode::kResourceExhausted,
               .context = fmt::format("connections: this client has its share, {}",
                                      ShareOf(Class::kClients)),
               .reason = "QUOTA"};
}

// A call that began and whose request does not come holds memory of gRPC. Who has too many of them
// loses his connections and not only the calls.
bool Connections::CallBegan(const ops::Party& party) {
  const MutexLock lock(mutex_);
  if (waiting_.Began(party.name(), clock_.Monotonic())) {
    return true;
  }
  if (const Class of = ClassOf(party); of == Class::kClients || of == Class::kUsers) {
    CloseAllOf(party.name());
    waiting_.Forget(party.name());
  }
  return false;
}

void Connections::CallArrived(const ops::Party& party) {
  const MutexLock lock(mutex_);
  waiting_.Arrived(party.name());
}

// Something whole was read of the connection, so the bytes up to now are explained.
void Connections::Heard(std::string_view grpc_peer) {
  const std::string peer = PeerNameOf(grpc_peer);
  const MutexLock lock(mutex_);
  if (const auto row = RowAt(peer); row != open_.end() && row->second.of == Class::kClients) {
    HearOf(row->second, row->first);
  }
}

void Connections::HearOf(Row& row, int fd) {
  row.inflow.Heard(TrafficOf(fd));
  row.quiet = clock_.Monotonic();
}

void Connections::CameToNothing(std::string_view grpc_peer, const ops::Party& party) {
  const std::string peer = PeerNameOf(grpc_peer);
  const MutexLock lock(mutex_);
  if (fruitless_.Take(party, clock_.Monotonic())) {
    return;
  }
  if (const auto row = RowAt(peer); row != open_.end()) {
    CloseFlood(row);
  } else if (ClassOf(party) == Class::kUsers) {
    CloseAllOf(party.name());
  }
}

// False: the call is refused, and somebody lost a connection for it.
bool Connections::AskedOfGrpc(const ops::Party& party) {
  const MutexLock lock(mutex_);
  if (fruitless_.Take(party, clock_.Monotonic())) {
    return true;
  }
  if (ClassOf(party) == Class::kNewcomers) {
    // The figures of the last look are up to ten milliseconds old, and somebody is about to be
    // blamed by them.
    LookAtInflows(clock_.Monotonic());
    (void)CloseWorstNewcomer(kBlamed);
  } else {
    CloseAllOf(party.name());
  }
  return false;
}

Connections::Rows::iterator Connections::CloseFlood(Rows::iterator row) {
  if (options_.on_flood != nullptr) {
    options_.on_flood(row->second.party);
  }
  Cut(row->first, row->second.socket, End::kReset);
  return Forget(row);
}

// Whose bytes fill the memory cannot be known, only who has sent most that nothing explains. Zero:
// nobody has sent as much as `least`.
uint64_t Connections::CloseWorstNewcomer(uint64_t least) {
  auto worst = open_.end();
  for (auto row = open_.begin(); row != open_.end(); ++row) {
    if (row->second.of == Class::kNewcomers &&
        (worst == open_.end() ||
         row->second.inflow.unexplained() > worst->second.inflow.unexplained())) {
      worst = row;
    }
  }
  if (worst == open_.end() || worst->second.inflow.unexplained() < least) {
    return 0;
  }
  const uint64_t sent = worst->second.inflow.unexplained();
  CloseFlood(worst);
  return sent;
}

// Newcomers that were there while the process grew. Nobody knows whether one of them is to blame,
// or which, or a call of somebody else: but their blocks stand for so much each at most. So those
// go that have sent most, until the others cannot hold half of what it may grow by. One that asks
// for something has become a client within moments. Those that come later are measured against
// what the process has by then, and what is freed is used again, so newcomers hold one and a half
// times as much together at most. Gives the unexplained bytes of those that went.
uint64_t Connections::CloseGrown(std::vector<Rows::iterator> grown) {
  const uint64_t stay = options_.newcomer_growth / 2 / options_.newcomer_block;
  std::sort(grown.begin(), grown.end(), [](const auto& a, const auto& b) {
    const uint64_t of_a = a->second.inflow.unexplained(), of_b = b->second.inflow.unexplained();
    return of_a != of_b ? of_a > of_b : a->second.since < b->second.since;
  });
  uint64_t gone = 0;
  for (size_t i = 0; i + stay < grown.size(); ++i) {
    gone += grown[i]->second.inflow.unexplained();
    CloseFlood(grown[i]);
  }
  return gone;
}

// Newcomers go that have sent too much, alone or together, or that may have let the process grow.
void Connections::LookAtInflows(Duration now) {
  uint64_t of_newcomers = 0;
  std::vector<Rows::iterator> grown;
  const uint64_t resident = count_[static_cast<size_t>(Class::kNewcomers)] == 0 ? 0 : Resident();
  for (auto row = open_.begin(); row != open_.end();) {
    const Class of = row->second.of;
    if (of != Class::kNewcomers && of != Class::kClients) {
      ++row;
      continue;
    }
    if (SocketOf(row->first) != row->second.socket) {
      row = Forget(row);
      continue;
    }
    Inflow& inflow = row->second.inflow;
    inflow.Look(TrafficOf(row->first), now);
    const bool is_new = of == Class::kNewcomers;
    if (inflow.unexplained() <= kQuiet) {
      row->second.quiet = now;
    }
    if (inflow.unexplained() > (is_new ? options_.newcomer_bytes : options_.client_bytes)) {
      row = CloseFlood(row);
      continue;
    }
    of_newcomers += is_new ? inflow.unexplained() : 0;
    if (is_new && resident > row->second.resident + options_.newcomer_growth) {
      grown.push_back(row);
    }
    ++row;
  }
  of_newcomers -= CloseGrown(std::move(grown));
  // It ends: as long as the sum is above the bound somebody has sent at least a byte, and each
  // round takes one of them away.
  while (of_newcomers > options_.newcomers_bytes) {
    of_newcomers -= CloseWorstNewcomer(1);
  }
  CloseUnheard(now);
}

// A message that takes its time and a block of headers without its end look alike: bytes came, and
// nothing was heard. The former ends; of the latter each may stand for 16 MiB, so a client has a
// number of them, and the oldest ones go.
void Connections::CloseUnheard(Duration now) {
  std::map<std::string, std::vector<Rows::iterator>> of_party;
  for (auto row = open_.begin(); row != open_.end(); ++row) {
    if (row->second.of == Class::kClients && now - row->second.quiet >= kPatience) {
      of_party[row->second.party.name()].push_back(row);
    }
  }
  for (auto& [party, rows] : of_party) {
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a->second.quiet < b->second.quiet; });
    for (size_t i = options_.unheard; i < rows.size(); ++i) {
      CloseFlood(rows[i - options_.unheard]);
    }
  }
}

void Connections::Tick() {
  const MutexLock lock(mutex_);
  const Duration now = clock_.Monotonic();
  for (const std::string& party : waiting_.TakeStale(now)) {
    CloseAllOf(party);
  }
  for (auto row = open_.begin(); row != open_.end();) {
    const bool late =
        row->second.of == Class::kNewcomers && now - row->second.since >= options_.first_call;
    row = late ? Close(row) : std::next(row);
  }
  LookAtInflows(now);
}

// With nobody but the owner there is nothing to look at, and the thread sleeps until somebody
// comes.
Duration Connections::NextTick() {
  const MutexLock lock(mutex_);
  const bool newcomers = count_[static_cast<size_t>(Class::kNewcomers)] != 0;
  const bool busy = std::any_of(open_.begin(), open_.end(), [](const auto& row) {
    return row.second.inflow.unexplained() > kBusy;
  });
  if (newcomers || busy) {
    return kNewcomersTick;
  }
  const bool clients = count_[static_cast<size_t>(Class::kClients)] != 0;
  return clients || !waiting_.empty() ? kTick : Duration::max();
}

size_t Connections::Count() {
  const MutexLock lock(mutex_);
  Sweep();
  return open_.size();
}

uint64_t Connections::refused() {
  const MutexLock lock(mutex_);
  return refused_;
}

}  // namespace kiln::rpc
