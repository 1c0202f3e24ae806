// SPDX-License-Identifier: MIT
// The languages of documents, by the endings of their names.
#include "client/lsp/documents/languages.h"

#include <array>

namespace kiln::lsp {
namespace {

struct LanguageRow {
  std::string_view ending;
  std::string_view name;
};
// The rows have the order of DocumentLanguage, whose values are indexes into them.
constexpr auto kLanguages = std::to_array<LanguageRow>({
#define KILN_LSP_LANGUAGE(enumerator, id, ending, name) {ending, name},
#include "client/lsp/documents/languages.def"
});

}  // namespace

// The first row that fits wins.
std::optional<DocumentLanguage> LanguageOf(std::string_view path) {
  for (size_t i = 0; i < kLanguages.size(); ++i) {
    const std::string_view ending = kLanguages[i].ending;
    const bool whole = ending.front() != '.';  // a name of its own, not an extension
    if (path.ends_with(ending) &&
        (!whole || path.size() == ending.size() || path[path.size() - ending.size() - 1] == '/')) {
      return static_cast<DocumentLanguage>(i);
    }
  }
  return std::nullopt;
}

bool IsTypedRoot(std::string_view path) {
  const std::optional<DocumentLanguage> language = LanguageOf(path);
  return language == DocumentLanguage::kHlsl || language == DocumentLanguage::kWgsl;
}

bool IsTyped(std::string_view path) {
  return IsTypedRoot(path) || LanguageOf(path) == DocumentLanguage::kHlslInclude;
}

std::string_view LanguageName(DocumentLanguage language) {
  return kLanguages[static_cast<size_t>(language)].name;
}

}  // namespace kiln::lsp
