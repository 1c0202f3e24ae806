// SPDX-License-Identifier: MIT
// Numbers were given by kind, in spaces and classes of the author; records say places of the
// target. Shifts turn numbers of register classes into slots only here, so whether two of them meet
// can be seen only here, too; everything else that overlaps was found when the numbers were given.
#include "compiler/layout/engine/engine_records.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/flat_map.h"
#include "compiler/layout/engine/faults.h"
#include "compiler/layout/engine/reserved.h"

namespace kiln::layout {
namespace {

// Kinds that are register classes and become slots by a shift.
bool OnSlots(Kind kind) {
  return kind == Kind::kB || kind == Kind::kT || kind == Kind::kU || kind == Kind::kS;
}

}  // namespace

// Parameters first, since the buffer of loose globals is described last; then the checks, which
// look at what was written down.
void RecordWriter::Write() {
  const auto count = static_cast<uint32_t>(items_.size());
  for (uint32_t i = 0; i < count; ++i) {
    Publish(i);
  }
  GatherGlobals();
  if (state_.shifted()) {
    CheckOverlapOfShifted();
  }
  for (uint32_t i = 0; i < count; ++i) {
    CheckBlocks(i);
  }
  CheckPushes();
}

void RecordWriter::Publish(uint32_t order) {
  const Item& item = items_[order];
  const Parameter& parameter = *item.parameter;
  ItemState& measured = measured_[order];
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
  // What got no number, because of an error, has no row.
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
  if (state_.shifted()) {
    NumberShiftedBlocks(order);
  }
  placed.leaves.reserve(measured.demands.leaves.size());
  // Paths and strides are moved out, since the state is not needed afterwards.
  for (Leaf& leaf : measured.demands.leaves) {
    placed.leaves.push_back(PublishLeaf(order, leaf));
  }
  out_.parameters.push_back(std::move(placed));
}

PlacedLeaf RecordWriter::PublishLeaf(uint32_t order, Leaf& leaf) {
  PlacedLeaf placed{.path = std::move(leaf.path),
                    .type = leaf.type,
                    .strides = std::move(leaf.strides),
                    .rules = RulesOf(order, leaf),
                    .content = ContentOf(leaf),
                    .data = leaf.data};
  // A leaf may have several places: a texture and its sampler, a buffer and its counter.
  for (const LeafPart& part : leaf.used_parts()) {
    if (const std::optional<Place> place = PlaceOf(order, leaf, part)) {
      placed.places.push_back(*place);
    }
    // Attachments are no slots and do not count.
    if (state_.slots() && part.kind != Kind::kAttachment) {
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
  CheckReserved(order, leaf, placed);
  return placed;
}

// Runs in the home space were checked when they were given; here are those of blocks and classes.
void RecordWriter::CheckReserved(uint32_t order, const Leaf& leaf, const PlacedLeaf& placed) {
  const bool checked = leaf.parts[0].group == 0 && !OnSlots(leaf.parts[0].kind);
  if (checked || program_.platform != Platform::kWebgpu || placed.places.empty()) {
    return;
  }
  const Place& first = placed.places.front();
  if (first.index + placed.slots > kFirstReserved) {
    state_.Add(order, Make(Code::kLay2008, items_[order].parameter->where)
                          .With("place", PlaceInMessage(program_.platform, first))
                          .With("name", placed.path));
  }
}

// Inside parameter blocks, too, classes that have a shift in the space of the block are numbered
// apart. Which space that is, is known only now. Items of an array of blocks are alike, so the
// first decides for all.
void RecordWriter::NumberShiftedBlocks(uint32_t order) {
  ItemState& measured = measured_[order];
  if (!measured.first_space) {
    return;
  }
  // Each space of the parameter counts from zero.
  FlatMap<uint64_t, std::array<uint64_t, kKindCount>> next;  // by space of the parameter
  for (Leaf& leaf : measured.demands.leaves) {
    const Kind register_class = RegisterClassOf(types_[leaf.type]);
    for (LeafPart& part : leaf.used_parts()) {
      if (part.group == 0 || part.kind != Kind::kSlot) {
        continue;
      }
      const auto space = static_cast<uint32_t>(*measured.first_space + part.group - 1);
      if (ShiftOf(program_.settings, register_class, space)) {
        part.kind = register_class;
      }
      uint64_t& number = (*next.Insert(part.group, {}).first)[static_cast<size_t>(part.kind)];
      part.offset = number;
      number += part.count;
    }
  }
}

// The place of one part of a leaf, from the base that its parameter got and its offset inside.
// Nothing if the parameter got no numbers, because of an error that was reported.
std::optional<Place> RecordWriter::PlaceOf(uint32_t order, const Leaf& leaf, const LeafPart& part) {
  ItemState& measured = measured_[order];
  Place place{.kind = part.kind, .count = state_.slots() ? leaf.items : part.count};
  if (part.kind == Kind::kPush) {
    const bool uniform = program_.platform == Platform::kWebgpu &&
                         program_.settings.webgpu_push == WebgpuPush::kUniform;
    return uniform ? Place{.kind = Kind::kSlot, .space = kMaxGroup, .index = kPushBinding}
                   : Place{.kind = Kind::kPush};
  }
  // The part lies in a space of the parameter itself; there numbers begin at zero.
  if (part.group != 0) {
    if (!measured.first_space) {
      return std::nullopt;
    }
    place.space = static_cast<uint32_t>(*measured.first_space + part.group - 1);
    place.index = part.offset;
    return state_.slots() && OnSlots(part.kind) ? Shifted(order, place) : place;
  }
  const bool unbounded = part.count >= kUnbounded;
  const auto& base =
      unbounded ? measured.unbounded[static_cast<size_t>(part.kind)] : measured.base(part.kind);
  if (!base) {
    return std::nullopt;
  }
  place.space = base->space;
  place.index = base->index + part.offset;
  return state_.slots() && OnSlots(part.kind) ? Shifted(order, place) : place;
}

// A number of a register class as the slot that it becomes.
Place RecordWriter::Shifted(uint32_t order, Place place) {
  const int64_t shift = ShiftOf(program_.settings, place.kind, place.space).value_or(0);
  // Signed, because a shift may be negative.
  const int64_t slot = static_cast<int64_t>(place.index) + shift;
  if (slot < 0 || slot >= static_cast<int64_t>(kEndOfNumbers)) {
    const std::string text = fmt::format("{}{}", KindText(place.kind), place.index);
    if (order == kGlobalsOwner) {
      findings_.Add(Make(Code::kLay2006, {}).With("text", text).With("name", kGlobalsName), 0);
    } else {
      state_.Add(order, state_.About(order, Code::kLay2006).With("text", text));
    }
  }
  place.kind = Kind::kSlot;
  place.index = static_cast<uint64_t>(std::max<int64_t>(slot, 0));
  return place;
}

// The type whose bytes the block holds: the element of a buffer, or the type itself.
TypeId RecordWriter::ContentOf(const Leaf& leaf) const {
  if (!leaf.block) {
    return {};
  }
  const TypeKind kind = types_[leaf.type].kind;
  const bool holder = kind == TypeKind::kConstantBuffer || kind == TypeKind::kParameterBlock ||
                      kind == TypeKind::kResource;
  return holder ? types_[leaf.type].element : leaf.type;
}

// Which rules place the bytes: what the parameter says, else what its kind has on this target.
std::optional<Rules> RecordWriter::RulesOf(uint32_t order, const Leaf& leaf) const {
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

// The members are known only now; the number of the buffer was given before, since it does not
// depend on its content.
void RecordWriter::GatherGlobals() {
  if (!out_.globals) {
    return;
  }
  std::vector<Member> members;
  uint32_t first = 0;
  for (uint32_t i = 0; i < items_.size(); ++i) {
    // In the order of the items, which is that of the program.
    if (state_.NeedsBuffer(i)) {
      first = members.empty() ? i : first;
      members.push_back({.name = items_[i].parameter->name,
                         .type = items_[i].parameter->type,
                         .offset = items_[i].member_offset.value_or(kAutomatic)});
    }
  }
  out_.globals->content = types_.Struct(kGlobalsName, members);
  if (state_.slots() && OnSlots(out_.globals->place.kind)) {
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

void RecordWriter::CheckBlocks(uint32_t order) {
  for (const PlacedLeaf& leaf : out_.parameters[order].leaves) {
    if (!leaf.content.valid()) {
      continue;
    }
    const Type& type = types_[leaf.type];
    // The use decides which limits apply.
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

bool RecordWriter::IsShifted(uint32_t order, size_t leaf) const {
  return OnSlots(measured_[order].demands.leaves[leaf].parts[0].kind);
}

// Classes with a shift are numbered apart, so only now can it be seen whether they meet; also
// within one parameter. Every number is claimed once more, as a slot. What was not shifted was
// found to be free of overlaps before, so of two that meet one at least is shifted.
void RecordWriter::CheckOverlapOfShifted() {
  struct RangeClaim {
    std::string_view name;
    uint32_t order = kGlobalsOwner;
    bool is_shifted = true;
  };
  Allocator slots;
  std::vector<RangeClaim> owners;
  // The buffer of globals is owner 0, if there is one.
  if (out_.globals) {
    const Place& place = out_.globals->place;
    owners.push_back(
        {.name = kGlobalsName, .is_shifted = state_.BufferKind(place.space) == Kind::kB});
    slots.Claim(place.space, Kind::kSlot, {.first = place.index}, 0);
  }
  const auto claim = [&](const Place& place, const PlacedLeaf& leaf) {
    const RangeClaim& mine = owners.back();
    const auto aliasing = items_[mine.order].parameter->may_alias ? Allocator::Aliasing::kAllowed
                                                                  : Allocator::Aliasing::kForbidden;
    const auto conflict =
        slots.Claim(place.space, Kind::kSlot, {.first = place.index, .count = leaf.slots},
                    static_cast<Owner>(owners.size() - 1), aliasing);
    if (!conflict || (!mine.is_shifted && !owners[conflict->other].is_shifted)) {
      return;  // two plain slots have met before
    }
    const RangeClaim& other = owners[conflict->other];
    const Place at{.kind = Kind::kSlot, .space = place.space, .index = conflict->first};
    Diagnostic diagnostic = Make(Code::kLay2001, items_[mine.order].parameter->where)
                                .With("name", mine.name)
                                .With("other", other.name)
                                .With("place", PlaceInMessage(program_.platform, at));
    if (other.order < items_.size()) {
      diagnostic.labels.push_back(
          {.kind = LabelKind::kOtherHere, .where = items_[other.order].parameter->where});
    }
    state_.Add(mine.order, std::move(diagnostic));
  };
  for (uint32_t order = 0; order < out_.parameters.size(); ++order) {
    const std::vector<PlacedLeaf>& leaves = out_.parameters[order].leaves;
    for (size_t i = 0; i < leaves.size(); ++i) {
      owners.push_back({.name = leaves[i].path, .order = order, .is_shifted = IsShifted(order, i)});
      for (const Place& place : leaves[i].places) {
        if (place.kind == Kind::kSlot && !leaves[i].dynamic_offset) {
          claim(place, leaves[i]);
        }
      }
    }
  }
}

// RPL has one for the whole program.
void RecordWriter::CheckOnePush() {
  std::optional<uint32_t> first;
  // The first push constant is right; the second one is told.
  for (uint32_t i = 0; i < items_.size(); ++i) {
    if (items_[i].parameter->role != Role::kPush) {
      continue;
    }
    if (first) {
      state_.Add(i, state_.About(i, Code::kRpl4054).With("other", items_[*first].parameter->name));
      return;
    }
    first = i;
  }
}

// An entry point sees the global push constants it names, or all, and that of its own parameters.
void RecordWriter::CheckPushes() {
  if (state_.rpl()) {
    CheckOnePush();
    return;
  }
  for (const Unit& unit : program_.units) {
    for (const EntryPoint& entry : unit.entry_points) {
      // The name of the gathered parameters of this entry point (global_order).
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
          state_.Add(i, state_.About(i, Code::kLay3006)
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
