// SPDX-License-Identifier: MIT
#include "compiler/front/wgsl/syntax/parser/parse_decl.h"

#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/front/wgsl/syntax/parser/parse_attribute.h"
#include "compiler/front/wgsl/syntax/parser/parse_expr.h"
#include "compiler/front/wgsl/syntax/parser/parse_stmt.h"
#include "compiler/front/wgsl/syntax/parser/recovery.h"

namespace kiln::wgsl::front::syntax {
namespace {

// WGSL, "Declaration and Scope": declarations of a module see each other whatever their order.
// The parser therefore writes down which names each of them mentions, and check/order sorts
// them.
class Declarations {
 public:
  explicit Declarations(ParseContext& context) : context_(context) {}

  // Directives stand before the first declaration (WGSL, "Directives"); behind it, one is an
  // error like any word that begins no declaration. A semicolon alone is nothing and changes
  // neither.
  void Module() {
    bool declared = false;
    while (!context_.Is(TokenKind::kEnd)) {
      CheckStop();
      const uint32_t begin = context_.at;
      if (!context_.Accept(TokenKind::kSemicolon)) {
        if (!declared && IsDirective()) {
          Directive();
        } else {
          declared = true;
          Declaration();
        }
      }
      if (context_.failed) {
        LeaveDeclaration(context_, begin);
      }
    }
  }

 private:
  bool IsDirective() const {
    return context_.Is(TokenKind::kEnable) || context_.Is(TokenKind::kRequires) ||
           context_.Is(TokenKind::kDiagnostic);
  }

  // `enable a, b;` and `requires a, b;` are lists of names, `diagnostic(off, a.b);` has
  // brackets.
  void Directive() {
    const uint32_t begin = context_.at;
    syntax::Directive row{.kind = context_.Is(TokenKind::kEnable)     ? DirectiveKind::kEnable
                                  : context_.Is(TokenKind::kRequires) ? DirectiveKind::kRequires
                                                                      : DirectiveKind::kDiagnostic,
                          .at = {},
                          .words = {}};
    context_.Next();
    const bool brackets = row.kind == DirectiveKind::kDiagnostic;
    std::vector<uint32_t> words;
    if (brackets) {
      context_.Expect(TokenKind::kOpenParen);
    }
    // A comma may stand behind the last word.
    do {
      const bool end = context_.Is(TokenKind::kSemicolon) || context_.Is(TokenKind::kCloseParen);
      if (!words.empty() && end) {
        break;
      }
      words.push_back(context_.at);
      context_.Expect(TokenKind::kIdentifier);
    } while (context_.Accept(TokenKind::kComma) ||
             (brackets && context_.Accept(TokenKind::kPeriod)));
    if (brackets) {
      context_.Expect(TokenKind::kCloseParen);
    }
    context_.Expect(TokenKind::kSemicolon);
    if (!context_.failed) {
      row.at = {begin, context_.at};
      row.words = context_.AddList(words);
      context_.ast.directives.push_back(row);
    }
  }

  void Declaration() {
    const uint32_t begin = context_.at;
    // Names mentioned from here to the end belong to this declaration. Those of parameters and
    // of what a function declares are not among them: NameScopes knows these.
    Decl row;
    row.first_mention = static_cast<uint32_t>(context_.ast.mentions.size());
    row.attributes = ParseAttributes(context_);
    switch (context_.Kind()) {
      case TokenKind::kAlias:
        row.kind = DeclKind::kAlias;
        context_.Next();
        row.token = context_.at;
        context_.Expect(TokenKind::kIdentifier);
        context_.Expect(TokenKind::kAssign);
        row.type = context_.failed ? ExprId{} : ParseName(context_);
        context_.Expect(TokenKind::kSemicolon);
        break;
      case TokenKind::kVar:
        Value(row, DeclKind::kVar);
        break;
      case TokenKind::kConst:
        Value(row, DeclKind::kConst);
        break;
      case TokenKind::kOverride:
        Value(row, DeclKind::kOverride);
        break;
      case TokenKind::kConstAssert:
        row.kind = DeclKind::kConstAssert;
        row.token = context_.at;
        context_.Next();
        row.value = ParseExpression(context_);
        context_.Expect(TokenKind::kSemicolon);
        break;
      case TokenKind::kStruct:
        Struct(row);
        break;
      case TokenKind::kFn:
        Function(row);
        break;
      default:
        context_.Fail("declaration");
        break;
    }
    // A declaration with an error has no row; its name is then unknown, which is not said
    // again, because nothing is checked behind an error of syntax.
    if (context_.failed) {
      return;
    }
    row.at = {begin, context_.at};
    row.mention_count = static_cast<uint32_t>(context_.ast.mentions.size()) - row.first_mention;
    context_.ast.decls.push_back(row);
  }

  // `var`, `const` and `override` of a module have the parts that those of functions have.
  void Value(Decl& row, DeclKind kind) {
    const VarParts parts = kind == DeclKind::kVar ? ParseVar(context_) : ParseNamedValue(context_);
    row.kind = kind;
    row.token = parts.token;
    row.type = parts.type;
    row.value = parts.value;
    row.words = parts.words;
    context_.Expect(TokenKind::kSemicolon);
  }

  // Members or parameters up to `close`.
  ListId Variables(TokenKind close) {
    std::vector<uint32_t> rows;
    while (!context_.failed && !context_.Is(close)) {
      const uint32_t begin = context_.at;
      Variable row{.token = 0, .at = {}, .type = {}, .attributes = ParseAttributes(context_)};
      row.token = context_.at;
      context_.Expect(TokenKind::kIdentifier);
      context_.Expect(TokenKind::kColon);
      row.type = context_.failed ? ExprId{} : ParseName(context_);
      row.at = {begin, context_.at};
      rows.push_back(static_cast<uint32_t>(context_.ast.variables.size()));
      context_.ast.variables.push_back(row);
      if (!context_.Accept(TokenKind::kComma)) {
        break;
      }
    }
    context_.Expect(close);
    return context_.failed ? ListId{} : context_.AddList(rows);
  }

  void Struct(Decl& row) {
    row.kind = DeclKind::kStruct;
    context_.Next();
    row.token = context_.at;
    context_.Expect(TokenKind::kIdentifier);
    context_.Expect(TokenKind::kOpenBrace);
    row.members = Variables(TokenKind::kCloseBrace);
  }

  // The parameters are in the scope of the body and not in one around it, as WGSL has it: a
  // variable of the body may not have the name of a parameter. So the block opens no scope of
  // its own.
  void Function(Decl& row) {
    row.kind = DeclKind::kFunction;
    context_.Next();
    row.token = context_.at;
    context_.Expect(TokenKind::kIdentifier);
    context_.Expect(TokenKind::kOpenParen);
    row.members = Variables(TokenKind::kCloseParen);
    if (context_.Accept(TokenKind::kArrow)) {
      row.result_attributes = ParseAttributes(context_);
      row.type = context_.failed ? ExprId{} : ParseName(context_);
    }
    context_.scopes.Open();
    for (const uint32_t parameter : context_.ast.List(row.members)) {
      context_.scopes.Declare(context_.stream.Text(context_.ast.variables[parameter].token));
    }
    row.body = context_.failed ? StmtId{} : ParseBlock(context_, BlockScope::kOfParameters);
    context_.scopes.Close();
  }

  ParseContext& context_;
};

}  // namespace

void ParseModule(ParseContext& context) { Declarations(context).Module(); }

}  // namespace kiln::wgsl::front::syntax
