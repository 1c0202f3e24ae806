// SPDX-License-Identifier: MIT
// Place parameters in the rows of a region: what they stand for in this version, the place itself,
// and what a place that a call names is. See docs/IR.md, "Place parameters".
#pragma once

#include <optional>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/specialise/region_builder.h"
#include "compiler/resolve/versions/place_parameters.h"

namespace kiln::resolve {

// By LocalId of the program; asks which version this is if the function has such parameters.
FlatMap<uint32_t, PlaceRoot> PlacesOf(const RegionBuilder& region);

// The place, of that type. An invalid id: what it lies in failed, which was said.
ir::InstId EmitPlace(RegionBuilder& region, const PlaceRoot& root, ir::TypeId type);

// What a place that was emitted is; nothing if it is not one thing outside of the function, which
// is then said.
std::optional<PlaceRoot> RootOf(RegionBuilder& region, ir::InstId place);

}  // namespace kiln::resolve
