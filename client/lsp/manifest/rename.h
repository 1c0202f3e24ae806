// SPDX-License-Identifier: MIT
// A name that a kiln.toml has, an option or an entry point, as another: edits of its text. They are
// found as words and proven by reading the manifest again: every program that has one of the files
// must say what it said with the new name, and every other program what it said.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/project/manifest.h"
#include "compiler/source/source_file.h"
#include "compiler/source/span.h"

namespace kiln::lsp {

struct ManifestRename {
  std::vector<Span> places;  // of the name, in order
  project::Manifest after;
};

// `files` are paths of sources. Nothing if the words cannot be told from others.
std::optional<ManifestRename> RenameInManifest(const SourceFile& manifest,
                                               const std::set<std::string>& files,
                                               const std::string& name,
                                               const std::string& new_name);

}  // namespace kiln::lsp
