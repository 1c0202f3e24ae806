// SPDX-License-Identifier: MIT
// Start-time fair queueing, twice. A line has a clock of its own, `now`: the earliest start of
// those who wait. Whoever waits in it starts its next turn where its last one ended in that time (a
// distance divided by its weight), but never before now, so that who was idle has saved nothing up.
// Turns are taken in the order of their starts. With that a weight of w gets w shares, and waits
// for at most one turn of everybody else. The line of all has tenants in it, with their weights; a
// tenant's line has its sessions, with the weight doubled for each step of their priority.
#include "server/jobs/fair_line.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "server/jobs/job.h"

namespace kiln::jobs {
namespace {

// Between two turns of a weight of 1. Divided by the greatest weight it is not nothing.
constexpr uint64_t kDistance = uint64_t{1} << 24;
constexpr size_t kMostRemembered = 1024;  // of those who have no jobs, unless they are ahead
constexpr uint32_t kOthersInARow = 3;     // then one of the owner's

}  // namespace

void FairLine::Add(uint64_t job, const std::string& tenant, const std::string& session,
                   uint32_t priority) {
  if (tenants_.size() >= kMostRemembered) {  // those that start now anyway need no memory
    std::erase_if(tenants_, [this](const auto& one) {
      return one.second.jobs.empty() && one.second.next <= now_;
    });
  }
  Tenant& of = tenants_[tenant];
  if (of.next_of.size() >= kMostRemembered) {
    std::erase_if(of.next_of, [&of](const auto& one) { return one.second <= of.now; });
  }
  // What the sender says is bounded here, because it becomes the length of a shift.
  uint64_t& next = of.next_of[session];
  const uint64_t start = std::max(next, of.now);
  next = start + (kDistance >> std::min(priority, kMostUrgent));
  const bool waits = !of.jobs.empty();
  of.jobs.emplace(start, job);
  if (!waits) {
    Enter(tenant, of);
  }
}

void FairLine::Enter(const std::string& name, Tenant& tenant) {
  tenant.turn = Place(std::max(tenant.next, now_), tenant.jobs.begin()->second);
  turns_.emplace(tenant.turn, name);
}

const std::string* FairLine::Next(const TenantMay& may) const {
  if (since_owner_ >= kOthersInARow) {
    const auto owner = tenants_.find("");
    if (owner != tenants_.end() && !owner->second.jobs.empty() && may(owner->first)) {
      return &owner->first;
    }
  }
  const auto found =
      std::ranges::find_if(turns_, [&may](const auto& turn) { return may(turn.second); });
  return found == turns_.end() ? nullptr : &found->second;
}

// The time of the line is that of its first turn, also where another is taken before it: else who
// comes new would have to wait for all that were passed over.
uint64_t FairLine::Take(std::string tenant, uint32_t weight) {
  const auto found = tenants_.find(tenant);
  KILN_CHECK(found != tenants_.end() && !found->second.jobs.empty(), "tenant '{}' has no job",
             tenant);
  Tenant& of = found->second;
  now_ = std::max(now_, turns_.begin()->first.first);
  since_owner_ = tenant.empty() ? 0 : since_owner_ + 1;
  turns_.erase(of.turn);
  const auto [start, job] = *of.jobs.begin();
  of.jobs.erase(of.jobs.begin());
  of.now = start;
  of.next = of.turn.first + kDistance / weight;
  if (!of.jobs.empty()) {
    Enter(tenant, of);
    return job;
  }
  of.next_of.clear();  // none of its sessions is behind another
  of.now = 0;
  if (turns_.empty()) {  // and no tenant
    tenants_.clear();
    now_ = 0;
  }
  return job;
}

uint64_t FairLine::WaitingOf(const std::string& tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? 0 : found->second.jobs.size();
}

}  // namespace kiln::jobs
