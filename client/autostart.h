// SPDX-License-Identifier: MIT
// Finds the user's daemon, or starts it and says exactly why it cannot. See spec/daemon 14.2
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "client/client.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"

namespace kiln::client {

// UserSocket of this process: $XDG_RUNTIME_DIR/kiln/kilnd.sock, else one below the user's cache
// folder; empty if the environment names no folder of the user.
std::string DefaultSocket();

// The program `kilnd`: beside this executable, else as found by PATH.
std::string DaemonProgram();

enum class Autostart : uint8_t { kYes, kNo };

// A daemon of one command: its socket is in a folder of its own, and it ends with the object, or
// with the process.
class PrivateDaemon {
 public:
  struct StartOptions {
    uint32_t jobs = 0;       // 0: as configured
    bool own_cache = false;  // that goes with it; so it is if another daemon has the user's
  };
  // Errors: kUnavailable with component, cause and hint as the daemon said them.
  static Result<std::shared_ptr<PrivateDaemon>> Start(const StartOptions& how);
  ~PrivateDaemon();
  PrivateDaemon(const PrivateDaemon&) = delete;
  PrivateDaemon& operator=(const PrivateDaemon&) = delete;

  // Ends it, by force if it takes longer than `patience`, and removes its folder; may be called
  // twice, and from any thread.
  void End(std::chrono::milliseconds patience);
  std::string address() const;

 private:
  PrivateDaemon() = default;
  // It is ready, in this folder.
  void Take(const std::string& folder);
  void RemoveFolder() KILN_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::string folder_ KILN_GUARDED_BY(mutex_);
  bool gone_ KILN_GUARDED_BY(mutex_) = false;
  std::atomic<int> pid_ = 0;
  std::once_flag ended_;
};

// Ends every private daemon of this process, whoever has it: for a process that ends at once.
void EndPrivateDaemons(std::chrono::milliseconds patience);

struct DaemonConnection {
  std::shared_ptr<PrivateDaemon> own;  // in front: it outlives the client
  std::unique_ptr<Client> client;
  bool started = false;  // by this call
  std::string warning;   // about the daemon, or empty
  ServerInfo info;
};

// Only a daemon of this user is started, never one behind https. Errors: kUnavailable with
// component, cause and hint as the daemon said them; kUnauthenticated and kPermissionDenied as the
// daemon said; as Client::Open.
Result<DaemonConnection> Connect(const Endpoint& endpoint, Autostart autostart);

// To a daemon that ends with what is returned. Errors: as PrivateDaemon::Start.
Result<DaemonConnection> ConnectPrivately(const PrivateDaemon::StartOptions& how);

// Starts kilnd for the socket and waits until it is ready. The folder of the socket is made if need
// be and must be of this user alone; lock and log are made in that folder, and nothing that lies
// there under their names is followed or waited for. Errors: as Connect; kPermissionDenied with
// reason NOT_OWN for such a folder or file.
Result<void> StartDaemon(const std::string& socket);

}  // namespace kiln::client
