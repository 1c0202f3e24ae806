// SPDX-License-Identifier: MIT
#include "compiler/layout/engine/locations.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "compiler/layout/split.h"

namespace kiln::layout {
namespace {

constexpr std::string_view kTarget = "SV_Target";

// Semantics are compared without regard to case, in ASCII alone: the locale must not decide.
bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

// Locations of a value; saturates.
// Recursion is as deep as types nest, which has a limit.
uint64_t WidthOf(const Program& program, const Types& types, TypeId id) {
  const Type& type = types[id];
  const auto vector = [&](uint32_t components) -> uint64_t {
    // A vector of three or four 64-bit components needs two locations on Vulkan (spec/layout 9.1).
    const bool wide =
        ScalarSize(type.scalar) == 8 && components > 2 && program.platform == Platform::kVulkan;
    return wide ? 2 : 1;
  };
  switch (type.kind) {
    case TypeKind::kVector:
      return vector(type.rows);
    case TypeKind::kMatrix:
      return program.settings.matrices_by_row ? type.rows * vector(type.columns)
                                              : type.columns * vector(type.rows);
    case TypeKind::kArray:
      return MultiplyCounts(type.extent, WidthOf(program, types, type.element));
    case TypeKind::kRuntimeArray:
      return kUnbounded;
    case TypeKind::kStruct: {
      uint64_t width = 0;
      for (const Member& member : types.Members(id)) {
        width = AddCounts(width, WidthOf(program, types, member.type));
      }
      return width;
    }
    case TypeKind::kGeneric:
      return kUnknown;
    case TypeKind::kEndless:
      return kUnbounded;
    // Resources are no part of an interface between stages.
    case TypeKind::kResource:
    case TypeKind::kConstantBuffer:
    case TypeKind::kParameterBlock:
      return 0;
  }
  return 0;
}

// What is inherited from an enclosing parameter or struct.
struct LocationInheritance {
  std::optional<uint64_t> location;
  std::string_view semantic;
  uint64_t semantic_index = 0;
  std::string_view interpolation;
};

// One direction of one entry point. Structs are flattened to leaves; a location or a semantic that
// is written on something with fields counts on through them. Written locations are claimed first,
// then the others take what is free in order, so that they never push a written one aside. Either
// all leaves of a direction have a location or none: mixing them is an error (LAY2007).
class OneDirection {
 public:
  OneDirection(const Program& program, const Types& types, Findings& findings, uint32_t order)
      : program_(program), types_(types), findings_(findings), order_(order) {}

  // A varying may have fields of its own, with words of their own, or be of a struct type.
  void Add(const Varying& varying) {
    LocationInheritance none;
    Flatten(varying, std::string(varying.name), none);
  }

  // Written locations first: see above.
  std::vector<PlacedVarying> Finish() {
    const auto written = std::ranges::find_if(
        leaves_, [](const LeafVarying& leaf) { return leaf.location.has_value(); });
    for (uint32_t i = 0; i < leaves_.size(); ++i) {
      Claim(i, written == leaves_.end() ? nullptr : &*written);
    }
    // Built-in variables and what has no width take no location.
    for (uint32_t i = 0; i < leaves_.size(); ++i) {
      LeafVarying& leaf = leaves_[i];
      if (leaf.placed.builtin.empty() && !leaf.placed.location && leaf.placed.count != 0) {
        const auto first = table_.FirstFit(0, Kind::kSlot, leaf.placed.count, i);
        leaf.placed.location = static_cast<uint32_t>(first.value_or(0));
      }
    }
    std::vector<PlacedVarying> placed;
    for (LeafVarying& leaf : leaves_) {
      placed.push_back(std::move(leaf.placed));
    }
    return placed;
  }

 private:
  struct LeafVarying {
    PlacedVarying placed;
    std::optional<uint64_t> location;  // written
    Location where;
  };

  void Flatten(const Varying& varying, const std::string& path, LocationInheritance& from);
  void Members(const Varying& varying, TypeId type, const std::string& path,
               LocationInheritance& from);
  void Leaf(const Varying& varying, TypeId type, const std::string& path,
            LocationInheritance& from);
  void Claim(uint32_t i, const LeafVarying* written);

  const Program& program_;
  const Types& types_;
  Findings& findings_;
  uint32_t order_;
  std::vector<LeafVarying> leaves_;
  Allocator table_;
};

// Passes words on from the outside in. On the way back the counters come out again, so that
// fields behind this one go on where it ended.
void OneDirection::Flatten(const Varying& varying, const std::string& path,
                           LocationInheritance& from) {
  LocationInheritance own = from;
  // The outer one wins, as HLSL has it for semantics (spec/layout 9.1).
  if (!own.location && varying.location) {
    own.location = *varying.location;
  }
  if (own.semantic.empty() && !varying.semantic.empty()) {
    own.semantic = varying.semantic;
    own.semantic_index = varying.semantic_index;
  }
  // Interpolation is the other way round: what is written further inside is meant.
  if (!varying.interpolation.empty()) {
    own.interpolation = varying.interpolation;
  }
  if (varying.fields.empty()) {
    Members(varying, varying.type, path, own);
  } else {
    for (const Varying& field : varying.fields) {
      Flatten(field, fmt::format("{}.{}", path, field.name), own);
    }
  }
  // What is behind goes on counting where this one ended.
  if (from.location) {
    from.location = own.location;
  }
  if (!from.semantic.empty()) {
    from.semantic_index = own.semantic_index;
  }
}

// Fields of a struct type have no words of their own: all of them come from outside.
void OneDirection::Members(const Varying& varying, TypeId type, const std::string& path,
                           LocationInheritance& from) {
  // A type with too many leaves is not flattened: its size is refused at the leaf.
  if (types_[type].kind != TypeKind::kStruct || types_[type].path_count > kMaxPaths ||
      !varying.builtin.empty()) {
    Leaf(varying, type, path, from);
    return;
  }
  for (const Member& member : types_.Members(type)) {
    Members(varying, member.type, fmt::format("{}.{}", path, member.name), from);
  }
}

// A leaf takes as many locations as it is wide, and as many numbers of its semantic.
void OneDirection::Leaf(const Varying& varying, TypeId type, const std::string& path,
                        LocationInheritance& from) {
  LeafVarying leaf{.placed = {.path = path,
                              .type = type,
                              .semantic = from.semantic,
                              .semantic_index = static_cast<uint32_t>(from.semantic_index),
                              .builtin = varying.builtin,
                              .interpolation = from.interpolation},
                   .where = varying.where};
  if (varying.builtin.empty()) {
    const uint64_t width = WidthOf(program_, types_, type);
    // A width beyond the limit would make the table of numbers useless.
    if (width > kMaxCount) {
      const Code code = width == kUnknown ? Code::kLay1002 : Code::kLay1001;
      findings_.Add(Make(code, varying.where).With("name", path), order_);
      return;
    }
    leaf.placed.count = static_cast<uint32_t>(width);
    leaf.location = from.location;
    if (from.location) {
      *from.location += width;
    }
    from.semantic_index += width;
  }
  leaves_.push_back(std::move(leaf));
}

// Takes the locations that are written, or that a semantic stands for.
void OneDirection::Claim(uint32_t i, const LeafVarying* written) {
  LeafVarying& leaf = leaves_[i];
  if (!leaf.placed.builtin.empty() || leaf.placed.count == 0) {
    return;
  }
  std::optional<uint64_t> location = leaf.location;
  // A semantic of a colour output is its location.
  if (!location && SameIgnoringCase(leaf.placed.semantic, kTarget)) {
    location = leaf.placed.semantic_index;
  } else if (!location && written != nullptr) {
    // Some leaf of this direction has a written location, so each must.
    findings_.Add(Make(Code::kLay2007, leaf.where)
                      .With("name", leaf.placed.path)
                      .With("other", written->placed.path)
                      .Label(LabelKind::kOtherHere, written->where),
                  order_);
    return;
  }
  if (!location) {
    return;
  }
  leaf.placed.location = static_cast<uint32_t>(*location);
  const auto conflict =
      table_.Claim(0, Kind::kSlot, {.first = *location, .count = leaf.placed.count}, i);
  if (conflict) {
    findings_.Add(Make(Code::kLay2001, leaf.where)
                      .With("name", leaf.placed.path)
                      .With("other", leaves_[conflict->other].placed.path)
                      .With("place", fmt::format("location {}", conflict->first))
                      .Label(LabelKind::kOtherHere, leaves_[conflict->other].where),
                  order_);
  }
}

// In and out are two interfaces: the same location may be in both.
void PlaceEntry(const Program& program, const Types& types, const EntryPoint& entry,
                Findings& findings, ProgramLayout& out) {
  // Behind all parameters: findings of entry points come last.
  const auto order = static_cast<uint32_t>(out.parameters.size());
  OneDirection in(program, types, findings, order);
  OneDirection outgoing(program, types, findings, order);
  for (const EntryParameter& parameter : entry.parameters) {
    if (parameter.varying) {
      (parameter.varying->direction == Direction::kIn ? in : outgoing).Add(*parameter.varying);
    }
  }
  out.entries.push_back(
      {.name = entry.name, .stage = entry.stage, .in = in.Finish(), .out = outgoing.Finish()});
}

// Policy rpl: one counter of vertex buffers, and one of locations per role.
// spec/layout 9.2: containers of RPL count without a look at what is written.
class Containers {
 public:
  explicit Containers(const Types& types) : types_(types) {}

  PlacedContainer Place(const Container& container, uint32_t unit) {
    const bool attributes =
        container.role == ContainerRole::kVertex || container.role == ContainerRole::kInstance;
    PackedBlock block = PackAttributes(types_, container.fields);
    PlacedContainer placed{.name = container.name, .unit = unit, .role = container.role};
    if (attributes) {
      placed.binding = next_binding_++;
      placed.size = block.stride;
    }
    // Roles have counters of their own, because they are different interfaces.
    uint32_t& next = attributes                                ? next_attribute_
                     : container.role == ContainerRole::kState ? next_state_
                                                               : next_output_;
    for (PackedPlace& field : block.places) {
      field.location = next;
      next += field.location_count;
    }
    placed.fields = std::move(block.places);
    return placed;
  }

 private:
  const Types& types_;
  uint32_t next_binding_ = 0;
  uint32_t next_attribute_ = 0;
  uint32_t next_state_ = 0;
  uint32_t next_output_ = 0;
};

}  // namespace

// Nothing if the varying is no colour output.
std::optional<uint32_t> TargetIndex(const Varying& varying) {
  if (varying.direction != Direction::kOut || !SameIgnoringCase(varying.semantic, kTarget)) {
    return std::nullopt;
  }
  return varying.semantic_index;
}

// Units in order, and in each first the containers, then the entry points.
void PlaceVaryings(const Program& program, const Types& types, Findings& findings,
                   ProgramLayout& out) {
  Containers containers(types);
  for (uint32_t unit = 0; unit < program.units.size(); ++unit) {
    for (const Container& container : program.units[unit].containers) {
      out.containers.push_back(containers.Place(container, unit));
    }
    for (const EntryPoint& entry : program.units[unit].entry_points) {
      PlaceEntry(program, types, entry, findings, out);
    }
  }
}

}  // namespace kiln::layout
