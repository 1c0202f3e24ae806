// SPDX-License-Identifier: MIT
// A prefix may stand before a field, before an argument, or before nothing; so prefixes are
// gathered first and judged when it is known what they belong to. Tags outlive the field they were
// read for if it turns out to be broken, and are dropped with it. See spec/rpl 2.1, 14 (grammar)
#include "compiler/front/rpl/parser/parse_field.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "compiler/base/text/closest_name.h"
#include "compiler/front/common/identifier.h"
#include "compiler/front/common/number_literal.h"
#include "compiler/front/rpl/parser/lookahead.h"

namespace kiln::rpl {
namespace {

struct PackFormat {
  ir::PackClass pack;
  uint8_t bits;
};

// What there is; another number of bits is refused where the field is closed.
constexpr auto kPackFormats = std::to_array<std::string_view>({
#define KILN_PACK_FORMAT(name, types, values) name,
#include "compiler/front/rpl/formats.def"
});

// A class and a number of bits in one word; whether the class has that form is decided later.
std::optional<PackFormat> PackFormatOf(std::string_view text) {
  constexpr auto kClasses = std::to_array<std::pair<std::string_view, ir::PackClass>>({
      {"float", ir::PackClass::kFloat},
      {"unorm", ir::PackClass::kUnorm},
      {"snorm", ir::PackClass::kSnorm},
      {"uint", ir::PackClass::kUint},
      {"sint", ir::PackClass::kSint},
  });
  // No class is the beginning of another one, so the first that fits is the only one. Without a
  // leading zero every format has one spelling.
  for (const auto& [name, pack] : kClasses) {
    if (!text.starts_with(name)) {
      continue;
    }
    const std::string_view digits = text.substr(name.size());
    const bool plain = !digits.empty() && digits.size() <= 3 && digits[0] != '0' &&
                       std::ranges::all_of(digits, front::IsDigit);
    const std::optional<uint32_t> bits = plain ? front::ParseDecimal(digits) : std::nullopt;
    if (bits && *bits <= 255) {
      return PackFormat{pack, static_cast<uint8_t>(*bits)};
    }
  }
  return std::nullopt;
}

// For a note: all that there are, in the order of the table.
std::string PackFormatsText() {
  std::string text;
  for (const std::string_view name : kPackFormats) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

// Only attributes are read from memory in another format than their type.
bool IsAttributeContainer(const Decl& decl) {
  return decl.form == DeclForm::kContainer &&
         (decl.container == ir::ContainerKind::kVertexAttributes ||
          decl.container == ir::ContainerKind::kInstanceAttributes);
}

}  // namespace

// { field_item } '}' ';'
// One field is one construct of errors, so a broken field costs one message and the next one is
// read as usual.
bool FieldParser::Fields(Decl& decl, std::string_view kind) {
  const ConstructName owner{kind, decl.name};
  tags_.clear();
  tags_token_ = kNone;
  bool any_field = false;
  while (at_.Kind() != TokenKind::kCloseBrace && at_.Kind() != TokenKind::kEnd) {
    const ParseErrors::Construct construct(errors_);
    const uint32_t begin = at_.pos();
    const size_t count = ast_.fields.size();
    // A lone ';' in front of a declaration: the '}' before it is missing.
    if (at_.Kind() == TokenKind::kSemicolon && AtDeclaration(at_.Behind(1))) {
      errors_.FailUnclosed(owner);
      at_.Advance();
      return true;
    }
    if (!FieldItem(decl, owner)) {
      if (AtDeclaration(at_)) {
        return true;  // it ends the list
      }
      recovery_.Recover();
      tags_.clear();
      tags_token_ = kNone;
      // Something was there, so the list is not called empty as well.
      any_field = true;  // it may have been one
    }
    any_field = any_field ||
                (ast_.fields.size() > count && ast_.fields.back().kind == ir::MemberKind::kField);
    if (at_.pos() == begin) {
      at_.Advance();
    }
  }
  // Tags that no field has followed belong to nothing.
  if (tags_token_ != kNone && at_.Kind() == TokenKind::kCloseBrace) {
    errors_.Report(Code::kRpl1133, at_.SpanOf(tags_token_), {});
    tags_.clear();
    any_field = true;
  }
  if (at_.Kind() == TokenKind::kEnd) {
    return errors_.FailHere(Code::kRpl1112);
  }
  if (!any_field) {
    errors_.Report(Code::kRpl1136, at_.SpanOf(decl.name), {{"owner", at_.TextOfToken(decl.name)}});
  }
  at_.Advance();
  return EndFields(owner);
}

// A forgotten ';' ends nothing but itself: what follows is the next declaration.
bool FieldParser::EndFields(const ConstructName& owner) {
  if (at_.Accept(TokenKind::kSemicolon)) {
    return true;
  }
  if (at_.Kind() == TokenKind::kIdentifier || at_.Kind() == TokenKind::kVoid) {
    errors_.FailSemicolon(owner);
    return true;
  }
  return errors_.FailHere(Code::kRpl1110, {{"what", errors_.Describe(owner)}});
}

// An item is a field or an alias with its prefixes, or prefixes that nothing follows.
bool FieldParser::FieldItem(const Decl& decl, const ConstructName& owner) {
  const uint32_t begin = at_.Peek().begin;
  FieldPrefixes prefixes;
  if (!ReadPrefixes(&prefixes)) {
    return false;
  }
  if (at_.Kind() == TokenKind::kCloseBrace) {
    if (prefixes.condition_token != kNone) {
      tags_token_ = kNone;
      return errors_.Fail(Code::kRpl1103, at_.SpanOf(prefixes.condition_token), {{"what", "'}'"}});
    }
    return prefixes.pack == kNone ||
           errors_.FailHere(Code::kRpl1134, {{"owner", at_.TextOfToken(owner.name)}});
  }
  // The next declaration begins, so the '}' of this one is missing. Recovery is not needed: the
  // caller goes on exactly here.
  if (AtDeclaration(at_)) {
    return errors_.FailUnclosed(owner);
  }
  const bool alias = at_.AtPrefix(Keyword::kAlias);
  if (!(alias ? FieldAlias(prefixes) : PlainField(prefixes, decl, owner))) {
    return false;
  }
  Field& field = ast_.fields.back();
  field.span = {begin, at_.SpanOf(at_.Previous()).end};
  return true;
}

bool FieldParser::ReadPrefixes(FieldPrefixes* prefixes) {
  // In any order, as the language has it.
  while (true) {
    if (at_.AtPrefix(Keyword::kConditional)) {
      if (!ConditionalPrefix(prefixes)) {
        return false;
      }
    } else if (at_.AtPrefix(Keyword::kMeta)) {
      if (!Meta()) {
        return false;
      }
    } else if (at_.AtPrefix(Keyword::kPack)) {
      if (!PackPrefix(prefixes)) {
        return false;
      }
    } else if (at_.KeywordAt() == Keyword::kRelaxed && IsName(at_.Kind(1)) &&
               (IsName(at_.Kind(2)) || AtFieldPrefix(at_.Behind(1)))) {
      // `relaxed` is a prefix only if a type and a name follow, or another prefix; otherwise it is
      // the type.
      errors_.NeedVersion2(at_.pos());
      prefixes->relaxed = true;
      at_.Advance();
    } else {
      return true;
    }
  }
}

// 'meta' '(' ID { ',' ID } ')'
// Tags are gathered in the parser and not in the prefixes: they may outlive an alias (spec/rpl
// 2.1).
bool FieldParser::Meta() {
  if (tags_token_ == kNone) {
    tags_token_ = at_.pos();
  }
  at_.Advance();
  const uint32_t open = at_.Advance();
  do {
    if (at_.Kind() != TokenKind::kIdentifier) {
      return errors_.FailHere(Code::kRpl1135);
    }
    tags_.push_back(at_.SymbolOf(at_.Advance()));
  } while (at_.Accept(TokenKind::kComma));
  return errors_.ExpectClose(TokenKind::kCloseParen, {"'meta'"}, open);
}

// The condition of the first counts, others are only parsed.
bool FieldParser::ConditionalPrefix(FieldPrefixes* prefixes) {
  const bool first = prefixes->condition_token == kNone;
  uint32_t& token = first ? prefixes->condition_token : prefixes->second_condition;
  // Of several conditions the second is remembered, which is where the message points to.
  token = token == kNone ? at_.pos() : token;
  ExprRange ignored;
  return expressions_.Conditional(first ? &prefixes->condition : &ignored);
}

// The format is one word. It is looked up here, so that a mistake is reported at the word.
bool FieldParser::PackPrefix(FieldPrefixes* prefixes) {
  uint32_t& token = prefixes->pack == kNone ? prefixes->pack : prefixes->second_pack;
  token = token == kNone ? at_.pos() : token;
  at_.Advance();
  const uint32_t open = at_.Advance();
  const std::string_view text = at_.TextAt(at_.Peek().span());
  if (at_.Kind() != TokenKind::kIdentifier || !PackFormatOf(text)) {
    const size_t before = errors_.found().size();
    errors_.FailHere(Code::kRpl1140);
    if (errors_.found().size() > before && errors_.found().back().code == Code::kRpl1140) {
      std::move(errors_.found().back())
          .Note(NoteKind::kKnownValues, {{"values", PackFormatsText()}});
      errors_.Suggest(errors_.found().back(), ClosestName(text).OfferAll(kPackFormats).best());
    }
    return false;
  }
  prefixes->pack_format = at_.Advance();
  return errors_.ExpectClose(TokenKind::kCloseParen, {"'pack'"}, open);
}

// Doubled prefixes are reported when it is known what they stand before, so that the message can
// name it.
void FieldParser::CheckPrefixes(const FieldPrefixes& prefixes, const ConstructName& item) {
  if (prefixes.second_condition != kNone) {
    errors_.Report(Code::kRpl1102, at_.SpanOf(prefixes.second_condition),
                   {{"prefix", "conditional"}, {"what", errors_.Describe(item)}});
  }
  if (prefixes.second_pack != kNone) {
    errors_.Report(Code::kRpl1102, at_.SpanOf(prefixes.second_pack),
                   {{"prefix", "pack"}, {"what", errors_.Describe(item)}});
  }
}

// An alias has no type and no tags: those that were read wait for the next field.
bool FieldParser::FieldAlias(const FieldPrefixes& prefixes) {
  Field field{.kind = ir::MemberKind::kAlias, .condition = prefixes.condition};
  if (!AliasBody(&field.name, &field.value)) {
    return false;
  }
  const ConstructName what{"alias", field.name};
  CheckPrefixes(prefixes, what);
  if (prefixes.pack != kNone) {
    errors_.Report(Code::kRpl1141,
                   Cover(at_.SpanOf(prefixes.pack), at_.SpanOf(prefixes.pack_format)),
                   {{"name", at_.TextOfToken(field.name)}});
  }
  ast_.fields.push_back(field);
  return true;
}

// 'alias' '(' ID ',' expr ')', and the ';' that does not belong there
bool FieldParser::AliasBody(uint32_t* name, ExprRange* value) {
  at_.Advance();
  const uint32_t open = at_.Advance();
  if (!errors_.ExpectName(name)) {
    return false;
  }
  const ConstructName what{"alias", *name};
  if (!errors_.Expect(TokenKind::kComma, what) || !expressions_.Expression(value) ||
      !errors_.CloseExpression(TokenKind::kCloseParen, what, open)) {
    return false;
  }
  if (at_.Kind() == TokenKind::kSemicolon) {
    if (Diagnostic* made =
            errors_.Report(Code::kRpl1137, at_.Peek().span(), {{"name", at_.TextOfToken(*name)}})) {
      errors_.Propose(*made, at_.Peek().span(), "");
    }
    at_.Advance();
  }
  return true;
}

// ID [ dims | '...' ] ID ';'
bool FieldParser::PlainField(const FieldPrefixes& prefixes, const Decl& decl,
                             const ConstructName& owner) {
  if (at_.Kind() != TokenKind::kIdentifier) {
    return errors_.FailHere(Code::kRpl1134, {{"owner", at_.TextOfToken(owner.name)}});
  }
  Field field{.relaxed = prefixes.relaxed, .condition = prefixes.condition};
  field.type.token = at_.Advance();
  FieldForm form;
  if (!FieldSizes(field, &form) || !errors_.ExpectName(&field.name)) {
    return false;
  }
  CheckPrefixes(prefixes, {"field", field.name});
  CheckFieldForm(field, form, decl);
  ApplyPack(field, prefixes, decl);
  // The tags go to this field and to no other.
  if (tags_token_ != kNone) {
    field.tags = ast_.AddList(tags_);
    tags_.clear();
    tags_token_ = kNone;
  }
  ast_.fields.push_back(field);
  return errors_.ExpectSemicolon({"field", field.name});
}

// [ dims | '...' ], and what people write beyond it
// Sizes and dots exclude one another, but all are read: what is too much is said once, with the
// name that follows.
bool FieldParser::FieldSizes(Field& field, FieldForm* form) {
  while (at_.Kind() == TokenKind::kOpenBracket || at_.Kind() == TokenKind::kEllipsis) {
    const bool again = form->sizes != kNone || form->ellipsis != kNone;
    if (again && form->mixed == kNone) {
      form->mixed = at_.pos();
    }
    if (at_.Kind() == TokenKind::kEllipsis) {
      form->ellipsis = form->ellipsis == kNone ? at_.pos() : form->ellipsis;
      field.runtime = true;
      at_.Advance();
      continue;
    }
    form->sizes = form->sizes == kNone ? at_.pos() : form->sizes;
    if (!expressions_.Sizes(&field.type.sizes)) {
      return false;
    }
  }
  return true;
}

// What the grammar allows and the declaration does not: the messages differ, so each form is
// checked by itself.
void FieldParser::CheckFieldForm(const Field& field, const FieldForm& form, const Decl& decl) {
  if (form.mixed != kNone) {
    errors_.Report(Code::kRpl1130, at_.SpanOf(form.mixed), {{"name", at_.TextOfToken(field.name)}});
  }
  if (form.sizes != kNone && decl.form == DeclForm::kContainer) {
    errors_.Report(Code::kRpl1142, at_.SpanOf(form.sizes),
                   {{"name", at_.TextOfToken(field.name)}, {"owner", at_.TextOfToken(decl.name)}});
  }
  const bool holds_runtime = decl.form == DeclForm::kStruct || decl.form == DeclForm::kBuffer;
  if (form.ellipsis != kNone && !holds_runtime) {
    errors_.Report(Code::kRpl1132, at_.SpanOf(form.ellipsis),
                   {{"name", at_.TextOfToken(field.name)}});
  }
}

// Formats belong to attributes alone (IsAttributeContainer).
void FieldParser::ApplyPack(Field& field, const FieldPrefixes& prefixes, const Decl& decl) {
  if (prefixes.pack == kNone) {
    return;
  }
  if (!IsAttributeContainer(decl)) {
    errors_.Report(Code::kRpl1138,
                   Cover(at_.SpanOf(prefixes.pack), at_.SpanOf(prefixes.pack_format)),
                   {{"name", at_.TextOfToken(field.name)}});
    return;
  }
  // It was checked when the prefix was read.
  const PackFormat format = *PackFormatOf(at_.TextAt(at_.SpanOf(prefixes.pack_format)));
  field.pack = format.pack;
  field.pack_bits = format.bits;
  field.pack_token = prefixes.pack_format;
}

// For arguments, where tags belong to nothing. Says whether there were any.
bool FieldParser::TakeTags() {
  tags_.clear();
  return std::exchange(tags_token_, kNone) != kNone;
}

}  // namespace kiln::rpl
