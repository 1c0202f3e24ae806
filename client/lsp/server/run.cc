// SPDX-License-Identifier: MIT
#include "client/lsp/server/run.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <string_view>
#include <unistd.h>

#include "client/lsp/server/server.h"

namespace kiln::lsp {
namespace {

constexpr size_t kReadBytes = size_t{64} << 10;

// False: the peer is gone.
bool WriteAll(int output, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(output, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      // An editor may hand over a pipe that does not block. Waiting here stops reading as well, so
      // a client that does not read cannot make the output grow.
      pollfd wait{.fd = output, .events = POLLOUT, .revents = 0};
      (void)::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool HasInput(int input, int timeout_ms) {
  pollfd wait{.fd = input, .events = POLLIN, .revents = 0};
  return ::poll(&wait, 1, timeout_ms) > 0;
}

}  // namespace

// Input is read as long as there is any before anything is answered, so that what makes an answer
// superfluous is known first; work that nobody waits for is done in slices while there is none.
int Run(int input, int output, Clock& clock, const std::string& version) {
  Server server(clock, version);
  std::array<char, kReadBytes> buffer;
  bool open = true;
  bool busy = false;
  while (!server.exit_code().has_value()) {
    // With work to do the poll returns at once, without any it waits for input. A full queue is
    // worked off before more is read.
    while (open && server.wants_input() && HasInput(input, busy ? 0 : -1)) {
      const ssize_t size = ::read(input, buffer.data(), buffer.size());
      if (size > 0) {
        server.Receive({buffer.data(), static_cast<size_t>(size)});
        busy = true;
      } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
        open = false;
      }
    }
    busy = server.Step();
    if (!WriteAll(output, server.TakeOutput())) {
      return 1;
    }
    // The input ended without `exit`: everything that was asked has been answered.
    if (!busy && !open) {
      return server.exit_code().value_or(1);
    }
  }
  (void)WriteAll(output, server.TakeOutput());
  return *server.exit_code();
}

}  // namespace kiln::lsp
