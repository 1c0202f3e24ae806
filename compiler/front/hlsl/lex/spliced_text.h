// SPDX-License-Identifier: MIT
// A text without its line splices, a backslash and the line end behind it, so that the lexer meets
// whole lines; and where its bytes were in the source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/span.h"

namespace kiln::hlsl {

class SplicedText {
 public:
  // Views `source`, which must outlive this; copies it only if something is spliced.
  explicit SplicedText(std::string_view source);
  SplicedText(const SplicedText&) = delete;
  SplicedText& operator=(const SplicedText&) = delete;

  std::string_view text() const { return text_; }

  // Where bytes [begin, end) of `text()` are in the source: from their first to behind their last.
  // Requires: `begin` does not descend from call to call. O(1) in the mean.
  Span InSource(uint32_t begin, uint32_t end) {
    return splices_.empty() ? Span{begin, end} : Moved(begin, end);
  }

 private:
  struct Splice {
    uint32_t at;       // offset in `text()` of the first byte behind it
    uint32_t removed;  // bytes, up to there
  };

  Span Moved(uint32_t begin, uint32_t end);

  std::string copy_;
  std::string_view text_;
  std::vector<Splice> splices_;  // ascending
  size_t next_ = 0;              // the first splice behind the last `begin`
};

}  // namespace kiln::hlsl
