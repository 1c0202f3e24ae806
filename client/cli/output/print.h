// SPDX-License-Identifier: MIT
// The only way of `kiln` to its terminal (a test looks for others). The text of a format is
// kiln's own; everything that is put into it may come from a manifest, a pack, a source or a
// daemon, and is made printable on its way: nobody who writes a verb can forget it.
//   Print("{}: {} files\n", name, count);
// Text of several lines, and text that kiln has coloured, say so:
//   Print(stderr, "error: {}\n", Message{error.context});
//   Print("{}", Lines{listing});
//   Print(stderr, "{}", Styled{RenderText(diagnostic, sources, style)});
// Errors of a stream are std::system_error, as of fmt::print. See spec/cli 3.3
#pragma once

#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "compiler/base/printable.h"

namespace kiln::cli {

// PrintableLines: line ends and tabs stay.
struct Lines {
  std::string_view text;
};

// PrintableMessage: line ends before two spaces stay.
struct Message {
  std::string_view text;
};

// As it is. Requires: whoever made it has cleaned what is not kiln's own.
struct TrustedText {
  std::string_view text;
};

inline std::string Clean(const Lines& lines) { return PrintableLines(lines.text); }
inline std::string Clean(const Message& message) { return PrintableMessage(message.text); }
inline std::string_view Clean(const TrustedText& styled) { return styled.text; }
inline std::string Clean(char c) { return Printable(std::string_view(&c, 1)); }
template <std::convertible_to<std::string_view> T>
std::string Clean(const T& text) {
  return Printable(std::string_view(text));
}
template <class T>
requires(std::integral<T> || std::floating_point<T>) T Clean(T number) { return number; }

template <class T>
using Cleaned = decltype(Clean(std::declval<const T&>()));

template <class... T>
void Print(std::FILE* stream, fmt::format_string<Cleaned<T>...> format, const T&... values) {
  fmt::print(stream, format, Clean(values)...);
}

template <class... T>
void Print(fmt::format_string<Cleaned<T>...> format, const T&... values) {
  fmt::print(stdout, format, Clean(values)...);
}

}  // namespace kiln::cli
