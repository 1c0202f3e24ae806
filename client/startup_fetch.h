// SPDX-License-Identifier: MIT
// Everything that an engine needs before its first frame, from a daemon: what is wanted -> each
// blob once, and the artifacts that name them. A connection that breaks and a daemon that starts
// anew cost what had not arrived. See spec/pso 9.6; spec/daemon 1.2, 2.5, 4.1
//
//   StartupFetch fetch(client, StartupBatch{.id = batch}, {});
//   KILN_TRY(const StartupReport report, fetch.Run({.on_blob = …, .on_artifact = …}));
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "client/client.h"

namespace kiln::client {

// All results of a batch. One that a daemon has forgotten is started again from its spaces, which
// finds what was built; without spaces that is an error.
struct StartupBatch {
  std::string id;  // hex; empty: started from the spaces
  std::string project;
  std::vector<ProgramSpace> spaces;  // sources with text
  BatchOptions how;
};

// All results of a pin. Which programs they are of is not known any more.
struct StartupPin {
  std::string name;
};

// A list of variants; what was not built yet is compiled. Those that are warm come first.
struct StartupVariants {
  struct Variant {
    uint32_t program = 0;  // of programs
    std::vector<Option> options;
    bool warm = false;
  };
  std::string project;
  std::vector<Program> programs;  // sources with text
  std::vector<Variant> variants;
  bool warm_only = false;  // the others are left out
};

using StartupSubject = std::variant<StartupBatch, StartupPin, StartupVariants>;

// A result, after all content that it names.
struct StartupArtifact {
  std::string program;          // empty: of a pin
  std::vector<Option> options;  // as asked for; of a batch: a representative of those served
  Artifact artifact;            // its live options tell which other variants it serves
};

// Not worth a retry: sources that are wrong, a limit.
struct StartupFailure {
  std::string program;
  std::vector<Option> options;
  Outcome outcome;
};

struct StartupProgress {
  uint64_t artifacts = 0;  // that arrived, failures included
  uint64_t total = 0;      // 0: not known yet
  uint64_t bytes = 0;      // of content that arrived
  uint32_t reconnects = 0;
};

struct StartupReport {
  StartupProgress progress;
  uint64_t blobs = 0;  // that arrived, each once
  std::vector<StartupFailure> failures;
};

// Called by Run, on its thread. A null one is left out.
struct StartupHandlers {
  std::function<Result<void>(const FetchedBlob& blob)> on_blob;  // verified; its error ends Run
  std::function<Result<void>(const StartupArtifact& artifact)> on_artifact;  // the same
  std::function<Next(const StartupProgress& progress)> on_progress;          // after each of them
};

struct StartupOptions {
  std::vector<Digest> have;  // content of earlier runs, which is not sent
  // How long nothing may arrive before Run gives up on the daemon.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  // Asked before every attempt to connect again; may start a daemon. Null: nothing is done.
  std::function<void()> before_attempt;
};

// Run: one thread, once. Cancel: any thread.
class StartupFetch {
 public:
  // The client must outlive the object.
  StartupFetch(Client& client, StartupSubject subject, StartupOptions options);
  ~StartupFetch();
  StartupFetch(const StartupFetch&) = delete;
  StartupFetch& operator=(const StartupFetch&) = delete;

  // Until everything has arrived. Errors: kUnavailable once patience is over; kCancelled; what a
  // handler said; kNotFound for an unknown batch or pin; kFailedPrecondition, BATCH_FORGOTTEN, for
  // a batch without spaces.
  Result<StartupReport> Run(const StartupHandlers& handlers);
  // Ends Run soon, also while it waits for a daemon. What has arrived stays with the engine.
  void Cancel();

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace kiln::client
