// SPDX-License-Identifier: MIT
// `file:` URIs and paths (RFC 8089).
#include "client/lsp/documents/uri.h"

#include <filesystem>

#include <fmt/format.h>

namespace kiln::lsp {
namespace {

constexpr std::string_view kScheme = "file://";

// Minus one for a character that is no hexadecimal digit.
int DigitOf(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// What RFC 3986 allows in a path without an escape; all else is escaped byte by byte, so that UTF-8
// needs no case.
bool StandsForItself(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("/-._~!$&'()*+,;=@").find(c) != std::string_view::npos;
}

}  // namespace

// Nothing for another scheme, another host and a wrong escape.
std::optional<std::string> PathOf(std::string_view uri) {
  if (!uri.starts_with(kScheme)) {
    return std::nullopt;
  }
  uri.remove_prefix(kScheme.size());
  // RFC 8089 allows the name of this machine as the authority. Any other host is no file of ours:
  // what is left then does not begin with '/'.
  if (uri.starts_with("localhost/")) {
    uri.remove_prefix(std::string_view("localhost").size());
  }
  // Escapes are undone before the path is made normal, so "%2e%2e" is ".." and cannot pass unseen.
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] != '%') {
      path += uri[i];
      continue;
    }
    const int high = i + 2 < uri.size() ? DigitOf(uri[i + 1]) : -1;
    const int low = i + 2 < uri.size() ? DigitOf(uri[i + 2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0)) {
      return std::nullopt;  // no escape, or a zero byte, which no path has
    }
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (!path.starts_with('/')) {
    return std::nullopt;
  }
  return std::filesystem::path(path).lexically_normal().string();
}

std::string UriOf(std::string_view path) {
  std::string uri(kScheme);
  for (const char c : path) {
    uri += StandsForItself(c) ? std::string(1, c)
                              : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace kiln::lsp
