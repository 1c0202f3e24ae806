// SPDX-License-Identifier: MIT
// For tests: a live interface written by hand, as specialising would leave it. Declarations stay
// where they are; they join the variant in the order written, or sorted by module and group.
//   InterfaceWriter w;
//   w.Buffer(ir::BufferKind::kUniform, ir::ResourceSet::kPass, "view", {{"f4x4", "clip"}});
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/specialised.h"
#include "compiler/ir/types.h"

namespace kiln::layout {

struct WrittenField {
  std::string type;  // RPL spelling
  std::string name;
  std::string pack = {};  // attributes: "snorm16"; empty is the default of the type
  std::vector<std::string> tags = {};
};

class InterfaceWriter {
 public:
  explicit InterfaceWriter(ir::Pool& pool) : pool_(pool) { variant_.pool = &pool; }

  void BeginModule() { ++module_; }  // the first is 0

  // "f4", "f3x3", "u2[3][4]", "f1...", "sampler", "image_depth_2d[4]", or a struct written before.
  ir::TypeId Type(std::string_view text);
  // Names of structs must differ; their records join the variant too.
  ir::TypeId Struct(const std::string& name, const std::vector<WrittenField>& fields);

  const ir::SpecialisedDecl& Container(ir::ContainerKind kind, std::string_view name,
                                       const std::vector<WrittenField>& fields);
  const ir::SpecialisedDecl& Buffer(ir::BufferKind kind, ir::ResourceSet set, std::string_view name,
                                    const std::vector<WrittenField>& fields);
  const ir::SpecialisedDecl& PushConstant(std::string_view name,
                                          const std::vector<WrittenField>& fields);
  const ir::SpecialisedDecl& Sampler(ir::ResourceSet set, std::string_view name);
  const ir::SpecialisedDecl& Image(ir::ResourceSet set, std::string_view type,
                                   std::string_view name);

  // Order of numbering: modules in order, groups inside a module.
  void SortByGroup();

  const ir::SpecialisedDecl& Named(std::string_view name) const;
  ir::SpecialisedProgram& variant() { return variant_; }
  const ir::SpecialisedProgram& variant() const { return variant_; }

 private:
  ir::SpecialisedDecl& New(ir::DeclKind kind, uint16_t flags, std::string_view name,
                           ir::TypeId type);
  ir::SpecialisedDecl& Add(ir::DeclKind kind, uint16_t flags, std::string_view name,
                           ir::TypeId type);
  void AddMembers(ir::SpecialisedDecl& decl, const std::vector<WrittenField>& fields);
  std::vector<ir::ShapeMember> Shape(const std::vector<WrittenField>& fields);

  ir::Pool& pool_;
  ir::SpecialisedProgram variant_;
  std::deque<ir::SpecialisedDecl> decls_;
  std::map<std::string, ir::TypeId, std::less<>> structs_;
  uint32_t module_ = 0;
  uint32_t next_member_ = 0;
};

}  // namespace kiln::layout
