// SPDX-License-Identifier: MIT
#include "client/cli/dashboard/page_access.h"

#include <array>
#include <sys/random.h>

#include <fmt/format.h>

#include "compiler/base/bytes.h"
#include "compiler/base/check.h"

namespace kiln::cli {
namespace {

// 256 bits as hex: nobody guesses them in the life of a process.
std::string Secret() {
  std::array<uint8_t, 32> random{};
  KILN_CHECK(getrandom(random.data(), random.size(), 0) == static_cast<ssize_t>(random.size()),
             "the kernel gives no random bytes");
  std::string text;
  for (const uint8_t byte : random) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

// In a time that does not tell how much of `given` is right.
bool IsSame(std::string_view secret, std::string_view given) {
  uint8_t difference = secret.size() == given.size() && !secret.empty() ? 0 : 1;
  for (size_t i = 0; i < given.size() && i < secret.size(); ++i) {
    difference |= static_cast<uint8_t>(secret[i] ^ given[i]);
  }
  return difference == 0;
}

// The value of a cookie in "a=1; b=2"; empty if there is none of this name.
std::string_view CookieOf(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const size_t end = cookies.find(';');
    std::string_view one = cookies.substr(0, end);
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
    cookies = end == std::string_view::npos ? std::string_view() : cookies.substr(end + 1);
  }
  return {};
}

}  // namespace

PageAccess::PageAccess(uint16_t port)
    : host_(fmt::format("127.0.0.1:{}", port)),
      local_host_(fmt::format("localhost:{}", port)),
      cookie_name_(fmt::format("kiln_dashboard_{}", port)),
      session_(Secret()) {}

std::string PageAccess::NewLink() {
  const MutexLock lock(mutex_);
  key_ = Secret();
  return fmt::format("http://{}/open?key={}", host_, key_);
}

bool PageAccess::Open(std::string_view key) {
  const MutexLock lock(mutex_);
  if (!IsSame(key_, key)) {
    return false;
  }
  key_.clear();
  return true;
}

// Lax and not Strict: a link in a terminal is a navigation from elsewhere, and the redirect behind
// /open belongs to it. Nothing here changes anything, and requests of other sites' pages are told
// by Origin and Sec-Fetch-Site.
std::string PageAccess::Cookie() const {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax", cookie_name_, session_);
}

bool PageAccess::IsOwn(const PageRequest& request) const {
  if (request.host != host_ && request.host != local_host_) {
    return false;
  }
  if (!request.origin.empty() && request.origin != "http://" + request.host) {
    return false;
  }
  return request.fetch_site.empty() || request.fetch_site == "same-origin" ||
         request.fetch_site == "none";
}

PageVerdict PageAccess::Judge(const PageRequest& request) const {
  return !IsOwn(request)                                            ? PageVerdict::kForeign
         : IsSame(session_, CookieOf(request.cookie, cookie_name_)) ? PageVerdict::kServed
                                                                    : PageVerdict::kNoCookie;
}

}  // namespace kiln::cli
