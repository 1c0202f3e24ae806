// SPDX-License-Identifier: MIT
// A worker process for tests: takes jobs as any other, and those named "test;…" make it behave as
// hostile input makes libraries behave.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

#include "compiler/base/test_wait.h"
#include "server/worker/child.h"
#include "server/worker/message.h"

namespace {

using kiln::worker::MessageKind;

volatile std::sig_atomic_t continued = 0;

// A code other than 0 ends the process; 0 goes on with the next job, after an answer that is none.
int Misbehave(const std::string& how) {
  if (how == "crash") {
    (void)std::fputs("about to crash\n", stderr);
    (void)std::raise(SIGSEGV);
  }
  if (how == "exit") {
    return 3;
  }
  if (how == "hang") {
    // What hangs may also ignore a request to end, so only SIGKILL helps.
    (void)::signal(SIGTERM, SIG_IGN);
    for (;;) {
      ::pause();
    }
  }
  if (how == "memory") {
    for (;;) {  // until the limit of the address space
      volatile char* block = static_cast<char*>(std::malloc(size_t{64} << 20));
      if (block == nullptr) {
        std::abort();
      }
      block[0] = 1;
    }
  }
  if (how == "spin") {
    for (volatile bool go_on = true; go_on;) {
    }
  }
  const int socket = kiln::worker::kWorkerSocket;
  if (how == "chatter") {  // that it has the job, for ever
    while (
        kiln::worker::Send(socket, {.kind = MessageKind::kTaken, .text = {}, .payload = {}}).ok()) {
    }
  }
  if (how == "job") {
    (void)kiln::worker::Send(socket, {.kind = MessageKind::kJob, .text = "x", .payload = {}});
  }
  if (how == "drip") {  // a part of a head, and then nothing
    (void)!::write(socket, "KWK1", 4);
    for (;;) {
      ::pause();
    }
  }
  if (how == "garbage") {
    (void)!::write(kiln::worker::kWorkerSocket, "this is no message, not at all.", 31);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || std::string(argv[1]) != kiln::worker::kWorkerFlag) {
    return 2;
  }
  (void)::signal(SIGCONT, [](int) { continued = 1; });
  const char* const own = std::getenv("PATH");
  const int socket = kiln::worker::kWorkerSocket;
  for (;;) {
    const auto job = kiln::worker::Receive(socket);
    if (!job.ok()) {
      return 0;
    }
    const size_t test = job->text.find(" test;");
    if (test == std::string::npos) {
      return 1;
    }
    const std::string how = job->text.substr(test + 6);
    if (how == "early") {  // before it has the job
      return 0;
    }
    if (how == "unasked") {  // an answer to nothing
      (void)kiln::worker::Send(socket, {.kind = MessageKind::kMade, .text = {}, .payload = {}});
      continue;
    }
    (void)kiln::worker::Send(socket, {.kind = MessageKind::kTaken, .text = {}, .payload = {}});
    if (how == "stopped") {  // answers once it was stopped and may go on
      continued = 0;
      (void)kiln::WaitUntil([] { return continued != 0; });
    }
    if (how == "echo" || how == "stopped") {
      (void)kiln::worker::Send(socket, {.kind = MessageKind::kMade,
                                        .text = own == nullptr ? "no environment" : own,
                                        .payload = job->payload});
      continue;
    }
    if (how == "reject") {
      (void)kiln::worker::Send(socket,
                               {.kind = MessageKind::kRejected, .text = "not good", .payload = {}});
      continue;
    }
    if (const int code = Misbehave(how); code != 0) {
      return code;
    }
  }
}
