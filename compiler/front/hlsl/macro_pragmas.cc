// SPDX-License-Identifier: MIT
// The file is lexed as it always is, and only directives are looked at, so comments, strings and
// spliced lines are what they are elsewhere. Cost: one lexing of the root, once for each request
// that is not known yet.
#include "compiler/front/hlsl/macro_pragmas.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/base/language_limits.h"
#include "compiler/base/text/utf8.h"
#include "compiler/base/threads/stop.h"
#include "compiler/front/hlsl/lex/lex.h"

namespace kiln::hlsl {
namespace {

// Names that all lists of a file may define, and their bytes: each is a choice of every list of
// defines, part of records and keys.
constexpr size_t kMostNames = 1024;
constexpr size_t kMostBytes = size_t{1} << 16;

bool IsOneOf(std::string_view word, std::string_view kind) {
  return word == kind ||
         (word.starts_with(kind) && word.substr(kind.size()).starts_with('_') &&
          // Where it holds makes no difference here: "_local", "_fragment", "_local_vertex".
          std::ranges::any_of(
              std::initializer_list<std::string_view>{"local", "vertex", "fragment", "compute"},
              [&](std::string_view ending) { return word.ends_with(ending); }));
}

}  // namespace

std::optional<Result<MacroAxis>> MacroOfPragma(std::span<const std::string_view> words) {
  if (words.size() >= 2 && words[0] == "kiln" && words[1] == "macro") {
    std::vector<std::string> values;
    for (size_t i = 3; i < words.size(); ++i) {
      // '-' is a token of its own.
      const bool negative = words[i] == "-" && i + 1 < words.size();
      i += negative ? 1 : 0;
      values.push_back((negative ? "-" : "") + std::string(words[i]));
    }
    return MakeMacroAxis(words.size() > 2 ? std::string(words[2]) : std::string(),
                         std::move(values));
  }
  const bool feature = !words.empty() && IsOneOf(words[0], "shader_feature");
  if (!feature && (words.empty() || !IsOneOf(words[0], "multi_compile"))) {
    return std::nullopt;
  }
  std::vector<std::string> keywords(words.begin() + 1, words.end());
  if (feature && keywords.size() == 1) {
    keywords.insert(keywords.begin(), "_");
  }
  return MakeKeywordAxis(std::move(keywords));
}

std::vector<MacroAxis> MacrosIn(std::string_view text) {
  std::vector<MacroAxis> axes;
  // What the preprocessor refuses before it lexes a file lists nothing.
  if (text.find("pragma") == std::string_view::npos ||
      text.size() > LanguageLimits{}.source_bytes || FindInvalidUtf8(text) != text.size()) {
    return axes;
  }
  text.remove_prefix(text.starts_with("\xef\xbb\xbf") ? 3 : 0);
  const ChargedMemory of_tokens;
  SymbolTable symbols;
  Origins origins;
  LexedTokens lexed;
  origins.BeginFile(0);
  (void)Lex(text, 0, {.symbols = symbols, .origins = origins, .tokens = lexed});
  ChargeMemory(lexed.rows.size() * (sizeof(Token) + sizeof(Span)));
  std::set<std::string, std::less<>> names;
  size_t bytes = 0;
  for (const uint32_t hash : lexed.directives) {
    CheckStop();
    std::vector<std::string_view> words;
    for (uint32_t row = hash + 1;
         row < lexed.rows.size() && !lexed.rows[row].starts_line() &&
         lexed.rows[row].kind != TokenKind::kEnd && words.size() <= 2 * kMostMacroValues + 3;
         ++row) {
      words.push_back(symbols.Text(lexed.rows[row].symbol));
    }
    if (words.empty() || words[0] != "pragma") {
      continue;
    }
    std::optional<Result<MacroAxis>> axis = MacroOfPragma(std::span(words).subspan(1));
    if (!axis.has_value() || !axis->ok() || axes.size() >= kMostMacroAxes) {
      continue;
    }
    const std::vector<std::string_view> defined = NamesOf(**axis);
    for (const std::string_view name : defined) {
      bytes += name.size();
    }
    if (names.size() + defined.size() > kMostNames || bytes > kMostBytes) {
      break;
    }
    if (std::ranges::any_of(defined, [&](auto name) { return names.contains(name); })) {
      continue;
    }
    names.insert(defined.begin(), defined.end());
    axes.push_back(std::move(*axis).value());
  }
  std::ranges::sort(axes, {}, &MacroAxis::name);
  // An axis of keywords may be called like a macro.
  const auto same = std::ranges::unique(axes, {}, &MacroAxis::name);
  axes.erase(same.begin(), same.end());
  return axes;
}

}  // namespace kiln::hlsl
