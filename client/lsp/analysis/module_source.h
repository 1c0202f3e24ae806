// SPDX-License-Identifier: MIT
// One version of an HLSL or WGSL source with the files that it includes, as its front end reads it:
// the module or what is wrong with it, and the index of its names. Immutable.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/lsp/documents/documents.h"
#include "client/lsp/documents/workspace.h"
#include "client/lsp/protocol/position.h"
#include "compiler/base/digest.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/driver/frontends.h"
#include "compiler/front/common/source_index.h"
#include "compiler/ir/module.h"
#include "compiler/source/module_text.h"

namespace kiln::lsp {

class ModuleSource {
 public:
  struct File {
    std::shared_ptr<const SourceFile> file;
    uint32_t first = 0;  // offset of its first byte in the row of all files
    Span included;       // the path that asked for it first; of the root: empty
    LineTable lines;
  };
  // Bytes of one file.
  struct Place {
    const File* file = nullptr;
    Span bytes;

    Range RangeIn(Encoding encoding) const {
      const std::string& text = file->file->text;
      return {.start = file->lines.At(text, bytes.begin, encoding),
              .end = file->lines.At(text, bytes.end, encoding)};
    }
  };

  // What a root includes, as far as it was read.
  struct Includes {
    std::vector<std::shared_ptr<const SourceFile>> files;  // with their owners
    uint64_t bytes = 0;                                    // of `files`
    bool too_many = false;  // more than a module may have: the rest was not read
  };

  // `inputs.files` has what is included.
  ModuleSource(std::shared_ptr<const SourceFile> root, driver::SourceInputs inputs,
               const Includes& includes);

  const SourceFile& root() const { return *files_.front().file; }
  const std::vector<File>& files() const { return files_; }  // ascending by `first`, the root first
  const driver::SourceInputs& inputs() const { return inputs_; }
  const std::vector<Probe>& probes() const { return probes_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }  // of module 0
  const std::shared_ptr<const ir::Module>& module() const { return module_; }  // null: errors
  ModuleText text() const;                                                     // views this
  // Made when it is first asked for; null if the source has a syntax error.
  const front::SourceIndex* index() const;

  // The file that has the byte of the row.
  Place PlaceOf(Span row) const;
  // The byte of the row; nothing if the file is no part of the module.
  std::optional<uint32_t> RowOf(std::string_view path, uint32_t offset) const;
  // Of all that it is made of: root, settings, and what its includes found.
  const Digest& stamp() const { return stamp_; }
  size_t bytes() const;  // roughly, of memory; with the index once that is made

 private:
  std::vector<File> files_;
  driver::SourceInputs inputs_;
  std::vector<Probe> probes_;
  std::vector<Diagnostic> diagnostics_;
  std::shared_ptr<const ir::Module> module_;
  Digest stamp_;
  size_t bytes_ = 0;
  mutable bool indexed_ = false;  // one thread
  mutable std::optional<front::SourceIndex> index_;
};

// By root, settings and what the includes find: the last ones used, up to a size.
class ModuleSourceCache {
 public:
  static constexpr size_t kMaxBytes = size_t{24} << 20;
  static constexpr size_t kMaxSources = 256;

  explicit ModuleSourceCache(Documents& documents) : documents_(documents) {}

  // Null if the root cannot be read. `spec` says which settings and include roots hold.
  std::shared_ptr<const ModuleSource> Get(const std::string& path, const ProgramSpec& spec);

 private:
  // A file that a source names, open or of the disk; null if there is none, or none that it may
  // read.
  std::shared_ptr<const SourceFile> Included(const std::string& path, const std::string& folder);
  ModuleSource::Includes ReadIncludes(const SourceFile& root, const std::string& folder,
                                      driver::SourceInputs& inputs);
  void DropOldest();

  Documents& documents_;
  std::list<std::shared_ptr<const ModuleSource>> used_;  // the last one first
  // Dropped, and alive as long as a program has them: then they are found again.
  std::list<std::weak_ptr<const ModuleSource>> dropped_;
};

}  // namespace kiln::lsp
