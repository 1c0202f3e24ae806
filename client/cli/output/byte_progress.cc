// SPDX-License-Identifier: MIT
#include "client/cli/output/byte_progress.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client/cli/output/print.h"
#include "client/cli/output/units.h"

namespace kiln::cli {
namespace {

// Most caches and files are done within a second, and then nothing is said. Every two seconds is
// often enough to show that a long run is alive, and rare enough for a log.
constexpr std::chrono::seconds kFirst{1};
constexpr std::chrono::seconds kEvery{2};

}  // namespace

ByteProgress::ByteProgress(const Global& global, std::string what, Clock& clock)
    : what_(std::move(what)),
      silent_(global.quiet || global.json || global.progress == "none"),
      clock_(clock),
      next_(clock.Monotonic() + kFirst) {}

void ByteProgress::operator()(uint64_t done, uint64_t total) {
  const Duration now = clock_.Monotonic();
  if (silent_ || (done == 0 && total == 0) || now < next_) {
    return;
  }
  next_ = now + kEvery;
  // The size of what streams in is not always known beforehand; then only the bytes are told.
  if (total == 0) {
    Print(stderr, "kiln: {}: {} so far\n", what_, SizeText(done));
    return;
  }
  // A cache may grow while it is read, so more than the first total may be done. More than 100 % is
  // never shown.
  const double percent =
      100.0 * static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  Print(stderr, "kiln: {}: {:.0f}% of {}\n", what_, percent, SizeText(total));
}

}  // namespace kiln::cli
