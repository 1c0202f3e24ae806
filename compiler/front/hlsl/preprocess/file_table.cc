// SPDX-License-Identifier: MIT
// Every file of a module once: its text lexed, its tokens in one table with those of all
// others, its place in the row of offsets. Lines and marks of #line are found when somebody
// asks. Limits on sizes and numbers are checked before a file is lexed, so a file that is too
// large costs nothing.
#include "compiler/front/hlsl/preprocess/file_table.h"

#include <algorithm>
#include <utility>

#include "compiler/base/text/utf8.h"
#include "compiler/base/threads/stop.h"

namespace kiln::hlsl {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// All texts of a module together, in sources of the largest size.
constexpr uint64_t kMostSources = 16;
// What is kept of one token: itself and its span.
constexpr uint64_t kBytesPerToken = sizeof(Token) + sizeof(Span);

// The symbol of the guard of a file: `#ifndef NAME` or `#if !defined NAME` begins it, with or
// without parentheses, and the `#endif` of that ends it. kNoSymbol if it has none.
// A file whose text is all inside of one conditional that its first line opens is not read
// again while the name is defined. That is decided once, when the file is lexed.
uint32_t FindGuard(const LexedTokens& lexed, const LexedFile& file) {
  const std::span<const Token> rows = lexed.rows;
  // A conditional needs two directives, and the first must be the first token.
  if (file.directives < 2 || lexed.directives[file.first_directive] != file.first) {
    return kNoSymbol;
  }
  uint32_t at = file.first + 1;
  const auto skip = [&](uint32_t symbol) {
    const bool there = !rows[at].starts_line() && rows[at].symbol == symbol;
    at += there ? 1 : 0;
    return there;
  };
  const auto number = [](TokenKind kind) { return static_cast<uint32_t>(kind); };
  if (!skip(kWordIfndef) &&
      !(skip(number(TokenKind::kIf)) && skip(number(TokenKind::kNot)) && skip(kWordDefined))) {
    return kNoSymbol;
  }
  const bool opened = skip(number(TokenKind::kOpenParen));
  if (rows[at].starts_line() || !rows[at].is_word()) {
    return kNoSymbol;
  }
  const uint32_t name = rows[at++].symbol;
  if (opened != skip(number(TokenKind::kCloseParen)) || !rows[at].starts_line()) {
    return kNoSymbol;
  }
  // The conditional must end with the last directive and nothing may follow it; with an `#else`
  // of its own the file would have a text also where the name is defined.
  uint32_t depth = 0;
  for (uint32_t i = 0; i < file.directives; ++i) {
    const uint32_t hash = lexed.directives[file.first_directive + i];
    const Token& word = rows[hash + 1];
    if (word.starts_line()) {
      continue;
    }
    const bool opens = word.symbol == number(TokenKind::kIf) || word.symbol == kWordIfdef ||
                       word.symbol == kWordIfndef;
    const bool other = word.symbol == number(TokenKind::kElse) || word.symbol == kWordElif;
    depth += opens ? 1 : 0;
    if (depth == 1 && other) {
      return kNoSymbol;
    }
    if (word.symbol == kWordEndif && --depth == 0) {
      const bool last = i + 1 == file.directives;
      uint32_t behind = hash + 1;
      while (!rows[behind].starts_line()) {
        ++behind;
      }
      return last && behind == file.end ? name : kNoSymbol;
    }
  }
  return kNoSymbol;
}

}  // namespace

// Each path once, however often it is included. Places of files follow each other, with one
// offset more for the end of each (spec/hlsl 4.6).
std::optional<uint32_t> FileTable::Load(const SourceFile& source, uint32_t cause) {
  if (const uint32_t* known = row_of_path_.Find(source.path)) {
    return *known;
  }
  std::vector<ModuleFile>& files = state_.stream.files;
  const bool fits = Fits(source, cause);
  if (!fits && !files.empty()) {
    return std::nullopt;
  }
  const auto file = static_cast<uint32_t>(files.size());
  const uint32_t first = files.empty() ? 0 : files.back().first + files.back().size + 1;
  files.push_back({.path = source.path,
                   .digest = source.digest,
                   .first = first,
                   .size = static_cast<uint32_t>(source.text.size()),
                   .included = cause});
  if (!fits) {
    return std::nullopt;  // the root is described all the same: the error is there
  }
  const uint32_t context = file == 0
                               ? 0
                               : state_.stream.origins.AddContext(
                                     {.kind = Context::Kind::kFile, .what = file, .cause = cause});
  state_.bytes += source.text.size();
  state_.stream.origins.BeginFile(context);
  std::string_view text = source.text;
  // A file that is not UTF-8 is an error at its first wrong byte and counts as empty.
  const size_t invalid = FindInvalidUtf8(text);
  if (invalid != text.size()) {
    const auto at = static_cast<uint32_t>(first + invalid);
    Diagnostic error =
        Make(Code::kHlsl1001, {.module = state_.stream.module, .bytes = {at, at + 1}})
            .With("offset", invalid);
    state_.stream.AddChain(context, error);
    state_.Report(std::move(error));
    state_.lacks_file = true;
    text = {};
  }
  // A mark at the beginning is not part of the text, though it has offsets.
  const auto mark = static_cast<uint32_t>(text.starts_with(kByteOrderMark) ? 3 : 0);
  text.remove_prefix(mark);
  sources_.push_back(&source);
  row_of_path_.Insert(source.path, static_cast<uint32_t>(files_.size()));
  row_of_file_.push_back(static_cast<uint32_t>(files_.size()));
  return LexFile(text, first + mark, {.file = file, .context = context});
}

// The text of predefined macros: no file, no place.
uint32_t FileTable::LoadText(std::string_view text) {
  state_.bytes += text.size();
  state_.stream.origins.BeginFile(0);
  sources_.push_back(nullptr);
  return LexFile(text, kNoPlace, {});
}

// Three limits: of a file, of the number of files, of all files together (spec/hlsl 25.2). The
// first that is exceeded is reported at the include.
bool FileTable::Fits(const SourceFile& source, uint32_t cause) {
  const LanguageLimits& limits = state_.limits;
  const uint64_t most = kMostSources * limits.source_bytes;
  if (source.text.size() > limits.source_bytes) {
    state_.FailSize("'" + Quoted(source.path) + "'", std::to_string(source.text.size()) + " bytes",
                    limits.source_bytes, cause);
  } else if (state_.stream.files.size() >= limits.include_files) {
    state_.FailSize("module", "too many files", limits.include_files, cause);
  } else if (state_.bytes + source.text.size() > most) {
    state_.FailSize("module", "too many bytes in its files", most, cause);
  }
  return !state_.stopped;
}

uint32_t FileTable::LexFile(std::string_view text, uint32_t first, LexedFile file) {
  LexedTokens& lexed = state_.lexed;
  file.first = static_cast<uint32_t>(lexed.rows.size());
  file.first_directive = static_cast<uint32_t>(lexed.directives.size());
  const std::optional<Span> comment =
      Lex(text, first,
          {.symbols = state_.stream.symbols, .origins = state_.stream.origins, .tokens = lexed});
  file.end = static_cast<uint32_t>(lexed.rows.size()) - 1;
  file.directives = static_cast<uint32_t>(lexed.directives.size()) - file.first_directive;
  // Memory is charged by what the lexer really made.
  ChargeMemory((lexed.rows.size() - file.first) * kBytesPerToken);
  file.guard = FindGuard(lexed, file);
  if (comment.has_value() && first != kNoPlace) {
    Diagnostic error =
        Make(Code::kHlsl1003, {.module = state_.stream.module,
                               .bytes = {first + comment->begin, first + comment->end}})
            .With("kind", "comment")
            .With("text", "/*");
    state_.stream.AddChain(file.context, error);
    state_.Report(std::move(error));
  }
  files_.push_back(file);
  lines_.emplace_back();
  marks_.emplace_back();
  return static_cast<uint32_t>(files_.size() - 1);
}

// Lines are found when somebody first asks for one: `__LINE__`, `#line`.
const LineIndex& FileTable::LinesOf(uint32_t row) {
  if (lines_[row] == nullptr) {
    lines_[row] = std::make_unique<LineIndex>(sources_[row]->text);
  }
  return *lines_[row];
}

// spec/hlsl 4.1: the line of the outermost use of a macro, changed by the last `#line` before
// it.
FileTable::Position FileTable::PositionOf(uint32_t origin) {
  const Origins& origins = state_.stream.origins;
  const uint32_t offset = origins.WrittenAt(origins.InFile(origin)).begin;
  const uint32_t file = state_.stream.FileAt(offset);
  const uint32_t row = row_of_file_[file];
  const LineIndex& lines = LinesOf(row);
  const uint32_t first = state_.stream.files[file].first;
  Position position{.line = lines.At(offset - first).line, .path = state_.stream.files[file].path};
  const std::vector<LineMark>& marks = marks_[row];
  const auto behind = std::ranges::upper_bound(marks, offset, {}, &LineMark::begin);
  if (behind != marks.begin()) {
    const LineMark& mark = *std::prev(behind);
    position.line = mark.line + (position.line - lines.At(mark.begin - first).line);
    position.path = mark.path == kNoSymbol ? position.path : state_.Text(mark.path);
  }
  return position;
}

// The mark holds from the next line on. In a file that is read again the same lines would be
// marked again.
void FileTable::MarkLine(uint32_t directive, uint32_t line, uint32_t path) {
  const uint32_t offset = state_.stream.origins.WrittenAt(directive).begin;
  const uint32_t file = state_.stream.FileAt(offset);
  const uint32_t row = row_of_file_[file];
  const LineIndex& lines = LinesOf(row);
  const ModuleFile& described = state_.stream.files[file];
  const uint32_t at = lines.At(offset - described.first).line;
  const uint32_t begin = at < lines.line_count() ? lines.LineSpan(at + 1).begin : described.size;
  std::vector<LineMark>& marks = marks_[row];
  if (!marks.empty() && marks.back().begin >= described.first + begin) {
    return;
  }
  // Without a path the one of the last mark goes on.
  const uint32_t kept = marks.empty() ? kNoSymbol : marks.back().path;
  marks.push_back(
      {.begin = described.first + begin, .line = line, .path = path == kNoSymbol ? kept : path});
}

// In the order of files, so that they ascend by their place.
std::vector<LineMark> FileTable::TakeMarks() {
  std::vector<LineMark> all;
  for (const uint32_t row : row_of_file_) {
    all.insert(all.end(), marks_[row].begin(), marks_[row].end());
  }
  return all;
}

// As a string of HLSL: what would end it or escape is escaped.
std::string FileTable::QuotedPath(std::string_view path) {
  std::string text = "\"";
  for (const char c : path) {
    if (c == '"' || c == '\\') {
      text += '\\';
    }
    text += c;
  }
  return text + '"';
}

}  // namespace kiln::hlsl
