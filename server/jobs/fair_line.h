// SPDX-License-Identifier: MIT
// In which order jobs that wait are handed out. Fair queueing on two levels: tenants take turns by
// their weights, and inside of a tenant's turns its sessions by their priorities; the jobs of a
// session are first in, first out. So what a tenant asks for, however many sessions it has and
// however urgent it calls them, divides what the tenant has and takes nothing from others. Of four
// jobs at least one is the owner's, who is the tenant without a name, if he has one waiting.
// See spec/daemon 5.3, 9.4
//
// Threads: by one at a time. Each step costs O(log n).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace kiln::jobs {

class FairLine {
 public:
  using TenantMay = std::function<bool(const std::string& tenant)>;

  // Numbers of jobs grow: of two with the same start the lower one is first.
  void Add(uint64_t job, const std::string& tenant, const std::string& session, uint32_t priority);

  // The tenant whose turn it is, of those that may; null if none of them waits. It looks at those
  // before it that may not one by one. Valid until the line changes.
  const std::string* Next(const TenantMay& may) const;

  // The tenant's first job leaves the line. Requires: the tenant waits, its weight is 1 to 1,000.
  uint64_t Take(std::string tenant, uint32_t weight);

  uint64_t WaitingOf(const std::string& tenant) const;

 private:
  using Place = std::pair<uint64_t, uint64_t>;  // a start, and the number of a job
  struct Tenant {
    std::set<Place> jobs;                     // by their starts on the tenant's own time line
    std::map<std::string, uint64_t> next_of;  // where the next job of a session starts there
    uint64_t now = 0;                         // start of the job that was taken last
    uint64_t next = 0;                        // start of the tenant's next turn in the line
    Place turn{};                             // in turns_, while it has jobs
  };
  void Enter(const std::string& name, Tenant& tenant);

  std::map<std::string, Tenant> tenants_;
  std::map<Place, std::string> turns_;  // of those who wait
  uint64_t now_ = 0;                    // the earliest start of a turn, when the last job was taken
  uint32_t since_owner_ = 0;            // jobs of others in a row
};

}  // namespace kiln::jobs
