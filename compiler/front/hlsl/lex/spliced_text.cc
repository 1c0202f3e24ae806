// SPDX-License-Identifier: MIT
#include "compiler/front/hlsl/lex/spliced_text.h"

#include <algorithm>

namespace kiln::hlsl {
namespace {

// Bytes of the splice that starts with the backslash at `at`; 0 if it is none.
// spec/hlsl 4.1: a backslash directly before a line end goes, and the line end with it.
uint32_t SpliceSize(std::string_view source, size_t at) {
  const std::string_view behind = source.substr(at + 1, 2);
  if (behind.starts_with("\r\n")) {
    return 3;
  }
  return behind.starts_with('\n') || behind.starts_with('\r') ? 2 : 0;
}

}  // namespace

// Most sources have no splice: then the text is the source itself and nothing is copied.
// Otherwise each splice is kept with its place in the copy and how many bytes are gone up to
// it.
SplicedText::SplicedText(std::string_view source) : text_(source) {
  size_t copied = 0;
  for (size_t at = source.find('\\'); at != std::string_view::npos; at = source.find('\\', at)) {
    const uint32_t size = SpliceSize(source, at);
    if (size == 0) {
      ++at;
      continue;
    }
    if (splices_.empty()) {
      copy_.reserve(source.size());
    }
    copy_.append(source.substr(copied, at - copied));
    at += size;
    copied = at;
    splices_.push_back({.at = static_cast<uint32_t>(copy_.size()),
                        .removed = static_cast<uint32_t>(at - copy_.size())});
  }
  if (!splices_.empty()) {
    copy_.append(source.substr(copied));
    text_ = copy_;
  }
}

// A span of the copy as one of the source. Calls come with ascending `begin`, so the search
// goes on where the last one ended: cost is the number of splices, once. A splice inside of a
// token counts for its end only.
Span SplicedText::Moved(uint32_t begin, uint32_t end) {
  while (next_ < splices_.size() && splices_[next_].at <= begin) {
    ++next_;
  }
  const auto removed = [&](size_t behind) {
    return behind == 0 ? 0 : splices_[behind - 1].removed;
  };
  size_t last = next_;
  while (last < splices_.size() && splices_[last].at < end) {
    ++last;
  }
  return {begin + removed(next_), end + removed(last)};
}

}  // namespace kiln::hlsl
