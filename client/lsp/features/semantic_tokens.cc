// SPDX-License-Identifier: MIT
// textDocument/semanticTokens/full: tokens of the lexer, coloured by what their names stand for;
// what is off in the variant that one looks at has a modifier.
#include "client/lsp/features/semantic_tokens.h"

#include <algorithm>

#include "client/lsp/analysis/aliveness.h"
#include "client/lsp/analysis/outline.h"
#include "client/lsp/documents/languages.h"
#include "client/lsp/features/token_legend.h"
#include "client/lsp/modules/module_names.h"
#include "compiler/base/threads/stop.h"

namespace kiln::lsp {

// The order is that of TokenType and TokenModifier, because tokens are sent as numbers of these
// rows. Clients map these names to colours; the names are those of the protocol wherever it has
// one.
Json TokenLegend() {
  return {{"tokenTypes",
           {"keyword", "type", "struct", "function", "parameter", "variable", "property",
            "enumMember", "string", "number", "operator", "comment", "namespace"}},
          {"tokenModifiers", {"declaration", "readonly", "defaultLibrary", "inactive"}}};
}

namespace {

struct ColouredToken {
  Span bytes;
  TokenType type = TokenType::kKeyword;
  uint32_t modifiers = 0;
};

uint32_t BitOf(TokenModifier modifier) { return static_cast<uint32_t>(modifier); }

// Comments stand between tokens: from "//" to the end of the line. Requires that the gap has no
// token, so that `//` in it begins a comment and is no part of a text.
void AddComments(std::string_view text, Span gap, std::vector<ColouredToken>& out) {
  for (size_t at = gap.begin; at < gap.end;) {
    const size_t begin = text.substr(0, gap.end).find("//", at);
    if (begin == std::string_view::npos) {
      return;
    }
    // The comment goes up to the line end, without the '\r' of a text with such line ends.
    size_t end = std::min<size_t>(text.find('\n', begin), gap.end);
    at = end;
    while (end > begin && text[end - 1] == '\r') {
      --end;
    }
    CheckStop();
    out.push_back(
        {.bytes = {.begin = static_cast<uint32_t>(begin), .end = static_cast<uint32_t>(end)},
         .type = TokenType::kComment});
  }
}

bool IsPunctuation(rpl::TokenKind kind) {
  using enum rpl::TokenKind;
  return kind == kOpenParen || kind == kCloseParen || kind == kOpenBracket ||
         kind == kCloseBracket || kind == kOpenBrace || kind == kCloseBrace || kind == kComma ||
         kind == kSemicolon || kind == kColon || kind == kDot || kind == kEllipsis || kind == kEnd;
}

class Colouring {
 public:
  Colouring(const FileView* file, const Names* names, const Source& source)
      : file_(file), names_(names), source_(source) {}

  std::vector<ColouredToken> Run() {
    const std::string& text = source_.file().text;
    std::vector<ColouredToken> out;
    uint32_t end = 0;
    for (const rpl::Token& token : source_.tokens().tokens) {
      CheckStop();
      // The tokens are those of the text as typed, so what is blank in the mended text is coloured
      // as well, only without the meaning of its names.
      AddComments(text, {.begin = end, .end = token.begin}, out);
      end = token.end();
      if (!IsPunctuation(token.kind)) {
        out.push_back(ColourOf(token));
      }
    }
    return out;
  }

 private:
  // By the kind of token, then by the name: only identifiers have a meaning that the program knows.
  ColouredToken ColourOf(const rpl::Token& token) const {
    using enum rpl::TokenKind;
    ColouredToken colour{.bytes = token.span()};
    if (token.kind == kString) {
      colour.type = TokenType::kString;
    } else if (token.kind == kIdentifier) {
      ColourName(token, colour);
    } else if (token.kind == kVoid) {
      colour.type = TokenType::kType;
    } else if (TextOf(source_.file().text, token.span()).find_first_of("0123456789") == 0) {
      colour.type = TokenType::kNumber;
    } else if (token.kind >= kQuestion) {
      // Operators stand at the end of the table of tokens, from '?' on.
      colour.type = TokenType::kOperator;
    }
    return colour;
  }

  void ColourName(const rpl::Token& token, ColouredToken& colour) const {
    const Occurrence* at = names_ == nullptr ? nullptr : names_->At(file_->module, token.begin);
    // The occurrence may cover more than the token, as a dotted name does. One that merely ends
    // where the token begins, which At() finds as well, is another name's.
    if (at != nullptr && at->bytes.begin <= token.begin && token.end() <= at->bytes.end) {
      ColourOccurrence(*at, colour);
      return;
    }
    // No occurrence: an inbuilt type, a keyword, or a word that only its place gives a meaning.
    const rpl::Word& word = source_.tokens().symbols[token.value].word;
    if (word.type != rpl::InbuiltType::kNone && word.keyword == rpl::Keyword::kNone) {
      colour.type = TokenType::kType;
      colour.modifiers = BitOf(TokenModifier::kDefaultLibrary);
    } else if (word.keyword == rpl::Keyword::kNone) {
      colour.type = TokenType::kProperty;  // tags, swizzles, formats
    }
  }

  // By the first letter of the key, which says what kind of name it is (Names).
  void ColourOccurrence(const Occurrence& at, ColouredToken& colour) const {
    const std::string& key = names_->Key(at.key);
    colour.modifiers = at.role == NameRole::kDeclaration ? BitOf(TokenModifier::kDeclaration) : 0;
    switch (key.front()) {
      case 'b':
        colour.type = TokenType::kFunction;
        colour.modifiers |= BitOf(TokenModifier::kDefaultLibrary);
        return;
      case 's':
      case 'm':
        colour.type = TokenType::kProperty;
        return;
      case 'l': {
        const ir::ModuleView& view = file_->program->program().module(file_->module);
        colour.type =
            at.local.valid() && view.locals[at.local.value].kind == ir::LocalKind::kParameter
                ? TokenType::kParameter
                : TokenType::kVariable;
        return;
      }
      default:
        ColourGlobal(std::string_view(key).substr(2), colour);
    }
  }

  void ColourGlobal(std::string_view name, ColouredToken& colour) const {
    const resolve::Program& program = file_->program->program();
    const resolve::NameId id = program.FindName(name);
    if (!id.valid()) {
      colour.type = TokenType::kVariable;
    } else if (program.Option(id).valid() || !program.Constants(id).empty()) {
      // The order decides where a name has declarations of several kinds.
      colour.type = TokenType::kEnumMember;
      colour.modifiers |= BitOf(TokenModifier::kReadonly);
    } else if (!program.Functions(id).empty()) {
      colour.type = TokenType::kFunction;
    } else if (!program.Structs(id).empty()) {
      colour.type = TokenType::kStruct;
    } else if (!program.Globals(id).empty()) {
      colour.type = TokenType::kNamespace;
    } else {
      const rpl::Word word = rpl::LookUpWord(name);
      colour.type = word.type != rpl::InbuiltType::kNone ? TokenType::kType : TokenType::kVariable;
    }
  }

  const FileView* file_;
  const Names* names_;
  const Source& source_;
};

// Five numbers for each token: lines and characters from the one before, length, type, modifiers.
// A token lies on one line; one that does not (a lexical error) is left out.
Json Encoded(const Session& session, const Source& source,
             const std::vector<ColouredToken>& tokens) {
  Json data = Json::array();
  Position before;
  for (const ColouredToken& token : tokens) {
    const Range range = RangeIn(session, source, token.bytes);
    if (range.start.line != range.end.line || range.end.character <= range.start.character) {
      continue;
    }
    ChargeMemory(kTokenBytes);
    const bool same_line = range.start.line == before.line;
    data.push_back(range.start.line - before.line);
    data.push_back(same_line ? range.start.character - before.character : range.start.character);
    data.push_back(range.end.character - range.start.character);
    data.push_back(static_cast<uint32_t>(token.type));
    data.push_back(token.modifiers);
    before = range.start;
  }
  return data;
}

}  // namespace

// One walk over the tokens of the file, whatever part of it is on the screen: the protocol's ranges
// would save little.
Outcome SemanticTokens(Session& session, const Json& params) {
  std::variant<OpenFile, RpcError> read = FileOf(session, params);
  if (auto* error = std::get_if<RpcError>(&read)) {
    return std::move(*error);
  }
  const OpenFile& open = std::get<OpenFile>(read);
  if (IsTyped(open.path)) {
    return TokensOfModule(session, open);
  }
  const std::shared_ptr<const Source> source = session.analysis.SourceOf(open.path);
  if (source == nullptr) {
    return Json(nullptr);
  }
  // Colours do not wait for a program that links: without one tokens are coloured by the lexer
  // alone.
  const std::optional<FileView> file = session.analysis.ViewOf(open.path);
  std::shared_ptr<const Names> names;
  std::vector<Span> dead;
  if (file.has_value()) {
    names = session.analysis.NamesOf(file->program);
    dead = DeadParts(*file, *session.analysis.VariantOf(file->program));
  }
  std::vector<ColouredToken> tokens =
      Colouring(file.has_value() ? &*file : nullptr, names.get(), *source).Run();
  // Tokens and dead parts are both in order, so one walk over both is enough.
  size_t part = 0;
  for (ColouredToken& token : tokens) {
    while (part < dead.size() && dead[part].end <= token.bytes.begin) {
      ++part;
    }
    if (part < dead.size() && dead[part].begin <= token.bytes.begin) {
      token.modifiers |= BitOf(TokenModifier::kInactive);
    }
  }
  return Json{{"data", Encoded(session, *source, tokens)}};
}

}  // namespace kiln::lsp
