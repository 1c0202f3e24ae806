// SPDX-License-Identifier: MIT
// The files that a module was made of, where it is more than one text: a section of its image like
// the spans, and like them no part of what the module means, so that a moved include changes no
// semantic id. Spans are offsets in the row of all files (source/module_text.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "compiler/ir/module.h"
#include "compiler/source/module_text.h"
#include "compiler/source/span.h"

namespace kiln::ir {

// One file; row 0 is the root.
struct ModuleFile {
  std::string path;  // logical
  Digest digest;
  uint32_t first = 0;  // offset of its first byte
  Span included;       // the path that asked for it first; of the root: empty

  friend bool operator==(const ModuleFile&, const ModuleFile&) = default;
};

struct ModuleFiles {
  std::vector<ModuleFile> files;  // ascending by offset
  std::vector<LineMark> marks;    // ascending; their paths are rows of
  std::vector<std::string> mark_paths;

  // Row of the file that an offset belongs to. Requires: there is one.
  size_t FileAt(uint32_t offset) const;

  friend bool operator==(const ModuleFiles&, const ModuleFiles&) = default;
};

// Where diagnostics of such a module are placed: `find` gives the source of a path, or null.
ModuleText TextOf(const ModuleFiles& files,
                  const std::function<const SourceFile*(std::string_view path)>& find);

// The section of images that holds them.
inline constexpr uint32_t kFilesSection = 49;

// domain "kiln.modulefiles.1"; 1: list of (path, digest, first, included begin, included end);
// 2: list of (begin, line, path row or ffffffff); 3: list of paths
Bytes EncodeFiles(const ModuleFiles& files);
// Errors: kCorrupt for anything that EncodeFiles does not write.
Result<ModuleFiles> DecodeFiles(ByteView bytes);

// Those of an image; nothing if it was made of one source. Errors: kCorrupt.
Result<std::optional<ModuleFiles>> FilesOf(const Module& module);

}  // namespace kiln::ir
