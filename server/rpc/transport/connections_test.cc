// SPDX-License-Identifier: MIT
#include "server/rpc/transport/connections.h"

#include <array>
#include <chrono>
#include <deque>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/base/test_wait.h"
#include "server/rpc/transport/inflow_bound.h"
#include "server/rpc/transport/peer_name.h"

namespace kiln::rpc {
namespace {

using ops::Party;

// Where all pairs over TCP meet, as the clients of a daemon do. With a listener for each pair two
// of them might have the same port on the other side, and with it the same peer.
struct Listener {
  Listener() {
    socklen_t size = sizeof(at);
    const int on = 1;  // as ops::TcpListener does
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(setsockopt(fd, IPPROTO_TCP, TCP_SAVE_SYN, &on, sizeof(on)), 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
  }
  ~Listener() { (void)close(fd); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  static const Listener& OfAll() {
    static const Listener listener;
    return listener;
  }

  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
};

// Both ends of a connection; over TCP if it is to have a peer.
class Pair {
 public:
  enum class Over : uint8_t { kUnix, kTcp };
  explicit Pair(Over over = Over::kUnix) {
    if (over == Over::kUnix) {
      std::array<int, 2> both{};
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, both.data()), 0);
      here = both[0];
      there = both[1];
      return;
    }
    const Listener& listener = Listener::OfAll();
    there = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(there, reinterpret_cast<const sockaddr*>(&listener.at), sizeof(listener.at)),
              0);
    here = accept(listener.fd, nullptr, nullptr);
  }
  Pair(Pair&& other) noexcept
      : here(std::exchange(other.here, -1)), there(std::exchange(other.there, -1)) {}
  Pair& operator=(Pair&&) = delete;
  ~Pair() {
    Close();
    (void)close(there);
  }
  void Close() { (void)close(std::exchange(here, -1)); }
  // Whether the daemon's side has shut it down.
  bool IsCut() const {
    pollfd look{.fd = there, .events = POLLIN, .revents = 0};
    char byte = 0;
    return poll(&look, 1, 0) == 1 && recv(there, &byte, 1, MSG_DONTWAIT) <= 0;
  }
  // Whether the kernel holds what comes beyond a bound.
  bool IsBounded() const {
    socklen_t instructions = 0;
    EXPECT_EQ(getsockopt(here, SOL_SOCKET, SO_GET_FILTER, nullptr, &instructions), 0);
    return instructions != 0;
  }
  std::string grpc_peer() const { return "ipv4:" + PeerNameOf(here); }

  int here = -1, there = -1;
};

class ConnectionsTest : public testing::Test {
 protected:
  static constexpr size_t kMost = 256;  // 64 of the owner; 192: 48, 48 and 96

  Connections Make(bool users) { return Connections({.most = kMost, .users = users}, clock); }
  // How many of the party are taken until one is refused.
  size_t Fill(Connections& connections, const Party& party) {
    for (size_t taken = 0;; ++taken) {
      pairs.emplace_back();
      if (!connections.Add(pairs.back().here, party)) {
        pairs.pop_back();
        return taken;
      }
    }
  }
  // One of a client that is let in.
  bool AddClient(Connections& connections, const Party& party) {
    pairs.emplace_back(Pair::Over::kTcp);
    EXPECT_TRUE(connections.Add(pairs.back().here, Party::Host("10.0.0.7:1")));
    return connections.Prove(pairs.back().grpc_peer(), party).ok();
  }

  FakeClock clock;
  std::vector<Pair> pairs;
};

TEST_F(ConnectionsTest, OwnerAlone_HasAll) {
  Connections connections = Make(false);
  EXPECT_EQ(Fill(connections, Party::Owner()), kMost);
  EXPECT_EQ(connections.Count(), kMost);
  EXPECT_EQ(connections.refused(), 1u);
  pairs.back().Close();
  pairs.emplace_back();
  EXPECT_TRUE(connections.Add(pairs.back().here, Party::Owner()));
}

TEST_F(ConnectionsTest, WhateverOthersHold_TheOwnerHasHisShare) {
  Connections connections = Make(true);
  for (int host = 0; host < 300; ++host) {  // each of another address
    pairs.emplace_back();
    EXPECT_TRUE(connections.Add(pairs.back().here, Party::Host(fmt::format("10.0.{}.1:1", host))));
  }
  size_t users = 0;
  for (uint32_t uid = 1; uid < 5; ++uid) {
    users += Fill(connections, Party::User(uid));
  }
  EXPECT_EQ(users, 48u);
  size_t clients = 0;
  for (const char* token : {"a", "b", "c"}) {
    for (int i = 0; i < 60; ++i) {
      clients += AddClient(connections, Party::Token("CN=x", token)) ? 1 : 0;
    }
  }
  EXPECT_EQ(clients, 96u);
  EXPECT_GE(Fill(connections, Party::Owner()), Connections::kOwnersShare);
}

TEST_F(ConnectionsTest, NoParty_HasMoreThanHalfOfItsClass) {
  Connections connections = Make(true);
  EXPECT_EQ(Fill(connections, Party::User(7)), 24u);
  EXPECT_EQ(Fill(connections, Party::User(8)), 24u);
  for (int i = 0; i < 48; ++i) {
    EXPECT_TRUE(AddClient(connections, Party::Token("CN=x", "a"))) << i;
  }
  EXPECT_FALSE(AddClient(connections, Party::Token("CN=x", "a")));
  EXPECT_EQ(connections.Prove(pairs.back().grpc_peer(), Party::Token("CN=x", "a")).error().reason,
            "QUOTA");
  EXPECT_TRUE(AddClient(connections, Party::Token("CN=x", "b")));
  EXPECT_TRUE(AddClient(connections, Party::Token("CN=y", "a")));
}

TEST_F(ConnectionsTest, WithoutOtherUsers_ClientsHaveTheirQuarter) {
  Connections connections = Make(false);
  for (int i = 0; i < 72; ++i) {
    EXPECT_TRUE(AddClient(connections, Party::Token("CN=x", "a"))) << i;
  }
  EXPECT_FALSE(AddClient(connections, Party::Token("CN=x", "a")));
  pairs.front().Close();  // room again
  EXPECT_TRUE(AddClient(connections, Party::Token("CN=x", "a")));
}

// A host that holds all it can neither locks out another one nor its own neighbours.
TEST_F(ConnectionsTest, Newcomer_IsAlwaysTakenAndTheOldestOfTheWorstHostGoes) {
  Connections connections = Make(false);
  const Party greedy = Party::Host("10.0.0.7:1");
  const auto add = [&](const Party& party) {
    clock.Advance(std::chrono::milliseconds(1));
    pairs.emplace_back();
    EXPECT_TRUE(connections.Add(pairs.back().here, party));
  };
  for (int i = 0; i < 24; ++i) {  // its share
    add(greedy);
  }
  EXPECT_FALSE(pairs[0].IsCut());
  add(greedy);
  EXPECT_TRUE(pairs[0].IsCut());
  EXPECT_FALSE(pairs[1].IsCut());
  for (int host = 1; host <= 24; ++host) {
    add(Party::Host(fmt::format("10.0.1.{}:1", host)));
  }
  EXPECT_FALSE(pairs[1].IsCut());
  const size_t last = pairs.size();
  add(Party::Host("10.0.2.1:1"));
  EXPECT_TRUE(pairs[1].IsCut());
  for (size_t i = 2; i <= last; ++i) {
    EXPECT_FALSE(pairs[i].IsCut()) << i;
  }
}

TEST_F(ConnectionsTest, NewcomerWithoutACall_IsClosedInTime) {
  Connections connections = Make(true);
  Pair silent(Pair::Over::kTcp), client(Pair::Over::kTcp), owner, user;
  EXPECT_EQ(connections.NextTick(), Duration::max());
  ASSERT_TRUE(connections.Add(owner.here, Party::Owner()));
  ASSERT_TRUE(connections.Add(user.here, Party::User(7)));
  EXPECT_EQ(connections.NextTick(), Duration::max());
  ASSERT_TRUE(connections.Add(silent.here, Party::Host("127.0.0.1:1")));
  ASSERT_TRUE(connections.Add(client.here, Party::Host("127.0.0.1:2")));
  EXPECT_NE(connections.NextTick(), Duration::max());
  clock.Advance(std::chrono::seconds(29));
  connections.Tick();
  EXPECT_FALSE(silent.IsCut());
  ASSERT_TRUE(connections.Prove(client.grpc_peer(), Party::Token("CN=x", "a")).ok());
  clock.Advance(std::chrono::seconds(1));
  connections.Tick();
  EXPECT_TRUE(silent.IsCut());
  for (const Pair* other : {&client, &owner, &user}) {
    EXPECT_FALSE(other->IsCut());
  }
  EXPECT_GT(connections.NextTick(), std::chrono::milliseconds(100));
  EXPECT_EQ(connections.Count(), 3u);
}

// The number of a descriptor that was closed may name anything by now.
TEST_F(ConnectionsTest, NumberThatNamesAnotherSocket_IsLeftAlone) {
  Connections connections = Make(false);
  Pair gone(Pair::Over::kTcp);
  ASSERT_TRUE(connections.Add(gone.here, Party::Host("127.0.0.1:1")));
  const int number = gone.here;
  Pair other;
  ASSERT_EQ(dup2(other.here, number), number);
  clock.Advance(std::chrono::minutes(1));
  connections.Tick();
  EXPECT_FALSE(other.IsCut());
  EXPECT_EQ(connections.Count(), 0u);
}

TEST_F(ConnectionsTest, CallsThatSendHeadersOnly_EndWithTheirConnections) {
  Connections connections = Make(true);
  Pair user, other, owner;
  ASSERT_TRUE(connections.Add(user.here, Party::User(7)));
  ASSERT_TRUE(connections.Add(other.here, Party::User(8)));
  ASSERT_TRUE(connections.Add(owner.here, Party::Owner()));
  for (size_t i = 0; i < WaitingCalls::kMost; ++i) {
    EXPECT_TRUE(connections.CallBegan(Party::User(7)));
    EXPECT_TRUE(connections.CallBegan(Party::Certificate("CN=x")));
  }
  EXPECT_FALSE(user.IsCut());
  EXPECT_FALSE(connections.CallBegan(Party::User(7)));  // too many
  EXPECT_TRUE(user.IsCut());
  for (int i = 0; i < 3; ++i) {  // of nobody: there is nothing to cut, and they stay refused
    EXPECT_FALSE(connections.CallBegan(Party::Certificate("CN=x")));
  }
  EXPECT_TRUE(connections.CallBegan(Party::Certificate("CN=y")));
  for (size_t i = 0; i <= WaitingCalls::kHarmless; ++i) {
    EXPECT_TRUE(connections.CallBegan(Party::User(8)));
  }
  EXPECT_NE(connections.NextTick(), Duration::max());
  clock.Advance(WaitingCalls::kLongest - std::chrono::seconds(1));
  connections.Tick();
  EXPECT_FALSE(other.IsCut());
  clock.Advance(std::chrono::seconds(1));
  connections.Tick();  // too long
  EXPECT_TRUE(other.IsCut());
  EXPECT_TRUE(connections.CallBegan(Party::Certificate("CN=x")));
  EXPECT_FALSE(owner.IsCut());
}

// What was sent is with the kernel of the other side in a moment.
class FloodTest : public ConnectionsTest {
 protected:
  static constexpr size_t kNewcomer = 20'000, kNewcomers = 30'000, kClient = 50'000, kGrowth = 1000;
  explicit FloodTest(uint64_t block = kGrowth)  // more than half: nobody stays
      : connections({.most = kMost,
                     .newcomer_bytes = kNewcomer,
                     .newcomers_bytes = kNewcomers,
                     .client_bytes = kClient,
                     .unheard = 2,
                     .resident = [this] { return resident; },
                     .newcomer_growth = kGrowth,
                     .newcomer_block = block,
                     .on_flood = [this](const Party& party) { flooded = party.name(); }},
                    clock) {}

  void Send(const Pair& by, size_t bytes) {
    const uint64_t before = TrafficOf(by.here).received;
    const std::string text(bytes, 'x');
    ASSERT_EQ(send(by.there, text.data(), bytes, 0), static_cast<ssize_t>(bytes));
    ASSERT_TRUE(WaitUntil([&] { return TrafficOf(by.here).received == before + bytes; }));
    std::string read(bytes, '\0');
    ASSERT_EQ(recv(by.here, read.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
    connections.Tick();
  }

  std::string flooded;
  uint64_t resident = 5000;  // of the process
  Connections connections;
};

// A block of headers that may stand for any memory is seen by nobody.
TEST_F(FloodTest, NewcomersWhileTheProcessGrows_AreClosed) {
  Pair client(Pair::Over::kTcp), user(Pair::Over::kUnix), early(Pair::Over::kTcp);
  ASSERT_TRUE(connections.Add(client.here, Party::Host("10.0.0.1:1")));
  ASSERT_TRUE(connections.Prove(client.grpc_peer(), Party::Token("CN=x", "a")).ok());
  ASSERT_TRUE(connections.Add(user.here, Party::Owner()));
  ASSERT_TRUE(connections.Add(early.here, Party::Host("10.0.0.2:1")));
  resident += kGrowth;
  Pair late(Pair::Over::kTcp);
  ASSERT_TRUE(connections.Add(late.here, Party::Host("10.0.0.2:1")));
  connections.Tick();
  EXPECT_FALSE(early.IsCut());
  resident += 1;
  connections.Tick();
  EXPECT_TRUE(early.IsCut());
  EXPECT_EQ(flooded, "host:10.0.0.2");
  EXPECT_FALSE(late.IsCut()) << "it came when the process was that large";
  EXPECT_FALSE(client.IsCut() || user.IsCut());
}

class FewNewcomersTest : public FloodTest {
 protected:
  static constexpr uint64_t kStay = 2;
  FewNewcomersTest() : FloodTest(kGrowth / 2 / kStay) {}
};

// Calls of those that are known let the process grow, too: newcomers whose blocks could not be half
// of it stay, and of more those go that have sent most.
TEST_F(FewNewcomersTest, NewcomersThatCannotHaveGrownTheProcess_Stay) {
  std::deque<Pair> pairs;
  for (uint64_t i = 0; i < kStay; ++i) {
    ASSERT_TRUE(connections.Add(pairs.emplace_back(Pair::Over::kTcp).here,
                                Party::Host("10.0.0." + std::to_string(i) + ":1")));
  }
  resident += kGrowth + 1;
  connections.Tick();
  for (const Pair& pair : pairs) {
    EXPECT_FALSE(pair.IsCut());
  }
  Pair more(Pair::Over::kTcp);
  resident -= kGrowth + 1;
  ASSERT_TRUE(connections.Add(more.here, Party::Host("10.0.0.9:1")));
  resident += kGrowth + 1;
  Send(pairs[1], 2);
  EXPECT_TRUE(pairs[1].IsCut());
  EXPECT_FALSE(pairs[0].IsCut() || more.IsCut());
}

TEST_F(FloodTest, NewcomerThatSendsTooMuch_IsClosed) {
  Pair honest(Pair::Over::kTcp), floods(Pair::Over::kTcp);
  ASSERT_TRUE(connections.Add(honest.here, Party::Host("10.0.0.1:1")));
  ASSERT_TRUE(connections.Add(floods.here, Party::Host("10.0.0.2:1")));
  Send(floods, kNewcomer);
  EXPECT_FALSE(floods.IsCut());
  EXPECT_LT(connections.NextTick(), std::chrono::milliseconds(50));
  Send(floods, 1);
  EXPECT_TRUE(floods.IsCut());
  EXPECT_EQ(flooded, "host:10.0.0.2");
  EXPECT_FALSE(honest.IsCut());
}

// Late as the thread may be: how much comes is told by InflowBound.
TEST_F(FloodTest, NewcomerByTcp_IsBoundedUntilItsCall) {
  const Party token = Party::Token("CN=x", "a");
  Pair newcomer(Pair::Over::kTcp), other(Pair::Over::kTcp), client(Pair::Over::kTcp), owner;
  ASSERT_TRUE(connections.Add(client.here, token));
  ASSERT_TRUE(connections.Add(owner.here, Party::Owner()));
  for (const Pair* pair : {&newcomer, &other}) {
    EXPECT_FALSE(pair->IsBounded());
    ASSERT_TRUE(connections.Add(pair->here, Party::Host("10.0.0.1:1")));
    EXPECT_TRUE(pair->IsBounded());
  }
  EXPECT_FALSE(client.IsBounded());
  EXPECT_FALSE(owner.IsBounded());
  ASSERT_TRUE(connections.Prove(newcomer.grpc_peer(), token).ok());
  EXPECT_FALSE(newcomer.IsBounded());
  EXPECT_TRUE(other.IsBounded());
  // The number of a newcomer that is gone names another one, which has not proven itself.
  Pair late(Pair::Over::kTcp);
  const std::string peer = other.grpc_peer();
  ASSERT_TRUE(BoundInflow(late.here, 1));
  ASSERT_EQ(dup2(late.here, other.here), other.here);
  EXPECT_TRUE(connections.Prove(peer, token).ok());
  EXPECT_TRUE(late.IsBounded());
}

TEST_F(FloodTest, NewcomersThatSendTooMuchTogether_LoseTheWorst) {
  Pair one(Pair::Over::kTcp), two(Pair::Over::kTcp), worst(Pair::Over::kTcp);
  for (const Pair* pair : {&one, &two, &worst}) {
    ASSERT_TRUE(connections.Add(pair->here, Party::Host("10.0.0.1:1")));
  }
  Send(one, 7000);
  Send(worst, 15'000);
  EXPECT_FALSE(worst.IsCut());
  Send(two, 8001);
  EXPECT_TRUE(worst.IsCut());
  EXPECT_FALSE(one.IsCut());
  EXPECT_FALSE(two.IsCut());
}

TEST_F(FloodTest, ClientThatCallsOrIsRead_MaySendForEver) {
  const Party party = Party::Token("CN=x", "a");
  Pair client(Pair::Over::kTcp);
  ASSERT_TRUE(connections.Add(client.here, Party::Host("10.0.0.1:1")));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(connections.Prove(client.grpc_peer(), party).ok());
    Send(client, kClient);
    connections.Heard(client.grpc_peer());
    Send(client, kClient);
  }
  EXPECT_FALSE(client.IsCut());
  Send(client, 1);
  EXPECT_TRUE(client.IsCut());
  EXPECT_EQ(flooded, party.name());
}

// A block of headers without its end may stand for megabytes on each connection of a client.
TEST_F(FloodTest, MessagesThatStayUnfinished_AreFewOfOneClient) {
  const Party party = Party::Token("CN=x", "a"), other = Party::Token("CN=y", "b");
  std::vector<Pair> clients;
  for (int i = 0; i < 5; ++i) {
    const Pair& client = clients.emplace_back(Pair::Over::kTcp);
    ASSERT_TRUE(connections.Add(client.here, Party::Host("10.0.0.1:1")));
    ASSERT_TRUE(connections.Prove(client.grpc_peer(), i == 4 ? other : party).ok());
  }
  const auto cut = [&] {
    std::string which;
    for (const Pair& client : clients) {
      which += client.IsCut() ? 'x' : '.';
    }
    return which;
  };
  Send(clients[3], Connections::kQuiet);  // so little says nothing
  for (const int i : {1, 0, 2, 4}) {
    clock.Advance(std::chrono::seconds(1));
    Send(clients[static_cast<size_t>(i)], Connections::kQuiet + 1000);
  }
  EXPECT_EQ(cut(), ".....");
  clock.Advance(Connections::kPatience - std::chrono::seconds(1));
  connections.Heard(clients[2].grpc_peer());
  connections.Tick();
  EXPECT_EQ(cut(), ".....") << "two may stay, and one was heard";
  Send(clients[2], Connections::kQuiet + 1000);
  clock.Advance(Connections::kPatience);
  connections.Tick();
  EXPECT_EQ(cut(), ".x...") << "the oldest goes";
  EXPECT_EQ(flooded, party.name());
}

TEST_F(FloodTest, CallsForNothing_CostTheConnectionOfWhoMakesThem) {
  const Party stranger = Party::Certificate("CN=x"), known = Party::Token("CN=x", "a");
  Pair client(Pair::Over::kTcp), floods(Pair::Over::kTcp);
  for (const Pair* pair : {&client, &floods}) {
    ASSERT_TRUE(connections.Add(pair->here, Party::Host("10.0.0.1:1")));
  }
  ASSERT_TRUE(connections.Prove(client.grpc_peer(), known).ok());
  for (int i = 0; i < static_cast<int>(FruitlessCalls::kAtOnce); ++i) {
    connections.CameToNothing(floods.grpc_peer(), stranger);
    connections.CameToNothing(client.grpc_peer(), known);
  }
  EXPECT_FALSE(floods.IsCut());
  connections.CameToNothing(floods.grpc_peer(), stranger);
  connections.CameToNothing(client.grpc_peer(), known);
  EXPECT_TRUE(floods.IsCut());
  EXPECT_FALSE(client.IsCut()) << "clients with a token may do more";
}

TEST_F(FloodTest, CallsThatGrpcAnswers_CostTheNewcomerThatSentMost) {
  const Party stranger = Party::Certificate("CN=x");
  Pair quiet(Pair::Over::kTcp), floods(Pair::Over::kTcp);
  for (const Pair* pair : {&quiet, &floods}) {
    ASSERT_TRUE(connections.Add(pair->here, Party::Host("10.0.0.1:1")));
  }
  Send(quiet, 1000);
  Send(floods, Connections::kBlamed);
  for (int i = 0; i < static_cast<int>(FruitlessCalls::kAtOnce); ++i) {
    ASSERT_TRUE(connections.AskedOfGrpc(stranger));
  }
  EXPECT_FALSE(connections.AskedOfGrpc(stranger));
  EXPECT_TRUE(floods.IsCut());
  EXPECT_FALSE(quiet.IsCut());
  EXPECT_TRUE(connections.AskedOfGrpc(Party::Certificate("CN=y")));
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(connections.AskedOfGrpc(stranger));
}

}  // namespace
}  // namespace kiln::rpc
