// SPDX-License-Identifier: MIT
// A place in an expression or a key of a manifest -> the place in the file: TOML has several ways
// to write a text, and what stands in the file is not always what it says. See spec/daemon 6.3
#pragma once

#include <optional>
#include <string_view>

#include "client/project/manifest.h"
#include "compiler/source/span.h"

namespace kiln::project {

// The bytes of `manifest`, the text of the file, that say the bytes `part` of the expression. An
// empty part is the place before the byte. Nothing if the expression is not there.
std::optional<Span> SpanInManifest(std::string_view manifest, const ManifestExpression& expression,
                                   Span part);

// The bytes of a key at `place`, with its quotes if it has any. Nothing if no key is there.
std::optional<Span> KeyInManifest(std::string_view manifest, ManifestPlace place,
                                  std::string_view key);

}  // namespace kiln::project
