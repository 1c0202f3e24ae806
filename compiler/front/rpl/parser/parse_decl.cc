// SPDX-License-Identifier: MIT
// What a declaration is, its first word tells; a function has none, so it is what remains. Names
// that are reserved and names that are taken twice are reported here only where no option value can
// make one of them disappear: options themselves. See spec/rpl 2.1, 14 (grammar)
#include "compiler/front/rpl/parser/parse_decl.h"

#include <span>
#include <utility>

#include "compiler/base/flat_map.h"
#include "compiler/base/text/closest_name.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/rpl/parser/lookahead.h"

namespace kiln::rpl {

void DeclarationParser::File() {
  option_of_symbol_.assign(at_.lexed().symbols.size(), kNone);
  if (at_.KeywordAt() == Keyword::kRpl && at_.Kind(1) == TokenKind::kDecimal) {
    VersionHeader();
  }
  while (at_.Kind() != TokenKind::kEnd) {
    CheckStop();
    Declaration();
  }
  errors_.Finish();
}

// 'rpl' DEC ';' — stands before everything else, or is an error wherever it stands.
void DeclarationParser::VersionHeader() {
  const ParseErrors::Construct construct(errors_);
  const bool first = ast_.decls.empty() && at_.pos() == 0;
  errors_.HeaderIsThere();
  at_.Advance();
  const Token& number = at_.Peek();
  // A header that is not the first thing is refused and does not count, so that the version of a
  // source does not change in the middle.
  if (!first) {
    errors_.Report(Code::kRpl1191, number.span(), {{"version", at_.TextOfToken(at_.pos())}});
  } else if (number.value != 1 && number.value != 2) {
    errors_.Report(Code::kRpl1190, number.span(), {{"version", at_.TextOfToken(at_.pos())}});
  } else {
    ast_.version = number.value;
  }
  at_.Advance();
  if (!errors_.ExpectSemicolon({"language version"})) {
    recovery_.Recover();
  }
}

void DeclarationParser::Declaration() {
  if (at_.KeywordAt() == Keyword::kRpl && at_.Kind(1) == TokenKind::kDecimal) {
    VersionHeader();
    return;
  }
  const ParseErrors::Construct construct(errors_);
  errors_.SetOwner({"file"});
  Decl decl;
  decl.span = at_.Peek().span();
  const uint32_t fields = static_cast<uint32_t>(ast_.fields.size());
  const uint32_t begin = at_.pos();
  const bool ok = DeclarationBody(decl);
  if (recovery_.TakeUnclosed()) {
    // The next declaration is where it was recognised.
  } else if (!ok) {
    recovery_.Recover();
    if (at_.Kind() == TokenKind::kCloseBrace) {  // closes nothing
      at_.Advance();
      at_.Accept(TokenKind::kSemicolon);
    }
  }
  // Whatever the rules did, at least one token is consumed for each round. So the parser ends,
  // however broken the source is.
  if (at_.pos() == begin) {
    at_.Advance();
  }
  // Fields of a declaration are the rows that were added while it was read, aliases and arguments
  // among them.
  decl.first_field = fields;
  decl.field_count = static_cast<uint32_t>(ast_.fields.size()) - fields;
  decl.span.end = at_.SpanOf(at_.Previous()).end;
  ast_.decls.push_back(decl);
}

// The first word decides. Conditions come before it, so they are read first and judged when it is
// known what they stand in front of.
bool DeclarationParser::DeclarationBody(Decl& decl) {
  const uint32_t conditional = at_.pos();
  uint32_t second = kNone;
  while (at_.AtPrefix(Keyword::kConditional)) {
    if (!decl.condition.empty() && second == kNone) {
      // Only the first condition counts; another one is an error and is dropped.
      second = at_.pos();
    }
    errors_.SetOwner({"conditional"});
    if (!expressions_.Conditional(&decl.condition)) {
      return false;
    }
  }
  if (second != kNone) {
    errors_.Report(Code::kRpl1102, at_.SpanOf(second),
                   {{"prefix", "conditional"}, {"what", "a declaration"}});
  }
  if (!decl.condition.empty()) {
    if (at_.Kind() == TokenKind::kCloseBrace || at_.Kind() == TokenKind::kEnd) {
      const bool end = at_.Kind() == TokenKind::kEnd;
      if (end) {
        errors_.EndIsReported();
      }
      return errors_.Fail(Code::kRpl1103, at_.SpanOf(conditional),
                          {{"what", end ? "the end of the file" : "'}'"}});
    }
    // Options are declared before any value is known, so a condition cannot apply to them. The
    // declaration is read on, to find what else is wrong with it.
    const Keyword keyword = at_.KeywordAt();
    if (keyword == Keyword::kGlobal || keyword == Keyword::kInstance) {
      const uint32_t name = at_.Kind(2) == TokenKind::kIdentifier ? at_.pos() + 2 : at_.pos() + 1;
      errors_.Report(Code::kRpl1104, at_.SpanOf(conditional), {{"name", at_.TextOfToken(name)}});
    }
  }
  using enum ir::ContainerKind;
  using enum ir::ResourceSet;
  switch (at_.KeywordAt()) {
    case Keyword::kGlobal:
      return Option(decl, ir::OptionScope::kGlobal);
    case Keyword::kInstance:
      return Option(decl, ir::OptionScope::kInstance);
    case Keyword::kConstant:
      return Constant(decl);
    case Keyword::kSetting:
      return Setting(decl);
    case Keyword::kStruct:
      return resources_.FieldBlock(decl, DeclForm::kStruct, "struct");
    case Keyword::kPushConstant:
      return resources_.FieldBlock(decl, DeclForm::kPushConstant, "push constant");
    case Keyword::kVertexAttributeContainer:
      decl.container = kVertexAttributes;
      return resources_.FieldBlock(decl, DeclForm::kContainer, "container");
    case Keyword::kInstancedAttributeContainer:
      decl.container = kInstanceAttributes;
      return resources_.FieldBlock(decl, DeclForm::kContainer, "container");
    case Keyword::kStateContainer:
      decl.container = kState;
      return resources_.FieldBlock(decl, DeclForm::kContainer, "container");
    case Keyword::kColorOutputContainer:
      decl.container = kColorOutput;
      return resources_.FieldBlock(decl, DeclForm::kContainer, "container");
    case Keyword::kSetPass:
      return resources_.Resource(decl, kPass);
    case Keyword::kSetMaterial:
      return resources_.Resource(decl, kMaterial);
    case Keyword::kSetObject:
      return resources_.Resource(decl, kObject);
    case Keyword::kSetShared:
      return resources_.Resource(decl, kShared);
    default:  // a function, or nothing
      break;
  }
  // A word of version 2: in version 1 there may be a type of this name, so it is taken for the
  // keyword only where no function can stand.
  if (at_.KeywordAt() == Keyword::kWorkgroup && at_.Kind(1) == TokenKind::kIdentifier &&
      at_.Kind(2) != TokenKind::kOpenParen) {
    return resources_.WorkgroupVariable(decl);
  }
  return Function(decl);
}

bool DeclarationParser::Option(Decl& decl, ir::OptionScope scope) {
  decl.form = DeclForm::kOption;
  decl.option.scope = scope;
  at_.Advance();
  if (at_.KeywordAt() == Keyword::kSpecialize && at_.Kind(1) == TokenKind::kIdentifier) {
    errors_.NeedVersion2(at_.pos());
    decl.option.specialize = true;
    const uint32_t word = at_.Advance();
    if (scope == ir::OptionScope::kGlobal) {
      errors_.Report(Code::kRpl8102, at_.SpanOf(word), {{"name", at_.TextOfToken(at_.pos())}});
    }
  }
  if (!errors_.ExpectName(&decl.name)) {
    return false;
  }
  errors_.SetOwner({"option", decl.name});
  errors_.CheckDeclaredName(decl.name);
  // Two options of one name are an error here and not at resolve, since no condition can make one
  // of them disappear (spec/rpl 2.1). The table is by symbol, which makes the check a look-up.
  if (at_.lexed().tokens[decl.name].kind == TokenKind::kIdentifier) {
    uint32_t& first = option_of_symbol_[at_.SymbolOf(decl.name)];
    if (first != kNone) {
      if (Diagnostic* made = errors_.Report(Code::kRpl1120, at_.SpanOf(decl.name),
                                            {{"name", at_.TextOfToken(decl.name)}})) {
        std::move(*made).Label(LabelKind::kFirstHere, errors_.At(at_.SpanOf(first)));
      }
    } else {
      first = decl.name;
    }
  }
  return errors_.Expect(TokenKind::kColon, {"option", decl.name}) && OptionBody(decl) &&
         errors_.ExpectSemicolon({"option", decl.name});
}

bool DeclarationParser::OptionBody(Decl& decl) {
  switch (at_.KeywordAt()) {
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
        errors_.Report(Code::kRpl8103, at_.SpanOf(decl.name),
                       {{"name", at_.TextOfToken(decl.name)}});
      }
      return EnumValues(decl);
    default:  // not an option type
      break;
  }
  // Only the message that was really made gets notes: another one may have been there first for
  // this construct.
  const size_t before = errors_.found().size();
  errors_.FailHere(Code::kRpl1124);
  if (errors_.found().size() > before && errors_.found().back().code == Code::kRpl1124) {
    std::move(errors_.found().back())
        .Note(NoteKind::kAccepted, {{"accepted", "flag, uint, sint, float and enum"}});
    const std::string_view text = at_.TextAt(at_.Peek().span());
    constexpr std::string_view kTypes[] = {"flag", "uint", "sint", "float", "enum"};
    // What people write who come from other languages is answered with the word of RPL; other words
    // with the nearest one.
    errors_.Suggest(errors_.found().back(), text == "bool" ? "flag"
                                            : text == "int"
                                                ? "sint"
                                                : ClosestName(text).OfferAll(kTypes).best());
  }
  return false;
}

// Also the spellings of old sources.
bool DeclarationParser::FlagDefault(Decl& decl) {
  const Keyword old = at_.KeywordAt();
  const bool is_old = old == Keyword::kOn || old == Keyword::kOff;
  if (is_old) {
    const std::string_view now = old == Keyword::kOn ? "true" : "false";
    if (Diagnostic* made = errors_.Report(Code::kRpl3025, at_.Peek().span(),
                                          {{"text", KeywordText(old)}, {"replacement", now}})) {
      errors_.Propose(*made, at_.Peek().span(), now);
    }
  }
  decl.option.value = at_.Kind() == TokenKind::kTrue || old == Keyword::kOn ? 1 : 0;
  return is_old || at_.Kind() == TokenKind::kTrue || at_.Kind() == TokenKind::kFalse;
}

bool DeclarationParser::OptionDefault(Decl& decl, std::string_view type) {
  using enum TokenKind;
  at_.Advance();
  // Signs belong to numbers that can be negative; in front of others a '-' is part of what is
  // wrong.
  const bool number =
      decl.option.kind == ir::OptionKind::kSint || decl.option.kind == ir::OptionKind::kFloat;
  const uint32_t first = at_.pos();
  const bool negative = number && at_.Accept(kMinus);
  const TokenKind kind = at_.Kind();
  const uint32_t bits = at_.Peek().value;
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
      // 2147483648 is a signed number only with its minus (spec/rpl 1.3). The lexer lets it pass,
      // because a sign is no part of a literal.
      if (fits && bits == 0x80000000u && !negative) {
        errors_.Report(Code::kRpl1006, at_.Peek().span(),
                       {{"kind", "signed"}, {"text", at_.TextOfToken(at_.pos())}});
      }
      // Two's complement: the negative of the bits, also of the smallest number.
      decl.option.value = negative ? 0u - bits : bits;
      break;
    case ir::OptionKind::kFloat:
      fits = kind == kFloat;
      // The sign of a float is a bit, so -0.0 keeps it.
      decl.option.value = negative ? bits ^ 0x80000000u : bits;
      break;
    case ir::OptionKind::kEnum:
      break;
  }
  if (fits) {
    at_.Advance();
    return true;
  }
  if (kind == kSemicolon || kind == kEnd || kind == kError) {
    return errors_.FailHere(Code::kRpl1125, {{"type", type}, {"name", at_.TextOfToken(decl.name)}});
  }
  // The message shows what was written with all its signs, up to but not including the end of the
  // declaration.
  uint32_t last = 0;
  while (at_.Kind(last) == kMinus && at_.Kind(last + 1) != kSemicolon &&
         at_.Kind(last + 1) != kEnd) {
    ++last;
  }
  const Span span = Cover(at_.SpanOf(first), at_.Peek(last).span());
  return errors_.Fail(
      Code::kRpl1125, span,
      {{"text", Quoted(at_.TextAt(span))}, {"type", type}, {"name", at_.TextOfToken(decl.name)}});
}

// A list of texts; equal ones are found by their symbol, since the lexer gives equal texts one
// number.
bool DeclarationParser::EnumValues(Decl& decl) {
  at_.Advance();
  const size_t base = items_.size();
  FlatMap<uint32_t, uint32_t> first_of;  // by symbol: token
  while (at_.Kind() == TokenKind::kString) {
    const uint32_t symbol = at_.Peek().value;
    const auto [first, is_new] = first_of.Insert(symbol, at_.pos());
    if (!is_new) {
      const std::string_view value =
          at_.TextAt({at_.lexed().symbols[symbol].begin,
                      at_.lexed().symbols[symbol].begin + at_.lexed().symbols[symbol].length});
      if (Diagnostic* made =
              errors_.Report(Code::kRpl1122, at_.Peek().span(),
                             {{"name", at_.TextOfToken(decl.name)}, {"value", Quoted(value)}})) {
        std::move(*made).Label(LabelKind::kFirstHere, errors_.At(at_.SpanOf(*first)));
      }
    }
    items_.push_back(symbol);
    at_.Advance();
  }
  decl.option.values = ast_.AddList(std::span(items_).subspan(base));
  items_.resize(base);
  if (at_.Kind() == TokenKind::kSemicolon && first_of.empty()) {
    return errors_.Fail(Code::kRpl1121, at_.SpanOf(decl.name),
                        {{"name", at_.TextOfToken(decl.name)}});
  }
  // Something that is no text follows on the same line: it was meant as a value.
  if (at_.Kind() != TokenKind::kSemicolon && !at_.OnNewLine()) {
    return errors_.FailHere(Code::kRpl1123, {{"name", at_.TextOfToken(decl.name)}});
  }
  return true;
}

// ID { '.' ID }
bool DeclarationParser::Dotted(Decl& decl) {
  if (!errors_.ExpectName(&decl.name)) {
    return false;
  }
  // Only the first and the last word are kept: the text between them is in the source.
  decl.name_last = decl.name;
  while (at_.Accept(TokenKind::kDot)) {
    if (!IsName(at_.Kind())) {
      const uint32_t last = at_.Kind() == TokenKind::kDot ? at_.pos() : at_.Previous();
      const Span span = Cover(at_.SpanOf(decl.name), at_.SpanOf(last));
      return errors_.Fail(Code::kRpl1128, span, {{"text", Quoted(at_.TextAt(span))}});
    }
    if (!errors_.ExpectName(&decl.name_last)) {
      return false;
    }
  }
  return true;
}

// Version 2 has typed constants. `constant f1 a = …` has a shape that version 1 does not know, so
// that an old source gets the message about the version and not one about '='.
bool DeclarationParser::Constant(Decl& decl) {
  decl.form = DeclForm::kConstant;
  at_.Advance();
  const TokenKind second = at_.Kind(1);
  const bool typed = at_.Kind() == TokenKind::kIdentifier &&
                     (second == TokenKind::kOpenBracket ||
                      (second == TokenKind::kIdentifier &&
                       (ast_.version >= 2 || at_.Kind(2) == TokenKind::kAssign)));
  if (typed) {
    decl.type.token = at_.Advance();
    errors_.NeedVersion2(decl.type.token);
    if (!expressions_.Sizes(&decl.type.sizes)) {
      return false;
    }
  }
  if (!Dotted(decl)) {
    return false;
  }
  const ConstructName what{"constant", decl.name};
  errors_.SetOwner(what);
  // A dotted name can never be mentioned (spec/rpl 2.1); it is a warning, because old sources have
  // them.
  if (decl.name_last != decl.name) {
    const Span span = Cover(at_.SpanOf(decl.name), at_.SpanOf(decl.name_last));
    errors_.Report(Code::kRpl1126, span, {{"name", Quoted(at_.TextAt(span))}});
  } else {
    errors_.CheckDeclaredName(decl.name);
  }
  return errors_.Expect(TokenKind::kAssign, what) && expressions_.Expression(&decl.value) &&
         errors_.EndExpression(what);
}

bool DeclarationParser::Setting(Decl& decl) {
  decl.form = DeclForm::kSetting;
  at_.Advance();
  if (!Dotted(decl)) {
    return false;
  }
  const ConstructName what{"setting", decl.name};
  errors_.SetOwner(what);
  return SettingBlock(decl) && errors_.Expect(TokenKind::kAssign, what) &&
         expressions_.Expression(&decl.value) && errors_.EndExpression(what);
}

// [ 'block' DEC ]
bool DeclarationParser::SettingBlock(Decl& decl) {
  if (at_.KeywordAt() != Keyword::kBlock) {
    return true;
  }
  at_.Advance();
  if (at_.Kind() != TokenKind::kDecimal) {
    return errors_.FailHere(Code::kRpl1127);
  }
  decl.block = at_.Peek().value;
  at_.Advance();
  return true;
}

// ( ID | 'void' ) ID '(' … ')' scope
bool DeclarationParser::Function(Decl& decl) {
  decl.form = DeclForm::kFunction;
  const bool relaxed =
      at_.KeywordAt() == Keyword::kRelaxed && IsName(at_.Kind(1)) && IsName(at_.Kind(2));
  const uint32_t type = relaxed ? 1 : 0;
  const bool typed = at_.Kind(type) == TokenKind::kIdentifier || at_.Kind(type) == TokenKind::kVoid;
  if (!typed || !IsName(at_.Kind(type + 1)) || at_.Kind(type + 2) != TokenKind::kOpenParen) {
    return FailDeclaration();
  }
  if (relaxed) {
    errors_.NeedVersion2(at_.pos());
    decl.relaxed = true;
    at_.Advance();
  }
  decl.type.token = at_.Advance();
  if (!errors_.ExpectName(&decl.name)) {
    return false;
  }
  errors_.SetOwner({"function", decl.name});
  errors_.BeginFunction();
  errors_.CheckDeclaredName(decl.name);
  // The list is broken beyond its ')': without a body in sight there is no function to go on with.
  if (!arguments_.Arguments(decl) && at_.Kind() != TokenKind::kOpenBrace) {
    return false;
  }
  // The '{' is missing. What follows is read as the body, unless it begins another declaration.
  if (!errors_.Expect(TokenKind::kOpenBrace, errors_.owner())) {
    if (at_.Kind() != TokenKind::kIdentifier || AtDeclaration(at_)) {
      return false;
    }
  } else {
    at_.MoveTo(at_.Previous());
  }
  // Where its statements begin: the scope is the next row.
  decl.body = static_cast<uint32_t>(ast_.stmts.size());
  recovery_.BeginFunction();
  return statements_.Body();
}

bool DeclarationParser::FailDeclaration() {
  const size_t before = errors_.found().size();
  errors_.FailHere(Code::kRpl1101);
  if (errors_.found().size() == before || errors_.found().back().code != Code::kRpl1101 ||
      at_.Kind() != TokenKind::kIdentifier) {
    return false;
  }
  const std::string_view similar = SimilarDeclarationKeyword(at_.TextAt(at_.Peek().span()));
  errors_.Suggest(errors_.found().back(), similar);
  return false;
}

}  // namespace kiln::rpl
