// SPDX-License-Identifier: MIT
// The index of a source: symbols are read off the syntax tree, since what is wrong has a place and
// a name as well; what names mean is what the check noted while it looked them up.
#include "compiler/front/wgsl/module/index.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/base/flat_map.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/check/check.h"
#include "compiler/front/wgsl/lex/lex.h"
#include "compiler/front/wgsl/syntax/parse.h"

namespace kiln::wgsl::front {
namespace {

using kiln::front::IndexedSymbol;
using kiln::front::IndexKind;
using kiln::front::Mention;
using kiln::front::SourceIndex;
using kiln::front::TypeTextId;

class IndexMaker {
 public:
  IndexMaker(const TokenStream& stream, const syntax::Ast& ast, const Unit& unit)
      : stream_(stream), ast_(ast) {
    for (const Local& local : unit.locals) {
      NoteType(unit, local.name, local.type);
    }
    for (const Global& global : unit.globals) {
      NoteType(unit, global.name, global.type);
    }
  }

  SourceIndex Make(const std::vector<Mention>& mentions) {
    for (const syntax::Decl& decl : ast_.decls) {
      CheckStop();
      ReadDecl(decl);
    }
    for (const Mention& mention : mentions) {
      CheckStop();
      Mentioned(mention);
    }
    Settle(index_);
    return std::move(index_);
  }

 private:
  // Names are pieces of the source, so where one stands tells which declaration it is.
  void NoteType(const Unit& unit, std::string_view name, TypeId type) {
    const std::string_view text = stream_.text;
    CheckStop();
    if (name.data() >= text.data() && name.data() < text.data() + text.size()) {
      TypeTextId& known = texts_[type.value];
      if (!known.valid()) {
        known = index_.InternType(unit.types.Text(type));
      }
      types_.Insert(static_cast<uint32_t>(name.data() - text.data()), known);
    }
  }

  std::string TextOf(TokenRange at) const {
    return kiln::front::OneLine(kiln::TextOf(stream_.text, stream_.SpanOf(at)));
  }

  // `written` is its type, `head` the tokens that show it.
  uint32_t Add(IndexKind kind, uint32_t token, TokenRange whole, TokenRange head,
               syntax::ExprId written, uint32_t parent) {
    CheckStop();
    IndexedSymbol symbol{.kind = kind,
                         .name = std::string(stream_.Text(token)),
                         .type = {},
                         .text = TextOf(head),
                         .name_at = stream_.tokens[token].span,
                         .whole = stream_.SpanOf(whole),
                         .parent = parent};
    if (written.valid()) {
      symbol.type = index_.InternType(TextOf(ast_[written].at));
    } else if (const TypeTextId* inferred = types_.Find(symbol.name_at.begin)) {
      symbol.type = *inferred;
    }
    const auto number = static_cast<uint32_t>(index_.symbols.size());
    by_token_.Insert(token, number);
    index_.Add(kiln::front::IndexedMention{.at = symbol.name_at, .symbol = number});
    index_.Add(std::move(symbol));
    return number;
  }

  void ReadDecl(const syntax::Decl& decl) {
    constexpr uint32_t kNone = IndexedSymbol::kNone;
    const auto add = [&](IndexKind kind) {
      Add(kind, decl.token, decl.at, decl.at, decl.type, kNone);
    };
    switch (decl.kind) {
      case syntax::DeclKind::kAlias:
        return add(IndexKind::kAlias);
      case syntax::DeclKind::kConst:
        return add(IndexKind::kConstant);
      case syntax::DeclKind::kOverride:
        return add(IndexKind::kOption);
      case syntax::DeclKind::kVar:
        return add(IndexKind::kVariable);
      case syntax::DeclKind::kStruct:
        ReadParts(decl, IndexKind::kMember,
                  Add(IndexKind::kStruct, decl.token, decl.at, decl.at, {}, kNone));
        return;
      case syntax::DeclKind::kFunction:
        ReadFunction(decl);
        return;
      case syntax::DeclKind::kConstAssert:
        return;
    }
  }

  void ReadParts(const syntax::Decl& decl, IndexKind kind, uint32_t owner) {
    for (const uint32_t row : ast_.List(decl.members)) {
      const syntax::Variable& part = ast_.variables[row];
      Add(kind, part.token, part.at, part.at, part.type, owner);
    }
  }

  // What is declared in a body belongs to the function, however deep its block is: an editor lists
  // names, and which of two is meant is told by the mentions.
  void ReadFunction(const syntax::Decl& decl) {
    const uint32_t body = decl.body.valid() ? ast_[decl.body].at.begin : decl.at.end;
    const uint32_t function = Add(IndexKind::kFunction, decl.token, decl.at, {decl.at.begin, body},
                                  decl.type, IndexedSymbol::kNone);
    ReadParts(decl, IndexKind::kParameter, function);
    std::vector<syntax::StmtId> pending;
    if (decl.body.valid()) {
      pending.push_back(decl.body);
    }
    std::vector<syntax::StmtId> locals;
    while (!pending.empty()) {
      CheckStop();
      const syntax::StmtId id = pending.back();
      pending.pop_back();
      const syntax::Stmt& stmt = ast_[id];
      if (stmt.kind == syntax::StmtKind::kVar || stmt.kind == syntax::StmtKind::kLet ||
          stmt.kind == syntax::StmtKind::kConst) {
        locals.push_back(id);
      }
      for (const syntax::StmtId part : {stmt.first, stmt.second}) {
        if (part.valid()) {
          pending.push_back(part);
        }
      }
      for (const uint32_t child : ast_.List(stmt.children)) {
        pending.push_back(syntax::StmtId{child});
      }
    }
    std::ranges::sort(locals, {}, [&](syntax::StmtId id) { return ast_[id].token; });
    for (const syntax::StmtId id : locals) {
      const syntax::Stmt& stmt = ast_[id];
      const bool constant = stmt.kind == syntax::StmtKind::kConst;
      Add(constant ? IndexKind::kConstant : IndexKind::kLocal, stmt.token, stmt.at, stmt.at, stmt.a,
          function);
    }
  }

  // A member is named by its struct and number; its symbol is that many behind the struct's.
  void Mentioned(const Mention& mention) {
    const uint32_t* symbol = by_token_.Find(mention.declared);
    if (symbol == nullptr) {
      return;
    }
    const uint32_t number = mention.member == kNoRow ? *symbol : *symbol + 1 + mention.member;
    const bool is_member = number < index_.symbols.size() &&
                           (mention.member == kNoRow || index_.symbols[number].parent == *symbol);
    if (is_member) {
      index_.Add(
          kiln::front::IndexedMention{.at = stream_.tokens[mention.token].span, .symbol = number});
    }
  }

  const TokenStream& stream_;
  const syntax::Ast& ast_;
  std::map<uint32_t, TypeTextId> texts_;  // by type: its text is made once
  FlatMap<uint32_t, TypeTextId> types_;   // by place of the name
  FlatMap<uint32_t, uint32_t> by_token_;  // symbols
  SourceIndex index_;
};

}  // namespace

std::optional<kiln::front::SourceIndex> MakeIndex(const SourceFile& source) {
  const LanguageLimits limits;
  if (source.text.size() > limits.source_bytes) {
    return std::nullopt;
  }
  const LexResult lexed = Lex(source.text, 0, limits);
  const syntax::ParseResult parsed = syntax::Parse(lexed.stream, 0, limits);
  const syntax::Ast& ast = parsed.ast;
  if (HasErrors(lexed.diagnostics) || HasErrors(parsed.diagnostics) ||
      ast.exprs.size() + ast.stmts.size() + ast.decls.size() > limits.nodes) {
    return std::nullopt;
  }
  std::vector<Mention> mentions;
  const CheckResult checked = Check(lexed.stream, ast, 0, limits, &mentions);
  return IndexMaker(lexed.stream, ast, checked.unit).Make(mentions);
}

std::vector<std::string_view> Keywords() {
  return {
#define KILN_WGSL_KEYWORD(enumerator, text) text,
#include "compiler/front/wgsl/tokens.def"
  };
}

// The names that FindTypeName takes, by their shapes.
std::vector<std::string_view> InbuiltTypes() {
  return {"array",  "atomic", "bool",   "f16",    "f32",     "i32",
          "mat2x2", "mat2x3", "mat2x4", "mat3x2", "mat3x3",  "mat3x4",
          "mat4x2", "mat4x3", "mat4x4", "ptr",    "sampler", "sampler_comparison",
          "u32",    "vec2",   "vec3",   "vec4"};
}

// Names of operators are no names.
std::vector<std::string_view> InbuiltFunctions() {
  std::vector<std::string_view> names;
  for (const std::string_view name : {
#define KILN_WGSL_FUNCTION(enumerator, text, rate, stages, builtin) std::string_view(text),
#include "compiler/front/wgsl/sema/functions.def"
       }) {
    if (name.front() >= 'a' && name.front() <= 'z') {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace kiln::wgsl::front
