// SPDX-License-Identifier: MIT
#include "compiler/resolve/checks/mentions.h"

#include "compiler/base/threads/stop.h"
#include "compiler/resolve/values/evaluate.h"

namespace kiln::resolve {

// One walk over the program before anything is asked. Each query is then a bit.
Mentions::Mentions(const Program& program)
    : program_(program),
      members_(program.name_count()),
      constructed_(program.name_count()),
      values_(program.name_count()),
      interface_values_(program.name_count()),
      functions_(program.decl_count()) {
  // One bit for each local of the whole program, counted over its modules.
  size_t locals = 0;
  for (const ir::ModuleView& view : program.modules()) {
    locals += view.locals.size();
  }
  locals_.resize(locals);
  for (uint32_t m = 0; m < program.modules().size(); ++m) {
    ReadModule(m);
  }
}

// Functions keep their own mentions as well, since a function that is not reached mentions
// nothing.
void Mentions::ReadModule(uint32_t m) {
  const ir::ModuleView& view = program_.module(m);
  const Bases& bases = program_.bases(m);
  for (uint32_t row = 0; row < view.decls.size(); ++row) {
    const ir::DeclId id{bases.decl + row};
    const bool function = view.decls[row].kind == ir::DeclKind::kFunction;
    ReadDecl(m, id, function ? &functions_[id.value] : nullptr);
    if (function) {
      ReadFunction(m, id);
    }
  }
  // Conditions of regions belong to the function that the region was cut from.
  for (uint32_t row = 0; row < view.regions.size(); ++row) {
    const ir::Region& region = view.regions[row];
    FunctionMentions& function = functions_[bases.decl + region.function.value];
    ReadCexpr(m, region.condition, &function);
  }
}

// `function` is null for everything that is declared outside of functions.
void Mentions::ReadDecl(uint32_t m, ir::DeclId id, FunctionMentions* function) {
  const ir::ModuleView& view = program_.module(m);
  const ir::Decl& decl = program_.Get(id);
  ReadCexpr(m, decl.condition, function);
  if (decl.type.valid()) {
    ReadType(m, decl.type, function);
  }
  // The value of a constant or setting is an expression in the place of a body.
  if (decl.kind == ir::DeclKind::kConstant || decl.kind == ir::DeclKind::kSetting) {
    ReadCexpr(m, ir::CexprId{decl.body}, function);
  }
  for (const ir::Member& member : view.MembersOf(decl)) {
    ReadCexpr(m, member.condition, function);
    if (member.kind != ir::MemberKind::kAlias) {
      ReadType(m, member.type, function);
      continue;
    }
    for (const uint32_t step : view.List(ir::ListId{member.value})) {
      // Paths of aliases mention members by their names, whichever struct these belong to.
      members_[program_.Name(m, ir::StringId{step}).value] = true;
    }
  }
}

// Instructions of all regions of a function lie together in the module.
void Mentions::ReadFunction(uint32_t m, ir::DeclId id) {
  const ir::ModuleView& view = program_.module(m);
  const InstRange range = program_.InstsOf(id);
  for (uint32_t row = range.begin; row < range.end; ++row) {
    CheckStop();
    ReadInst(m, view.insts[row], functions_[id.value]);
  }
}

void Mentions::ReadInst(uint32_t m, const ir::Inst& inst, FunctionMentions& function) {
  const ir::ModuleView& view = program_.module(m);
  // A local that an instruction declares brings its condition and its type along.
  const auto read_local = [&](ir::LocalId id) {
    const ir::Local& local = view.locals[id.value];
    ReadCexpr(m, local.condition, &function);
    if (local.type.valid()) {
      ReadType(m, local.type, &function);
    }
  };
  // A name counts as a mention of every local that it might mean. It is decided for a variant only,
  // and a warning must hold for all of them.
  if (inst.kind == ir::InstKind::kNameRef) {
    const auto ref = inst.As<ir::NameRefInst>();
    for (const uint32_t candidate : view.List(ref.candidates)) {
      locals_[program_.bases(m).local + candidate] = true;
    }
    AddValue(program_.Name(m, ref.name), &function);
  } else if (inst.kind == ir::InstKind::kMember) {
    members_[program_.Name(m, inst.As<ir::MemberInst>().name).value] = true;
  } else if (inst.kind == ir::InstKind::kNameCall) {
    function.calls.push_back(program_.Name(m, inst.As<ir::NameCallInst>().name));
  } else if (inst.kind == ir::InstKind::kNameConstruct) {
    ReadType(m, inst.type, &function);
    const ir::Type& type = view.types[inst.type.value];
    if (type.kind == ir::TypeKind::kNamed) {
      constructed_[program_.Name(m, ir::StringId{type.element}).value] = true;
    }
  } else if (inst.kind == ir::InstKind::kVariable) {
    read_local(inst.As<ir::VariableInst>().local);
  } else if (inst.kind == ir::InstKind::kAlias) {
    read_local(inst.As<ir::AliasInst>().local);
  } else if (inst.kind == ir::InstKind::kWhen) {
    ReadCexpr(m, inst.As<ir::WhenInst>().condition, &function);
  }
}

// Named types are looked up elsewhere: here only sizes mention something.
void Mentions::ReadType(uint32_t m, ir::TypeId type, FunctionMentions* function) {
  const ir::ModuleView& view = program_.module(m);
  const ir::Type* row = &view.types[type.value];
  // Extents of arrays are expressions too; named types are not counted as mentions here.
  while (row->kind == ir::TypeKind::kArray || row->kind == ir::TypeKind::kRuntimeArray) {
    if (row->kind == ir::TypeKind::kArray) {
      ReadCexpr(m, ir::CexprId{row->extent}, function);
    }
    row = &view.types[row->element];
  }
}

// What an expression mentions is as long as it is in the source.
void Mentions::ReadCexpr(uint32_t m, ir::CexprId id, FunctionMentions* function) {
  if (id == ir::kTrue) {
    return;
  }
  const ir::ModuleView& view = program_.module(m);
  // Expressions are long on one side, so a list takes the place of recursion.
  pending_.push_back(id);
  while (!pending_.empty()) {
    CheckStop();
    const ir::Cexpr& row = view.cexprs[pending_.back().value];
    pending_.pop_back();
    if (row.op == ir::CexprOp::kName) {
      AddValue(program_.Name(m, ir::StringId{row.a}), function);
    }
    ForOperands(view, row, [&](ir::CexprId operand) { pending_.push_back(operand); });
  }
}

// Outside of functions a name counts for the interface.
void Mentions::AddValue(NameId name, FunctionMentions* function) {
  values_[name.value] = true;
  // What is mentioned outside of functions is looked at in every variant.
  if (function == nullptr) {
    interface_values_[name.value] = true;
  } else {
    function->values.push_back(name);
  }
}

}  // namespace kiln::resolve
