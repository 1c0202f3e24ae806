// SPDX-License-Identifier: MIT
// Stands between clients and a daemon on unix sockets, and passes on what both say, badly: late, in
// small pieces, not to its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>

namespace kiln::tests {

inline constexpr size_t kNever = std::numeric_limits<size_t>::max();

// Counts are bytes of one connection.
struct RelayFaults {
  size_t piece = 65'536;              // that are passed on at once
  std::chrono::milliseconds delay{};  // before each piece
  size_t cut_to_server = kNever;      // the connection ends after so many
  size_t cut_to_client = kNever;      // the same on the way back
  size_t silent_after = kNever;       // on the way back: nothing more comes, and nothing ends
  size_t connections = kNever;        // that suffer from it, from the first on
};

// Threads: one that accepts and one for each connection; the destructor ends all.
class FaultyRelay {
 public:
  // Listens at `path` for what is to go to the socket `daemon`. Requires: both fit into a
  // sockaddr_un.
  FaultyRelay(std::string path, std::string daemon, const RelayFaults& faults);
  ~FaultyRelay();
  FaultyRelay(const FaultyRelay&) = delete;
  FaultyRelay& operator=(const FaultyRelay&) = delete;

  const std::string& path() const { return path_; }

 private:
  void Accept(const std::stop_token& stop);

  const std::string path_;
  const std::string daemon_;
  const RelayFaults faults_;
  const int listener_;
  std::jthread thread_;
};

}  // namespace kiln::tests
