// SPDX-License-Identifier: MIT
#include "runtime/graph/declare/declare_semaphores.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/graph/synchronization.h"

namespace kiln::graph {

// Names last over frames, as the handle does. The first name of a handle stays.
void SemaphoreDeclarer::Name(VkSemaphore semaphore, std::string_view name) {
  if (std::find(named_.begin(), named_.end(), semaphore) != named_.end()) {
    return;
  }
  named_.push_back(semaphore);
  names_.emplace_back(name);
}

// Semaphores get numbers in the order of their first use, so plans do not depend on handles.
uint32_t SemaphoreDeclarer::Ordinal(const SemaphoreUse& use, uint32_t pass, Where where) {
  const auto found = std::find(rows_.semaphores.begin(), rows_.semaphores.end(), use.semaphore);
  const auto ordinal = static_cast<uint32_t>(found - rows_.semaphores.begin());
  const uint8_t timeline = use.timeline ? 1 : 0;
  if (found == rows_.semaphores.end()) {
    rows_.semaphores.push_back(use.semaphore);
    rows_.semaphore_timeline.push_back(timeline);
    const auto named = std::find(named_.begin(), named_.end(), use.semaphore);
    rows_.semaphore_names.push_back(
        named == named_.end()
            ? NameRef{}
            : frame_.KeepName(names_[static_cast<size_t>(named - named_.begin())]));
  } else if (rows_.semaphore_timeline[ordinal] != timeline) {
    frame_.Fail("SEMAPHORE_VALUE", "uses a semaphore both with and without a value", pass, kNone,
                where);
  }
  // A timeline begins at 0, so waiting for 0 waits for nothing.
  if (use.timeline && use.value == 0) {
    frame_.Fail("SEMAPHORE_VALUE", "uses value 0 of a timeline", pass, kNone, where);
  }
  return ordinal;
}

void SemaphoreDeclarer::Add(PassId pass_id, const SemaphoreUse& use, Direction direction,
                            Where where) {
  const bool wait = direction == Direction::kWait;
  const uint32_t pass = handles_.UsePass(pass_id, where);
  if (pass == kNone) {
    return;
  }
  const PassKind kind = rows_.passes[pass].kind;
  if (kind == PassKind::kHost) {
    frame_.Fail("STAGE_NOT_IN_PASS", "uses a semaphore, but host passes have no place on a queue",
                pass, kNone, where);
    return;
  }
  const uint32_t ordinal = Ordinal(use, pass, where);
  const uint64_t value = use.timeline ? use.value : 0;
  // A binary semaphore is waited for once and signalled once in a frame. A timeline may be waited
  // for by many, but each value is signalled once.
  // Linear over the uses of the frame, of which there are a few.
  for (const SemaphoreRow& other : rows_.semaphore_uses) {
    if (other.semaphore != ordinal || other.wait != wait || (value != 0 && wait) ||
        other.value != value) {
      continue;
    }
    const std::string first(other.pass == kNone ? std::string_view("an import")
                                                : rows_.PassName(other.pass));
    frame_.Fail(value == 0 ? "SEMAPHORE_TWICE" : "SEMAPHORE_VALUE",
                fmt::format("{} a semaphore that '{}' {} as well", wait ? "waits for" : "signals",
                            first, value == 0 ? "uses" : "signals with the same value"),
                pass, kNone, where);
    if (other.pass != kNone) {
      frame_.NameFirstPass(first);
    }
    return;
  }
  Stages stages = ElementaryStages(use.stages);
  // Without stages a wait holds everything back that the pass may do, and a signal comes behind all
  // commands.
  if (stages == 0) {
    stages = !wait || kind == PassKind::kTransition
                 ? ElementaryStages(VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
                 : AllowedStages(kind);
  }
  rows_.semaphore_uses.push_back(
      {.pass = pass, .semaphore = ordinal, .value = value, .stages = stages, .wait = wait});
}

}  // namespace kiln::graph
