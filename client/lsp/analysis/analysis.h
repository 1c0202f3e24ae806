// SPDX-License-Identifier: MIT
// What features ask about a file: the program that one looks at it through, its names, and the
// variant that one looks at. Everything is remembered by the versions it was made of, so asking
// again costs a look-up.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/lsp/analysis/names.h"
#include "client/lsp/analysis/program.h"
#include "client/lsp/analysis/variant.h"
#include "client/lsp/documents/documents.h"
#include "client/lsp/documents/workspace.h"

namespace kiln::lsp {

// A file as part of a program.
struct FileView {
  std::shared_ptr<const LinkedSources> program;  // linked
  uint32_t module = 0;

  const Source& source() const { return program->source(module); }
};

class Analysis {
 public:
  Documents& documents() { return documents_; }
  Workspace& workspace() { return workspace_; }

  // Null if it cannot be read or is no source.
  std::shared_ptr<const Source> SourceOf(const std::string& path);
  std::shared_ptr<const LinkedSources> Link(const ProgramSpec& spec) { return links_.Get(spec); }
  // Names of a file of HLSL or WGSL as part of a module.
  struct ModuleView {
    std::shared_ptr<const ModuleSource> source;
    uint32_t first = 0;  // of its bytes in the row of all files

    const front::SourceIndex& index() const { return *source->index(); }
  };
  // In the module of the file, or the first of its project that includes it; nothing if it does not
  // parse.
  std::optional<ModuleView> ModuleViewOf(const std::string& path);
  // The same; if the text does not parse the last one that did. Names only: places are not those of
  // the text.
  std::optional<ModuleView> LastModuleViewOf(const std::string& path);
  // The program that one looks at the file through: the chosen one, or the first; nothing if there
  // is none.
  std::optional<ProgramSpec> SpecOf(const std::string& path);
  // The file in that program; in one of its own if that does not link.
  std::optional<FileView> ViewOf(const std::string& path);

  std::shared_ptr<const Names> NamesOf(const std::shared_ptr<const LinkedSources>& program);
  std::shared_ptr<Variant> VariantOf(const std::shared_ptr<const LinkedSources>& program);
  // What VariantOf shows, as settings of every option that has no default value there.
  std::vector<resolve::OptionSetting> InterestOf(const LinkedSources& program) const;

  // The choice of a program: one option, or none of them any more.
  void Choose(const ProgramSpec& spec, const resolve::OptionSetting& setting);
  void ForgetChoice(const ProgramSpec& spec);
  void ChooseProgram(const std::string& path, const std::string& program);

 private:
  static constexpr size_t kMaxKept = 8;  // of programs' names, and of variants
  // Of the programs of each of these lists. The last one stays beyond it.
  static constexpr size_t kMaxKeptBytes = size_t{64} << 20;

  using ProgramName = std::pair<std::string, std::string>;  // path of the manifest or file, name
  static ProgramName NameOf(const ProgramSpec& spec);

  struct KeptVariant {
    std::shared_ptr<const LinkedSources> program;
    std::vector<resolve::OptionSetting> settings;
    std::shared_ptr<Variant> variant;
  };

  Documents documents_;
  Workspace workspace_{documents_};
  SourceCache sources_;
  ModuleSourceCache modules_{documents_};
  LinkCache links_{documents_, sources_, modules_};
  std::list<std::pair<std::string, ModuleView>> last_views_;  // by path, the last one first
  std::list<std::shared_ptr<const Names>> names_;             // the last one first
  std::list<KeptVariant> variants_;
  std::map<ProgramName, std::vector<resolve::OptionSetting>> chosen_;
  std::map<std::string, std::string> chosen_programs_;  // by path of a file
};

}  // namespace kiln::lsp
