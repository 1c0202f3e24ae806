// SPDX-License-Identifier: MIT
// The texts that the spans of one module count in. A module has one source or, with includes,
// several files: then spans are offsets in the row of all of them one after another, the root
// first, with one offset more for the end of each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/source/source_file.h"
#include "compiler/source/span.h"

namespace kiln {

// From offset `begin` on, up to the next mark or the end of its file, the source itself calls its
// lines `line` and so on, of file `path` (#line): a number of a text that whoever has the marks
// knows.
struct LineMark {
  static constexpr uint32_t kOwnPath = 0xffffffffu;

  uint32_t begin = 0;
  uint32_t line = 0;
  uint32_t path = kOwnPath;

  friend bool operator==(const LineMark&, const LineMark&) = default;
};

class ModuleText {
 public:
  struct File {
    uint32_t first = 0;  // offset of its first byte
    const SourceFile* source = nullptr;
    Span included{};  // the path that asked for it first; of the root: empty
  };

  // A module of one file; null: its text is not there. Views `source`.
  ModuleText(const SourceFile* source)  // NOLINT(google-explicit-constructor)
      : files_{{.first = 0, .source = source, .included = {}}} {}
  // Ascending by offset, the root first; a file whose text is not there has no source. Views them.
  explicit ModuleText(std::vector<File> files, std::vector<LineMark> marks = {},
                      std::vector<std::string> mark_paths = {})
      : files_(std::move(files)), marks_(std::move(marks)), mark_paths_(std::move(mark_paths)) {}

  // Row of the file that an offset belongs to. Requires: there is one.
  size_t FileAt(uint32_t offset) const;
  const std::vector<File>& files() const { return files_; }
  // The mark that holds at an offset, or null.
  const LineMark* MarkAt(uint32_t offset) const;
  // Its path; `own` is that of the file.
  const std::string& PathOf(const LineMark& mark, const std::string& own) const {
    return mark.path < mark_paths_.size() ? mark_paths_[mark.path] : own;
  }

 private:
  std::vector<File> files_;
  std::vector<LineMark> marks_;          // ascending
  std::vector<std::string> mark_paths_;  // that their numbers are rows of
};

}  // namespace kiln
