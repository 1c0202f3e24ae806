// SPDX-License-Identifier: MIT
// What calls that list have in common: how long a page is, and tokens that belong to another list.
// See spec/daemon 3
#pragma once

#include <algorithm>
#include <cstdint>

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

}  // namespace kiln::rpc
