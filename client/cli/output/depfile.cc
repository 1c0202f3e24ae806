// SPDX-License-Identifier: MIT
// Writes dependency files in the form that Make and Ninja read (spec/cli 6.2).
#include "client/cli/output/depfile.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compiler/base/files/file.h"
#include "compiler/base/printable.h"

namespace kiln::cli {
namespace {

constexpr std::string_view kPunctuation = "+,-./@_!{}()~";

// What Make and Ninja both take for a part of a name as it is.
bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80 || kPunctuation.find(c) != std::string_view::npos;
}

// Make and Ninja agree on how these four are escaped.
bool IsEscaped(char c) { return c == '$' || c == ' ' || c == '#' || c == ':'; }

// The character that keeps a name out of a depfile, or nothing. Make runs what follows a ';' as a
// command, an '=' sets a variable (SHELL, for example) for the target, '%' makes a pattern of it,
// quotes, angles, stars and the like are expanded by one and split the name for the other. None of
// them has an escape that both read, and names come with sources of others: so the list says what
// is allowed.
std::string_view Misread(std::string_view path) {
  for (size_t at = 0; at < path.size(); ++at) {
    if (!IsPlain(path[at]) && !IsEscaped(path[at])) {
      return path.substr(at, 1);
    }
  }
  // What Make expands: the home of a user at the beginning, the member of an archive at the end,
  // and functions where a makefile asks for a second expansion, for which "$$(" is not escaped.
  if (path.starts_with('~') || path.ends_with(')')) {
    return path.starts_with('~') ? path.substr(0, 1) : path.substr(path.size() - 1);
  }
  const size_t function = std::min(path.find("$("), path.find("${"));
  return function == std::string_view::npos ? std::string_view() : path.substr(function, 2);
}

Result<std::string> Escaped(const std::string& path) {
  if (const std::string_view misread = Misread(path); !misread.empty()) {
    return Error{
        .code = ErrorCode::kInvalidArgument,
        .context = fmt::format("--deps cannot name '{}': Make or Ninja would not take '{}' "
                               "for a part of it; rename it, or go without --deps",
                               Printable(path), Printable(misread)),
        .reason = "USAGE"};
  }
  std::string text;
  for (const char c : path) {
    if (IsEscaped(c)) {
      text += c == '$' ? '$' : '\\';
    }
    text += c;
  }
  return text;
}

}  // namespace

Result<std::string> DepfileText(const std::string& target, std::vector<std::string> files) {
  // One order whatever the order of sources, so that equal dependencies are equal bytes.
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  // A dependency a line, so that the difference of two depfiles can be read.
  KILN_TRY(std::string text, Escaped(target));
  text += ":";
  for (const std::string& file : files) {
    KILN_TRY(const std::string name, Escaped(file));
    text += " \\\n  " + name;
  }
  return text + "\n";
}

Result<void> WriteDepfile(const std::string& path, const std::string& target,
                          std::vector<std::string> files) {
  KILN_TRY(const std::string text, DepfileText(target, std::move(files)));
  return WriteFile(path, AsBytes(text));
}

}  // namespace kiln::cli
