// SPDX-License-Identifier: MIT
// What a parser says is wrong: at most one error for each construct, and what is due at the current
// token. Moves the cursor only over what was due. Functions that return bool return false after an
// error, with the tokens where recovery starts.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/diag/message_count.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/syntax/ast.h"
#include "compiler/front/hlsl/syntax/parser/token_cursor.h"

namespace kiln::hlsl::syntax {

// A construct in a message: "variable 'uv'". Cheap to pass, spelled only when a message needs it.
struct ConstructName {
  std::string_view kind;
  uint32_t name = kNone;  // token
};

class ParseErrors {
 public:
  // The unit of error reporting: one statement, declaration, member, parameter or attribute.
  class Construct {
   public:
    explicit Construct(ParseErrors& errors);
    ~Construct() {
      errors_.reported_ = outer_reported_;
      errors_.begin_ = outer_begin_;
    }
    Construct(const Construct&) = delete;
    Construct& operator=(const Construct&) = delete;

   private:
    ParseErrors& errors_;
    bool outer_reported_;
    uint32_t outer_begin_;
  };

  // The cursor and `found`, which takes what is wrong, outlive it.
  ParseErrors(TokenCursor& at, Version version, std::vector<Diagnostic>& found)
      : at_(at), version_(version), found_(found) {}

  // Errors of an earlier stage: a construct that holds one has its error.
  void SetEarlier(std::span<const Diagnostic> earlier);

  // At tokens [first, last]. Null if the construct has reported already, or so much was found that
  // it is left out.
  Diagnostic* Report(Code code, uint32_t first, uint32_t last,
                     std::initializer_list<Argument> arguments);
  bool Fail(Code code, uint32_t token, std::initializer_list<Argument> arguments) {
    Report(code, token, token, arguments);
    return false;
  }
  // HLSL1040 at the current token: "expected {what}, found …".
  bool FailHere(std::string_view what);
  // HLSL1041: `what`, which began at token `open`, lacks its closing `kind` before token `before`.
  bool FailUnclosed(TokenKind kind, const ConstructName& what, uint32_t open, uint32_t before);
  Location At(uint32_t token) const;
  std::string Describe(const ConstructName& what) const;

  // --- what is due -------------------------------------------------------------------------------
  bool Expect(TokenKind kind, const ConstructName& after);
  bool ExpectClose(TokenKind kind, const ConstructName& what, uint32_t open);
  bool ExpectSemicolon(const ConstructName& after);
  bool ExpectName(std::string_view what, uint32_t* name);  // `what` as of FailHere

  // --- what this build or dialect has not --------------------------------------------------------
  // Syntax of T2: HLSL1045 in a dialect that never has it, else HLSL8004.
  void RefuseFamily(uint32_t first, uint32_t last, std::string_view family);
  void RefuseDialect(uint32_t first, uint32_t last, std::string_view family);
  void IgnoreEffect(uint32_t token);  // HLSL1044
  Version version() const { return version_; }

  bool reported() const { return reported_; }  // the current construct has its error
  // An error of this construct was said elsewhere or would only follow from one.
  void Silence() { reported_ = true; }

 private:
  bool HoldsEarlier(uint32_t last) const;

  TokenCursor& at_;
  const Version version_;
  std::vector<Diagnostic>& found_;
  MessageCount count_;  // of what is in `found_`
  bool reported_ = false;
  bool end_reported_ = false;      // the end of the file is reported once
  uint32_t begin_ = 0;             // token that the current construct begins with
  std::vector<uint32_t> earlier_;  // offsets, ascending
};

}  // namespace kiln::hlsl::syntax
