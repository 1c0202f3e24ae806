// SPDX-License-Identifier: MIT
// Who is served the pages of `kiln dashboard`: a browser that came by the link which the command
// printed. The link has a key that opens once and becomes a cookie; a request without the cookie,
// for another host or from another site gets nothing. See spec/cli 6.15
//
// Against: other users of the machine, who may connect to the port (the key); pages of other sites
// in the same browser (SameSite, Origin, Sec-Fetch-Site); names that were made to point here
// (Host).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/base/mutex.h"

namespace kiln::cli {

// What a request says of where it comes from; empty: it does not say.
struct PageRequest {
  std::string host, origin, fetch_site, cookie;
};

enum class PageVerdict : uint8_t {
  kServed,
  kForeign,   // another host's or another site's
  kNoCookie,  // ask for the link
};

// Calls may come from any thread.
class PageAccess {
 public:
  explicit PageAccess(uint16_t port);

  // "http://127.0.0.1:PORT/open?key=…". One link is good at a time: a new one voids the one before.
  std::string NewLink() KILN_EXCLUDES(mutex_);
  // Uses up the key of the link. Whether it was that.
  bool Open(std::string_view key) KILN_EXCLUDES(mutex_);
  // The value of Set-Cookie for who came by the link.
  std::string Cookie() const;

  // Whether the request was meant for this server by this server's pages or by the address line.
  bool IsOwn(const PageRequest& request) const;
  PageVerdict Judge(const PageRequest& request) const;

 private:
  const std::string host_, local_host_;  // with the port
  const std::string cookie_name_;  // has the port: cookies of one host are shared by its ports
  const std::string session_;
  Mutex mutex_;
  std::string key_ KILN_GUARDED_BY(mutex_);  // empty: used up
};

}  // namespace kiln::cli
