// SPDX-License-Identifier: MIT
// Which passes run: roots, and whatever makes what a live pass uses. See spec/graph 6.3
#include "runtime/graph/planning.h"

namespace kiln::graph {
namespace {

KeepReason RootReason(const Planning& planning, uint32_t pass) {
  const Declarations& rows = planning.rows;
  const PassRow& row = rows.passes[pass];
  if (row.side_effect != 0) {
    return KeepReason::kSideEffect;
  }
  if (row.origin == Origin::kExport) {
    return KeepReason::kOutput;
  }
  if (row.origin == Origin::kPresent || row.origin == Origin::kPresentCopy) {
    return KeepReason::kPresent;
  }
  for (uint32_t i = planning.plan.pass_begin[pass]; i < planning.plan.pass_begin[pass + 1]; ++i) {
    const AccessRow& access = rows.accesses[planning.plan.pass_accesses[i]];
    if (access.result == kNone) {
      continue;
    }
    if (rows.versions[access.result].output != 0) {
      return KeepReason::kOutput;
    }
    if (rows.versions[access.result].temporal != 0) {
      return KeepReason::kTemporal;
    }
    if (rows.ChainOf(access).object == Object::kImported) {
      return KeepReason::kImport;
    }
  }
  return KeepReason::kNeeded;  // no root
}

void MarkRoots(Planning& planning, std::vector<KeepReason>& why) {
  const Declarations& rows = planning.rows;
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    why[pass] = RootReason(planning, pass);
  }
  for (const SemaphoreRow& use : rows.semaphore_uses) {
    if (use.pass == kNone || why[use.pass] != KeepReason::kNeeded) {
      continue;
    }
    if (!use.wait) {
      why[use.pass] = KeepReason::kSignal;
    } else if (use.value == 0) {
      why[use.pass] = KeepReason::kWait;
    }
  }
}

}  // namespace

void Cull(Planning& planning) {
  const Declarations& rows = planning.rows;
  Plan& plan = planning.plan;
  PlanningScratch& scratch = planning.scratch;
  const size_t count = rows.passes.size();
  plan.live.assign(count, planning.options.cull ? 0 : 1);
  plan.culled.clear();
  scratch.why.assign(count, KeepReason::kNotCulled);
  scratch.needed_by.assign(count, kNone);
  if (!planning.options.cull) {
    return;
  }
  MarkRoots(planning, scratch.why);
  scratch.stack.clear();
  for (uint32_t pass = 0; pass < count; ++pass) {
    if (scratch.why[pass] != KeepReason::kNeeded) {
      plan.live[pass] = 1;
      scratch.stack.push_back(pass);
    }
  }
  while (!scratch.stack.empty()) {
    const uint32_t pass = scratch.stack.back();
    scratch.stack.pop_back();
    for (uint32_t i = plan.pass_begin[pass]; i < plan.pass_begin[pass + 1]; ++i) {
      const AccessRow& access = rows.accesses[plan.pass_accesses[i]];
      const uint32_t def = access.op == Op::kCreate ? kNone : rows.versions[access.version].def;
      if (def != kNone && plan.live[def] == 0) {
        plan.live[def] = 1;
        scratch.needed_by[def] = pass;
        scratch.stack.push_back(def);
      }
    }
  }
  for (uint32_t pass = 0; pass < count; ++pass) {
    if (plan.live[pass] == 0) {
      plan.culled.push_back(pass);
    }
  }
}

}  // namespace kiln::graph
