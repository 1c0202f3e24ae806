// SPDX-License-Identifier: MIT
// Which language a document is in: the table languages.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::lsp {

enum class DocumentLanguage : uint8_t {
#define KILN_LSP_LANGUAGE(enumerator, id, ending, name) k##enumerator,
#include "client/lsp/documents/languages.def"
};

// By the end of its path or URI; nothing for any other file.
std::optional<DocumentLanguage> LanguageOf(std::string_view path);
// HLSL and WGSL: a root of a program of its own, which nothing is linked with by names.
bool IsTypedRoot(std::string_view path);
// Those, and files that HLSL includes.
bool IsTyped(std::string_view path);
std::string_view LanguageName(DocumentLanguage language);

}  // namespace kiln::lsp
