// SPDX-License-Identifier: MIT
// From numbers to records: the places of leaves, the implicit buffer, checks of what came out.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/layout/assignment.h"
#include "compiler/layout/faults.h"
#include "compiler/layout/reserved.h"

namespace kiln::layout {
namespace {

bool OnSlots(Kind kind) {
  return kind == Kind::kB || kind == Kind::kT || kind == Kind::kU || kind == Kind::kS;
}

}  // namespace

void Assignment::Publish(uint32_t order) {
  const Item& item = items_[order];
  const Parameter& parameter = *item.parameter;
  Measured& measured = measured_[order];
  PlacedParameter placed{.name = parameter.name,
                         .unit = item.unit,
                         .ordinal = item.ordinal,
                         .type = parameter.type,
                         .role = parameter.role,
                         .is_explicit = measured.is_explicit,
                         .absent = parameter.absent};
  const bool block = types_[ItemOf(types_, parameter.type)].kind == TypeKind::kParameterBlock;
  placed.block = block && program_.platform != Platform::kD3d11;
  if (measured.first_space && measured.demands.spaces != 0) {
    placed.spaces = {
        .kind = Kind::kSpace, .index = *measured.first_space, .count = measured.demands.spaces};
  }
  for (const Kind kind : kBoundKinds) {
    if (const auto& base = measured.base(kind); base && measured.count(kind) != 0) {
      placed.runs.push_back({.kind = kind,
                             .space = base->space,
                             .index = base->index,
                             .count = measured.count(kind)});
    }
  }
  if (const auto& id = measured.base(Kind::kSpec)) {
    placed.spec_id = id->index;
  }
  placed.leaves.reserve(measured.demands.leaves.size());
  for (Leaf& leaf : measured.demands.leaves) {
    placed.leaves.push_back(PublishLeaf(order, leaf));
  }
  out_.parameters.push_back(std::move(placed));
}

PlacedLeaf Assignment::PublishLeaf(uint32_t order, Leaf& leaf) {
  PlacedLeaf placed{.path = std::move(leaf.path),
                    .type = leaf.type,
                    .strides = std::move(leaf.strides),
                    .rules = RulesOf(order, leaf),
                    .content = ContentOf(leaf),
                    .data = leaf.data};
  for (const LeafPart& part : leaf.used_parts()) {
    if (const std::optional<Place> place = PlaceOf(order, leaf, part)) {
      placed.places.push_back(*place);
    }
    if (slots() && part.kind != Kind::kAttachment) {
      placed.slots = static_cast<uint32_t>(part.count);
    }
    placed.dynamic_offset = placed.dynamic_offset ||
                            (part.kind == Kind::kPush && program_.platform == Platform::kWebgpu &&
                             program_.settings.webgpu_push == WebgpuPush::kUniform);
  }
  if (leaf.counter && !placed.places.empty()) {
    placed.places.push_back(
        {.kind = Kind::kSlot, .space = placed.places[0].space, .index = *leaf.counter});
  }
  return placed;
}

std::optional<Place> Assignment::PlaceOf(uint32_t order, const Leaf& leaf, const LeafPart& part) {
  Measured& measured = measured_[order];
  Place place{.kind = part.kind, .count = slots() ? leaf.items : part.count};
  if (part.kind == Kind::kPush) {
    const bool uniform = program_.platform == Platform::kWebgpu &&
                         program_.settings.webgpu_push == WebgpuPush::kUniform;
    return uniform ? Place{.kind = Kind::kSlot, .space = kMaxGroup, .index = kPushBinding}
                   : Place{.kind = Kind::kPush};
  }
  if (part.group != 0) {
    if (!measured.first_space) {
      return std::nullopt;
    }
    place.space = static_cast<uint32_t>(*measured.first_space + part.group - 1);
    place.index = part.offset;
    return place;
  }
  const bool unbounded = part.count >= kUnbounded;
  const auto& base =
      unbounded ? measured.unbounded[static_cast<size_t>(part.kind)] : measured.base(part.kind);
  if (!base) {
    return std::nullopt;
  }
  place.space = base->space;
  place.index = base->index + part.offset;
  return slots() && OnSlots(part.kind) ? Shifted(order, place) : place;
}

// A number of a register class as the slot that it becomes.
Place Assignment::Shifted(uint32_t order, Place place) {
  const int64_t shift = ShiftOf(program_.settings, place.kind, place.space).value_or(0);
  const int64_t slot = static_cast<int64_t>(place.index) + shift;
  if (slot < 0 || slot >= static_cast<int64_t>(kEndOfNumbers)) {
    const std::string text = fmt::format("{}{}", KindText(place.kind), place.index);
    if (order == kGlobalsOwner) {
      findings_.Add(Make(Code::kLay2006, {}).With("text", text).With("name", kGlobalsName), 0);
    } else {
      Add(order, About(order, Code::kLay2006).With("text", text));
    }
  }
  place.kind = Kind::kSlot;
  place.index = static_cast<uint64_t>(std::max<int64_t>(slot, 0));
  return place;
}

TypeId Assignment::ContentOf(const Leaf& leaf) const {
  if (!leaf.block) {
    return {};
  }
  const TypeKind kind = types_[leaf.type].kind;
  const bool holder = kind == TypeKind::kConstantBuffer || kind == TypeKind::kParameterBlock ||
                      kind == TypeKind::kResource;
  return holder ? types_[leaf.type].element : leaf.type;
}

std::optional<Rules> Assignment::RulesOf(uint32_t order, const Leaf& leaf) const {
  if (!leaf.block) {
    return std::nullopt;
  }
  const Parameter& parameter = *items_[order].parameter;
  const Type& type = types_[leaf.type];
  if (parameter.rules) {
    return parameter.rules;
  }
  if (type.kind == TypeKind::kResource) {
    const bool texture_buffer = type.resource == ResourceClass::kTextureBuffer &&
                                UniformRules(program_) == Rules::kD3dCbuffer;
    return texture_buffer ? Rules::kD3dCbuffer : StorageRules(program_);
  }
  return parameter.role == Role::kPush ? PushRules(program_) : UniformRules(program_);
}

// --- 6: the bytes of loose globals ---

void Assignment::GatherGlobals() {
  if (!out_.globals) {
    return;
  }
  std::vector<Member> members;
  uint32_t first = 0;
  for (uint32_t i = 0; i < items_.size(); ++i) {
    if (NeedsBuffer(i)) {
      first = members.empty() ? i : first;
      members.push_back({.name = items_[i].parameter->name,
                         .type = items_[i].parameter->type,
                         .offset = items_[i].member_offset.value_or(kAutomatic)});
    }
  }
  out_.globals->content = types_.Struct(kGlobalsName, members);
  if (slots() && OnSlots(out_.globals->place.kind)) {
    out_.globals->place = Shifted(kGlobalsOwner, out_.globals->place);
  }
  CheckBlock(program_, bytes_,
             {.name = kGlobalsName,
              .content = out_.globals->content,
              .rules = out_.globals->rules,
              .use = BlockUse::kUniform,
              .where = items_[first].parameter->where,
              .loose = true},
             first, &items_[first], findings_);
}

void Assignment::CheckBlocks(uint32_t order) {
  for (const PlacedLeaf& leaf : out_.parameters[order].leaves) {
    if (!leaf.content.valid()) {
      continue;
    }
    const Type& type = types_[leaf.type];
    BlockUse use = BlockUse::kUniform;
    if (type.kind == TypeKind::kResource) {
      use = type.extent != 0 ? BlockUse::kStorage : BlockUse::kElement;
    } else if (out_.parameters[order].role == Role::kPush) {
      use = BlockUse::kPush;
    }
    CheckBlock(program_, bytes_,
               {.name = leaf.path,
                .content = leaf.content,
                .rules = *leaf.rules,
                .use = use,
                .where = items_[order].parameter->where},
               order, &items_[order], findings_);
  }
}

// --- checks over the whole program ---

// Classes with a shift are numbered apart, so only now can it be seen whether they meet.
void Assignment::CheckOverlapOfShifted() {
  Allocator slots;
  const auto claim = [&](const Place& place, uint64_t count, Owner owner) {
    return slots.Claim(place.space, Kind::kSlot, {.first = place.index, .count = count}, owner);
  };
  if (out_.globals) {
    claim(out_.globals->place, 1, kGlobalsOwner);
  }
  for (uint32_t order = 0; order < out_.parameters.size(); ++order) {
    for (const PlacedLeaf& leaf : out_.parameters[order].leaves) {
      for (const Place& place : leaf.places) {
        if (place.kind != Kind::kSlot || leaf.dynamic_offset) {
          continue;
        }
        if (const auto conflict = claim(place, leaf.slots, order)) {
          Overlap(order, conflict->other,
                  {.kind = Kind::kSlot, .space = place.space, .index = conflict->first});
        }
      }
    }
  }
}

// RPL has one for the whole program.
void Assignment::CheckOnePush() {
  std::optional<uint32_t> first;
  for (uint32_t i = 0; i < items_.size(); ++i) {
    if (items_[i].parameter->role != Role::kPush) {
      continue;
    }
    if (first) {
      Add(i, About(i, Code::kRpl4054).With("other", items_[*first].parameter->name));
      return;
    }
    first = i;
  }
}

// An entry point sees the global push constants it names, or all, and that of its own parameters.
void Assignment::CheckPushes() {
  if (rpl()) {
    CheckOnePush();
    return;
  }
  for (const Unit& unit : program_.units) {
    for (const EntryPoint& entry : unit.entry_points) {
      const std::string own = "<" + std::string(entry.name) + ">";
      std::optional<uint32_t> first;
      for (uint32_t i = 0; i < items_.size(); ++i) {
        const Parameter& parameter = *items_[i].parameter;
        const bool global = items_[i].ordinal != Finding::kNone;
        const bool seen = global
                              ? !entry.pushes || std::ranges::find(*entry.pushes, parameter.name) !=
                                                     entry.pushes->end()
                              : parameter.name == own;
        if (parameter.role != Role::kPush || !seen) {
          continue;
        }
        if (first) {
          Add(i, About(i, Code::kLay3006)
                     .With("entry", entry.name)
                     .With("other", items_[*first].parameter->name));
          break;
        }
        first = i;
      }
    }
  }
}

}  // namespace kiln::layout
