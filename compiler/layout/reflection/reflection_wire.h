// SPDX-License-Identifier: MIT
// Private to the reflection: its JSON -> the protobuf message LayoutReflection
// (proto/kiln/v1/layout.proto), by a table of names and field numbers.
#pragma once

#include <nlohmann/json.hpp>

#include "compiler/base/bytes.h"

namespace kiln::layout {

// Bytes as protobuf's own deterministic serialiser writes them. Requires: JSON of the reflection,
// whose every member is in the table.
Bytes ReflectionWire(const nlohmann::ordered_json& reflection);

}  // namespace kiln::layout
