// SPDX-License-Identifier: MIT
// The files of a module: each is read once, when it is included first. Answers where in which file
// a token is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/front/hlsl/preprocess/state.h"
#include "compiler/source/line_index.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {

// The tokens of one file: rows [first, end] of the lexed tokens, the last one kEnd.
struct LexedFile {
  uint32_t file = 0;     // row of the stream's files
  uint32_t context = 0;  // of its first inclusion
  uint32_t first = 0, end = 0;
  uint32_t first_directive = 0, directives = 0;  // of the lexed tokens' directives
  uint32_t guard = kNoSymbol;  // while this is defined, all of the file is skipped
  bool is_once = false;        // #pragma once
  uint32_t inclusions = 0;
};

class FileTable {
 public:
  // The state must outlive the table.
  explicit FileTable(PreprocessState& state) : state_(state) {}

  // Row of a file, read now if its path is new; `cause` is the path that asked for it. Nothing,
  // with an error, if there are too many files or too much text. `source` must outlive the table.
  std::optional<uint32_t> Load(const SourceFile& source, uint32_t cause);
  // A text that is in no file: lines of directives that come from elsewhere.
  uint32_t LoadText(std::string_view text);

  LexedFile& operator[](uint32_t row) { return files_[row]; }
  const SourceFile& source(uint32_t row) const { return *sources_[row]; }

  // What #line says, or is so by itself.
  struct Position {
    uint32_t line = 1;
    std::string_view path;
  };
  // Of the outermost token that made this one.
  Position PositionOf(uint32_t origin);
  // #line: from the line behind the one of this directive on. Again and again for a file that is
  // included again, where it has no effect.
  void MarkLine(uint32_t directive, uint32_t line, uint32_t path);
  // All marks, ascending; to be called in the end.
  std::vector<LineMark> TakeMarks();

  // A path as string token.
  static std::string QuotedPath(std::string_view path);

 private:
  bool Fits(const SourceFile& source, uint32_t cause);
  uint32_t LexFile(std::string_view text, uint32_t first, LexedFile file);
  const LineIndex& LinesOf(uint32_t row);

  PreprocessState& state_;
  std::vector<LexedFile> files_;
  // By row, null or empty for texts:
  std::vector<const SourceFile*> sources_;
  std::vector<std::unique_ptr<LineIndex>> lines_;
  std::vector<std::vector<LineMark>> marks_;
  std::vector<uint32_t> row_of_file_;  // by row of the stream's files
  FlatMap<std::string, uint32_t> row_of_path_;
};

}  // namespace kiln::hlsl
