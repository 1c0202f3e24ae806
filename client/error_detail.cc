// SPDX-License-Identifier: MIT
// Keeps what a daemon said beyond code, text and reason, such as a trace id or a hint, until
// somebody shows the error. Any thread may remember and ask; one mutex guards the list.
#include "client/error_detail.h"

#include <deque>
#include <utility>

#include "client/process_state.h"
#include "compiler/base/mutex.h"

namespace kiln::client {
namespace {

// Errors pass through many layers as a code, a text and a reason. The rest of what the daemon said
// is kept here and found again by these. Sixteen are more than the threads of one command that can
// fail at the same time.
constexpr size_t kRemembered = 16;

struct Details {
  Mutex mutex;
  std::deque<std::pair<Error, ErrorDetail>> latest KILN_GUARDED_BY(mutex);  // latest first
};

}  // namespace

// The latest one is found first. Two equal errors of one moment may exchange their details, which
// costs a trace id in a text and nothing else.
std::optional<ErrorDetail> DetailOf(const Error& error) {
  Details& all = OfProcess<Details>();
  const MutexLock lock(all.mutex);
  for (const auto& [said, detail] : all.latest) {
    if (said.code == error.code && said.reason == error.reason &&
        // Layers put context in front of a text and never change its end.
        error.context.ends_with(said.context)) {
      return detail;
    }
  }
  return std::nullopt;
}

void RememberDetail(const Error& error, ErrorDetail detail) {
  Details& all = OfProcess<Details>();
  const MutexLock lock(all.mutex);
  all.latest.emplace_front(error, std::move(detail));
  if (all.latest.size() > kRemembered) {
    all.latest.pop_back();
  }
}

}  // namespace kiln::client
