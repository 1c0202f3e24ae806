// SPDX-License-Identifier: MIT
// The field numbers of pipeline metadata as constants: kBufferMainSize is number 4.
#pragma once

#include <cstdint>

namespace kiln::metadata {

#define KILN_FIELD(message, camel, name, number) \
  inline constexpr uint32_t k##message##camel = number;
#include "compiler/emit/metadata/fields.def"

}  // namespace kiln::metadata
