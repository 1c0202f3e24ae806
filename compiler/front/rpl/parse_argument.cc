// SPDX-License-Identifier: MIT
// Arguments of functions. See spec/rpl 2.2, 14 (grammar)
#include <utility>

#include "compiler/front/rpl/parser.h"

namespace kiln::rpl {

// '(' ( 'void' | argument { ',' argument } ) ')'. True if the tokens are behind the ')'.
bool Parser::Arguments(Decl& decl) {
  const Construct construct(*this);
  const uint32_t open = pos_;
  return ArgumentList(decl) || RecoverBehind(open, Semicolons::kInside);
}

bool Parser::ArgumentList(Decl& decl) {
  const ConstructName function{"argument list of", decl.name};
  const uint32_t open = Advance();
  if (Kind() == TokenKind::kCloseParen) {
    const Span span = Cover(SpanOf(open), Peek().span());
    if (Diagnostic* made = Report(Code::kRpl1153, span, {{"function", TextOfToken(decl.name)}})) {
      Propose(*made, span, "(void)");
    }
    Advance();
    return true;
  }
  if (Kind() == TokenKind::kVoid && Kind(1) == TokenKind::kCloseParen) {
    pos_ += 2;
    return true;
  }
  do {
    if (!ArgumentItem(function)) {
      return false;
    }
  } while (Accept(TokenKind::kComma));
  return ExpectClose(TokenKind::kCloseParen, function, open);
}

bool Parser::ArgumentItem(const ConstructName& function) {
  const uint32_t begin = Peek().begin;
  Prefixes prefixes;
  const uint32_t meta = tags_token_ = kNone;
  const uint32_t first = pos_;
  if (!FieldPrefixes(&prefixes)) {
    return false;
  }
  if (std::exchange(tags_token_, meta) != kNone) {
    tags_.clear();
    Report(Code::kRpl1154, SpanOf(first), {{"function", TextOfToken(function.name)}});
  }
  if (Kind() == TokenKind::kVoid) {
    return Fail(Code::kRpl1151, Peek().span(), {{"function", TextOfToken(function.name)}});
  }
  if (prefixes.condition_token != kNone && Kind() == TokenKind::kCloseParen) {
    return Fail(Code::kRpl1103, SpanOf(prefixes.condition_token), {{"what", "')'"}});
  }
  Field argument{.kind = ir::MemberKind::kParameter, .condition = prefixes.condition};
  argument.relaxed = prefixes.relaxed;
  const bool has_access = KeywordAt() == Keyword::kIn || KeywordAt() == Keyword::kOut;
  if (!ArgumentAccess(argument, function)) {
    return false;
  }
  const uint32_t type = pos_;
  if (Kind() != TokenKind::kIdentifier) {
    return FailHere(Code::kRpl1155, {{"function", TextOfToken(function.name)}});
  }
  argument.type.token = Advance();
  FieldForm form;
  if (!FieldSizes(argument, &form) || !ExpectName(&argument.name)) {
    return false;
  }
  CheckPrefixes(prefixes, {"argument", argument.name});
  if (!has_access) {
    if (Diagnostic* made = Report(Code::kRpl1152, Cover(SpanOf(type), SpanOf(argument.name)),
                                  {{"name", TextOfToken(argument.name)}})) {
      const uint32_t begin = SpanOf(type).begin;
      Propose(*made, {begin, begin}, "in ", Confidence::kGuess);
    }
  }
  if (form.ellipsis != kNone) {
    Report(Code::kRpl1132, SpanOf(form.ellipsis), {{"name", TextOfToken(argument.name)}});
  }
  CheckDeclaredName(argument.name);
  CountLocal(argument.name);
  argument.span = {begin, SpanOf(argument.name).end};
  ast_.fields.push_back(argument);
  return true;
}

// 'in' | 'out' | 'in' 'out', then 'relaxed' in version 2. Missing is reported with the name.
bool Parser::ArgumentAccess(Field& argument, const ConstructName& function) {
  const Keyword keyword = KeywordAt();
  if (keyword == Keyword::kIn) {
    Advance();
    if (KeywordAt() == Keyword::kOut) {
      Advance();
      argument.access = ir::Access::kInOut;
    }
  } else if (keyword == Keyword::kOut) {
    Advance();
    argument.access = ir::Access::kOut;
  } else if (!AtTypedName()) {
    return FailHere(Code::kRpl1155, {{"function", TextOfToken(function.name)}});
  }
  if (KeywordAt() == Keyword::kRelaxed && Kind(1) == TokenKind::kIdentifier &&
      (IsName(Kind(2)) || Kind(2) == TokenKind::kOpenBracket)) {
    NeedVersion2(pos_);
    argument.relaxed = true;
    Advance();
  }
  return true;
}

}  // namespace kiln::rpl
