// SPDX-License-Identifier: MIT
// Fields of structs, containers, buffers and push constants, and the prefixes they share with
// arguments. See spec/rpl 2.1, 14 (grammar)
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "compiler/base/closest_name.h"
#include "compiler/front/common/identifier.h"
#include "compiler/front/common/number_literal.h"
#include "compiler/front/rpl/parser.h"

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

std::string PackFormatsText() {
  std::string text;
  for (const std::string_view name : kPackFormats) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

bool IsAttributeContainer(const Decl& decl) {
  return decl.form == DeclForm::kContainer &&
         (decl.container == ir::ContainerKind::kVertexAttributes ||
          decl.container == ir::ContainerKind::kInstanceAttributes);
}

}  // namespace

// { field_item } '}' ';'
bool Parser::Fields(Decl& decl, std::string_view kind) {
  const ConstructName owner{kind, decl.name};
  tags_.clear();
  tags_token_ = kNone;
  bool any_field = false;
  while (Kind() != TokenKind::kCloseBrace && Kind() != TokenKind::kEnd) {
    const Construct construct(*this);
    const uint32_t begin = pos_;
    const size_t count = ast_.fields.size();
    if (Kind() == TokenKind::kSemicolon && Behind(1, &Parser::AtDeclaration)) {
      FailUnclosed(owner);
      Advance();
      return true;
    }
    if (!FieldItem(decl, owner)) {
      if (AtDeclaration()) {
        return true;  // it ends the list
      }
      Recover();
      tags_.clear();
      tags_token_ = kNone;
      any_field = true;  // it may have been one
    }
    any_field = any_field ||
                (ast_.fields.size() > count && ast_.fields.back().kind == ir::MemberKind::kField);
    if (pos_ == begin) {
      Advance();
    }
  }
  if (tags_token_ != kNone && Kind() == TokenKind::kCloseBrace) {
    Report(Code::kRpl1133, SpanOf(tags_token_), {});
    tags_.clear();
    any_field = true;
  }
  if (Kind() == TokenKind::kEnd) {
    return FailHere(Code::kRpl1112);
  }
  if (!any_field) {
    Report(Code::kRpl1136, SpanOf(decl.name), {{"owner", TextOfToken(decl.name)}});
  }
  Advance();
  return EndFields(owner);
}

// A forgotten ';' ends nothing but itself: what follows is the next declaration.
bool Parser::EndFields(const ConstructName& owner) {
  if (Accept(TokenKind::kSemicolon)) {
    return true;
  }
  if (Kind() == TokenKind::kIdentifier || Kind() == TokenKind::kVoid) {
    FailSemicolon(owner);
    return true;
  }
  return FailHere(Code::kRpl1110, {{"what", Describe(owner)}});
}

bool Parser::FieldItem(const Decl& decl, const ConstructName& owner) {
  const uint32_t begin = Peek().begin;
  Prefixes prefixes;
  if (!FieldPrefixes(&prefixes)) {
    return false;
  }
  if (Kind() == TokenKind::kCloseBrace) {
    if (prefixes.condition_token != kNone) {
      tags_token_ = kNone;
      return Fail(Code::kRpl1103, SpanOf(prefixes.condition_token), {{"what", "'}'"}});
    }
    return prefixes.pack == kNone || FailHere(Code::kRpl1134, {{"owner", TextOfToken(owner.name)}});
  }
  if (AtDeclaration()) {
    return FailUnclosed(owner);
  }
  const bool alias = AtPrefix(Keyword::kAlias);
  if (!(alias ? FieldAlias(prefixes) : PlainField(prefixes, decl, owner))) {
    return false;
  }
  Field& field = ast_.fields.back();
  field.span = {begin, SpanOf(Previous()).end};
  return true;
}

bool Parser::FieldPrefixes(Prefixes* prefixes) {
  while (true) {
    if (AtPrefix(Keyword::kConditional)) {
      if (!ConditionalPrefix(prefixes)) {
        return false;
      }
    } else if (AtPrefix(Keyword::kMeta)) {
      if (!Meta()) {
        return false;
      }
    } else if (AtPrefix(Keyword::kPack)) {
      if (!PackPrefix(prefixes)) {
        return false;
      }
    } else if (KeywordAt() == Keyword::kRelaxed && IsName(Kind(1)) &&
               (IsName(Kind(2)) || Behind(1, &Parser::AtFieldPrefix))) {
      NeedVersion2(pos_);
      prefixes->relaxed = true;
      Advance();
    } else {
      return true;
    }
  }
}

// 'meta' '(' ID { ',' ID } ')'
bool Parser::Meta() {
  if (tags_token_ == kNone) {
    tags_token_ = pos_;
  }
  Advance();
  const uint32_t open = Advance();
  do {
    if (Kind() != TokenKind::kIdentifier) {
      return FailHere(Code::kRpl1135);
    }
    tags_.push_back(SymbolOf(Advance()));
  } while (Accept(TokenKind::kComma));
  return ExpectClose(TokenKind::kCloseParen, {"'meta'"}, open);
}

bool Parser::ConditionalPrefix(Prefixes* prefixes) {
  const bool first = prefixes->condition_token == kNone;
  uint32_t& token = first ? prefixes->condition_token : prefixes->second_condition;
  token = token == kNone ? pos_ : token;
  ExprRange ignored;
  return Conditional(first ? &prefixes->condition : &ignored);
}

bool Parser::PackPrefix(Prefixes* prefixes) {
  uint32_t& token = prefixes->pack == kNone ? prefixes->pack : prefixes->second_pack;
  token = token == kNone ? pos_ : token;
  Advance();
  const uint32_t open = Advance();
  const std::string_view text = TextAt(Peek().span());
  if (Kind() != TokenKind::kIdentifier || !PackFormatOf(text)) {
    const size_t before = found_.size();
    FailHere(Code::kRpl1140);
    if (found_.size() > before && found_.back().code == Code::kRpl1140) {
      std::move(found_.back()).Note(NoteKind::kKnownValues, {{"values", PackFormatsText()}});
      Suggest(found_.back(), ClosestName(text).OfferAll(kPackFormats).best());
    }
    return false;
  }
  prefixes->pack_format = Advance();
  return ExpectClose(TokenKind::kCloseParen, {"'pack'"}, open);
}

void Parser::CheckPrefixes(const Prefixes& prefixes, const ConstructName& item) {
  if (prefixes.second_condition != kNone) {
    Report(Code::kRpl1102, SpanOf(prefixes.second_condition),
           {{"prefix", "conditional"}, {"what", Describe(item)}});
  }
  if (prefixes.second_pack != kNone) {
    Report(Code::kRpl1102, SpanOf(prefixes.second_pack),
           {{"prefix", "pack"}, {"what", Describe(item)}});
  }
}

bool Parser::FieldAlias(const Prefixes& prefixes) {
  Field field{.kind = ir::MemberKind::kAlias, .condition = prefixes.condition};
  if (!AliasBody(&field.name, &field.value)) {
    return false;
  }
  const ConstructName what{"alias", field.name};
  CheckPrefixes(prefixes, what);
  if (prefixes.pack != kNone) {
    Report(Code::kRpl1141, Cover(SpanOf(prefixes.pack), SpanOf(prefixes.pack_format)),
           {{"name", TextOfToken(field.name)}});
  }
  ast_.fields.push_back(field);
  return true;
}

// 'alias' '(' ID ',' expr ')', and the ';' that does not belong there
bool Parser::AliasBody(uint32_t* name, ExprRange* value) {
  Advance();
  const uint32_t open = Advance();
  if (!ExpectName(name)) {
    return false;
  }
  const ConstructName what{"alias", *name};
  if (!Expect(TokenKind::kComma, what) || !Expression(value) ||
      !CloseExpression(TokenKind::kCloseParen, what, open)) {
    return false;
  }
  if (Kind() == TokenKind::kSemicolon) {
    if (Diagnostic* made = Report(Code::kRpl1137, Peek().span(), {{"name", TextOfToken(*name)}})) {
      Propose(*made, Peek().span(), "");
    }
    Advance();
  }
  return true;
}

bool Parser::PlainField(const Prefixes& prefixes, const Decl& decl, const ConstructName& owner) {
  if (Kind() != TokenKind::kIdentifier) {
    return FailHere(Code::kRpl1134, {{"owner", TextOfToken(owner.name)}});
  }
  Field field{.relaxed = prefixes.relaxed, .condition = prefixes.condition};
  field.type.token = Advance();
  FieldForm form;
  if (!FieldSizes(field, &form) || !ExpectName(&field.name)) {
    return false;
  }
  CheckPrefixes(prefixes, {"field", field.name});
  CheckFieldForm(field, form, decl);
  ApplyPack(field, prefixes, decl);
  if (tags_token_ != kNone) {
    field.tags = ast_.AddList(tags_);
    tags_.clear();
    tags_token_ = kNone;
  }
  ast_.fields.push_back(field);
  return ExpectSemicolon({"field", field.name});
}

// [ dims | '...' ], and what people write beyond it
bool Parser::FieldSizes(Field& field, FieldForm* form) {
  while (Kind() == TokenKind::kOpenBracket || Kind() == TokenKind::kEllipsis) {
    const bool again = form->sizes != kNone || form->ellipsis != kNone;
    if (again && form->mixed == kNone) {
      form->mixed = pos_;
    }
    if (Kind() == TokenKind::kEllipsis) {
      form->ellipsis = form->ellipsis == kNone ? pos_ : form->ellipsis;
      field.runtime = true;
      Advance();
      continue;
    }
    form->sizes = form->sizes == kNone ? pos_ : form->sizes;
    if (!Sizes(&field.type.sizes)) {
      return false;
    }
  }
  return true;
}

void Parser::CheckFieldForm(const Field& field, const FieldForm& form, const Decl& decl) {
  if (form.mixed != kNone) {
    Report(Code::kRpl1130, SpanOf(form.mixed), {{"name", TextOfToken(field.name)}});
  }
  if (form.sizes != kNone && decl.form == DeclForm::kContainer) {
    Report(Code::kRpl1142, SpanOf(form.sizes),
           {{"name", TextOfToken(field.name)}, {"owner", TextOfToken(decl.name)}});
  }
  const bool holds_runtime = decl.form == DeclForm::kStruct || decl.form == DeclForm::kBuffer;
  if (form.ellipsis != kNone && !holds_runtime) {
    Report(Code::kRpl1132, SpanOf(form.ellipsis), {{"name", TextOfToken(field.name)}});
  }
}

void Parser::ApplyPack(Field& field, const Prefixes& prefixes, const Decl& decl) {
  if (prefixes.pack == kNone) {
    return;
  }
  if (!IsAttributeContainer(decl)) {
    Report(Code::kRpl1138, Cover(SpanOf(prefixes.pack), SpanOf(prefixes.pack_format)),
           {{"name", TextOfToken(field.name)}});
    return;
  }
  const PackFormat format = *PackFormatOf(TextAt(SpanOf(prefixes.pack_format)));
  field.pack = format.pack;
  field.pack_bits = format.bits;
  field.pack_token = prefixes.pack_format;
}

// { '[' expr ']' }
bool Parser::Sizes(uint32_t* sizes) {
  if (Kind() != TokenKind::kOpenBracket) {
    return true;
  }
  const size_t base = items_.size();
  while (Kind() == TokenKind::kOpenBracket) {
    const uint32_t open = Advance();
    if (items_.size() - base == size_t{2} * max_nesting_) {
      items_.resize(base);
      return Fail(Code::kRpl1009, SpanOf(open), {{"text", "["}, {"limit", max_nesting_}});
    }
    ExprRange size;
    if (!Expression(&size) || !CloseExpression(TokenKind::kCloseBracket, {"'['"}, open)) {
      items_.resize(base);
      return false;
    }
    items_.push_back(size.first);
    items_.push_back(size.root);
  }
  *sizes = ast_.AddList(std::span(items_).subspan(base));
  items_.resize(base);
  return true;
}

// ID { '[' … ']' } ID: what starts a variable or an argument, and no expression
bool Parser::AtTypedName() const {
  if (Kind() != TokenKind::kIdentifier) {
    return false;
  }
  uint32_t ahead = 1;
  if (Kind(ahead) == TokenKind::kEllipsis) {
    ++ahead;
  }
  for (uint32_t depth = 0;; ++ahead) {
    const TokenKind kind = Kind(ahead);
    if (kind == TokenKind::kOpenBracket) {
      ++depth;
    } else if (kind == TokenKind::kCloseBracket && depth > 0) {
      --depth;
    } else if (depth == 0) {
      return IsName(kind);
    } else if (kind == TokenKind::kSemicolon || kind == TokenKind::kEnd) {
      return false;
    }
  }
}

}  // namespace kiln::rpl
