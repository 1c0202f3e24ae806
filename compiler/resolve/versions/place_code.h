// SPDX-License-Identifier: MIT
// Place parameters in the rows of a region: what they stand for in this version, the place itself,
// and what a place that a call names is. See docs/IR.md, "Place parameters".
#pragma once

#include <optional>
#include <span>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/specialise/region_builder.h"
#include "compiler/resolve/versions/place_parameters.h"

namespace kiln::resolve {

// By LocalId of the program; asks which version this is if the function has such parameters.
FlatMap<uint32_t, PlaceRoot> PlacesOf(const RegionBuilder& region);

// Whether what has the type `given` may be passed for a parameter: the types are equal, but images
// may differ in their formats and in what is known of depths, as the version is of the image
// itself.
bool StandsFor(const ir::Pool& pool, ir::TypeId given, ir::TypeId parameter);

// The type of what steps lead to from a place of a row.
ir::TypeId PlaceType(const RegionBuilder& region, ir::InstId root, std::span<const uint32_t> steps);

// The place; `type` is that of the parameter. An invalid id: what it lies in failed, which was
// said.
ir::InstId EmitPlace(RegionBuilder& region, const PlaceRoot& root, ir::TypeId type);

// What a place that was emitted is; nothing if it is not one thing outside of the function, which
// is then said.
std::optional<PlaceRoot> RootOf(RegionBuilder& region, ir::InstId place);

}  // namespace kiln::resolve
