// SPDX-License-Identifier: MIT
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
  saved_at = clock->Monotonic();
  if (of.identity().driver_id == VK_DRIVER_ID_MESA_LLVMPIPE) {
    laziness = Laziness::kLazy;
  }
}

void PipelinesState::Record(HitchKind kind, const Build& build, Duration duration) {
  const MutexLock lock(mutex);
  hitches.push_back({.kind = kind,
                     .name = build.desc.name,
                     .key = build.key,
                     .duration = duration,
                     .frame = frame.load()});
}

Ticket PipelinesState::TicketOf(WarmTicket ticket) const {
  const MutexLock lock(mutex);
  return tickets[ticket.index];
}

bool PipelinesState::IsCancelled(WarmTicket ticket) const {
  const MutexLock lock(mutex);
  return tickets[ticket.index].cancelled;
}

}  // namespace kiln::runtime
