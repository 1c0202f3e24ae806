// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/preprocess/dump.h"

#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "compiler/base/printable.h"
#include "compiler/front/hlsl/lex/lex.h"
#include "compiler/source/line_index.h"

namespace kiln::hlsl {

// Tokens of one file, one for each line, with their places.
std::string DumpTokens(const SourceFile& source) {
  SymbolTable symbols;
  Origins origins;
  LexedTokens lexed;
  Lex(source.text, 0, {.symbols = symbols, .origins = origins, .tokens = lexed});
  const LineIndex lines(source.text);
  std::string out;
  for (const Token& token : lexed.rows) {
    const LineColumn at = lines.At(origins.WrittenAt(token.origin).begin);
    const std::string_view kind = TokenKindText(token.kind);
    const std::string text = Printable(symbols.Text(token.symbol));
    fmt::format_to(std::back_inserter(out), "{}:{} {}", at.line, at.column, kind);
    out += token.kind == TokenKind::kEnd || text == kind ? "\n" : " " + text + "\n";
  }
  return out;
}

// The root is the first file and need not be in the set. A line of the output is a line of the
// source; it begins with the place where its first token is written, outside of macros.
std::string DumpPreprocessed(const TokenStream& stream, const SourceFile& root,
                             const SourceSet& files) {
  std::vector<LineIndex> lines;
  for (const ModuleFile& file : stream.files) {
    const SourceFile* source = lines.empty() ? &root : files.Find(file.path);
    lines.emplace_back(source != nullptr ? std::string_view(source->text) : std::string_view{});
  }
  std::string out;
  uint32_t end = 0;
  for (const Token& token : stream.tokens) {
    if (token.kind == TokenKind::kEnd) {
      break;
    }
    const Span written = stream.origins.WrittenAt(token.origin);
    if (token.starts_line() || out.empty()) {
      const uint32_t offset = stream.origins.WrittenAt(stream.origins.InFile(token.origin)).begin;
      const uint32_t file = stream.FileAt(offset);
      const LineColumn at = lines[file].At(offset - stream.files[file].first);
      fmt::format_to(std::back_inserter(out), "{}{}:{}:{}: ", out.empty() ? "" : "\n",
                     Printable(stream.files[file].path), at.line, at.column);
      // A space is written where there was one, or where tokens would run together: what was
      // not adjacent in the source was made by macros.
    } else if (token.space_before() || written.begin != end) {
      out += ' ';
    }
    out += Printable(stream.Text(token));
    end = written.end;
  }
  return out.empty() ? out : out + "\n";
}

}  // namespace kiln::hlsl
