// SPDX-License-Identifier: MIT
// Variants that follow their sources: files are watched, what was saved goes to the daemon, and
// whatever became different comes back whole. Knows no pipeline: reload_into.h does. spec/daemon 8
//
// Threads: handlers are called on two threads of the object, one call at a time; they must not end
// it. Stop from any thread; the rest by one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/startup_fetch.h"
#include "compiler/base/result.h"

namespace kiln::client {

// What people are told while sources change.
struct LiveNews {
  enum class Kind : uint8_t { kMistakes, kRight, kReplaced, kSettled, kProblem, kEnded };
  Kind kind = Kind::kProblem;
  std::string program;  // of the first three
  std::string text;     // lines of messages, or a sentence
};

struct LiveHandlers {
  // Verified; before the artifact that names it. An error is news of a problem.
  std::function<Result<void>(const FetchedBlob& blob)> on_blob;
  // Of a variant of the subject, by its index, if it is not what the engine has.
  std::function<Result<void>(uint32_t variant, const StartupArtifact& artifact)> on_artifact;
  std::function<void(const LiveNews& news)> on_news;  // null: nobody is told
};

// Metadata and code of an artifact, by which it is compared.
using ArtifactContent = std::vector<Digest>;
ArtifactContent ContentOf(const Artifact& artifact);

struct LiveOptions {
  std::string folder;  // that paths of sources are relative to; the manifest's
  // What the engine has of each variant, in their order; beyond the end and empty: nothing.
  std::vector<ArtifactContent> known = {};
  // Asked before every attempt to connect again; may start a daemon. Null: nothing is done.
  std::function<void()> before_attempt = nullptr;
};

class LiveReload {
 public:
  // The client must outlive the object. Errors: kNotFound if there is no such folder.
  static Result<std::unique_ptr<LiveReload>> Start(Client& client, StartupVariants subject,
                                                   LiveOptions options, LiveHandlers handlers);
  // Ends both threads.
  ~LiveReload();
  LiveReload(const LiveReload&) = delete;
  LiveReload& operator=(const LiveReload&) = delete;

  // Nothing follows any more, but what is being handled.
  void Stop();

 private:
  struct Session;
  explicit LiveReload(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

}  // namespace kiln::client
