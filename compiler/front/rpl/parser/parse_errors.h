// SPDX-License-Identifier: MIT
// What a parser says is wrong: at most one error for each construct, and what is due at the current
// token. Moves the cursor only over what was due. Functions that return bool return false after an
// error, with the tokens where recovery starts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/language_limits.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/message_count.h"
#include "compiler/front/rpl/ast.h"
#include "compiler/front/rpl/parser/token_cursor.h"

namespace kiln::rpl {

// A construct in a message: "field 'uv'". Cheap to pass, spelled only when a message needs it.
struct ConstructName {
  std::string_view kind;
  uint32_t name = kNone;  // token
};

class ParseErrors {
 public:
  // The unit of error reporting: one field, argument list, statement or declaration.
  class Construct {
   public:
    explicit Construct(ParseErrors& errors);
    ~Construct();
    Construct(const Construct&) = delete;
    Construct& operator=(const Construct&) = delete;

   private:
    ParseErrors& errors_;
    bool outer_reported_;
    uint32_t begin_;
  };

  // `version`: of the language, as far as it is known; `found` takes what is wrong. Both, and the
  // cursor, outlive it.
  ParseErrors(TokenCursor& at, uint32_t module, uint32_t max_locals, const uint32_t& version,
              std::vector<Diagnostic>& found)
      : at_(at), module_(module), max_locals_(max_locals), version_(version), found_(found) {}

  // Once, at the end: adds the errors of the lexer and selects.
  void Finish();

  // Null if the construct has reported already, or so much was found that it is left out.
  Diagnostic* Report(Code code, Span span, std::initializer_list<Argument> arguments);
  bool Fail(Code code, Span span, std::initializer_list<Argument> arguments) {
    Report(code, span, arguments);
    return false;
  }
  // The current token is not what is due. {text} is added; the end of the file has its own code.
  bool FailHere(Code code, std::initializer_list<Argument> arguments = {});
  // The '}' of `what` is missing before the current token.
  bool FailUnclosed(const ConstructName& what);
  std::string Describe(const ConstructName& what) const;
  Location At(Span span) const { return {.module = module_, .bytes = span}; }
  std::vector<Diagnostic>& found() { return found_; }

  // The declaration around the current token, for messages about the end of the file.
  void SetOwner(const ConstructName& what);
  const ConstructName& owner() const { return owner_; }

  // --- what is due -------------------------------------------------------------------------------
  bool Expect(TokenKind kind, const ConstructName& after);
  bool ExpectClose(TokenKind kind, const ConstructName& what, uint32_t open);
  bool ExpectSemicolon(const ConstructName& after);
  void FailSemicolon(const ConstructName& after);
  // The same two behind an expression, where two operands in a row have a message of their own.
  bool CloseExpression(TokenKind kind, const ConstructName& what, uint32_t open);
  bool EndExpression(const ConstructName& what);
  bool FailOperator();
  bool ExpectName(uint32_t* name);        // any identifier; reserved words are RPL1106
  void CheckDeclaredName(uint32_t name);  // RPL1107

  // --- said once ---------------------------------------------------------------------------------
  void BeginFunction() { locals_ = 0; }
  void CountLocal(uint32_t name);     // LIM1001, once for each function
  void NeedVersion2(uint32_t token);  // RPL1192
  void HeaderIsThere() { has_header_ = true; }
  void EndIsReported() { end_reported_ = true; }

  // --- help --------------------------------------------------------------------------------------
  // The edit that mends what was found; its message says so.
  void Propose(Diagnostic& found, Span where, std::string_view text,
               Confidence confidence = Confidence::kSure) const;
  // The known word that was meant instead of the current token, if it has a near one.
  void Suggest(Diagnostic& found, std::string_view meant) const;

 private:
  TokenCursor& at_;
  const uint32_t module_;
  const uint32_t max_locals_;
  const uint32_t& version_;
  std::vector<Diagnostic>& found_;
  MessageCount count_;  // of what is in `found_`

  bool reported_ = false;         // the current construct has its error
  bool end_reported_ = false;     // the end of the file is reported once
  bool needs_version_2_ = false;  // is said
  bool has_header_ = false;       // 'rpl' and a number
  ConstructName owner_;
  Span owner_span_;
  uint32_t locals_ = 0;           // of the current function
  std::vector<Span> constructs_;  // kept only if the lexer found errors
};

}  // namespace kiln::rpl
