// SPDX-License-Identifier: MIT
// Names that are in view at a byte, for completion and hover. The tree of the mended text decides
// about locals, the linked program about all others.
#include "client/lsp/features/scope.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "client/lsp/analysis/outline.h"

namespace kiln::lsp {
namespace {

// The innermost scope around a byte; the whole text if none is. Linear in the statements of the
// file.
Span ScopeAround(const Source& source, uint32_t offset) {
  Span scope{.begin = 0, .end = static_cast<uint32_t>(source.mended_text().size())};
  for (const rpl::Stmt& stmt : source.ast().stmts) {
    const bool holds = stmt.kind == rpl::StmtKind::kScope || stmt.kind == rpl::StmtKind::kFor;
    // Among the scopes around a byte the one that begins last is the innermost.
    if (holds && stmt.span.begin <= offset && offset <= stmt.span.end &&
        stmt.span.begin >= scope.begin) {
      scope = stmt.span;
    }
  }
  return scope;
}

// Options have no declaration row; GlobalNames adds them by themselves.
VisibleName::Kind KindOf(const ir::Decl& decl) {
  switch (decl.kind) {
    case ir::DeclKind::kFunction:
      return VisibleName::Kind::kFunction;
    case ir::DeclKind::kStruct:
      return VisibleName::Kind::kStruct;
    case ir::DeclKind::kConstant:
      return VisibleName::Kind::kConstant;
    default:
      return VisibleName::Kind::kBlock;
  }
}

// Rows of local names of a file with the places of their names.
template <class Each>
void EachLocal(const FileView& file, const Each& each) {
  const ir::ModuleView& view = file.program->program().module(file.module);
  for (uint32_t i = 0; i < view.locals.size(); ++i) {
    if (view.locals[i].name.valid()) {
      each(ir::LocalId{i}, view.locals[i], view.SpanOf(view.local_spans[i].name));
    }
  }
}

// A local is in view if the scope that it is declared in holds the byte, too.
bool IsInView(const Source& source, Span name, uint32_t offset) {
  if (name.end > offset) {
    return false;
  }
  const rpl::Decl* decl = DeclAt(source, offset);
  // A local of another function is never in view. Its name ends before this function's begin.
  if (decl == nullptr || name.begin < decl->span.begin) {
    return false;
  }
  if (FieldNamedAt(source, name.begin) != nullptr) {
    return true;  // an argument
  }
  // The scopes are those of the mended text, so what is in view may be off by one scope while a
  // brace is missing.
  const Span scope = ScopeAround(source, name.begin);
  return scope.begin <= offset && offset <= scope.end;
}

// Scopes are left out of the IR, so shadowing is found by places.
ir::LocalId FindLocal(const FileView& file, std::string_view name, uint32_t offset) {
  ir::LocalId found{};
  const ir::ModuleView& view = file.program->program().module(file.module);
  EachLocal(file, [&](ir::LocalId id, const ir::Local& local, Span place) {
    if (view.Text(local.name) == name && IsInView(file.source(), place, offset)) {
      found = id;  // the last one is the innermost
    }
  });
  return found;
}

// The declaration as it is written, in one line: of an argument its field, of a variable its
// statement.
std::string DetailOfLocal(const Source& source, Span name) {
  if (const rpl::Field* argument = FieldNamedAt(source, name.begin)) {
    return OneLine(source, argument->span);
  }
  for (const rpl::Stmt& stmt : source.ast().stmts) {
    if (stmt.token != rpl::kNone && SpanOfToken(source, stmt.token).begin == name.begin) {
      return OneLine(source, stmt.span);
    }
  }
  return {};
}

}  // namespace

// In the order of their declarations, each name once.
std::vector<VisibleName> LocalNames(const FileView& file, uint32_t offset) {
  std::vector<VisibleName> names;
  const ir::ModuleView& view = file.program->program().module(file.module);
  EachLocal(file, [&](ir::LocalId, const ir::Local& local, Span place) {
    const std::string name(view.Text(local.name));
    if (IsInView(file.source(), place, offset) &&
        std::ranges::find(names, name, &VisibleName::name) == names.end()) {
      names.push_back({.kind = VisibleName::Kind::kLocal,
                       .name = name,
                       .detail = DetailOfLocal(file.source(), place)});
    }
  });
  return names;
}

// All names of the program, options first. One declaration stands for a name, whatever its
// condition is.
std::vector<VisibleName> GlobalNames(const FileView& file) {
  const resolve::Program& program = file.program->program();
  std::vector<VisibleName> names;
  std::set<std::string_view> known;
  const auto add = [&](VisibleName::Kind kind, resolve::NameId name, const Location& at) {
    // The first declaration stands for all that have its name.
    if (!known.insert(program.Text(name)).second) {
      return;
    }
    const Source& source = file.program->source(at.module);
    const rpl::Decl* decl = DeclNamedAt(source, at.bytes.begin);
    names.push_back({.kind = kind,
                     .name = std::string(program.Text(name)),
                     .detail = decl == nullptr ? std::string() : HeadText(source, *decl)});
  };
  for (const ir::OptionId option : program.options_by_name()) {
    add(VisibleName::Kind::kOption, program.NameOf(option), program.NameLocation(option));
  }
  for (uint32_t i = 0; i < program.decl_count(); ++i) {
    const ir::DeclId id{i};
    if (program.Get(id).kind != ir::DeclKind::kSetting) {
      add(KindOf(program.Get(id)), program.NameOf(id), program.NameLocation(id));
    }
  }
  return names;
}

// From left to right; a step that is not known ends with an empty shape, for which nothing is
// offered.
ValueShape ShapeOfChain(const FileView& file, const Owners& owners, uint32_t offset,
                        const std::vector<std::string>& chain) {
  if (chain.empty()) {
    return {};
  }
  const resolve::Program& program = file.program->program();
  constexpr std::string_view kCall = " ()";
  std::string_view first = chain.front();
  const bool call = first.ends_with(kCall);
  first.remove_suffix(call ? kCall.size() : 0);
  // A local hides a global of its name, but it cannot be called.
  const ir::LocalId local = call ? ir::LocalId{} : FindLocal(file, first, offset);
  ValueShape shape;
  if (local.valid()) {
    shape = owners.OfLocal(file.module, local);
  } else if (const resolve::NameId name = program.FindName(first); name.valid()) {
    shape = call ? owners.OfCall(name) : owners.OfGlobal(name);
  }
  // A step that is a call ("a.b ()") is no name of the program and ends in an empty shape.
  for (size_t i = 1; i < chain.size(); ++i) {
    const resolve::NameId name = program.FindName(chain[i]);
    shape = name.valid() ? owners.Member(shape, name) : ValueShape{};
  }
  return shape;
}

// Members of all owners that the shape may have, each name once.
std::vector<MemberName> MembersOf(const FileView& file, const ValueShape& shape) {
  const resolve::Program& program = file.program->program();
  std::vector<MemberName> members;
  std::set<std::string_view> known;
  for (const ir::DeclId owner : shape.owners) {
    for (uint32_t i = 0; i < program.Get(owner).member_count; ++i) {
      const ir::MemberId id{program.FirstMember(owner).value + i};
      const uint32_t module = program.ModuleOf(id);
      const std::string_view name = program.module(module).Text(program.Get(id).name);
      const Source& source = file.program->source(module);
      const rpl::Field* field = FieldNamedAt(source, program.NameLocation(id).bytes.begin);
      if (known.insert(name).second) {
        members.push_back(
            {.name = std::string(name),
             .detail = field == nullptr ? std::string() : OneLine(source, field->span),
             .field = true});
      }
    }
  }
  // No fields: a vector has its components and the usual swizzles, of which all others can be
  // typed, a matrix has its columns.
  if (shape.owners.empty() && shape.type.valid()) {
    const ir::Type& type = program.module(shape.module).types[shape.type.value];
    const bool vector = type.kind == ir::TypeKind::kVector && type.rows > 1;
    const uint32_t count = vector                               ? type.rows
                           : type.kind == ir::TypeKind::kMatrix ? type.columns
                                                                : 0u;
    constexpr std::string_view kLetters = "xyzw";
    for (uint32_t i = 0; i < count && i < kLetters.size(); ++i) {
      members.push_back({.name = std::string(1, kLetters[i]),
                         .detail = vector ? "component" : "column",
                         .field = false});
    }
    for (const std::string_view swizzle : {"xy", "xyz", "xyzw"}) {
      if (vector && swizzle.size() <= count) {
        members.push_back({.name = std::string(swizzle), .detail = "swizzle", .field = false});
      }
    }
  }
  return members;
}

}  // namespace kiln::lsp
