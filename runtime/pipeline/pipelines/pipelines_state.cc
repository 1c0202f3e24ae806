// SPDX-License-Identifier: MIT
// What all threads of the pipelines share. `mutex` guards everything that is not const or atomic.
#include "runtime/pipeline/pipelines/pipelines_state.h"

#include "runtime/pipeline/pipelines/pipelines_build.h"

namespace kiln::runtime {

PipelinesState::PipelinesState(const Device& of, const PipelinesConfig& how, uint32_t threads)
    : device(&of),
      config(how),
      log(how.log == nullptr ? &silence : how.log),
      factory(of),
      clock(how.clock == nullptr ? &system_clock : how.clock),
      queue(threads, how.budget_bytes,
            [this](const std::shared_ptr<Build>& build, uint32_t worker) {
              WorkOn(*this, build, worker);
            }) {
  // The first save is due one interval after the start and not at the first pipeline.
  saved_at = clock->Monotonic();
  // This driver is known to compile at the first draw, so it need not be found out by timing.
  if (of.identity().driver_id == VK_DRIVER_ID_MESA_LLVMPIPE) {
    laziness = Laziness::kLazy;
  }
}

// Callable from every thread that makes pipelines. The list only grows between two drains; the
// embedder takes it at its own pace.
void PipelinesState::Record(HitchKind kind, const Build& build, Duration duration) {
  const MutexLock lock(mutex);
  hitches.push_back({.kind = kind,
                     .name = build.desc.name,
                     .key = build.key,
                     .duration = duration,
                     .frame = frame.load()});
}

// A copy, so that whoever waits looks at it without holding the lock.
Ticket PipelinesState::TicketOf(WarmTicket ticket) const {
  const MutexLock lock(mutex);
  return tickets[ticket.index];
}

// A ticket's index stays valid as long as the state, since tickets are never removed.
bool PipelinesState::IsCancelled(WarmTicket ticket) const {
  const MutexLock lock(mutex);
  return tickets[ticket.index].cancelled;
}

}  // namespace kiln::runtime
