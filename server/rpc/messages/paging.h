// SPDX-License-Identifier: MIT
// What calls that list have in common: how long a page is, and tokens that belong to another list.
// See spec/daemon 3
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "compiler/base/result.h"

namespace kiln::rpc {

inline constexpr uint32_t kDefaultPage = 100;
inline constexpr uint32_t kMaxPage = 1000;

// Rows of a page for what the request asks, 0 if it does not.
inline uint32_t PageSize(uint32_t asked) {
  return asked == 0 ? kDefaultPage : std::min(asked, kMaxPage);
}

inline Error BadPageToken() {
  return {.code = ErrorCode::kInvalidArgument,
          .context = "page_token: not one of this list",
          .reason = "BAD_PAGE_TOKEN"};
}

// The number of the first row of a page, which stands behind the prefix of its list; 0 without a
// token. Errors: BAD_PAGE_TOKEN.
inline Result<size_t> FirstOfPage(std::string_view token, std::string_view prefix) {
  size_t first = 0;
  if (token.empty()) {
    return first;
  }
  if (!token.starts_with(prefix)) {
    return BadPageToken();
  }
  token.remove_prefix(prefix.size());
  const char* const end = token.data() + token.size();
  const auto [read, error] = std::from_chars(token.data(), end, first);
  return error == std::errc() && read == end ? Result<size_t>(first)
                                             : Result<size_t>(BadPageToken());
}

}  // namespace kiln::rpc
