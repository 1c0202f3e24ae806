// SPDX-License-Identifier: MIT
#include "client/cli/global.h"

#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace kiln::cli {

std::string DaemonAddress(const Global& global) {
  if (!global.daemon.empty()) {
    return global.daemon;
  }
  const char* environment = std::getenv("KILN_DAEMON");
  if (environment != nullptr && *environment != '\0') {
    return environment;
  }
  return "unix:" + client::DefaultSocket();
}

client::Endpoint EndpointOf(const Global& global) {
  return {.address = DaemonAddress(global),
          .token_file = global.token_file,
          .tls_ca = global.tls_ca,
          .tls_cert = global.tls_cert,
          .tls_key = global.tls_key};
}

Result<std::unique_ptr<client::Client>> OpenDaemon(const Global& global) {
  return client::Client::Open(EndpointOf(global));
}

bool WantsColour(const Global& global, int descriptor) {
  if (global.color != "auto") {
    return global.color == "always";
  }
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb");
}

uint32_t WidthOf(int descriptor) {
  constexpr uint32_t kWidthOfFiles = 100;
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return known ? size.ws_col : kWidthOfFiles;
}

}  // namespace kiln::cli
