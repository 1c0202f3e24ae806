// SPDX-License-Identifier: MIT
// A source and entry points in; SPIR-V as text, metadata and the codes of messages out. Words that
// do not pass the validator are a failure of the test.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/artifact/metadata.h"
#include "compiler/target/target.h"

namespace kiln::language {

struct Built {
  std::string codes;  // of errors and warnings: "RPL6044 RPL8113"
  std::string text;   // of all modules
  std::optional<artifact::PipelineMetadata> metadata;
};

// `entries` is "vertex:v fragment:f"; a compute entry makes a compute pipeline, and so does
// "compute" alone. Sources that do not begin with "rpl 1;" are of version 2. `options` is
// "name=value name=value".
Built Build(std::string_view source, std::string_view entries,
            target::Environment environment = target::Environment::kVulkan11,
            std::string_view options = "");

// The same as version 1.
Built BuildVersion1(std::string_view source, std::string_view entries);
Built BuildVersion1Body(std::string_view stage, std::string_view body, std::string_view decls);

// The codes in ascending order.
std::string SortedCodes(const Built& built);

// A function body in one stage, around it everything that rows mention.
Built BuildBody(std::string_view stage, std::string_view body, std::string_view decls = "",
                target::Environment environment = target::Environment::kVulkan11);

}  // namespace kiln::language
