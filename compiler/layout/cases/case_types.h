// SPDX-License-Identifier: MIT
// Types as case files spell them -> types of the engine: "vec3<f32>[2]", "mat_r2c3<f32>",
// "ConstantBuffer<S>", "RWTexture2D"; and RPL's: "f4x4", "f2...". See spec/layout 17.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/base/result.h"
#include "compiler/layout/cases/case_json.h"
#include "compiler/layout/types.h"

namespace kiln::layout {

// A field: [name, type] or [name, type, "row"].
Result<void> CheckFields(const Json& fields);

class CaseTypes {
 public:
  explicit CaseTypes(Types& types) : types_(types) {}

  // Reads all structs, in whatever order they name each other. One that contains itself becomes
  // endless. Errors: kInvalidArgument if it is not a struct or type.
  Result<void> ReadStructs(const Json& structs);
  // From now on the name stands for the type.
  void Name(const std::string& name, TypeId type) { structs_.insert_or_assign(name, type); }
  Result<TypeId> Read(std::string_view text);
  Result<TypeId> Struct(std::string_view name, const Json& fields);
  // RPL: a vector, matrix, array or run-time array of one.
  Result<TypeId> ReadRpl(std::string_view text);

 private:
  Result<TypeId> Base(std::string_view text);
  Result<TypeId> WithArgument(std::string_view text, std::string_view name,
                              std::string_view argument);
  Result<TypeId> Arrays(TypeId item, std::string_view extents);
  using WrittenStructs = std::map<std::string_view, const Json*, std::less<>>;
  Result<void> Visit(std::string_view root, const WrittenStructs& written);

  Types& types_;
  std::map<std::string, TypeId, std::less<>> structs_;
};

}  // namespace kiln::layout
