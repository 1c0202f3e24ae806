// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/cull.h"

namespace kiln::graph {
namespace {

// Roots are passes whose effects can be seen after the frame: side effects, outputs, presentation,
// contents kept for the next frame, writes to what belongs to somebody else. A pass that is no root
// lives only if a live pass uses something that it makes.
KeepReason RootReason(const Declarations& rows, const PassAccesses& accesses, uint32_t pass) {
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
  for (uint32_t i = accesses.pass_begin[pass]; i < accesses.pass_begin[pass + 1]; ++i) {
    const AccessRow& access = rows.accesses[accesses.pass_accesses[i]];
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

// Semaphores make roots as well: somebody outside waits for a signal, and a binary wait must be
// executed, or the semaphore stays signalled. A timeline may be waited for by nobody.
void MarkRoots(const Declarations& rows, const PassAccesses& accesses,
               std::vector<KeepReason>& why) {
  for (uint32_t pass = 0; pass < rows.passes.size(); ++pass) {
    why[pass] = RootReason(rows, accesses, pass);
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

// Reachability from the roots along "makes what is used". Edges from readers to those that
// overwrite keep nothing alive (spec/graph 6.3).
void Cull(const Declarations& rows, const PassAccesses& accesses, const PlanOptions& options,
          KeepReasons& reasons, LivePasses& out) {
  const size_t count = rows.passes.size();
  out.live.assign(count, options.cull ? 0 : 1);
  out.culled.clear();
  reasons.why.assign(count, KeepReason::kNotCulled);
  reasons.needed_by.assign(count, kNone);
  if (!options.cull) {
    return;
  }
  MarkRoots(rows, accesses, reasons.why);
  reasons.stack.clear();
  for (uint32_t pass = 0; pass < count; ++pass) {
    if (reasons.why[pass] != KeepReason::kNeeded) {
      out.live[pass] = 1;
      reasons.stack.push_back(pass);
    }
  }
  // Backwards from the roots, depth first: every pass is pushed at most once.
  while (!reasons.stack.empty()) {
    const uint32_t pass = reasons.stack.back();
    reasons.stack.pop_back();
    for (uint32_t i = accesses.pass_begin[pass]; i < accesses.pass_begin[pass + 1]; ++i) {
      const AccessRow& access = rows.accesses[accesses.pass_accesses[i]];
      // A create uses nothing that was there before.
      const uint32_t def = access.op == Op::kCreate ? kNone : rows.versions[access.version].def;
      if (def != kNone && out.live[def] == 0) {
        out.live[def] = 1;
        reasons.needed_by[def] = pass;
        reasons.stack.push_back(def);
      }
    }
  }
  for (uint32_t pass = 0; pass < count; ++pass) {
    if (out.live[pass] == 0) {
      out.culled.push_back(pass);
    }
  }
}

}  // namespace kiln::graph
