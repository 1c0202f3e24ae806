// SPDX-License-Identifier: MIT
// The pages of docs/rpl/diagnostics, in the program: code_pages.cc is made from them.
#pragma once

#include <span>
#include <string_view>

namespace kiln::cli {

struct CodePage {
  std::string_view code;  // "RPL6022"
  std::string_view text;  // Markdown
};

// Ascending by code.
std::span<const CodePage> CodePages();

}  // namespace kiln::cli
