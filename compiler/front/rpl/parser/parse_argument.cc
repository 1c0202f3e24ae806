// SPDX-License-Identifier: MIT
// An argument list is one construct: behind its first error the tokens are looked for that follow
// its ')'. See spec/rpl 2.2, 14 (grammar)
#include "compiler/front/rpl/parser/parse_argument.h"

#include "compiler/front/rpl/parser/lookahead.h"

namespace kiln::rpl {

// '(' ( 'void' | argument { ',' argument } ) ')'. True if the tokens are behind the ')'.
bool ArgumentParser::Arguments(Decl& decl) {
  // A construct of its own, so that an error in the list does not hide one that comes behind it.
  const ParseErrors::Construct construct(errors_);
  const uint32_t open = at_.pos();
  return ArgumentList(decl) || recovery_.RecoverBehind(open, Recovery::Semicolons::kInside);
}

bool ArgumentParser::ArgumentList(Decl& decl) {
  const ConstructName function{"argument list of", decl.name};
  const uint32_t open = at_.Advance();
  // An empty list is understood and refused: RPL says `(void)`. The parser goes on as if it had
  // been written.
  if (at_.Kind() == TokenKind::kCloseParen) {
    const Span span = Cover(at_.SpanOf(open), at_.Peek().span());
    if (Diagnostic* made =
            errors_.Report(Code::kRpl1153, span, {{"function", at_.TextOfToken(decl.name)}})) {
      errors_.Propose(*made, span, "(void)");
    }
    at_.Advance();
    return true;
  }
  if (at_.Kind() == TokenKind::kVoid && at_.Kind(1) == TokenKind::kCloseParen) {
    at_.Skip(2);
    return true;
  }
  do {
    if (!ArgumentItem(function)) {
      return false;
    }
  } while (at_.Accept(TokenKind::kComma));
  return errors_.ExpectClose(TokenKind::kCloseParen, function, open);
}

bool ArgumentParser::ArgumentItem(const ConstructName& function) {
  const uint32_t begin = at_.Peek().begin;
  FieldPrefixes prefixes;
  fields_.TakeTags();  // of a list that broke off
  const uint32_t first = at_.pos();
  if (!fields_.ReadPrefixes(&prefixes)) {
    return false;
  }
  // Tags before an argument belong to nothing. The argument itself is right, so it is kept.
  if (fields_.TakeTags()) {
    errors_.Report(Code::kRpl1154, at_.SpanOf(first),
                   {{"function", at_.TextOfToken(function.name)}});
  }
  if (at_.Kind() == TokenKind::kVoid) {
    return errors_.Fail(Code::kRpl1151, at_.Peek().span(),
                        {{"function", at_.TextOfToken(function.name)}});
  }
  // A condition without anything behind it.
  if (prefixes.condition_token != kNone && at_.Kind() == TokenKind::kCloseParen) {
    return errors_.Fail(Code::kRpl1103, at_.SpanOf(prefixes.condition_token), {{"what", "')'"}});
  }
  Field argument{.kind = ir::MemberKind::kParameter, .condition = prefixes.condition};
  argument.relaxed = prefixes.relaxed;
  const bool has_access = at_.KeywordAt() == Keyword::kIn || at_.KeywordAt() == Keyword::kOut;
  if (!ArgumentAccess(argument, function)) {
    return false;
  }
  const uint32_t type = at_.pos();
  if (at_.Kind() != TokenKind::kIdentifier) {
    return errors_.FailHere(Code::kRpl1155, {{"function", at_.TextOfToken(function.name)}});
  }
  argument.type.token = at_.Advance();
  FieldForm form;
  if (!fields_.FieldSizes(argument, &form) || !errors_.ExpectName(&argument.name)) {
    return false;
  }
  fields_.CheckPrefixes(prefixes, {"argument", argument.name});
  // The access is missing. That is said only now that the name is known; the edit proposes `in`,
  // which is a guess.
  if (!has_access) {
    if (Diagnostic* made =
            errors_.Report(Code::kRpl1152, Cover(at_.SpanOf(type), at_.SpanOf(argument.name)),
                           {{"name", at_.TextOfToken(argument.name)}})) {
      const uint32_t begin = at_.SpanOf(type).begin;
      errors_.Propose(*made, {begin, begin}, "in ", Confidence::kGuess);
    }
  }
  if (form.ellipsis != kNone) {
    errors_.Report(Code::kRpl1132, at_.SpanOf(form.ellipsis),
                   {{"name", at_.TextOfToken(argument.name)}});
  }
  errors_.CheckDeclaredName(argument.name);
  errors_.CountLocal(argument.name);
  argument.span = {begin, at_.SpanOf(argument.name).end};
  ast_.fields.push_back(argument);
  return true;
}

// 'in' | 'out' | 'in' 'out', then 'relaxed' in version 2. Missing is reported with the name.
bool ArgumentParser::ArgumentAccess(Field& argument, const ConstructName& function) {
  const Keyword keyword = at_.KeywordAt();
  if (keyword == Keyword::kIn) {
    at_.Advance();
    if (at_.KeywordAt() == Keyword::kOut) {
      at_.Advance();
      argument.access = ir::Access::kInOut;
    }
  } else if (keyword == Keyword::kOut) {
    at_.Advance();
    argument.access = ir::Access::kOut;
  } else if (!AtTypedName(at_)) {
    // No access, and no type with a name either: this is no argument at all.
    return errors_.FailHere(Code::kRpl1155, {{"function", at_.TextOfToken(function.name)}});
  }
  // `relaxed` is no keyword but where a type and a name follow it: a struct may be called so.
  if (at_.KeywordAt() == Keyword::kRelaxed && at_.Kind(1) == TokenKind::kIdentifier &&
      (IsName(at_.Kind(2)) || at_.Kind(2) == TokenKind::kOpenBracket)) {
    errors_.NeedVersion2(at_.pos());
    argument.relaxed = true;
    at_.Advance();
  }
  return true;
}

}  // namespace kiln::rpl
