// SPDX-License-Identifier: MIT
// A watch session from the client's side: what changed goes out, artifacts and diagnostics come in,
// and a connection that breaks is made again without losing anything. See spec/daemon 8.3
//
// Threads: Next by one thread; the rest by others at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "client/client.h"
#include "client/types.h"

namespace kiln::client {

struct WatchOpened {
  uint64_t epoch = 0;
  std::vector<std::string> programs;
  bool source_present = false;
  bool resumed = false;
};
struct WatchChanged {
  uint64_t generation = 0;
  std::vector<std::string> paths, programs;
};
struct WatchArtifact {
  uint64_t generation = 0;
  std::string program;
  std::vector<Option> options;
  Artifact artifact;
  std::string data;      // all code in stage order, if it was asked for and fits
  std::string metadata;  // the same
  bool code = false, settings = false, layout = false;  // what is different
};
// Code in the order of stages, then metadata, as they came along; none if they did not. Errors:
// kDataLoss for bytes that are not what their digest says.
Result<std::vector<FetchedBlob>> InlineBlobs(const WatchArtifact& artifact);

struct WatchUnchanged {
  uint64_t generation = 0;
  std::string program;
  std::string reason;  // "IR identical"
};
struct WatchDiagnostics {
  uint64_t generation = 0;
  std::string program;
  std::vector<PlacedDiagnostic> all;  // errors first
  bool cleared = false;
};
struct WatchSettled {
  uint64_t generation = 0, ms = 0, compiled = 0, shared = 0, failed = 0;
};
struct WatchSnapshot {
  bool begin = false;
};
// Codes of the daemon, and DISCONNECTED of this class: it is trying to connect again.
struct WatchProblem {
  std::string text, code;
};
struct WatchEvent {
  uint64_t seq = 0;
  bool conflated = false;
  std::variant<WatchOpened, WatchChanged, WatchArtifact, WatchUnchanged, WatchDiagnostics,
               WatchSettled, WatchSnapshot, WatchProblem>
      body;
};

class HotReload {
 public:
  enum class Role : uint8_t { kSource = 1, kSubscriber = 2, kBoth = 3 };
  struct Interest {
    std::string program;
    std::vector<Option> options;
  };
  struct Options {
    std::string project;
    // Which copy of the files: project::WorkspaceId of the manifest's folder, or any name that all
    // who are to meet agree on. Empty: this client has a session of its own, and meets nobody.
    std::string workspace;
    std::string session_id;  // of this client; no other may have it
    Role role = Role::kBoth;
    std::vector<std::string> programs;  // globs; none: all
    std::vector<std::string> targets;   // names; none: all
    std::vector<Interest> interest;
    bool inline_data = true;
    // Asked before every attempt to connect again; may start a daemon. Null: nothing is done.
    std::function<void()> before_attempt;
  };

  // The client must outlive the object. `spaces`: what a source client offers, sources with text.
  HotReload(Client& client, Options options, std::vector<ProgramSpace> spaces);
  ~HotReload();
  HotReload(const HotReload&) = delete;
  HotReload& operator=(const HotReload&) = delete;

  // The next event; waits for it. Nothing: it is over, Ended says why.
  std::optional<WatchEvent> Next();
  // OK after Stop.
  const Result<void>& ended() const;

  // Sources of any program that have other text now, or are gone. What is pushed while there is no
  // connection goes out with the next one.
  void Push(std::span<const Source> changed, std::span<const std::string> removed);
  // All programs anew: the manifest changed, or how values are typed.
  void PushSpaces(std::vector<ProgramSpace> spaces);
  // Ends Next. Final.
  void Stop();

 private:
  struct Link;
  std::unique_ptr<Link> link_;
};

}  // namespace kiln::client
