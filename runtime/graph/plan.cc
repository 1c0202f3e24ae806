// SPDX-License-Identifier: MIT
#include "runtime/graph/plan.h"

#include <algorithm>

namespace kiln::graph {

// Reserves and copies nothing: the other plan is only a hint how large this one will be.
void ReserveLike(const Plan& other, Plan& plan) {
  const auto reserve = [](auto& array, const auto& like) { array.reserve(like.size()); };
  reserve(plan.order, other.order);
  reserve(plan.culled, other.culled);
  reserve(plan.positions, other.positions);
  reserve(plan.live, other.live);
  reserve(plan.pass_begin, other.pass_begin);
  reserve(plan.pass_accesses, other.pass_accesses);
  reserve(plan.layouts, other.layouts);
  reserve(plan.chains, other.chains);
  reserve(plan.chain_accesses, other.chain_accesses);
  reserve(plan.cells, other.cells);
  reserve(plan.initial, other.initial);
  reserve(plan.points, other.points);
  reserve(plan.entries, other.entries);
  reserve(plan.point_entries, other.point_entries);
  reserve(plan.alias_sources, other.alias_sources);
  reserve(plan.batches, other.batches);
  reserve(plan.waits, other.waits);
  reserve(plan.signals, other.signals);
  // Never fewer classes than the plan has: they hold memory that is reserved already.
  plan.next.classes.resize(std::max(plan.next.classes.size(), other.next.classes.size()));
  for (size_t i = 0; i < other.next.classes.size(); ++i) {
    reserve(plan.next.classes[i].blocks, other.next.classes[i].blocks);
    reserve(plan.next.classes[i].ledger, other.next.classes[i].ledger);
  }
  reserve(plan.next.slots, other.next.slots);
}

// Slots that go on from the frame before keep their object, and the others get the next numbers, in
// the order of the slots.
void BindObjects(const Plan& plan, const Carried& carried, std::vector<uint32_t>& objects) {
  objects.clear();
  // The number is a name for an object that the executor will create; it is never used again.
  uint32_t made = carried.objects;
  for (const TemporalSlot& slot : plan.next.slots) {
    objects.push_back(slot.from == kNone ? made++ : carried.slots[slot.from].object);
  }
}

// Counted again and not taken from BindObjects, because the carried state may only change once the
// frame was executed.
void Commit(const Plan& plan, uint32_t frame, std::span<const uint32_t> objects, Carried& carried) {
  uint32_t made = carried.objects;
  for (const TemporalSlot& slot : plan.next.slots) {
    made += slot.from == kNone ? 1 : 0;
  }
  // In a steady state the plan leaves what it has found, and nothing is copied but the numbers of
  // the objects.
  const bool steady =
      carried.digest == plan.next.digest && carried.slots.size() == plan.next.slots.size();
  if (!steady) {
    // Copied as a whole, since the frame after this one begins with all of it.
    carried = plan.next;
  }
  for (size_t i = 0; i < carried.slots.size(); ++i) {
    carried.slots[i].object = objects[i];
  }
  carried.objects = made;
  carried.frame = frame;
}

}  // namespace kiln::graph
