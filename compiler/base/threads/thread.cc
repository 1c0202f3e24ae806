// SPDX-License-Identifier: MIT
#include "compiler/base/threads/thread.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <new>
#include <pthread.h>

#include "compiler/base/threads/inherited.h"
#include "compiler/base/threads/signal_stack.h"

namespace kiln {
namespace {

// Ten milliseconds: a hundred lines of log a second at most, and nobody notices the wait.
constexpr std::chrono::milliseconds kPause{10};  // a body that always throws does not spin

// Of a handler that is left by nothing, whatever memory there is.
void Tell(const Thread::Entry& entry) noexcept {
  try {
    const Error error = ThrownError();
    StreamLog standard_error(stderr);
    LogSink& log = entry.log == nullptr ? standard_error : *entry.log;
    log.Write(LogLevel::kError, "thread",
              entry.after_throw == Thread::AfterThrow::kGoesOn
                  ? "an exception left a thread's loop, which goes on"
                  : "an exception ended a thread",
              {{"thread", entry.name}, {"what", error.context}});
  } catch (...) {
    (void)std::fputs("kiln: an exception in a thread, and no memory to tell it\n", stderr);
  }
}

// Debuggers and tests see fifteen bytes of it.
void TakeName(std::string_view name) {
  std::array<char, 16> text{};
  (void)name.copy(text.data(), text.size() - 1);
  (void)pthread_setname_np(pthread_self(), text.data());
}

// The body runs once, or again after each exception, as the entry says.
void Run(const Thread::Entry& entry, const Thread::Body& body, const std::stop_token& stop) {
  // First of all: a stack that overflows in the body needs another one for its backtrace.
  UseSignalStack();
  TakeName(entry.name);
  for (;;) {
    try {
      return body(stop);
    } catch (...) {
      Tell(entry);
    }
    if (entry.after_throw == Thread::AfterThrow::kEnds || stop.stop_requested()) {
      return;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

// To be called in a handler. It must not throw itself, so each text that needs memory is made in a
// try of its own and may stay empty.
Error ThrownError() noexcept {
  Error error{.code = ErrorCode::kInternal, .context = {}, .reason = "BUG"};
  try {
    throw;
  } catch (const std::bad_alloc&) {  // texts of no more than 15 bytes need no memory
    error.code = ErrorCode::kResourceExhausted;
    error.context = "out of memory";
    error.reason = "OUT_OF_MEMORY";
  } catch (const std::exception& thrown) {
    try {
      error.context = thrown.what();
    } catch (...) {  // the code and the reason have to do
    }
  } catch (...) {
    try {
      error.context = "an exception of an unknown type";
    } catch (...) {
    }
  }
  return error;
}

// What the starting thread carries (Inherited) is read here, in that thread, and set in the new one
// before its body runs.
Thread::Thread(const Entry& entry, Body body)
    : thread_(
          [entry, body = std::move(body), inherited = Inherited()](const std::stop_token& stop) {
            Inherited() = inherited;
            Run(entry, body, stop);
          }) {}

}  // namespace kiln
