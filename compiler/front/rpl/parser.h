// SPDX-License-Identifier: MIT
// The parser's state and its rules, one function per rule of the grammar. Private to parse*.cc:
// parse.cc holds the cursor, errors and recovery, the others what their names say.
//
// A rule returns false after it has reported an error and left the tokens where recovery starts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/stop.h"
#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/lex.h"
#include "compiler/front/rpl/operators.h"
#include "compiler/front/rpl/parse.h"

namespace kiln::rpl {

// A construct in a message: "field 'uv'". Cheap to pass, spelled only when a message needs it.
struct ConstructName {
  std::string_view kind;
  uint32_t name = kNone;  // token
};

class Parser {
 public:
  Parser(std::string_view text, const LexResult& lexed, uint32_t module,
         const LanguageLimits& limits, ParseResult& out)
      : text_(text),
        lexed_(lexed),
        module_(module),
        max_nesting_(limits.nesting),
        max_terms_(limits.terms),
        max_locals_(limits.locals),
        ast_(out.ast),
        found_(out.diagnostics) {}

  void File();

 private:
  // The unit of error reporting: one field, argument list, statement or declaration.
  class Construct {
   public:
    explicit Construct(Parser& parser);
    ~Construct();
    Construct(const Construct&) = delete;
    Construct& operator=(const Construct&) = delete;

   private:
    Parser& parser_;
    bool outer_reported_;
    uint32_t begin_;
  };

  // --- cursor (parse.cc) -------------------------------------------------------------------------
  const Token& Peek(uint32_t ahead = 0) const {
    const size_t last = lexed_.tokens.size() - 1;
    return lexed_.tokens[pos_ + ahead < last ? pos_ + ahead : last];
  }
  TokenKind Kind() const { return lexed_.tokens[pos_].kind; }
  TokenKind Kind(uint32_t ahead) const { return Peek(ahead).kind; }
  uint32_t Advance() { return Kind() == TokenKind::kEnd ? pos_ : pos_++; }
  bool Accept(TokenKind kind) {
    if (Kind() != kind) {
      return false;
    }
    Advance();
    return true;
  }
  const Word& WordAt(uint32_t ahead = 0) const;
  Keyword KeywordAt(uint32_t ahead = 0) const {
    return Kind(ahead) == TokenKind::kIdentifier ? WordAt(ahead).keyword : Keyword::kNone;
  }
  bool AtPrefix(Keyword keyword) const {
    return KeywordAt() == keyword && Kind(1) == TokenKind::kOpenParen;
  }
  uint32_t Previous() const { return pos_ == 0 ? 0 : pos_ - 1; }
  Span SpanOf(uint32_t token) const { return lexed_.tokens[token].span(); }
  std::string_view TextAt(Span span) const { return TextOf(text_, span); }
  std::string TextOfToken(uint32_t token) const { return Quoted(TextAt(SpanOf(token))); }
  uint32_t SymbolOf(uint32_t token) const { return lexed_.tokens[token].value; }
  bool OnNewLine() const;  // does a line end lie before the current token?
  bool IsName(TokenKind kind) const {
    return kind == TokenKind::kIdentifier || kind == TokenKind::kTrue ||
           kind == TokenKind::kFalse || kind == TokenKind::kVoid;
  }

  // --- errors (parse.cc) -------------------------------------------------------------------------
  // Null if the construct has reported already.
  Diagnostic* Report(Code code, Span span, std::initializer_list<Argument> arguments);
  bool Fail(Code code, Span span, std::initializer_list<Argument> arguments) {
    Report(code, span, arguments);
    return false;
  }
  // The current token is not what is due. {text} is added; the end of the file has its own code.
  bool FailHere(Code code, std::initializer_list<Argument> arguments = {});
  std::string Describe(const ConstructName& what) const;
  void SetOwner(const ConstructName& what);
  bool Expect(TokenKind kind, const ConstructName& after);
  bool ExpectClose(TokenKind kind, const ConstructName& what, uint32_t open);
  bool ExpectSemicolon(const ConstructName& after);
  void FailSemicolon(const ConstructName& after);
  // The same two behind an expression, where two operands in a row have a message of their own.
  bool CloseExpression(TokenKind kind, const ConstructName& what, uint32_t open);
  bool EndExpression(const ConstructName& what);
  bool StartsOperand() const;
  bool FailOperator();
  bool ExpectName(uint32_t* name);        // any identifier; reserved words are RPL1106
  void CheckDeclaredName(uint32_t name);  // RPL1107
  void CountLocal(uint32_t name);         // LIM1001, once for each function
  void NeedVersion2(uint32_t token);      // RPL1192
  // The edit that mends what was found; its message says so.
  void Propose(Diagnostic& found, Span where, std::string_view text,
               Confidence confidence = Confidence::kSure) const;
  // The known word that was meant instead of the current token, if it has a near one.
  void Suggest(Diagnostic& found, std::string_view meant) const;
  Location At(Span span) const { return {.module = module_, .bytes = span}; }

  // --- recovery (parse.cc) -----------------------------------------------------------------------
  void Recover();
  // Does a declaration start here that no field can be taken for? So a '}' is missing before it.
  bool AtDeclaration() const;
  bool AtFunction() const;
  bool Behind(uint32_t tokens, bool (Parser::*test)() const) {
    pos_ += tokens;
    const bool passed = (this->*test)();
    pos_ -= tokens;
    return passed;
  }
  bool AtConditionalDeclaration();
  bool AtLineStart() const;  // no separator but line ends between the last line end and here
  bool FailUnclosed(const ConstructName& what);
  // The same of a function, whose wrong brace is found by how the source is indented.
  bool FailUnclosedScope();
  uint32_t IndentOf(uint32_t token) const;  // of its line; kNone if the line is very long
  bool StartsLine(uint32_t token) const;
  uint32_t FindUnclosedBrace() const;  // of the function, by how it is indented; kNone if none
  uint32_t BraceAround() const;        // of the current token; kNone if it is far away
  // Goes behind the bracket that closes `open`; false if statements begin before it.
  enum class Semicolons : uint8_t { kEnd, kInside };
  bool RecoverBehind(uint32_t open, Semicolons semicolons);
  bool SkipBraces();  // true if they held statements
  bool BracesHoldStatements() const;
  // `{ x =`: a scope behind a mistyped keyword, no constructor.
  bool BracesAssign() const {
    return Kind(1) == TokenKind::kIdentifier && OperatorOf(Kind(2)).precedence == kAssignment;
  }

  // --- declarations (parse_decl.cc) --------------------------------------------------------------
  void VersionHeader();
  void Declaration();
  bool DeclarationBody(Decl& decl);
  bool Conditional(ExprRange* condition);
  bool Option(Decl& decl, ir::OptionScope scope);
  bool OptionBody(Decl& decl);
  bool FlagDefault(Decl& decl);
  bool OptionDefault(Decl& decl, std::string_view type);
  bool EnumValues(Decl& decl);
  bool Constant(Decl& decl);
  bool Setting(Decl& decl);
  bool SettingBlock(Decl& decl);
  bool Dotted(Decl& decl);
  bool Function(Decl& decl);
  bool FailDeclaration();

  // --- declarations with fields, resources (parse_resource.cc) -----------------------------------
  bool FieldBlock(Decl& decl, DeclForm form, std::string_view kind);
  bool Resource(Decl& decl, ir::ResourceSet set);
  bool Sampler(Decl& decl);
  bool Image(Decl& decl);
  bool StorageImage(Decl& decl);
  bool WorkgroupVariable(Decl& decl);

  // --- fields (parse_field.cc), arguments (parse_argument.cc)
  struct Prefixes {
    ExprRange condition;
    uint32_t condition_token = kNone;
    uint32_t second_condition = kNone;  // token of a second `conditional`
    uint32_t pack = kNone;              // token of the word `pack`
    uint32_t second_pack = kNone;
    uint32_t pack_format = kNone;  // token
    bool relaxed = false;
  };
  bool Fields(Decl& decl, std::string_view kind);
  bool FieldItem(const Decl& decl, const ConstructName& owner);
  bool AtFieldPrefix() const {
    return AtPrefix(Keyword::kConditional) || AtPrefix(Keyword::kMeta) || AtPrefix(Keyword::kPack);
  }
  bool FieldPrefixes(Prefixes* prefixes);
  bool Meta();
  bool ConditionalPrefix(Prefixes* prefixes);
  bool PackPrefix(Prefixes* prefixes);
  void CheckPrefixes(const Prefixes& prefixes, const ConstructName& item);
  bool FieldAlias(const Prefixes& prefixes);
  bool PlainField(const Prefixes& prefixes, const Decl& decl, const ConstructName& owner);
  struct FieldForm {
    uint32_t sizes = kNone;     // token of the first '['
    uint32_t ellipsis = kNone;  // token of the first '...'
    uint32_t mixed = kNone;     // token of what does not go with the first
  };
  bool FieldSizes(Field& field, FieldForm* form);
  void CheckFieldForm(const Field& field, const FieldForm& form, const Decl& decl);
  void ApplyPack(Field& field, const Prefixes& prefixes, const Decl& decl);
  bool AliasBody(uint32_t* name, ExprRange* value);
  bool EndFields(const ConstructName& owner);
  bool Arguments(Decl& decl);
  bool ArgumentList(Decl& decl);
  bool ArgumentItem(const ConstructName& function);
  bool ArgumentAccess(Field& argument, const ConstructName& function);
  bool Sizes(uint32_t* sizes);  // { '[' expr ']' }
  bool AtTypedName() const;     // ID sizes ID: a declaration of a variable

  // --- statements (parse_stmt.cc) ----------------------------------------------------------------
  enum class ScopeRole : uint8_t { kPlain, kThen };  // kThen: behind the condition of an 'if'
  bool Scope(const ExprRange& condition, uint32_t begin, ScopeRole role = ScopeRole::kPlain);
  bool EndsUnclosed(ScopeRole role);
  void Statement();
  bool StatementBody();
  bool ConditionalStatement();
  bool AliasStatement(const ExprRange& condition, uint32_t begin);
  bool If();
  bool Else();
  bool For();
  bool ForHeader(uint32_t row);
  bool While();
  bool Jump(StmtKind kind);
  bool Return();
  bool Variable();
  bool VariableStatement();
  bool ExpressionStatement();
  bool HeaderCondition(uint32_t row, const ConstructName& what);
  bool BodyScope(const ConstructName& what, ScopeRole role = ScopeRole::kPlain);
  void BodyWithoutBrace(uint32_t header);
  bool ScopeBehindWord();
  void SkipEndOfDo();
  bool AtHeaderWithoutParen() const;
  bool HeaderWithoutParen();
  uint32_t BeginStmt(StmtKind kind, uint32_t token);
  void EndStmt(uint32_t row);

  // --- expressions (parse_expr.cc) ---------------------------------------------------------------
  struct Operand {
    uint32_t row = kNone;
    Span span;  // with the parentheses around it
  };
  struct Pending {
    uint8_t precedence;
    ExprKind kind;
    uint8_t op;
    uint32_t token;
    Operand left;           // of binary operators
    uint32_t then = kNone;  // kSelect: row of the second operand
  };
  bool EnterNested(uint32_t token);  // counts one level; false: RPL1009
  bool Expression(ExprRange* range);
  bool Operators(Operand* operand);
  bool Prefixed(Operand* operand);
  bool Primary(Operand* operand);
  bool Postfix(Operand* operand);
  bool Member(Operand* operand);
  bool Index(Operand* operand);
  bool Group(Operand* operand);
  bool Name(Operand* operand);
  void SkipTypeArguments(uint32_t name);
  void FailComma();
  bool ArrayConstructor(Operand* operand, uint32_t name);
  bool Items(TokenKind close, uint32_t name, uint32_t* list);
  bool Literal(Operand* operand, ExprKind kind);
  bool PushBinary(const Operand& left);
  bool PushSelect(const Operand& condition);
  void Reduce(Operand* operand);
  bool FailOperandDue();
  bool AtArrayConstructor() const;
  uint32_t AddExpr(const Expr& expr) {
    CheckStop();  // a function may have a million of them
    ast_.exprs.push_back(expr);
    return static_cast<uint32_t>(ast_.exprs.size() - 1);
  }

  std::string_view text_;
  const LexResult& lexed_;
  uint32_t module_;
  const uint32_t max_nesting_;
  const uint32_t max_terms_;
  const uint32_t max_locals_;
  Ast& ast_;
  std::vector<Diagnostic>& found_;

  uint32_t pos_ = 0;
  bool reported_ = false;         // the current construct has its error
  bool end_reported_ = false;     // the end of the file is reported once
  bool needs_version_2_ = false;  // is said
  bool has_header_ = false;       // 'rpl' and a number
  bool unclosed_ = false;         // a declaration was met inside a function, which lacks a '}'
  ConstructName owner_;           // the declaration around the current token
  Span owner_span_;
  bool after_if_ = false;       // the statement before the current token started with if or else
  uint32_t nesting_ = 0;        // of the expression being parsed
  uint32_t scope_nesting_ = 0;  // of scopes
  uint32_t body_token_ = 0;     // '{' of the current function
  uint32_t locals_ = 0;         // of the current function
  uint32_t open_braces_ = 0;    // of constructors around the current token
  std::vector<Pending> pending_;
  std::vector<uint32_t> items_;  // stack of list items
  std::vector<uint32_t> tags_;   // of the field that comes next
  uint32_t tags_token_ = kNone;
  std::vector<Span> constructs_;            // kept only if the lexer found errors
  std::vector<uint32_t> option_of_symbol_;  // token of the name, by symbol; kNone
};

}  // namespace kiln::rpl
