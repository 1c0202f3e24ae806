// SPDX-License-Identifier: MIT
// URIs of documents <-> paths of files. Spec: RFC 8089 (file), RFC 3986 (escapes).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kiln::lsp {

// The absolute path that a file URI of this machine names, without "." and ".."; nothing for any
// other URI and for one that names none.
std::optional<std::string> PathOf(std::string_view uri);

// Requires: an absolute path.
std::string UriOf(std::string_view path);

}  // namespace kiln::lsp
