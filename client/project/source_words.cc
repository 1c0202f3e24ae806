// SPDX-License-Identifier: MIT
// A reader of RPL that knows words and brackets and no grammar, for proposals of `kiln init`. It
// must end and find something useful in any text, and never has to be right: all loops go forward,
// and what does not fit is passed over.
#include "client/project/source_words.h"

#include <algorithm>
#include <span>
#include <utility>

namespace kiln::project {
namespace {

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The end of a comment or a string that starts at `at`, or `at`. Escapes in strings are not known
// here: a string ends at the next quote.
size_t SkipQuiet(std::string_view text, size_t at) {
  const auto behind = [&](size_t found, size_t length) {
    return found == std::string_view::npos ? text.size() : found + length;
  };
  if (text.substr(at, 2) == "//") {
    return behind(text.find('\n', at), 1);
  }
  if (text.substr(at, 2) == "/*") {
    return behind(text.find("*/", at + 2), 2);
  }
  return text[at] == '"' ? behind(text.find('"', at + 1), 1) : at;
}

// Words and signs without comments; a string is one token that starts with its quote. Linear. The
// views are of the text, which has to outlive them.
std::vector<std::string_view> TokensOf(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t at = 0; at < text.size();) {
    if (const size_t end = SkipQuiet(text, at); end != at) {
      if (text[at] == '"') {
        tokens.push_back(text.substr(at, end - at));
      }
      at = end;
    } else if (IsWordByte(text[at])) {
      size_t end_of_word = at;
      while (end_of_word < text.size() && IsWordByte(text[end_of_word])) {
        ++end_of_word;
      }
      tokens.push_back(text.substr(at, end_of_word - at));
      at = end_of_word;
    } else {
      if (text[at] > ' ') {
        tokens.push_back(text.substr(at, 1));
      }
      ++at;
    }
  }
  return tokens;
}

using Tokens = std::span<const std::string_view>;

bool IsWord(std::string_view token) {
  return IsWordByte(token[0]) && (token[0] < '0' || token[0] > '9');
}

// The index behind the sign that closes the one at `open`. Behind the end of the tokens where
// nothing closes it.
size_t BehindClose(Tokens tokens, size_t open) {
  const std::string_view begin = tokens[open];
  const std::string_view end = begin == "(" ? ")" : "}";
  size_t depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    depth += tokens[i] == begin ? 1 : 0;
    depth -= tokens[i] == end ? 1 : 0;
    if (depth == 0) {
      return i + 1;
    }
  }
  return tokens.size();
}

// `global fog : enum ("a", "b")`: name, then type, then values as strings.
void AddOption(Tokens head, SourceWords& out) {
  if (head.size() < 4) {
    return;
  }
  OptionWords option{.name = std::string(head[1]), .type = std::string(head[3])};
  option.enum_values = static_cast<uint32_t>(
      std::ranges::count(head.subspan(4), '"', [](std::string_view token) { return token[0]; }));
  out.declared.insert(option.name);
  out.options.push_back(std::move(option));
}

// Behind what stands before a field: meta (…), conditional (…), pack (…), and aliases, which have
// no ';'.
Tokens BehindPrefixes(Tokens field) {
  while (field.size() > 1 && field[1] == "(") {
    field = field.subspan(BehindClose(field, 1));
  }
  return field;
}

// `body`: with its braces. Fields end at `;`; what does not look like a type and a name is passed
// over.
void AddOutputs(Tokens body, SourceWords& out) {
  for (size_t at = 1; at < body.size();) {
    Tokens field = body.subspan(at);
    field = field.first(static_cast<size_t>(std::ranges::find(field, ";") - field.begin()));
    at += field.size() + 1;
    field = BehindPrefixes(field);
    if (field.size() == 2 && IsWord(field[0]) && IsWord(field[1])) {
      out.outputs.push_back({.name = std::string(field[1]), .type = std::string(field[0])});
    }
  }
}

// A value of more than one word is kept as empty: it is there, and not known.
void AddSetting(Tokens head, bool conditional, SourceWords& out) {
  const auto value = std::ranges::find(head, "=");
  if (head.size() > 2 && value != head.end() && value + 1 != head.end()) {
    out.settings.push_back({.name = std::string(head[1]),
                            .value = value + 2 == head.end() ? std::string(value[1]) : "",
                            .conditional = conditional});
  }
}

// The name that a declaration other than an option or a function gives: the last word before its
// value or content.
void AddNamed(Tokens head, SourceWords& out) {
  const auto value = std::ranges::find(head, "=");
  std::string name;
  for (auto token = head.begin(); token != value; ++token) {
    name = IsWord(*token) ? std::string(*token) : name;
  }
  out.declared.insert(name);
  if (head[0].ends_with("_attribute_container")) {
    out.vertex_only.insert(name);
  } else if (head[0] == "color_output_container") {
    out.fragment_only.insert(name);
  }
}

// An entry point is `void name (void)` or without arguments; its words tell what it uses.
void AddFunction(Tokens head, size_t open, Tokens body, SourceWords& out) {
  FunctionWords function{.name = std::string(head[open - 1])};
  const size_t close = BehindClose(head, open) - 1;
  function.plain = open >= 2 && head[open - 2] == "void" &&
                   (close == open + 1 || (close == open + 2 && head[open + 1] == "void"));
  for (const std::string_view token : body) {
    if (IsWord(token)) {
      function.words.emplace(token);
    }
  }
  out.declared.insert(function.name);
  out.functions.push_back(std::move(function));
}

// "x (", "x {" and "x ." where x is no member and nothing that a type stands before. A word behind
// another word is a name that is declared there ("float x"), not one that is used.
void AddNeeds(Tokens tokens, SourceWords& out) {
  std::set<std::string_view> named;
  for (size_t i = 1; i < tokens.size(); ++i) {
    if (IsWord(tokens[i]) && IsWord(tokens[i - 1]) && tokens[i - 1] != "return") {
      named.insert(tokens[i]);
    }
  }
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const std::string_view next = tokens[i + 1];
    if (IsWord(tokens[i]) && (next == "(" || next == "{" || next == ".") &&
        (i == 0 || tokens[i - 1] != ".") && !named.contains(tokens[i])) {
      out.needs.emplace(tokens[i]);
    }
  }
}

// By the first word of the head, and by the parenthesis that only functions have.
void AddDeclaration(Tokens head, Tokens body, bool conditional, SourceWords& out) {
  const auto open = static_cast<size_t>(std::ranges::find(head, "(") - head.begin());
  if (head[0] == "global" || head[0] == "instance") {
    AddOption(head, out);
  } else if (head[0] == "setting") {
    AddSetting(head, conditional, out);
  } else if (open < head.size() && open > 0 && head[0] != "constant") {
    AddFunction(head, open, body, out);
  } else {
    AddNamed(head, out);
    if (head[0] == "color_output_container") {
      AddOutputs(body, out);
    }
  }
}

}  // namespace

// Declarations at the outermost level: a head up to `{` or `;`, and a body. The words of bodies
// count for functions alone.
SourceWords ReadWords(std::string_view text) {
  SourceWords out;
  const std::vector<std::string_view> all = TokensOf(text);
  const Tokens tokens(all);
  AddNeeds(tokens, out);
  bool conditional = false;  // what comes next
  for (size_t at = 0; at < tokens.size();) {
    if (tokens[at] == "conditional" && at + 1 < tokens.size() && tokens[at + 1] == "(") {
      at = BehindClose(tokens, at + 1);
      conditional = true;
      continue;
    }
    size_t end = at;
    while (end < tokens.size() && tokens[end] != "{" && tokens[end] != ";") {
      end = tokens[end] == "(" ? BehindClose(tokens, end) : end + 1;
    }
    const Tokens head = tokens.subspan(at, end - at);
    const size_t behind =
        end < tokens.size() && tokens[end] == "{" ? BehindClose(tokens, end) : end + 1;
    const Tokens body =
        end < tokens.size() ? tokens.subspan(end, std::min(behind, tokens.size()) - end) : Tokens();
    if (!head.empty()) {
      AddDeclaration(head, body, std::exchange(conditional, false), out);
    }
    at = std::max(behind, at + 1);
  }
  return out;
}

}  // namespace kiln::project
