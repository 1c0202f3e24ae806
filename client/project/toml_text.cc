// SPDX-License-Identifier: MIT
#include "client/project/toml_text.h"

#include "client/project/limits.h"
#include "client/project/table_reader.h"
#include "compiler/base/printable.h"

namespace kiln::project {

// A quote would end the value, and what follows it would be keys and tables of whoever chose the
// name. Printable leaves no line end and no control, so two characters are left to be escaped.
std::string TomlText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
    }
    quoted += c;
  }
  return quoted + '"';
}

std::string NameFor(std::string_view text) {
  std::string name(text.substr(0, kMaxName));
  for (char& c : name) {
    c = IsNameCharacter(c) ? c : '_';
  }
  return name.empty() ? "program" : name;
}

}  // namespace kiln::project
