// SPDX-License-Identifier: MIT
// Pipeline metadata as protobuf's own JSON, and back: for tools, which link protobuf; engines do
// not.
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/result.h"

namespace kiln::artifact {

// lowerCamelCase members, default values printed, two spaces of indentation.
// Errors: METADATA_INVALID, LIMIT.
Result<std::string> MetadataJson(ByteView bytes);

// The serialised message of such JSON; members that are not known are ignored.
// Errors: METADATA_INVALID, LIMIT.
Result<Bytes> MetadataFromJson(std::string_view json);

}  // namespace kiln::artifact
