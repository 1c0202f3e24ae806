// SPDX-License-Identifier: MIT
// The trace id of this command (spec/daemon 13). It is sent with every call, so the log of the
// daemon and the output of the command can be laid beside each other. BeginTrace is called once,
// before any thread starts; after that the id is only read.
#include "client/trace.h"

#include <array>
#include <cstdint>
#include <sys/random.h>

#include <fmt/format.h>

#include "client/process_state.h"

namespace kiln::client {
namespace {

struct Trace {
  std::string id;
};

}  // namespace

const std::string& BeginTrace() {
  std::array<uint64_t, 2> bits{};
  // The format of W3C Trace Context: 16 random bytes as hexadecimal digits.
  (void)::getrandom(bits.data(), sizeof bits, 0);
  std::string& id = OfProcess<Trace>().id;
  id = fmt::format("{:016x}{:016x}", bits[0], bits[1] | 1);  // zeros alone are invalid
  return id;
}

const std::string& TraceId() { return OfProcess<Trace>().id; }

}  // namespace kiln::client
