// SPDX-License-Identifier: MIT
// Renames an option or a function in the manifest along with the sources. The text is edited as
// text, and reading it before and after decides whether the edit was right.
#include "client/lsp/manifest/rename.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "compiler/front/rpl/lex.h"

namespace kiln::lsp {
namespace {

// What a word may be part of: names of programs and paths have '-', '.' and '/'.
bool Continues(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/';
}

// The word outside of comments. Quotes matter to comments only: a '#' in a text begins none.
std::vector<Span> WordsIn(std::string_view text, std::string_view word) {
  std::vector<Span> places;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '\n' || c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    }
    // A match counts if it is not part of a longer word. Whether it is a name, a value or a text is
    // not asked here; the comparison of the two manifests decides.
    const size_t end = i + word.size();
    if (text.substr(i, word.size()) == word && (i == 0 || !Continues(text[i - 1])) &&
        (end >= text.size() || !Continues(text[end]))) {
      places.push_back({.begin = static_cast<uint32_t>(i), .end = static_cast<uint32_t>(end)});
      i = end - 1;
    }
  }
  return places;
}

// The places are in order and do not overlap.
std::string Replaced(std::string_view text, const std::vector<Span>& places,
                     std::string_view new_name) {
  std::string result;
  uint32_t at = 0;
  for (const Span place : places) {
    result += text.substr(at, place.begin - at);
    result += new_name;
    at = place.end;
  }
  return result + std::string(text.substr(at));
}

// What a program says, with a name as another: texts to compare.
class Statement {
 public:
  Statement(std::string name, std::string new_name)
      : name_(std::move(name)), new_name_(std::move(new_name)) {}

  // Everything that a program says, line by line. What is left out here could be changed by a
  // renaming unseen, so a new member of a manifest must be added.
  std::string Of(const project::ManifestProgram& program) const {
    std::string text =
        fmt::format("{} {} {} {}", program.name, program.pipeline, program.family, program.pass);
    for (const std::vector<std::string>* list :
         {&program.sources, &program.targets, &program.tags}) {
      for (const std::string& one : *list) {
        text += "\n" + one;
      }
    }
    for (const auto& [stage, function] : program.entry_points) {
      text += fmt::format("\n{} {}", stage, Name(function));
    }
    text += Options(program.options);
    std::vector<std::string> axes;  // in the order of their new names
    for (const auto& [option, axis] : program.axes) {
      std::string row = fmt::format("\naxis {} {}", Name(option), axis.all);
      for (const project::ManifestValue& value : axis.values) {
        row += " " + Value(value);
      }
      axes.push_back(std::move(row));
    }
    // Maps order by name, so a new name moves its row. Rows are sorted again, since the order means
    // nothing.
    std::ranges::sort(axes);
    for (const std::string& row : axes) {
      text += row;
    }
    for (const auto* list : {&program.exclude, &program.require}) {
      text += "\nconditions";
      for (const project::ManifestExpression& one : *list) {
        text += "\n" + Expression(one.text);
      }
    }
    for (const project::ManifestVariant& variant : program.variants) {
      text += "\nvariant" + Options(variant.options);
    }
    return text;
  }

 private:
  std::string Name(std::string_view text) const {
    return text == name_ ? new_name_ : std::string(text);
  }
  static std::string Value(const project::ManifestValue& value) {
    return std::visit([](const auto& one) { return fmt::format("{}", one); }, value.value);
  }
  std::string Options(const project::ManifestOptions& options) const {
    std::vector<std::string> rows;
    for (const auto& [option, value] : options) {
      rows.push_back(fmt::format("\noption {} {} {}", Name(option), Value(value), value.global));
    }
    std::ranges::sort(rows);
    std::string text;
    for (const std::string& row : rows) {
      text += row;
    }
    return text;
  }
  // Words of an expression by the lexer of the language, so a name inside of a text stays.
  std::string Expression(const std::string& text) const {
    std::vector<Span> places;
    for (const rpl::Token& token : rpl::Lex(text, 0).tokens) {
      if (token.kind == rpl::TokenKind::kIdentifier && TextOf(text, token.span()) == name_) {
        places.push_back(token.span());
      }
    }
    return Replaced(text, places, new_name_);
  }

  const std::string name_, new_name_;
};

}  // namespace

// The manifest is read before and after as programs read it, and what it means is compared. A place
// that must not be renamed shows as a difference, without this code knowing the rules of TOML.
// Nothing: the renaming would change what the manifest means, and is refused as a whole.
std::optional<ManifestRename> RenameInManifest(const SourceFile& manifest,
                                               const std::set<std::string>& files,
                                               const std::string& name,
                                               const std::string& new_name) {
  ManifestRename rename{.places = WordsIn(manifest.text, name), .after = {}};
  Result<project::Manifest> before = project::ReadManifest(manifest.text, "kiln.toml");
  Result<project::Manifest> after =
      project::ReadManifest(Replaced(manifest.text, rename.places, new_name), "kiln.toml");
  if (!before.ok() || !after.ok() || before->programs.size() != after->programs.size()) {
    return std::nullopt;
  }
  const std::filesystem::path folder =
      std::filesystem::path(manifest.path).parent_path() / before->folder;
  for (size_t i = 0; i < before->programs.size(); ++i) {
    const project::ManifestProgram& program = before->programs[i];
    // A program without one of the files has its own meaning of the name, if any, and must read as
    // it did: renaming its option along would break it.
    const bool has_name = std::ranges::any_of(program.sources, [&](const std::string& source) {
      return files.contains((folder / source).lexically_normal().string());
    });
    const Statement said(has_name ? name : "", has_name ? new_name : "");
    // The manifest before, with the name replaced where it means the name, must say what the
    // manifest after says as it stands. A word that was replaced by mistake, a value of an
    // enumeration for example, makes them differ.
    if (said.Of(program) != Statement("", "").Of(after->programs[i])) {
      return std::nullopt;
    }
  }
  rename.after = std::move(after).value();
  return rename;
}

}  // namespace kiln::lsp
