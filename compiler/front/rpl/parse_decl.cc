// SPDX-License-Identifier: MIT
// Global declarations. See spec/rpl 2.1, 14 (grammar)
#include <utility>

#include "compiler/base/closest_name.h"
#include "compiler/base/flat_map.h"
#include "compiler/front/rpl/parser.h"

namespace kiln::rpl {

// 'rpl' DEC ';' — stands before everything else, or is an error wherever it stands.
void Parser::VersionHeader() {
  const Construct construct(*this);
  const bool first = ast_.decls.empty() && pos_ == 0;
  has_header_ = true;
  Advance();
  const Token& number = Peek();
  if (!first) {
    Report(Code::kRpl1191, number.span(), {{"version", TextOfToken(pos_)}});
  } else if (number.value != 1 && number.value != 2) {
    Report(Code::kRpl1190, number.span(), {{"version", TextOfToken(pos_)}});
  } else {
    ast_.version = number.value;
  }
  Advance();
  if (!ExpectSemicolon({"language version"})) {
    Recover();
  }
}

void Parser::Declaration() {
  if (KeywordAt() == Keyword::kRpl && Kind(1) == TokenKind::kDecimal) {
    VersionHeader();
    return;
  }
  const Construct construct(*this);
  SetOwner({"file"});
  Decl decl;
  decl.span = Peek().span();
  const uint32_t fields = static_cast<uint32_t>(ast_.fields.size());
  const uint32_t begin = pos_;
  const bool ok = DeclarationBody(decl);
  if (std::exchange(unclosed_, false)) {
    // The next declaration is where it was recognised.
  } else if (!ok) {
    Recover();
    if (Kind() == TokenKind::kCloseBrace) {  // closes nothing
      Advance();
      Accept(TokenKind::kSemicolon);
    }
  }
  if (pos_ == begin) {
    Advance();
  }
  decl.first_field = fields;
  decl.field_count = static_cast<uint32_t>(ast_.fields.size()) - fields;
  decl.span.end = SpanOf(Previous()).end;
  ast_.decls.push_back(decl);
}

bool Parser::DeclarationBody(Decl& decl) {
  const uint32_t conditional = pos_;
  uint32_t second = kNone;
  while (AtPrefix(Keyword::kConditional)) {
    if (!decl.condition.empty() && second == kNone) {
      second = pos_;
    }
    SetOwner({"conditional"});
    if (!Conditional(&decl.condition)) {
      return false;
    }
  }
  if (second != kNone) {
    Report(Code::kRpl1102, SpanOf(second), {{"prefix", "conditional"}, {"what", "a declaration"}});
  }
  if (!decl.condition.empty()) {
    if (Kind() == TokenKind::kCloseBrace || Kind() == TokenKind::kEnd) {
      const bool end = Kind() == TokenKind::kEnd;
      end_reported_ = end_reported_ || end;
      return Fail(Code::kRpl1103, SpanOf(conditional),
                  {{"what", end ? "the end of the file" : "'}'"}});
    }
    const Keyword keyword = KeywordAt();
    if (keyword == Keyword::kGlobal || keyword == Keyword::kInstance) {
      const uint32_t name = Kind(2) == TokenKind::kIdentifier ? pos_ + 2 : pos_ + 1;
      Report(Code::kRpl1104, SpanOf(conditional), {{"name", TextOfToken(name)}});
    }
  }
  using enum ir::ContainerKind;
  using enum ir::ResourceSet;
  switch (KeywordAt()) {
    case Keyword::kGlobal:
      return Option(decl, ir::OptionScope::kGlobal);
    case Keyword::kInstance:
      return Option(decl, ir::OptionScope::kInstance);
    case Keyword::kConstant:
      return Constant(decl);
    case Keyword::kSetting:
      return Setting(decl);
    case Keyword::kStruct:
      return FieldBlock(decl, DeclForm::kStruct, "struct");
    case Keyword::kPushConstant:
      return FieldBlock(decl, DeclForm::kPushConstant, "push constant");
    case Keyword::kVertexAttributeContainer:
      decl.container = kVertexAttributes;
      return FieldBlock(decl, DeclForm::kContainer, "container");
    case Keyword::kInstancedAttributeContainer:
      decl.container = kInstanceAttributes;
      return FieldBlock(decl, DeclForm::kContainer, "container");
    case Keyword::kStateContainer:
      decl.container = kState;
      return FieldBlock(decl, DeclForm::kContainer, "container");
    case Keyword::kColorOutputContainer:
      decl.container = kColorOutput;
      return FieldBlock(decl, DeclForm::kContainer, "container");
    case Keyword::kSetPass:
      return Resource(decl, kPass);
    case Keyword::kSetMaterial:
      return Resource(decl, kMaterial);
    case Keyword::kSetObject:
      return Resource(decl, kObject);
    case Keyword::kSetShared:
      return Resource(decl, kShared);
    default:  // a function, or nothing
      break;
  }
  if (KeywordAt() == Keyword::kWorkgroup && Kind(1) == TokenKind::kIdentifier &&
      Kind(2) != TokenKind::kOpenParen) {
    return WorkgroupVariable(decl);
  }
  return Function(decl);
}

// 'conditional' '(' expr ')'
bool Parser::Conditional(ExprRange* condition) {
  Advance();
  const uint32_t open = Advance();
  return Expression(condition) && CloseExpression(TokenKind::kCloseParen, {"'conditional'"}, open);
}

bool Parser::Option(Decl& decl, ir::OptionScope scope) {
  decl.form = DeclForm::kOption;
  decl.option.scope = scope;
  Advance();
  if (KeywordAt() == Keyword::kSpecialize && Kind(1) == TokenKind::kIdentifier) {
    NeedVersion2(pos_);
    decl.option.specialize = true;
    const uint32_t word = Advance();
    if (scope == ir::OptionScope::kGlobal) {
      Report(Code::kRpl8102, SpanOf(word), {{"name", TextOfToken(pos_)}});
    }
  }
  if (!ExpectName(&decl.name)) {
    return false;
  }
  SetOwner({"option", decl.name});
  CheckDeclaredName(decl.name);
  if (lexed_.tokens[decl.name].kind == TokenKind::kIdentifier) {
    uint32_t& first = option_of_symbol_[SymbolOf(decl.name)];
    if (first != kNone) {
      if (Diagnostic* made =
              Report(Code::kRpl1120, SpanOf(decl.name), {{"name", TextOfToken(decl.name)}})) {
        std::move(*made).Label(LabelKind::kFirstHere, At(SpanOf(first)));
      }
    } else {
      first = decl.name;
    }
  }
  return Expect(TokenKind::kColon, {"option", decl.name}) && OptionBody(decl) &&
         ExpectSemicolon({"option", decl.name});
}

bool Parser::OptionBody(Decl& decl) {
  switch (KeywordAt()) {
    case Keyword::kFlag:
      decl.option.kind = ir::OptionKind::kFlag;
      return OptionDefault(decl, "flag");
    case Keyword::kUint:
      decl.option.kind = ir::OptionKind::kUint;
      return OptionDefault(decl, "uint");
    case Keyword::kSint:
      decl.option.kind = ir::OptionKind::kSint;
      return OptionDefault(decl, "sint");
    case Keyword::kFloatOption:
      decl.option.kind = ir::OptionKind::kFloat;
      return OptionDefault(decl, "float");
    case Keyword::kEnum:
      decl.option.kind = ir::OptionKind::kEnum;
      if (decl.option.specialize) {
        Report(Code::kRpl8103, SpanOf(decl.name), {{"name", TextOfToken(decl.name)}});
      }
      return EnumValues(decl);
    default:  // not an option type
      break;
  }
  const size_t before = found_.size();
  FailHere(Code::kRpl1124);
  if (found_.size() > before && found_.back().code == Code::kRpl1124) {
    std::move(found_.back())
        .Note(NoteKind::kAccepted, {{"accepted", "flag, uint, sint, float and enum"}});
    const std::string_view text = TextAt(Peek().span());
    constexpr std::string_view kTypes[] = {"flag", "uint", "sint", "float", "enum"};
    Suggest(found_.back(), text == "bool"  ? "flag"
                           : text == "int" ? "sint"
                                           : ClosestName(text).OfferAll(kTypes).best());
  }
  return false;
}

// Also the spellings of old sources.
bool Parser::FlagDefault(Decl& decl) {
  const Keyword old = KeywordAt();
  const bool is_old = old == Keyword::kOn || old == Keyword::kOff;
  if (is_old) {
    const std::string_view now = old == Keyword::kOn ? "true" : "false";
    if (Diagnostic* made = Report(Code::kRpl3025, Peek().span(),
                                  {{"text", KeywordText(old)}, {"replacement", now}})) {
      Propose(*made, Peek().span(), now);
    }
  }
  decl.option.value = Kind() == TokenKind::kTrue || old == Keyword::kOn ? 1 : 0;
  return is_old || Kind() == TokenKind::kTrue || Kind() == TokenKind::kFalse;
}

bool Parser::OptionDefault(Decl& decl, std::string_view type) {
  using enum TokenKind;
  Advance();
  const bool number =
      decl.option.kind == ir::OptionKind::kSint || decl.option.kind == ir::OptionKind::kFloat;
  const uint32_t first = pos_;
  const bool negative = number && Accept(kMinus);
  const TokenKind kind = Kind();
  const uint32_t bits = Peek().value;
  bool fits = false;
  switch (decl.option.kind) {
    case ir::OptionKind::kFlag:
      fits = FlagDefault(decl);
      break;
    case ir::OptionKind::kUint:
      fits = kind == kDecimal || kind == kUnsigned || kind == kBinary || kind == kHexadecimal;
      decl.option.value = bits;
      break;
    case ir::OptionKind::kSint:
      fits = kind == kDecimal || kind == kSigned;
      if (fits && bits == 0x80000000u && !negative) {
        Report(Code::kRpl1006, Peek().span(), {{"kind", "signed"}, {"text", TextOfToken(pos_)}});
      }
      decl.option.value = negative ? 0u - bits : bits;
      break;
    case ir::OptionKind::kFloat:
      fits = kind == kFloat;
      decl.option.value = negative ? bits ^ 0x80000000u : bits;
      break;
    case ir::OptionKind::kEnum:
      break;
  }
  if (fits) {
    Advance();
    return true;
  }
  if (kind == kSemicolon || kind == kEnd || kind == kError) {
    return FailHere(Code::kRpl1125, {{"type", type}, {"name", TextOfToken(decl.name)}});
  }
  uint32_t last = 0;
  while (Kind(last) == kMinus && Kind(last + 1) != kSemicolon && Kind(last + 1) != kEnd) {
    ++last;
  }
  const Span span = Cover(SpanOf(first), Peek(last).span());
  return Fail(Code::kRpl1125, span,
              {{"text", Quoted(TextAt(span))}, {"type", type}, {"name", TextOfToken(decl.name)}});
}

bool Parser::EnumValues(Decl& decl) {
  Advance();
  const size_t base = items_.size();
  FlatMap<uint32_t, uint32_t> first_of;  // by symbol: token
  while (Kind() == TokenKind::kString) {
    const uint32_t symbol = Peek().value;
    const auto [first, is_new] = first_of.Insert(symbol, pos_);
    if (!is_new) {
      const std::string_view value =
          TextAt({lexed_.symbols[symbol].begin,
                  lexed_.symbols[symbol].begin + lexed_.symbols[symbol].length});
      if (Diagnostic* made = Report(Code::kRpl1122, Peek().span(),
                                    {{"name", TextOfToken(decl.name)}, {"value", Quoted(value)}})) {
        std::move(*made).Label(LabelKind::kFirstHere, At(SpanOf(*first)));
      }
    }
    items_.push_back(symbol);
    Advance();
  }
  decl.option.values = ast_.AddList(std::span(items_).subspan(base));
  items_.resize(base);
  if (Kind() == TokenKind::kSemicolon && first_of.empty()) {
    return Fail(Code::kRpl1121, SpanOf(decl.name), {{"name", TextOfToken(decl.name)}});
  }
  if (Kind() != TokenKind::kSemicolon && !OnNewLine()) {
    return FailHere(Code::kRpl1123, {{"name", TextOfToken(decl.name)}});
  }
  return true;
}

// ID { '.' ID }
bool Parser::Dotted(Decl& decl) {
  if (!ExpectName(&decl.name)) {
    return false;
  }
  decl.name_last = decl.name;
  while (Accept(TokenKind::kDot)) {
    if (!IsName(Kind())) {
      const uint32_t last = Kind() == TokenKind::kDot ? pos_ : Previous();
      const Span span = Cover(SpanOf(decl.name), SpanOf(last));
      return Fail(Code::kRpl1128, span, {{"text", Quoted(TextAt(span))}});
    }
    if (!ExpectName(&decl.name_last)) {
      return false;
    }
  }
  return true;
}

bool Parser::Constant(Decl& decl) {
  decl.form = DeclForm::kConstant;
  Advance();
  const TokenKind second = Kind(1);
  const bool typed =
      Kind() == TokenKind::kIdentifier &&
      (second == TokenKind::kOpenBracket ||
       (second == TokenKind::kIdentifier && (ast_.version >= 2 || Kind(2) == TokenKind::kAssign)));
  if (typed) {
    decl.type.token = Advance();
    NeedVersion2(decl.type.token);
    if (!Sizes(&decl.type.sizes)) {
      return false;
    }
  }
  if (!Dotted(decl)) {
    return false;
  }
  const ConstructName what{"constant", decl.name};
  SetOwner(what);
  if (decl.name_last != decl.name) {
    const Span span = Cover(SpanOf(decl.name), SpanOf(decl.name_last));
    Report(Code::kRpl1126, span, {{"name", Quoted(TextAt(span))}});
  } else {
    CheckDeclaredName(decl.name);
  }
  return Expect(TokenKind::kAssign, what) && Expression(&decl.value) && EndExpression(what);
}

bool Parser::Setting(Decl& decl) {
  decl.form = DeclForm::kSetting;
  Advance();
  if (!Dotted(decl)) {
    return false;
  }
  const ConstructName what{"setting", decl.name};
  SetOwner(what);
  return SettingBlock(decl) && Expect(TokenKind::kAssign, what) && Expression(&decl.value) &&
         EndExpression(what);
}

// [ 'block' DEC ]
bool Parser::SettingBlock(Decl& decl) {
  if (KeywordAt() != Keyword::kBlock) {
    return true;
  }
  Advance();
  if (Kind() != TokenKind::kDecimal) {
    return FailHere(Code::kRpl1127);
  }
  decl.block = Peek().value;
  Advance();
  return true;
}

// ( ID | 'void' ) ID '(' … ')' scope
bool Parser::Function(Decl& decl) {
  decl.form = DeclForm::kFunction;
  const bool relaxed = KeywordAt() == Keyword::kRelaxed && IsName(Kind(1)) && IsName(Kind(2));
  const uint32_t type = relaxed ? 1 : 0;
  const bool typed = Kind(type) == TokenKind::kIdentifier || Kind(type) == TokenKind::kVoid;
  if (!typed || !IsName(Kind(type + 1)) || Kind(type + 2) != TokenKind::kOpenParen) {
    return FailDeclaration();
  }
  if (relaxed) {
    NeedVersion2(pos_);
    decl.relaxed = true;
    Advance();
  }
  decl.type.token = Advance();
  if (!ExpectName(&decl.name)) {
    return false;
  }
  SetOwner({"function", decl.name});
  locals_ = 0;
  CheckDeclaredName(decl.name);
  if (!Arguments(decl) && Kind() != TokenKind::kOpenBrace) {
    return false;
  }
  if (!Expect(TokenKind::kOpenBrace, owner_)) {
    if (Kind() != TokenKind::kIdentifier || AtDeclaration()) {
      return false;
    }
  } else {
    --pos_;
  }
  decl.body = static_cast<uint32_t>(ast_.stmts.size());
  body_token_ = pos_;
  return Scope({}, pos_);
}

bool Parser::FailDeclaration() {
  const size_t before = found_.size();
  FailHere(Code::kRpl1101);
  if (found_.size() == before || found_.back().code != Code::kRpl1101 ||
      Kind() != TokenKind::kIdentifier) {
    return false;
  }
  const std::string_view similar = SimilarDeclarationKeyword(TextAt(Peek().span()));
  Suggest(found_.back(), similar);
  return false;
}

}  // namespace kiln::rpl
