// SPDX-License-Identifier: MIT
#include "runtime/graph/execute.h"

#include <utility>

#include "runtime/graph/execute/executor_state.h"

namespace kiln::graph {

Executor::Executor(std::unique_ptr<ExecutorState> state) : state_(std::move(state)) {}
Executor::Executor(Executor&&) noexcept = default;
Executor::~Executor() = default;

// The state lies behind a pointer, so an executor can be moved while frames are in flight.
Result<Executor> Executor::Create(runtime::Device& device, const ExecutorConfig& config) {
  auto state = std::make_unique<ExecutorState>(device, config);
  KILN_TRY_VOID(state->Start());
  return Executor(std::move(state));
}

// `Explain` turns an error of a lost device into one that says what is known about it.
Result<FrameTicket> Executor::Execute(const Plan& plan, const Graph& graph) {
  Result<FrameTicket> ticket = state_->Run(plan, graph);
  return ticket.ok() ? std::move(ticket) : state_->Explain(ticket.error());
}

// Asks the device and does not wait; from any thread.
bool Executor::Done(FrameTicket ticket) const {
  return state_->submission->HasReached(ticket.value);
}

Result<void> Executor::Wait(FrameTicket ticket, std::chrono::nanoseconds timeout) {
  const Result<void> done = state_->submission->WaitFor(ticket.value, timeout);
  return done.ok() ? done : state_->Explain(done.error());
}

const std::vector<PassTime>& Executor::PassTimes() const { return state_->pass_times; }
const TimeSeries& Executor::record_times() const { return state_->recording->times(); }

// The offset is that of the last executed frame, whose ring is still mapped. Any buffer that is not
// a readback one of this frame gives an empty answer.
BoundBuffer Executor::Readback(const Graph& graph, BufferId id) const {
  const uint32_t version = graph.Find(id);
  if (version == kNone) {
    return {};
  }
  const uint32_t chain = graph.rows().versions[version].chain;
  const vk::Buffer& ring = state_->slots[state_->last_slot].ring.readback;
  // By chain and not by version: all versions of a chain lie in one buffer.
  const uint64_t offset = state_->ring_offsets[chain];
  if (graph.rows().chains[chain].memory != MemoryKind::kReadback || offset >= ring.size) {
    return {};
  }
  return {.buffer = ring.handle.get(),
          .offset = offset,
          .size = graph.rows().chains[chain].size,
          .mapped = ring.mapped().data() + offset};
}

const Carried& Executor::carried() const { return state_->carried; }
const ExecutorMetrics& Executor::metrics() const { return state_->metrics; }

}  // namespace kiln::graph
