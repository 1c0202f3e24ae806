// SPDX-License-Identifier: MIT
// Every number that was decided for one program, as flat tables in global order. What the text
// dump, the reflection and the adapters of front ends read. See spec/layout 14.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/layout/attributes.h"
#include "compiler/layout/program.h"
#include "compiler/layout/split.h"

namespace kiln::layout {

// `count` numbers of one kind in one space. Whole spaces: kind kSpace, `index` is the first.
struct Place {
  Kind kind = Kind::kSlot;
  uint32_t space = 0;
  uint64_t index = 0;
  uint64_t count = 1;  // registers; on slot targets items of the descriptor
  friend bool operator==(const Place&, const Place&) = default;
};

struct PlacedLeaf {
  std::string path;
  TypeId type{};
  std::vector<Place> places;  // a combined one has two on D3D; a subpass input also an attachment
  uint32_t slots = 1;         // slot targets: consecutive ones from the first place
  std::vector<uint64_t> strides;
  // The block of bytes or the element that it holds.
  std::optional<Rules> rules;
  TypeId content{};
  bool data = false;
  bool dynamic_offset = false;  // push constants that are a uniform buffer
};

// A diagnostic and what it is about, so that a front end can say it in its own words.
struct Finding {
  static constexpr uint32_t kNone = 0xffffffffu;
  Diagnostic diagnostic;
  uint32_t order = 0;  // place in the global order
  uint32_t unit = kNone;
  uint32_t parameter = kNone;  // of the unit
  uint32_t member = kNone;     // outermost member of the block
};

struct PlacedParameter {
  std::string_view name;
  uint32_t unit = 0;     // of the first declaration
  uint32_t ordinal = 0;  // there; Finding::kNone: of an entry point
  TypeId type{};
  Role role = Role::kResource;
  bool is_explicit = false;  // some number of it was written by the author
  bool absent = false;
  bool block = false;           // a parameter block, or an array of them; bound by its spaces
  std::optional<Place> spaces;  // that it owns whole
  std::vector<Place> runs;      // per kind in its home space
  std::vector<PlacedLeaf> leaves;
  std::optional<uint64_t> spec_id;
};

// The implicit buffer of loose globals.
struct GlobalsBlock {
  Place place;
  Rules rules = Rules::kStd140;
  TypeId content{};
};

struct PlacedVarying {
  std::string path;
  TypeId type{};
  std::optional<uint32_t> location;
  uint32_t count = 0;  // locations
  std::string_view semantic;
  uint32_t semantic_index = 0;
  std::string_view builtin;
  std::string_view interpolation;
};

struct PlacedEntry {
  std::string_view name;
  std::string_view stage;
  std::vector<PlacedVarying> in;
  std::vector<PlacedVarying> out;
};

// A container of vertex data, or of varyings (then `fields` has only locations).
struct PlacedContainer {
  std::string_view name;
  uint32_t unit = 0;
  ContainerRole role = ContainerRole::kVertex;
  uint32_t binding = 0;  // of vertex data
  uint32_t size = 0;
  std::vector<PackedPlace> fields;  // parallel to those of the container
};

struct ProgramLayout {
  std::vector<PlacedParameter> parameters;
  std::optional<GlobalsBlock> globals;
  std::vector<PlacedEntry> entries;
  std::vector<PlacedContainer> containers;
  std::vector<Finding> findings;  // errors and warnings in global order; at most 100 errors

  bool ok() const;
};

// The error limit of one program.
inline constexpr size_t kMaxErrors = 100;

// "t3[4],space0", "set1.2", "group1.2", "push", "space0..1": spec/layout 14.2.
std::string PlaceText(Platform platform, const Place& place);
// The same without count and, on D3D, without space 0: for messages.
std::string PlaceInMessage(Platform platform, const Place& place);
std::string_view KindText(Kind kind);  // "b"

}  // namespace kiln::layout
