// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/decl_names.h"

#include <span>
#include <string_view>

#include "compiler/base/check.h"
#include "compiler/emit/wgsl/names.h"
#include "compiler/emit/wgsl/typed/legal_names.h"

namespace kiln::wgsl {
namespace {

// What no shader writes while it runs. Text that reads it may wait for its user, however many
// stores lie in between.
bool IsConstant(const ir::SpecialisedDecl& decl) {
  return decl.kind == ir::DeclKind::kPushConstant ||
         (decl.kind == ir::DeclKind::kBuffer && decl.buffer() != ir::BufferKind::kReadWriteStorage);
}

// WGSL's buffers need no struct: the member that a front end put around a content has the name of
// the buffer.
bool IsBare(const ir::Pool& pool, const ir::SpecialisedDecl& decl) {
  if (decl.kind != ir::DeclKind::kBuffer || decl.members.size() != 1 ||
      pool[decl.type].kind != ir::TypeKind::kStruct) {
    return false;
  }
  const std::span<const ir::ShapeMember> members = pool.Members(decl.type);
  return members.size() == 1 && members[0].name == decl.name;
}

}  // namespace

void DeclNames::Add(const ir::Pool& pool, const ir::SpecialisedDecl& decl) {
  // By the number of the declaration, which is dense over a program.
  if (decl.decl.value >= classes_.size()) {
    classes_.resize(decl.decl.value + size_t{1});
  }
  const std::string_view name = pool.Text(decl.name);
  const bool container = decl.kind == ir::DeclKind::kContainer;
  // All versions of a declaration have one name and kind, so the first one that comes says both. A
  // struct is of no interface and stands for "not seen yet".
  if (classes_[decl.decl.value].kind == ir::DeclKind::kStruct) {
    classes_[decl.decl.value] = {.kind = decl.kind,
                                 .constant = IsConstant(decl),
                                 .bare = typed && IsBare(pool, decl),
                                 // The name of a container is only half of the names of its fields,
                                 // so it stays as the source has it.
                                 .name = container ? std::string(name)
                                         : typed   ? LegalName(name)
                                                   : NameOf(name)};
  }
  if (!container) {
    return;
  }
  // Fields are variables of their own in WGSL, so each has its whole name here.
  for (const ir::SpecialisedMember& member : decl.members) {
    if (member.member.value >= fields_.size()) {
      fields_.resize(member.member.value + size_t{1});
    }
    if (fields_[member.member.value].empty()) {
      fields_[member.member.value] = PartName(name, pool.Text(member.name));
    }
  }
}

const DeclClass& DeclNames::ClassOf(ir::DeclId decl) const {
  KILN_CHECK(Knows(decl), "declaration {} is of no interface", decl.value);
  return classes_[decl.value];
}

const std::string& DeclNames::FieldName(ir::MemberId member) const {
  KILN_CHECK(member.value < fields_.size() && !fields_[member.value].empty(),
             "field {} is of no container", member.value);
  return fields_[member.value];
}

// An array of images becomes a variable for each element (spec/wgsl 3.9).
std::string ElementName(const std::string& name, uint32_t index) {
  return PartName(name, std::to_string(index));
}

// These names begin with a word that the escaping of names keeps free (names.h), so no source name
// can be one of them.
std::string_view StageVariableName(ir::StageVariable variable) {
  switch (variable) {
    case ir::StageVariable::kPosition:
      return "kiln__position";
    case ir::StageVariable::kVertexIndex:
      return "kiln__vertex_index";
    case ir::StageVariable::kInstanceIndex:
      return "kiln__instance_index";
    case ir::StageVariable::kFragCoord:
      return "kiln__frag_coord";
    case ir::StageVariable::kFrontFacing:
      return "kiln__front_facing";
    case ir::StageVariable::kFragDepth:
      return "kiln__frag_depth";
    case ir::StageVariable::kGlobalId:
      return "kiln__global_id";
    case ir::StageVariable::kLocalId:
      return "kiln__local_id";
    case ir::StageVariable::kLocalIndex:
      return "kiln__local_index";
    case ir::StageVariable::kWorkgroupId:
      return "kiln__workgroup_id";
    case ir::StageVariable::kWorkgroupCount:
      return "kiln__workgroup_count";
  }
  KILN_UNREACHABLE();
}

}  // namespace kiln::wgsl
