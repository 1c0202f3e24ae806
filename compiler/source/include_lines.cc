// SPDX-License-Identifier: MIT
// Finds lines that include by their look alone. The front end decides what they mean; here a line
// too much is harmless (client/includes, server/compile/programs).
#include "compiler/source/include_lines.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/source/include_paths.h"

namespace kiln {
namespace {

// Blanks of HLSL's preprocessor within a line.
constexpr std::string_view kBlank = " \t\v\f";
constexpr std::string_view kDirective = "include";

void SkipBlank(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
}

// What stands between the quotes or brackets of an #include; nothing for any other line.
// Lines are read as they stand: comments, macros and conditions are not looked at, so the list
// may hold more than the preprocessor will ask for. It is for tools that offer files, never for
// the key of a module.
std::optional<IncludeLine> ReadLine(std::string_view line) {
  SkipBlank(line);
  if (!line.starts_with('#')) {
    return std::nullopt;
  }
  line.remove_prefix(1);
  SkipBlank(line);
  // `#include_next` begins with the same letters and is followed by no quote, so it is none.
  if (!line.starts_with(kDirective)) {
    return std::nullopt;
  }
  line.remove_prefix(kDirective.size());
  SkipBlank(line);
  if (!line.starts_with('"') && !line.starts_with('<')) {
    return std::nullopt;
  }
  const bool quoted = line[0] == '"';
  line.remove_prefix(1);
  const size_t end = line.find(quoted ? '"' : '>');
  // An empty path names nothing.
  return end == 0 || end == std::string_view::npos
             ? std::nullopt
             : std::optional(IncludeLine{.path = line.substr(0, end), .quoted = quoted});
}

}  // namespace

// A line ends at either character; the empty line between the two of CR LF does no harm. Views into
// `text`, which must outlive them.
std::vector<IncludeLine> IncludeLinesOf(std::string_view text) {
  std::vector<IncludeLine> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n\r"), text.size());
    if (const std::optional<IncludeLine> line = ReadLine(text.substr(0, end)); line.has_value()) {
      lines.push_back(*line);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// In the order in which a front end looks: beside the including file if the path is quoted, then
// the roots (spec/hlsl 4.2). Paths that lead out of the project are none.
std::vector<std::string> PlacesOf(const IncludeLine& line, std::string_view including,
                                  std::span<const std::string> roots) {
  std::vector<std::string> places;
  const auto add = [&](std::string_view folder) {
    if (std::optional<std::string> path = FoldPath(folder, line.path); path.has_value()) {
      places.push_back(*std::move(path));
    }
  };
  if (line.quoted) {
    add(FolderOf(including));
  }
  for (const std::string& root : roots) {
    add(root);
  }
  return places;
}

}  // namespace kiln
