// SPDX-License-Identifier: MIT
#include "tests/support/faulty_relay.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "compiler/base/test_wait.h"

namespace kiln::tests {
namespace {

constexpr int kPollMs = 20;

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof(address.sun_path) - 1));
  return address;
}

int ListenAt(const std::string& path) {
  (void)::unlink(path.c_str());
  const sockaddr_un address = AddressOf(path);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  (void)::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  (void)::listen(socket, 64);
  return socket;
}

int ConnectTo(const std::string& path) {
  const sockaddr_un address = AddressOf(path);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    return socket;
  }
  (void)::close(socket);
  return -1;
}

// One way of a connection.
struct Way {
  int from = -1;
  int to = -1;
  size_t cut = kNever;
  size_t silent_after = kNever;
  size_t passed = 0;
};

// False: the connection ends.
bool PassOn(Way& way, const RelayFaults& faults) {
  std::vector<char> bytes(faults.piece);
  const ssize_t read = ::recv(way.from, bytes.data(), bytes.size(), 0);
  if (read <= 0) {
    return false;
  }
  LetPass(faults.delay);
  const auto size = static_cast<size_t>(read);
  const size_t most = std::min(size, way.cut - std::min(way.cut, way.passed));
  if (way.passed < way.silent_after) {
    for (size_t at = 0; at < most;) {
      const ssize_t sent = ::send(way.to, bytes.data() + at, most - at, MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      at += static_cast<size_t>(sent);
    }
  }
  way.passed += size;
  return way.passed < way.cut;
}

void Relay(int client, const std::string& daemon, const RelayFaults& faults,
           const std::stop_token& stop) {
  const int server = ConnectTo(daemon);
  std::array<Way, 2> ways{Way{.from = client, .to = server, .cut = faults.cut_to_server},
                          Way{.from = server,
                              .to = client,
                              .cut = faults.cut_to_client,
                              .silent_after = faults.silent_after}};
  for (bool goes_on = server >= 0; goes_on && !stop.stop_requested();) {
    std::array<pollfd, 2> waiting{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
    (void)::poll(waiting.data(), waiting.size(), kPollMs);
    for (size_t i = 0; i < ways.size() && goes_on; ++i) {
      goes_on = waiting.at(i).revents == 0 || PassOn(ways.at(i), faults);
    }
  }
  (void)::close(client);
  if (server >= 0) {
    (void)::close(server);
  }
}

}  // namespace

FaultyRelay::FaultyRelay(std::string path, std::string daemon, const RelayFaults& faults)
    : path_(std::move(path)),
      daemon_(std::move(daemon)),
      faults_(faults),
      listener_(ListenAt(path_)),
      thread_([this](const std::stop_token& stop) { Accept(stop); }) {}

FaultyRelay::~FaultyRelay() {
  thread_.request_stop();
  thread_.join();
  (void)::close(listener_);
}

void FaultyRelay::Accept(const std::stop_token& stop) {
  std::list<std::jthread> connections;
  const RelayFaults none;
  while (!stop.stop_requested()) {
    pollfd waiting{listener_, POLLIN, 0};
    if (::poll(&waiting, 1, kPollMs) == 1) {
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client >= 0) {
        const RelayFaults& faults = connections.size() < faults_.connections ? faults_ : none;
        connections.emplace_back([this, client, faults](const std::stop_token& ends) {
          Relay(client, daemon_, faults, ends);
        });
      }
    }
  }
}

}  // namespace kiln::tests
