// SPDX-License-Identifier: MIT
// Which programs a file is part of: those of the nearest kiln.toml that name it; a file of no
// program is a program of its own, with the entry points that its words tell. Paths are absolute.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/lsp/documents/documents.h"
#include "client/project/manifest.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/specialise/specialise_program.h"

namespace kiln::lsp {

// What is compiled together.
struct ProgramSpec {
  std::string name;
  std::vector<std::string> paths;  // absolute, link order
  ir::PipelineType pipeline = ir::PipelineType::kGraphicsClassic;
  std::vector<resolve::EntryPoint> entries;  // stage order
  project::ManifestProgram manifest;         // options, axes, exclusions
  std::string manifest_path;                 // empty: a file of its own
};
// Shared: a file may be in 20,000 programs, and every request asks which.
using ProgramSpecPtr = std::shared_ptr<const ProgramSpec>;

// One kiln.toml. A manifest that somebody is typing keeps the programs of its last good text.
struct Project {
  std::string path;
  std::shared_ptr<const SourceFile> file;
  std::optional<Error> error;  // of `file`
  project::Manifest manifest;  // the last good one
  std::vector<ProgramSpecPtr> programs;
  std::map<std::string, std::vector<size_t>> programs_of;  // by path of a source
};

class Workspace {
 public:
  explicit Workspace(Documents& documents) : documents_(documents) {}

  // Which manifest a folder has is looked for again: one may be there now, or be gone.
  void ForgetFolders() { manifest_of_.Clear(); }
  // Folders whose projects are known before anything of them is opened.
  void AddRoot(const std::string& folder) { roots_.push_back(folder); }

  // The project of a file, read again if its manifest changed; null if it has none. Valid until the
  // next call.
  const Project* ProjectOf(const std::string& path);
  // The manifest at that path itself.
  const Project* ProjectAt(const std::string& manifest_path);
  std::vector<const Project*> Projects();  // of the roots and of what was asked for

  // Every program that has the file, in the order of the manifest; at least one for a readable
  // file. For a file to be included every one that may include it.
  std::vector<ProgramSpecPtr> ProgramsOf(const std::string& path);

 private:
  std::vector<ProgramSpecPtr> ProgramsAround(const std::string& path);
  std::string ManifestOf(const std::string& path);

  Documents& documents_;
  std::vector<std::string> roots_;
  std::map<std::string, Project> projects_;       // by path of the manifest
  LruMap<std::string, std::string> manifest_of_;  // by folder; empty: none
};

}  // namespace kiln::lsp
