// SPDX-License-Identifier: MIT
// How many pages of one list a client takes. A daemon says with each page whether another one
// follows, and a client that believes it for ever is kept by a wrong or hostile one for ever.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/base/result.h"

namespace kiln::client {

class PageCount {
 public:
  // The longest list there is, of 1,000,000 results of a batch, has 10,000 pages of the usual 100.
  static constexpr uint32_t kMost = 20'000;
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;

  // A page came; `next` is the token of the page behind it, empty if it was the last one, which may
  // end beyond the bounds. Errors: kDataLoss with reason PAGES_WITHOUT_END if no honest list goes
  // on like this: the token is that of the page itself, or there are too many pages or bytes.
  Result<void> Add(std::string_view next, uint64_t bytes) {
    ++pages_;
    bytes_ += bytes;
    if (!next.empty() && (next == token_ || pages_ >= kMost || bytes_ >= kMostBytes)) {
      return Error{.code = ErrorCode::kDataLoss,
                   .context = "the daemon hands out pages without end: the last of " +
                              std::to_string(pages_) + " names a further one",
                   .reason = "PAGES_WITHOUT_END"};
    }
    token_ = next;
    return {};
  }

 private:
  uint32_t pages_ = 0;
  uint64_t bytes_ = 0;
  std::string token_;  // that led to the page which comes next
};

}  // namespace kiln::client
