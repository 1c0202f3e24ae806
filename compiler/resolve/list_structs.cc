// SPDX-License-Identifier: MIT
#include "compiler/resolve/list_structs.h"

#include <algorithm>

namespace kiln::resolve {
namespace {

// From the last to the first, so that the first member is taken off next: structs are listed in the
// order in which one reads them.
void PushMembers(const ir::SpecialisedDecl& specialised, std::vector<ir::TypeId>& pending) {
  for (size_t i = specialised.members.size(); i > 0; --i) {
    pending.push_back(specialised.members[i - 1].type);
  }
}

// Typed modules may declare a struct of one name each; which of them does not matter if they are
// equal. Null: it is not declared, as the block of a buffer's content.
const ir::SpecialisedDecl* TypedStruct(VariantEvaluator& answers, NameId name, ir::TypeId type) {
  const Program& program = answers.program();
  for (const ir::DeclId id : program.Structs(name)) {
    const uint32_t m = program.ModuleOf(id);
    // Declarations that this variant does not have are passed over.
    if (program.module(m).header.typed == 0 ||
        !answers.Holds(program.Wide(m, program.Get(id).condition))) {
      continue;
    }
    const ir::SpecialisedDecl* specialised = answers.Decl(id);
    // The type tells which of several declarations of the name is meant.
    if (specialised != nullptr && specialised->type == type) {
      return specialised;
    }
  }
  return nullptr;
}

// Null: the type holds no struct.
const ir::SpecialisedDecl* StructOf(VariantEvaluator& answers, ir::TypeId type) {
  const Program& program = answers.program();
  const ir::Pool& pool = answers.pool();
  while (pool[type].kind == ir::TypeKind::kArray ||
         pool[type].kind == ir::TypeKind::kRuntimeArray) {
    type = ir::TypeId{pool[type].element};
  }
  if (pool[type].kind != ir::TypeKind::kStruct) {
    return nullptr;
  }
  // A struct that no module declares, as the block of a buffer is one, has no record.
  const NameId name = program.FindName(pool.Text(pool.ShapeOf(type).name));
  if (!name.valid()) {
    return nullptr;
  }
  if (const ir::SpecialisedDecl* typed = TypedStruct(answers, name, type)) {
    return typed;
  }
  // Names of untyped modules are asked for only if there is one, since the query may report.
  const bool untyped = std::ranges::any_of(program.Structs(name), [&](ir::DeclId id) {
    return program.module(program.ModuleOf(id)).header.typed == 0;
  });
  const NameResolution named = untyped ? answers.Struct(name) : NameResolution{};
  return named.kind == NameResolution::Kind::kDecl ? answers.Decl(named.decl()) : nullptr;
}

}  // namespace

// Depth first with a list in the place of recursion. A struct is listed where it is first met, so
// the order depends on the interface alone.
void ListStructs(VariantEvaluator& answers, ir::SpecialisedProgram& variant,
                 std::vector<ir::TypeId>& pending) {
  for (const ir::SpecialisedDecl* specialised : variant.interface) {
    // Only what lies in memory has records of its structs.
    if (specialised->kind == ir::DeclKind::kBuffer ||
        specialised->kind == ir::DeclKind::kPushConstant) {
      PushMembers(*specialised, pending);
    }
    while (!pending.empty()) {
      const ir::SpecialisedDecl* held = StructOf(answers, pending.back());
      pending.pop_back();
      // Linear: an interface has a few structs, and each is listed once.
      if (held != nullptr && std::ranges::find(variant.structs, held) == variant.structs.end()) {
        variant.structs.push_back(held);
        PushMembers(*held, pending);
      }
    }
  }
}

}  // namespace kiln::resolve
