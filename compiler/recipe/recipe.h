// SPDX-License-Identifier: MIT
// What is done to finished SPIR-V: validating, optimising, translating to MSL, GLSL or HLSL,
// showing. One recipe and the bytes of a module -> bytes, or a report of what is wrong with it. The
// libraries behind it were not written for hostile input: run this in a process that may die.
// See spec/architecture 4 step 8; spec/cache 2.4.6; spec/daemon 12
//
//   val;env=vulkan1.1          the same bytes
//   opt;level=O;val=after      SPIR-V; level O (speed) or Os (size); val: after or none
//   cross;to=msl2.3            text; to: msl1.0 to msl3.0, glsl330 to glsl460, glsl300es to
//                              glsl320es, hlsl50 to hlsl66
//   dis                        text of the assembler, to be looked at; no recipe of a target
#pragma once

#include <string>
#include <string_view>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "compiler/target/target.h"

namespace kiln::recipe {

enum class Kind : uint8_t { kValidate, kOptimize, kTranslate, kDisassemble };

enum class Language : uint8_t { kMsl, kGlsl, kHlsl };

// What a translation makes.
struct Dialect {
  Language language = Language::kGlsl;
  uint32_t version = 450;  // MSL 2.3: 20300; GLSL 4.50: 450; HLSL shader model 6.0: 60
  bool es = false;         // of GLSL
};

struct Recipe {
  Kind kind = Kind::kValidate;
  target::Environment environment = target::Environment::kVulkan11;
  bool small = false;           // kOptimize: level Os
  bool validate_after = false;  // kOptimize
  Dialect dialect;              // kTranslate
  std::string text;             // canonical: settings sorted, all that matter are there
};

// `environment`: for those that name none. Errors: kInvalidArgument, RECIPE_WRONG, saying what
// would be accepted.
Result<Recipe> ParseRecipe(std::string_view text, target::Environment environment);

struct RecipeResult {
  bool ok = false;
  Bytes bytes;         // of kValidate the input
  std::string report;  // what a library had to say; if not ok, why
};

// Never fails otherwise than by a report, unless a library takes the process with it.
RecipeResult Run(const Recipe& recipe, ByteView spirv);

// Of the libraries and of this code: what results depend on besides input and text.
Hash128 ToolFingerprint();

}  // namespace kiln::recipe
