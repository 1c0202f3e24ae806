// SPDX-License-Identifier: MIT
// What a command takes from kiln.toml: the manifest itself, a program by its name, and options from
// the command line brought to their declared types (spec/cli 2.2).
#include "client/cli/project/project.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "client/project/limits.h"
#include "compiler/base/files/file.h"

namespace kiln::cli {
namespace {

Error WrongValue(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "VALUE_WRONG"};
}

const client::OptionInfo* Find(const client::OptionList& declared, std::string_view name) {
  for (const client::OptionInfo& option : declared.options) {
    if (option.name == name) {
      return &option;
    }
  }
  return nullptr;
}

// The whole text must be the number. A rest such as in "12px" makes it no number, and so does an
// empty text.
template <class T>
bool ReadNumber(std::string_view text, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool ReadUint(std::string_view text, uint32_t& value) {
  // As RPL writes numbers: hexadecimal, or with a 'u'.
  if (text.starts_with("0x")) {
    return ReadNumber(text.substr(2), value, 16);
  }
  return ReadNumber(text.ends_with('u') ? text.substr(0, text.size() - 1) : text, value);
}

// A value of the given type, if the text reads as one.
// Leaves the option as it was if the text does not fit. Whether an enum has the value is left to
// the daemon, which knows where it is declared.
bool ReadAs(std::string_view type, std::string_view text, client::Option& option) {
  uint32_t number = 0;
  int32_t integer = 0;
  float real = 0;
  if (type == "flag" && (text == "true" || text == "on" || text == "false" || text == "off")) {
    option.value = text == "true" || text == "on";
    return true;
  }
  if (type == "uint" && ReadUint(text, number)) {
    option.value = number;
    return true;
  }
  if (type == "sint" && ReadNumber(text, integer)) {
    option.value = integer;
    return true;
  }
  if (type == "float") {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
    if (error == std::errc() && end == text.data() + text.size()) {
      option.value = real;
      return true;
    }
  }
  if (type == "enum") {
    option.value = std::string(text);
    return true;
  }
  return false;
}

}  // namespace

// -C moves only where the search for a manifest begins; --manifest names one and is taken as it is.
Result<project::Manifest> LoadManifest(const Global& global) {
  KILN_TRY(const std::string path, !global.manifest.empty() ? Result<std::string>(global.manifest)
                                                            : project::OwnManifest(global.folder));
  if (path.empty()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = "there is no kiln.toml here or above; name one with --manifest FILE",
                 .reason = "MANIFEST_MISSING"};
  }
  KILN_TRY(const std::string text, ReadFile(path, project::kMaxManifest));
  return project::ReadManifest(text, path);
}

// The pointer is into the given manifest and is valid as long as that one is. Names are few, so
// they are looked through in order, which also gathers the candidates for the suggestion.
Result<const project::ManifestProgram*> ProgramNamed(const project::Manifest& manifest,
                                                     const std::string& name) {
  std::vector<std::string_view> names;
  for (const project::ManifestProgram& program : manifest.programs) {
    if (program.name == name) {
      return &program;
    }
    names.push_back(program.name);
  }
  const std::string_view closest = project::Closest(name, names);
  return Error{.code = ErrorCode::kNotFound,
               .context = fmt::format(
                   "'{}' has no program '{}'{}", manifest.path, name,
                   closest.empty() ? std::string() : fmt::format("; did you mean '{}'?", closest)),
               .reason = "UNKNOWN_PROGRAM"};
}

// Without a declaration the first type in the list that fits is taken: true and false are flags
// before anything else, and a whole number is signed, because that is what a person most likely
// means. A text that fits none stays a text, which may be the value of an enum.
Result<client::Option> TypedOption(const std::string& text, const client::OptionList& declared) {
  const size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  std::string value = equals == std::string::npos ? "true" : text.substr(equals + 1);
  // spec/cli 2.2: an option that has "no-" in its name wins over the short form.
  if (equals == std::string::npos && name.starts_with("no-") && Find(declared, name) == nullptr) {
    name = name.substr(3);
    value = "false";
  }
  if (name.empty()) {
    return WrongValue(fmt::format("option '{}' has no name; write NAME=VALUE", text));
  }
  client::Option option{.name = name, .value = value};
  const client::OptionInfo* info = Find(declared, name);
  if (info != nullptr && ReadAs(info->type, value, option)) {
    return option;
  }
  // The option is not declared, or its type does not take the value. What the text looks like goes
  // to the daemon, which says what is wrong with it at the declaration.
  const std::array<std::string_view, 4> types = {"flag", "sint", "uint", "float"};
  const bool reads = std::ranges::any_of(
      types, [&](std::string_view type) { return ReadAs(type, value, option); });
  if (info != nullptr && info->type != "enum" && !reads) {
    return WrongValue(fmt::format("option '{}' is of type {}, and '{}' is no value of it", name,
                                  info->type, value));
  }
  return option;
}

// Globs with '?' and '*' without recursion: the last star remembers where it stood and takes one
// more character whenever the rest does not fit. The cost is the product of the lengths at most,
// whatever the pattern.
bool Matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

}  // namespace kiln::cli
