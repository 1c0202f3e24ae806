// SPDX-License-Identifier: MIT
// The specialised type of a written type: names are bound to structs, extents are evaluated.
#pragma once

#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::resolve {

// What a type is written for: decides which messages apply and whether instance options may occur.
enum class TypeUse : uint8_t {
  kField,
  kBuffers,  // what a storage buffer holds, or one of an array of them
  kParameter,
  kPlace,  // a parameter that stands for one thing
  kLocal,
  kReturn,
  kConstructor,
  kImageExtent
};

struct WrittenType {
  uint32_t module = 0;
  ir::TypeId type;              // generic row of that module
  ir::SpanId spans = {};        // type name, then the runs of the extents (decls.h)
  std::string_view owner = {};  // name of what has the type, for messages
  TypeUse use = TypeUse::kLocal;
  bool global_only = false;        // extents may not rest on instance options (spec/rpl 8.4)
  std::string_view position = {};  // of the extents: Position::what, with `owner` as its name
};

// Samplers and images: passed on, never computed.
constexpr bool IsHandle(const ir::Type& type) {
  return type.kind == ir::TypeKind::kSampler || type.kind == ir::TypeKind::kImage;
}
bool IsFloatType(const ir::Pool& pool, ir::TypeId type);  // floats, or arrays of them
// Whether a value of the type ends in a runtime array, and so cannot exist.
bool HasRuntimeArray(const ir::Pool& pool, ir::TypeId type);

// The type in the pool, or an invalid id after adding diagnostics (none for a struct that failed).
// Diagnostics: RPL3001, RPL3002, RPL4001 to RPL4003, RPL4010, RPL4011, RPL4015, for constructors
// RPL6056 and RPL6058 instead of RPL4010 and RPL4011, and those of expressions.
ir::TypeId SpecialiseType(const WrittenType& written, VariantEvaluator& answers,
                          std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
