// SPDX-License-Identifier: MIT
// The sources of one program, linked, in one version of each. Of sources with errors the mended
// module is linked, so that names have a meaning all the time; `good` tells whether what the
// compiler says about the link is about the text.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/lsp/analysis/module_source.h"
#include "client/lsp/analysis/source.h"
#include "client/lsp/documents/workspace.h"
#include "compiler/driver/request.h"

namespace kiln::lsp {

struct LinkedSources {
  ProgramSpec spec;
  std::vector<std::shared_ptr<const Source>> sources;  // link order; those that can be read
  // Instead of those, where every source is one of HLSL or WGSL.
  std::vector<std::shared_ptr<const ModuleSource>> typed;
  std::vector<std::string> missing;  // paths of the others
  bool good = false;                 // every source is, and none is missing
  std::vector<Diagnostic> link_diagnostics;
  std::optional<driver::LinkedProgram> linked;  // nothing if the modules do not link

  // Of all that it is made of: texts, settings, entry points.
  Digest stamp;
  // Roughly, of memory, with everything that it shares with other programs.
  size_t bytes() const;
  // The number of a source of RPL; nothing if the program does not have it.
  std::optional<uint32_t> OrdinalOf(std::string_view path) const;
  const resolve::Program& program() const { return linked->program; }  // Requires: linked
  const Source& source(uint32_t module) const { return *sources[module]; }
};

// A file of a program in the version that it was made of.
struct FileVersion {
  std::string path;
  Digest digest;

  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};
std::vector<FileVersion> FilesOf(const LinkedSources& program);

// Programs by what they are made of: the last ones used, up to a size.
class LinkCache {
 public:
  static constexpr size_t kMaxPrograms = 24;
  static constexpr size_t kMaxBytes = size_t{64} << 20;  // the last one stays beyond it

  LinkCache(Documents& documents, SourceCache& sources, ModuleSourceCache& modules)
      : documents_(documents), sources_(sources), modules_(modules) {}

  // Valid as long as whoever holds it.
  std::shared_ptr<const LinkedSources> Get(const ProgramSpec& spec);

 private:
  void ReadSources(LinkedSources& program);
  void ReadTyped(LinkedSources& program);

  Documents& documents_;
  SourceCache& sources_;
  ModuleSourceCache& modules_;
  std::list<std::shared_ptr<const LinkedSources>> used_;  // the last one first
};

}  // namespace kiln::lsp
