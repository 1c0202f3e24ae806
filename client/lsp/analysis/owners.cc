// SPDX-License-Identifier: MIT
// Which declarations may own the members of a value, for every instruction of a program. Types are
// not checked and conditions are not asked: an editor shows what may be meant in any variant, so
// several declarations of one name count together.
#include "client/lsp/analysis/owners.h"

#include <algorithm>
#include <utility>

namespace kiln::lsp {
namespace {

constexpr size_t kMaxOwners = 16;        // declarations of one name under different conditions
constexpr uint32_t kMaxAliasSteps = 64;  // aliases of aliases

void AddOwner(ir::DeclId owner, ValueShape& shape) {
  // A name with more declarations than this gets incomplete completions, which costs less than a
  // set that grows with every member of a chain.
  if (shape.owners.size() < kMaxOwners &&
      std::ranges::find(shape.owners, owner) == shape.owners.end()) {
    shape.owners.push_back(owner);
  }
}

// The owners are a set of at most kMaxOwners, which makes joining cheap and its order that of the
// declarations.
void Join(const ValueShape& from, ValueShape& to) {
  for (const ir::DeclId owner : from.owners) {
    AddOwner(owner, to);
  }
  // One written type is kept, the first: it is only asked for the components of a vector or matrix,
  // of which there is no use in two.
  if (!to.type.valid()) {
    to.module = from.module;
    to.type = from.type;
  }
}

}  // namespace

// Linear in the instructions of the program; done once for each link and shared by all requests.
Owners::Owners(const resolve::Program& program) : program_(program) {
  // Number 0 is the empty shape, which rows that are not read yet stand for.
  (void)Keep({});
  for (uint32_t m = 0; m < program.modules().size(); ++m) {
    by_inst_.emplace_back(program.module(m).insts.size());
    by_local_.emplace_back(program.module(m).locals.size());
    ReadModule(m);
  }
}

uint32_t Owners::Keep(ValueShape shape) {
  // Most instructions have one of a few shapes, so shapes are kept once and rows are numbers of
  // them. For a program of 100,000 instructions that is 400 KB instead of a vector for each.
  std::vector<uint32_t> words{shape.module, shape.type.value};
  for (const ir::DeclId owner : shape.owners) {
    words.push_back(owner.value);
  }
  const auto [known, is_new] =
      numbers_.emplace(std::move(words), static_cast<uint32_t>(shapes_.size()));
  if (is_new) {
    shapes_.push_back(std::move(shape));
  }
  return known->second;
}

// Locals with a written type first: they need nothing else. Then instructions in order; an alias
// gets its shape where it is declared, before anything that can name it.
void Owners::ReadModule(uint32_t module) {
  const ir::ModuleView& view = program_.module(module);
  for (uint32_t i = 0; i < view.locals.size(); ++i) {
    if (view.locals[i].type.valid()) {
      by_local_[module][i] = Keep(OfType(module, view.locals[i].type));
    }
  }
  for (uint32_t i = 0; i < view.insts.size(); ++i) {
    const ir::Inst& inst = view.insts[i];
    if (inst.kind == ir::InstKind::kAlias) {
      const auto alias = inst.As<ir::AliasInst>();
      by_local_[module][alias.local.value] = Keep(OfBlock(module, alias.block));
    } else {
      by_inst_[module][i] = Keep(ShapeOf(module, inst));
    }
  }
}

ValueShape Owners::OfBlock(uint32_t module, ir::BlockId block) const {
  // The yield is the last instruction of the block. Its value is read before the alias, because
  // operands come before users.
  const std::span<const uint32_t> insts = program_.module(module).InstsOf(block);
  if (insts.empty()) {
    return {};
  }
  const ir::Inst& last = program_.module(module).insts[insts.back()];
  return last.kind == ir::InstKind::kYield ? Of(module, last.As<ir::YieldInst>().value)
                                           : ValueShape{};
}

// A local name may have several candidates, the aliases of several conditions for example. Without
// any it is a name of the program.
ValueShape Owners::OfName(uint32_t module, const ir::NameRefInst& ref) const {
  const std::span<const uint32_t> candidates = program_.module(module).List(ref.candidates);
  if (candidates.empty()) {
    return OfGlobal(program_.Name(module, ref.name));
  }
  ValueShape shape;
  for (const uint32_t candidate : candidates) {
    Join(OfLocal(module, ir::LocalId{candidate}), shape);
  }
  return shape;
}

// Operands come before users in the list of instructions, so one pass in order is enough and
// nothing recurses.
ValueShape Owners::ShapeOf(uint32_t module, const ir::Inst& inst) const {
  using enum ir::InstKind;
  if (inst.kind == kNameRef) {
    return OfName(module, inst.As<ir::NameRefInst>());
  }
  if (inst.kind == kMember) {
    const auto member = inst.As<ir::MemberInst>();
    return Member(Of(module, member.source), program_.Name(module, member.name));
  }
  // Arrays are left out of shapes (OfType), so an element has the shape of its array.
  if (inst.kind == kIndex) {
    return Of(module, inst.As<ir::IndexInst>().source);
  }
  if (inst.kind == kNameCall) {
    return OfCall(program_.Name(module, inst.As<ir::NameCallInst>().name));
  }
  if (inst.kind == kNameConstruct) {
    return OfType(module, inst.type);
  }
  if (inst.kind == kAssign) {
    return Of(module, inst.As<ir::AssignInst>().target);
  }
  if (inst.kind == kNameUnary) {
    return Of(module, inst.As<ir::NameUnaryInst>().operand);
  }
  if (inst.kind == kNameBinary) {  // of a vector and a scalar the vector is mostly the left one
    return Of(module, inst.As<ir::NameBinaryInst>().left);
  }
  if (inst.kind == kConst) {
    return {.owners = {}, .module = module, .type = inst.type};
  }
  return {};
}

// Of an array the shape is that of its elements: members are asked of what is behind the brackets.
ValueShape Owners::OfType(uint32_t module, ir::TypeId type) const {
  const ir::ModuleView& view = program_.module(module);
  const ir::Type* row = &view.types[type.value];
  while (row->kind == ir::TypeKind::kArray || row->kind == ir::TypeKind::kRuntimeArray) {
    type = ir::TypeId{row->element};
    row = &view.types[type.value];
  }
  ValueShape shape{.owners = {}, .module = module, .type = type};
  if (row->kind == ir::TypeKind::kNamed) {
    for (const ir::DeclId owner :
         program_.Structs(program_.Name(module, ir::StringId{row->element}))) {
      AddOwner(owner, shape);
    }
  }
  return shape;
}

// All declarations of the name count, under whatever condition.
ValueShape Owners::OfGlobal(resolve::NameId name) const {
  ValueShape shape;
  for (const ir::DeclId global : program_.Globals(name)) {
    const ir::Decl& decl = program_.Get(global);
    if (decl.member_count > 0) {
      AddOwner(global, shape);
    } else if (decl.type.valid()) {
      Join(OfType(program_.ModuleOf(global), decl.type), shape);
    }
  }
  for (const ir::DeclId constant : program_.Constants(name)) {
    const ir::Decl& decl = program_.Get(constant);
    if (decl.type.valid()) {
      Join(OfType(program_.ModuleOf(constant), decl.type), shape);
    }
  }
  return shape;
}

// Overloads are joined as well; most of them return the same type.
ValueShape Owners::OfCall(resolve::NameId name) const {
  ValueShape shape;
  for (const ir::DeclId function : program_.Functions(name)) {
    const ir::Decl& decl = program_.Get(function);
    if (decl.type.valid()) {
      Join(OfType(program_.ModuleOf(function), decl.type), shape);
    }
  }
  return shape;
}

// One member for each owner at most, in the order of the owners.
std::vector<ir::MemberId> Owners::Members(const ValueShape& shape, resolve::NameId name) const {
  std::vector<ir::MemberId> members;
  for (const ir::DeclId owner : shape.owners) {
    const ir::MemberId member = program_.FindMember(owner, name);
    if (member.valid()) {
      members.push_back(member);
    }
  }
  return members;
}

// `in` and `out` behind a container choose a direction and stay at its fields. A field alias is its
// path, looked up from the owner; aliases of aliases end, or are left out.
ValueShape Owners::Member(const ValueShape& shape, resolve::NameId name) const {
  const std::string_view text = program_.Text(name);
  ValueShape result;
  bool found = false;
  for (const ir::DeclId owner : shape.owners) {
    const ir::MemberId member = program_.FindMember(owner, name);
    if (!member.valid()) {
      continue;
    }
    found = true;
    const uint32_t module = program_.ModuleOf(member);
    ValueShape at{.owners = {owner}, .module = 0, .type = {}};
    // From alias to alias within one owner, until a field or a longer path is met. kMaxAliasSteps
    // ends a circle, which the compiler reports elsewhere.
    ir::MemberId step = member;
    for (uint32_t steps = 0; step.valid() && steps < kMaxAliasSteps; ++steps) {
      const ir::Member& row = program_.Get(step);
      if (row.kind == ir::MemberKind::kField) {
        Join(OfType(module, row.type), result);
        break;
      }
      const std::span<const uint32_t> path = program_.module(module).List(ir::ListId{row.value});
      if (path.empty()) {
        break;
      }
      if (path.size() == 1) {  // another member of the owner
        step = program_.FindMember(owner, program_.Name(module, ir::StringId{path[0]}));
        continue;
      }
      const ir::MemberId first =
          program_.FindMember(owner, program_.Name(module, ir::StringId{path[0]}));
      // A path of several names leaves the owner with its first step. From there on each step may
      // have several owners, whose fields are joined; aliases inside of the path are not followed.
      if (first.valid() && program_.Get(first).kind == ir::MemberKind::kField) {
        at = OfType(module, program_.Get(first).type);
        const size_t most = std::min<size_t>(path.size(), kMaxAliasSteps);
        for (size_t i = 1; i < most; ++i) {
          ValueShape next;
          for (const ir::MemberId inner :
               Members(at, program_.Name(module, ir::StringId{path[i]}))) {
            if (program_.Get(inner).kind == ir::MemberKind::kField) {
              Join(OfType(program_.ModuleOf(inner), program_.Get(inner).type), next);
            }
          }
          at = std::move(next);
        }
        Join(at, result);
      }
      break;
    }
  }
  // A field named `in` or `out` wins over the direction.
  if (!found && (text == "in" || text == "out")) {
    return shape;
  }
  return result;
}

}  // namespace kiln::lsp
