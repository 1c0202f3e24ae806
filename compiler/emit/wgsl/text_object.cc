// SPDX-License-Identifier: MIT
#include "compiler/emit/wgsl/text_object.h"

#include <charconv>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::wgsl {
namespace {

// Control characters, which no source name, literal or text of a table can hold. So marks can stand
// in the text while it is put together from pieces, and are taken out once at the end.
constexpr char kBegin = '\x01';
constexpr char kFinish = '\x02';

}  // namespace

// The kind is one character and the id hexadecimal, so marks need no escapes.
std::string Mark(MarkKind kind, uint32_t id) {
  return fmt::format("{}{}{:x}{}", kBegin, static_cast<char>(kind), id, kFinish);
}

// One pass: text is copied up to each mark, and the mark is noted with the place where it stood.
MarkedText Split(std::string_view marked) {
  MarkedText split;
  split.text.reserve(marked.size());
  while (true) {
    const size_t begin = marked.find(kBegin);
    split.text += marked.substr(0, begin);
    if (begin == std::string_view::npos) {
      return split;
    }
    const size_t end = marked.find(kFinish, begin);
    KILN_CHECK(end != std::string_view::npos, "a mark has no end");
    // The offset is that in the text without marks.
    Relocation mark{.offset = static_cast<uint32_t>(split.text.size()),
                    .kind = static_cast<MarkKind>(marked[begin + 1])};
    std::from_chars(marked.data() + begin + 2, marked.data() + end, mark.id, 16);
    split.marks.push_back(mark);
    marked.remove_prefix(end + 1);
  }
}

}  // namespace kiln::wgsl
