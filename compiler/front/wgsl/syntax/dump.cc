// SPDX-License-Identifier: MIT
// Texts of expressions are made row by row, operands first: each is made of those of its operands.
// The dump is for goldens and for `kilnc`: one line for each declaration and statement,
// indented by its depth, with expressions in one line and in parentheses as the parser bound
// them.
#include "compiler/front/wgsl/syntax/dump.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

namespace kiln::wgsl::front::syntax {
namespace {

// `texts_` has one text for each row of expressions. A row is written after its operands
// because rows of one expression lie next to each other in post-order.
class Dumper {
 public:
  Dumper(const TokenStream& stream, const Ast& ast)
      : stream_(stream), ast_(ast), texts_(ast.exprs.size()) {}

  std::string Run() {
    for (const Directive& row : ast_.directives) {
      Line(0, fmt::format("directive {}", Words(row.words)));
    }
    for (const Decl& decl : ast_.decls) {
      Declaration(decl);
    }
    return std::move(out_);
  }

 private:
  void Line(uint32_t depth, std::string_view text) {
    out_ += std::string(size_t{depth} * 2, ' ') + std::string(text) + "\n";
  }
  std::string Words(ListId list) const {
    std::string text;
    for (const uint32_t token : ast_.List(list)) {
      text += fmt::format("{}{}", text.empty() ? "" : " ", stream_.Text(token));
    }
    return text;
  }
  // Of words the tokens, of arguments their expressions: the parser kept one of the two.
  std::string Attributes(ListId list) {
    std::string text;
    for (const uint32_t id : ast_.List(list)) {
      const Attribute& row = ast_.attributes[id];
      text += fmt::format("@{}", stream_.Text(row.token));
      if (row.words.valid()) {
        text += fmt::format("({})", Words(row.words));
      } else if (row.arguments.valid()) {
        text += fmt::format("({})", List(row.arguments));
      }
      text += " ";
    }
    return text;
  }

  std::string List(ListId list) {
    std::string text;
    for (const uint32_t id : ast_.List(list)) {
      text += (text.empty() ? "" : ", ") + (id == kNoRow ? "default" : Expression(ExprId{id}));
    }
    return text;
  }
  // All rows of the expression, from its first one on. No recursion: expressions may be long.
  std::string Expression(ExprId id) {
    if (!id.valid()) {
      return "";
    }
    for (uint32_t row = ast_[id].first; row <= id.value; ++row) {
      texts_[row] = Row(ast_.exprs[row]);
    }
    return texts_[id.value];
  }
  // Like List, of operands whose texts are there already.
  std::string Made(ListId list) const {
    std::string text;
    for (const uint32_t id : ast_.List(list)) {
      text += (text.empty() ? "" : ", ") + texts_[id];
    }
    return text;
  }
  std::string Row(const Expr& row) const {
    switch (row.kind) {
      case ExprKind::kLiteral:
        return std::string(stream_.Text(row.token));
      case ExprKind::kName:
        return row.a == kNoRow
                   ? std::string(stream_.Text(row.token))
                   : fmt::format("{}<{}>", stream_.Text(row.token), Made(ListId{row.a}));
      case ExprKind::kCall:
        return fmt::format("{}({})", texts_[row.a], Made(ListId{row.b}));
      case ExprKind::kIndex:
        return fmt::format("{}[{}]", texts_[row.a], texts_[row.b]);
      case ExprKind::kMember:
        return fmt::format("{}.{}", texts_[row.a], stream_.Text(row.token));
      case ExprKind::kUnary:
        return fmt::format("({}{})", FactsOf(row.op).text, texts_[row.a]);
      case ExprKind::kBinary:
        return fmt::format("({} {} {})", texts_[row.a], FactsOf(row.op).text, texts_[row.b]);
    }
    return "";
  }
  // The common shape of declarations: a keyword, a name, and what is there of type and value.
  std::string Typed(std::string_view keyword, uint32_t token, ExprId type, ExprId value) {
    return fmt::format("{} {}{}{}", keyword, stream_.Text(token),
                       type.valid() ? " : " + Expression(type) : "",
                       value.valid() ? " = " + Expression(value) : "");
  }

  void Declaration(const Decl& decl) {
    const std::string attributes = Attributes(decl.attributes);
    switch (decl.kind) {
      case DeclKind::kAlias:
        return Line(0, attributes + Typed("alias", decl.token, decl.type, {}));
      case DeclKind::kConst:
        return Line(0, attributes + Typed("const", decl.token, decl.type, decl.value));
      case DeclKind::kOverride:
        return Line(0, attributes + Typed("override", decl.token, decl.type, decl.value));
      case DeclKind::kVar:
        return Line(0, attributes + Typed(fmt::format("var<{}>", Words(decl.words)), decl.token,
                                          decl.type, decl.value));
      case DeclKind::kConstAssert:
        return Line(0, "const_assert " + Expression(decl.value));
      // Structs and functions have lines of their own for what is in them.
      case DeclKind::kStruct:
      case DeclKind::kFunction:
        break;
    }
    const bool function = decl.kind == DeclKind::kFunction;
    Line(0,
         fmt::format("{}{} {}{}", attributes, function ? "fn" : "struct", stream_.Text(decl.token),
                     decl.type.valid() ? fmt::format(" -> {}{}", Attributes(decl.result_attributes),
                                                     Expression(decl.type))
                                       : ""));
    for (const uint32_t id : ast_.List(decl.members)) {
      const Variable& row = ast_.variables[id];
      Line(1, Attributes(row.attributes) +
                  Typed(function ? "parameter" : "member", row.token, row.type, {}));
    }
    if (function) {
      Statement(decl.body, 1);
    }
  }

  void Children(ListId list, uint32_t depth) {
    for (const uint32_t child : ast_.List(list)) {
      Statement(StmtId{child}, depth);
    }
  }

  // Recursion is as deep as blocks may be. A `for` has its first and second statement, a `loop`
  // its continuing block in `first`.
  void Statement(StmtId id, uint32_t depth) {
    if (!id.valid()) {
      return;
    }
    const Stmt& stmt = ast_[id];
    Line(depth, Head(stmt));
    Statement(stmt.first, depth + 1);
    Statement(stmt.second, depth + 1);
    Children(stmt.children, depth + 1);
  }

  std::string Head(const Stmt& stmt) {
    // In the order of StmtKind.
    static constexpr std::string_view kNames[] = {
        "block",    "var",      "let",    "const",   "assign",      "increment", "call",
        "if",       "switch",   "case",   "loop",    "for",         "while",     "break",
        "break if", "continue", "return", "discard", "const_assert"};
    const std::string_view name = kNames[static_cast<size_t>(stmt.kind)];
    switch (stmt.kind) {
      case StmtKind::kVar:
      case StmtKind::kLet:
      case StmtKind::kConst:
        return Typed(name, stmt.token, stmt.a, stmt.b);
      case StmtKind::kAssign:
        return fmt::format("{} {} {}= {}", name, stmt.a.valid() ? Expression(stmt.a) : "_",
                           stmt.is_compound ? FactsOf(stmt.op).text : "", Expression(stmt.b));
      case StmtKind::kIncrement:
        return fmt::format("{} {} {}", name, Expression(stmt.a), FactsOf(stmt.op).text);
      case StmtKind::kCase:
        return fmt::format("{} {}", name, List(stmt.labels));
      default:
        return stmt.a.valid() ? fmt::format("{} {}", name, Expression(stmt.a)) : std::string(name);
    }
  }

  const TokenStream& stream_;
  const Ast& ast_;
  std::vector<std::string> texts_;
  std::string out_;
};

}  // namespace

std::string TokensText(const TokenStream& stream) {
  std::string out;
  for (uint32_t i = 0; i < stream.tokens.size(); ++i) {
    const TokenKind kind = stream.KindOf(i);
    const bool open = kind == TokenKind::kTemplateOpen || kind == TokenKind::kTemplateClose;
    out += fmt::format("{} {}\n", open ? "template" : TokenText(kind), stream.Text(i));
  }
  return out;
}

std::string AstText(const TokenStream& stream, const Ast& ast) { return Dumper(stream, ast).Run(); }

}  // namespace kiln::wgsl::front::syntax
