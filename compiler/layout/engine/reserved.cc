// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/reserved.h"

#include <algorithm>
#include <string>

#include "compiler/base/flat_map.h"

namespace kiln::layout {
namespace {

// What WebGPU needs beyond numbers: places for items that have none of their own, and groups.
class Webgpu {
 public:
  Webgpu(const Program& program, const Types& types, const std::vector<Item>& items,
         Findings& findings, ProgramLayout& out)
      : program_(program), types_(types), items_(items), findings_(findings), out_(out) {}

  void Run() {
    for (uint32_t order = 0; order < out_.parameters.size(); ++order) {
      for (PlacedLeaf& leaf : out_.parameters[order].leaves) {
        GiveReserved(order, leaf);
      }
    }
    for (uint32_t order = 0; order < out_.parameters.size(); ++order) {
      MapGroups(order);
    }
    if (out_.globals) {
      Group(out_.globals->place.space);
    }
  }

 private:
  // Items behind the first and samplers of combined ones that were bound by the author. WebGPU has
  // no arrays of resources, and an author who binds one slot has said nothing of the others; they
  // get bindings from a range at the top that no author may write to, in the order of the program.
  void GiveReserved(uint32_t order, PlacedLeaf& leaf) {
    if (leaf.places.empty() || leaf.places[0].kind != Kind::kSlot || leaf.dynamic_offset) {
      return;
    }
    Place& first = leaf.places[0];
    const Type& type = types_[leaf.type];
    const bool sampler = type.kind == TypeKind::kResource &&
                         type.resource == ResourceClass::kCombined && leaf.slots == 1;
    // A combined texture and sampler of one slot was bound by the author, so its sampler needs a
    // place too.
    const uint64_t items = first.count;
    const uint64_t per_item = sampler ? 2 : leaf.slots;
    // The first item keeps the binding that it has.
    const uint64_t wanted = (items - 1) * per_item + (sampler ? 1 : 0);
    // Each group counts for itself.
    uint64_t& next = *next_.Insert(first.space, kFirstReserved).first;
    if (next + wanted > kPushBinding) {
      findings_.Add(Make(Code::kLay3001, items_[order].parameter->where)
                        .With("name", leaf.path)
                        .With("found", wanted)
                        .With("unit", "reserved bindings")
                        .With("target", "webgpu")
                        .With("limit", kPushBinding - kFirstReserved),
                    order, &items_[order]);
      return;
    }
    // From here on each item has a place of its own.
    first.count = 1;
    const uint32_t space = first.space;
    if (sampler) {
      leaf.places.push_back({.kind = Kind::kSlot, .space = space, .index = next++});
    }
    for (uint64_t item = 1; item < items; ++item) {
      leaf.places.push_back({.kind = Kind::kSlot, .space = space, .index = next});
      next += leaf.slots;
      if (sampler) {
        leaf.places.push_back({.kind = Kind::kSlot, .space = space, .index = next++});
      }
    }
  }

  // The group of a set; false if there is none.
  bool Group(uint32_t& space) const {
    // A request may rename sets; what it does not name keeps its number.
    const std::vector<uint32_t>& groups = program_.settings.group_of_set;
    if (space < groups.size()) {
      space = groups[space];
    }
    return space <= kMaxGroup;
  }

  // Every place of the parameter gets the group of its set, or one finding says what the device
  // does not have.
  void MapGroups(uint32_t order) {
    PlacedParameter& parameter = out_.parameters[order];
    std::optional<uint32_t> above;  // the lowest group that does not exist
    const auto map = [&](uint32_t& space) {
      if (!Group(space)) {
        above = std::min(above.value_or(space), space);
      }
    };
    for (PlacedLeaf& leaf : parameter.leaves) {
      for (Place& place : leaf.places) {
        if (place.kind == Kind::kSlot && !leaf.dynamic_offset) {
          map(place.space);
        }
      }
    }
    for (Place& run : parameter.runs) {
      map(run.space);
    }
    // A parameter that owns whole spaces has no slot in each of them, so their numbers are looked
    // at as a run.
    if (parameter.spaces && program_.settings.group_of_set.empty() &&
        parameter.spaces->index + parameter.spaces->count > kMaxGroup + 1) {
      const auto first =
          static_cast<uint32_t>(std::max<uint64_t>(parameter.spaces->index, kMaxGroup + 1));
      above = std::min(above.value_or(first), first);
    }
    if (above) {
      findings_.Add(Make(Code::kLay3003, items_[order].parameter->where)
                        .With("name", parameter.name)
                        .With("what", "group " + std::to_string(*above))
                        .With("target", "webgpu"),
                    order, &items_[order]);
    }
  }

  const Program& program_;
  const Types& types_;
  const std::vector<Item>& items_;
  Findings& findings_;
  ProgramLayout& out_;
  FlatMap<uint32_t, uint64_t> next_;  // reserved binding of a group
};

// Unbounded arrays must have the highest binding of their set.
void CheckUnbounded(const std::vector<Item>& items, Findings& findings, const ProgramLayout& out) {
  // By space; loose globals count as well.
  FlatMap<uint32_t, uint64_t> highest;
  const auto see = [&](const Place& place) {
    uint64_t& known = *highest.Insert(place.space, 0).first;
    known = std::max(known, place.index);
  };
  for (const PlacedParameter& parameter : out.parameters) {
    for (const PlacedLeaf& leaf : parameter.leaves) {
      for (const Place& place : leaf.places) {
        if (place.kind == Kind::kSlot) {
          see(place);
        }
      }
    }
  }
  if (out.globals) {
    see(out.globals->place);
  }
  for (uint32_t order = 0; order < out.parameters.size(); ++order) {
    for (const PlacedLeaf& leaf : out.parameters[order].leaves) {
      if (!leaf.places.empty() && leaf.places[0].count >= kUnbounded &&
          leaf.places[0].index < *highest.Find(leaf.places[0].space)) {
        findings.Add(Make(Code::kLay2010, items[order].parameter->where).With("name", leaf.path),
                     order, &items[order]);
      }
    }
  }
}

}  // namespace

// Other targets need nothing after the numbers are given.
void FinishTarget(const Program& program, const Types& types, const std::vector<Item>& items,
                  Findings& findings, ProgramLayout& out) {
  if (program.platform == Platform::kWebgpu) {
    Webgpu(program, types, items, findings, out).Run();
  } else if (program.platform == Platform::kVulkan) {
    CheckUnbounded(items, findings, out);
  }
}

}  // namespace kiln::layout
