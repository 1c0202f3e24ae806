// SPDX-License-Identifier: MIT
#include "tests/support/http_get.h"

#include <array>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kiln {

std::string HttpGet(const std::string& address, const std::string& path) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string reply;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\n\r\n";
    (void)send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = recv(fd, buffer.data(), buffer.size(), 0)) > 0;) {
      reply.append(buffer.data(), static_cast<size_t>(got));
    }
  }
  (void)close(fd);
  return reply;
}

}  // namespace kiln
