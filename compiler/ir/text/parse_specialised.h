// SPDX-License-Identifier: MIT
// Reads the text of a specialised variant, which print_specialised.h writes, so that tests of the
// stages behind specialising can be written in it. The text is trusted to mean something: Verify
// says whether it does.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/ir/specialised.h"

namespace kiln::ir {

// A specialised variant and everything that it refers to. Ids count from 0 in the order of the
// text.
struct ParsedVariant {
  std::unique_ptr<Pool> pool;
  std::vector<std::unique_ptr<SpecialisedDecl>> decls;      // interface, then signatures
  std::vector<std::unique_ptr<SpecialisedDecl>> structs;    // without ids
  std::vector<std::unique_ptr<SpecialisedRegion>> regions;  // in the order of the text
  std::vector<std::unique_ptr<FunctionRef>> functions;      // the same
  std::vector<SpecialisedSetting> settings;
  SpecialisedProgram variant;
};
// Errors: kInvalidArgument, with line and reason.
Result<ParsedVariant> ParseVariant(std::string_view text);

}  // namespace kiln::ir
