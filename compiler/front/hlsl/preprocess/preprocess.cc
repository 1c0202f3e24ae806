// SPDX-License-Identifier: MIT
// The whole of it: what is defined before the first line, then token after token from the files
// through the expander to the parser's stream.
#include "compiler/front/hlsl/preprocess/preprocess.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "compiler/base/push.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/preprocess/directives.h"
#include "compiler/front/hlsl/preprocess/expander.h"

namespace kiln::hlsl {
namespace {

// Between two looks whether anybody still waits.
constexpr size_t kMostCopied = 4096;

// What has to be done to a token of a kind before the parser gets it: nothing, to look whether it
// names a macro, or more.
enum class Use : uint8_t { kPlain, kWord, kOther };
constexpr auto kUses = [] {
  std::array<Use, kTokenKinds> uses{};
  for (size_t i = 0; i < uses.size(); ++i) {
    using enum TokenKind;
    const Token token{.kind = static_cast<TokenKind>(i)};
    const bool literal = token.kind == kInteger || token.kind == kFloat || token.kind == kString;
    const bool punctuator =
        token.kind > kLastKeyword && token.kind != kHash && token.kind != kHashHash;
    uses[i] = token.is_word() ? Use::kWord : literal || punctuator ? Use::kPlain : Use::kOther;
  }
  return uses;
}();

// The tokens of the module, before macros are expanded.
// Obeys directives on the way, so that what asks for tokens never sees one.
class ModuleSource final : public TokenSource {
 public:
  ModuleSource(FileStack& files, Directives& directives, PreprocessState& state)
      : files_(files), directives_(directives), state_(state) {}

  Token Next() override {
    while (!state_.stopped) {
      const Token& token = files_.Peek();
      if (token.kind != TokenKind::kHash || !token.starts_line()) {
        return files_.Take();
      }
      directives_.Obey();
    }
    return {};
  }

  bool NextIsOpenParen() override { return files_.Peek().kind == TokenKind::kOpenParen; }

  // A directive between the name of a macro and its parenthesis is not looked through: then it
  // is no call.
 private:
  FileStack& files_;
  Directives& directives_;
  PreprocessState& state_;
};

// #define lines for what a module can know (spec/hlsl 4.3) and for what the request defines.
// Written as text and read by the same code as any source, so that a define may be whatever a
// line may be.
std::string PredefinedText(const Settings& settings) {
  std::string text = fmt::format(
      "#define __KILN__ 1\n"
      "#define __HLSL_VERSION {}\n"
      "#define __hlsl_dx_compiler 1\n"
      "#define __spirv__ 1\n"
      "#define __SHADER_TARGET_MAJOR 6\n"
      "#define __SHADER_TARGET_MINOR {}\n",
      settings.version == Version::k2021 ? 2021 : 2018,
      static_cast<uint32_t>(settings.shader_model));
  if (settings.sixteen_bit == SixteenBit::kOn) {
    text += "#define __HLSL_ENABLE_16_BIT 1\n";
  }
  const auto define = [&](const std::string& name, const std::string& value) {
    std::string line = name + " " + value;  // one line, whatever it holds
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    text += "#define " + line + " \n";  // a backslash at its end splices nothing
  };
  for (const Define& one : settings.defines) {
    define(one.name, one.value);
  }
  for (const MacroChoice& choice : settings.macros) {
    if (choice.value.has_value()) {
      define(choice.name, *choice.value);
    }
  }
  return text;
}

// Parts are made in the order in which they need each other; all live as long as the call.
class Preprocessor {
 public:
  Preprocessor(const SourceSet& files, const Settings& settings, const LanguageLimits& limits,
               PreprocessResult& out)
      : state_{.stream = out.stream, .diagnostics = out.diagnostics, .limits = limits},
        table_(state_),
        files_(table_, state_),
        directives_({.set = files, .roots = settings.include_roots}, table_, files_, state_),
        source_(files_, directives_, state_),
        expander_(source_, table_, state_) {}

  // Context 0 is the root; diagnostics stop there.
  void Run(const SourceFile& root, const Settings& settings) {
    state_.stream.origins.AddContext({});
    Predefine(settings);
    const std::optional<uint32_t> row = table_.Load(root, 0);
    if (row.has_value()) {
      state_.stream.tokens.reserve(state_.lexed.rows.size() + 16);
      files_.Push(*row, 0);
      ReadAll();
    }
    Finish();
  }
  bool is_whole() const { return !state_.stopped && !state_.lacks_file; }

 private:
  void Predefine(const Settings& settings) {
    // The text is on the stack as a file while it is read, since directives belong to a file.
    directives_.definitions().DefineBuiltIns();
    files_.Push(table_.LoadText(PredefinedText(settings)), 0);
    source_.Next();  // what is no directive has no place where it could be reported
    files_.Pop();
    directives_.definitions().EndOfPredefined();
    state_.NoteReadsOf(settings.macros);
  }

  // Tokens until the end of the last file. At the end of each file its conditionals are closed,
  // and reading goes on behind the include.
  void ReadAll() {
    while (!state_.stopped) {
      CheckStop();
      if (expander_.idle()) {
        CopyPlain();
      }
      const Token token = expander_.Next();
      if (token.kind != TokenKind::kEnd) {
        Emit(token);
        continue;
      }
      directives_.EndFile();
      if (files_.depth() == 1) {
        end_ = token.origin;
        return;
      }
      files_.Pop();
    }
  }

  // Most tokens name no macro and begin no directive. They go to the parser as they are, in runs.
  // A run stops at the first name of a macro and at each directive, which the expander and the
  // directives then handle. Cost for a plain token is one look and one copy.
  void CopyPlain() {
    std::vector<Token>& tokens = state_.stream.tokens;
    const std::span<const Token> rest = files_.AsWritten();
    const size_t most =
        // Runs are bounded, so that a stop is noticed, and so is the number of tokens.
        std::min<size_t>({rest.size(), kMostCopied, state_.limits.tokens - tokens.size()});
    size_t count = 0;
    while (count < most && IsPlain(rest[count])) {
      ++count;
    }
    tokens.insert(tokens.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count));
    files_.Skip(count);
  }

  bool IsPlain(const Token& token) {
    switch (kUses[static_cast<size_t>(token.kind)]) {
      case Use::kPlain:
        return true;
      case Use::kWord:
        return state_.FindMacro(token.symbol) == MacroTable::kNone;
      case Use::kOther:
        return false;
    }
    KILN_UNREACHABLE();
  }

  // What is no token is reported here, where it comes to the parser.
  // spec/hlsl 4.1: a wrong token in a macro that is never used, or in a group that is skipped,
  // is no error.
  void Emit(Token token) {
    token.flags &= Token::kLayout;
    switch (token.kind) {
      case TokenKind::kUnknown:
      case TokenKind::kHeaderName:
      case TokenKind::kHash:
      case TokenKind::kHashHash:
        ReportToken(Code::kHlsl1002, token);
        return;
      // Something that fits where most numbers stand, so that the parser has no second error.
      case TokenKind::kMalformed:
        ReportToken(Code::kHlsl1005, token);
        token.kind = TokenKind::kInteger;
        token.symbol = state_.stream.symbols.Intern("0");
        break;
      case TokenKind::kOpenString:
        state_.Report(state_.stream.MakeAt(Code::kHlsl1003, token.origin)
                          .With("kind", "string")
                          .With("text", Quoted(state_.Text(token.symbol))));
        token.kind = TokenKind::kString;
        token.symbol = state_.stream.symbols.Intern("\"\"");
        break;
      default:
        break;
    }
    if (state_.stream.tokens.size() >= state_.limits.tokens) {
      state_.FailSize("module", "too many tokens", state_.limits.tokens, token.origin);
      return;
    }
    Push(state_.stream.tokens, token);
  }

  void ReportToken(Code code, const Token& token) {
    state_.Report(
        state_.stream.MakeAt(code, token.origin).With("text", Quoted(state_.Text(token.symbol))));
  }

  // The last token is the end, in the place of the root's end.
  void Finish() {
    state_.stream.tokens.push_back({.flags = Token::kStartsLine, .origin = end_});
    state_.stream.line_marks = table_.TakeMarks();
    CheckLengths();
  }

  // Identifiers and strings that are too long. There are far fewer spellings than tokens, so these
  // are looked at, and the tokens only if there is one.
  void CheckLengths() {
    const uint32_t least = std::min(state_.limits.identifier, state_.limits.string);
    const SymbolTable& symbols = state_.stream.symbols;
    uint32_t long_ones = 0;
    for (uint32_t symbol = 0; symbol < symbols.size(); ++symbol) {
      long_ones += symbols.Text(symbol).size() > least ? 1 : 0;
    }
    if (long_ones == 0) {
      return;
    }
    // Each spelling is told once, however often it stands there.
    std::vector<bool> told(symbols.size());
    for (const Token& token : state_.stream.tokens) {
      const bool string = token.kind == TokenKind::kString;
      const std::string_view text = symbols.Text(token.symbol);
      const uint32_t limit = string ? state_.limits.string + 2 : state_.limits.identifier;
      if ((string || token.kind == TokenKind::kIdentifier) && text.size() > limit &&
          !told[token.symbol] && !state_.found.IsFull()) {
        told[token.symbol] = true;
        state_.Report(state_.stream.MakeAt(Code::kHlsl1007, token.origin)
                          .With("what", (string ? "string '" : "identifier '") + Quoted(text) + "'")
                          .With("size", std::to_string(text.size() - (string ? 2 : 0)) + " bytes")
                          .With("limit", limit - (string ? 2 : 0)));
      }
    }
  }

  PreprocessState state_;
  FileTable table_;
  FileStack files_;
  Directives directives_;
  ModuleSource source_;
  Expander expander_;
  uint32_t end_ = 0;  // origin of the end
};

}  // namespace

PreprocessResult Preprocess(const SourceFile& root, const SourceSet& files,
                            const Settings& settings, uint32_t ordinal,
                            const LanguageLimits& limits) {
  PreprocessResult out;
  out.stream.module = ordinal;
  Preprocessor preprocessor(files, settings, limits, out);
  preprocessor.Run(root, settings);
  out.is_whole = preprocessor.is_whole();
  return out;
}

}  // namespace kiln::hlsl
