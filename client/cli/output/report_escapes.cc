// SPDX-License-Identifier: MIT
#include "client/cli/output/report_escapes.h"

#include <algorithm>
#include <cstddef>

#include "compiler/base/printable.h"

namespace kiln::cli {
namespace {

std::string_view XmlOf(char c) {
  switch (c) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

std::string_view AnnotationOf(char c) {
  return c == '%' ? "%25" : c == '\r' ? "%0D" : c == '\n' ? "%0A" : std::string_view();
}

// `instead` gives what stands for a character; empty: itself.
template <class Instead>
std::string Escaped(const std::string& text, const Instead& instead) {
  std::string escaped;
  for (const char c : text) {
    const std::string_view other = instead(c);
    escaped += other.empty() ? std::string_view(&c, 1) : other;
  }
  return escaped;
}

// U+FFFE and U+FFFF are well-formed UTF-8 and no characters of XML (its rule Char): spelled out, as
// what is not printable is.
std::string WithoutNonCharacters(std::string text) {
  constexpr std::string_view kFirstBytes = "\xef\xbf";
  for (size_t at = text.find(kFirstBytes); at != std::string::npos;
       at = text.find(kFirstBytes, at + 1)) {
    const std::string_view spelled = text[at + 2] == '\xbe'   ? "\\xef\\xbf\\xbe"
                                     : text[at + 2] == '\xbf' ? "\\xef\\xbf\\xbf"
                                                              : std::string_view();
    if (!spelled.empty()) {
      text.replace(at, kFirstBytes.size() + 1, spelled);
    }
  }
  return text;
}

}  // namespace

// All escapes begin with text that is printable: control characters are not allowed in XML and
// would act in a terminal or a web page. They are the only way by which text of sources enters a
// report.
std::string XmlText(std::string_view text) {
  return Escaped(WithoutNonCharacters(PrintableMessage(text)), XmlOf);
}

std::string AnnotationText(std::string_view text) {
  return Escaped(PrintableLines(text), AnnotationOf);
}

std::string AnnotationProperty(std::string_view text) {
  // A property of an annotation ends at ':' or ','.
  return Escaped(PrintableLines(text), [](char c) {
    return c == ':' ? std::string_view("%3A") : c == ',' ? "%2C" : AnnotationOf(c);
  });
}

std::string MarkdownText(std::string_view text) {
  // Every character that means something to Markdown somewhere. A backslash in front of one that
  // means nothing here is not shown.
  constexpr std::string_view kOwn = "\\`*_{}[]<>#|&~!";
  std::string escaped;
  for (const char c : Printable(text)) {
    if (kOwn.find(c) != std::string_view::npos) {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

// A span ends at the first run of as many backticks as it began with.
std::string MarkdownCode(std::string_view text) {
  const std::string line = Printable(text);
  size_t longest = 0;
  size_t run = 0;
  for (const char c : line) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  // A backtick at an end would join the fence; the blank between them is not shown.
  const bool touches = line.empty() || line.front() == '`' || line.back() == '`';
  const std::string_view gap = touches ? " " : "";
  return fence + std::string(gap) + line + std::string(gap) + fence;
}

}  // namespace kiln::cli
