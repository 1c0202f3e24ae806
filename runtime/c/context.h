// SPDX-License-Identifier: MIT
// A context: the caller's log and memory. Everything that is made with it shares it.
#pragma once

#include <memory>

#include <kiln/kiln.h>

#include "compiler/base/log.h"
#include "runtime/c/memory.h"

namespace kiln::c {

// Safe from any thread, as the caller's function has to be.
class Context final : public LogSink {
 public:
  // Takes over `memory`, which may be null.
  Context(const kiln_context_info& info, Memory* memory);
  ~Context() override;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Memory* memory() const { return memory_; }
  void Take(const LogEntry& entry) override;

 private:
  const kiln_log_function log_;
  void* const user_;
  const kiln_log_level level_;
  Memory* const memory_;
};

// What every handle but errors and frames is.
struct Object {
  std::shared_ptr<Context> context;
};

}  // namespace kiln::c

struct kiln_context : kiln::c::Object {};
