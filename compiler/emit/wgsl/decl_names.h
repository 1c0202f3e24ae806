// SPDX-License-Identifier: MIT
// What the declarations of an interface are called in WGSL, and what lowering has to know of them.
// The same in all versions of a declaration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/specialised.h"

namespace kiln::wgsl {

struct DeclClass {
  ir::DeclKind kind = ir::DeclKind::kStruct;
  bool constant = false;  // nothing writes to it while a shader runs
  bool bare = false;      // a buffer of one member, which is the variable (typed modules)
  std::string name;       // of the variable; of containers the source name
};

class DeclNames {
 public:
  // Of typed modules: legal names instead of escaped ones.
  bool typed = false;
  // Adds a declaration of an interface; one that is there already costs nothing.
  void Add(const ir::Pool& pool, const ir::SpecialisedDecl& decl);

  bool Knows(ir::DeclId decl) const {
    return decl.value < classes_.size() && classes_[decl.value].kind != ir::DeclKind::kStruct;
  }
  // Requires: some version of it was added.
  const DeclClass& ClassOf(ir::DeclId decl) const;
  // The variable of a field of a container; one for both of its directions.
  const std::string& FieldName(ir::MemberId member) const;

 private:
  std::vector<DeclClass> classes_;   // by DeclId
  std::vector<std::string> fields_;  // by MemberId
};

// The variable of element `index` of an array of images called `name`.
std::string ElementName(const std::string& name, uint32_t index);

// What kiln calls the variable of a stage, and the parameter if it is handed from function to
// function.
std::string_view StageVariableName(ir::StageVariable variable);

// Those that every function which reads them takes as a parameter, because a variable is uniform to
// no validator.
constexpr bool IsHandedOn(ir::StageVariable variable) {
  return variable == ir::StageVariable::kWorkgroupId ||
         variable == ir::StageVariable::kWorkgroupCount;
}

constexpr uint32_t BitOf(ir::StageVariable variable) {
  return uint32_t{1} << static_cast<uint32_t>(variable);
}

}  // namespace kiln::wgsl
