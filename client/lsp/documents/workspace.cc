// SPDX-License-Identifier: MIT
// Which programs a file belongs to: by the manifest above it, or alone. Everything is found again
// from the documents when it is asked for, with memories that their digests keep fresh.
#include "client/lsp/documents/workspace.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "client/lsp/documents/languages.h"
#include "client/project/scaffold.h"
#include "compiler/base/text/entry_words.h"

namespace kiln::lsp {
namespace {

// In the order of the stages, whatever order the manifest has.
std::vector<resolve::EntryPoint> EntriesOf(const project::ManifestProgram& program) {
  std::vector<resolve::EntryPoint> entries;
  for (size_t stage = 0; stage < std::size(kStageWords); ++stage) {
    const auto found = program.entry_points.find(std::string(kStageWords[stage]));
    if (found != program.entry_points.end()) {
      entries.push_back({.stage = static_cast<ir::Stage>(stage), .function = found->second});
    }
  }
  return entries;
}

// Sources are named below the manifest's folder; paths are made absolute and normal here, as
// documents have them.
ProgramSpec SpecOf(const project::ManifestProgram& program, const std::string& folder,
                   const std::string& manifest_path) {
  ProgramSpec spec;
  spec.name = program.name;
  for (const std::string& source : program.sources) {
    spec.paths.push_back((std::filesystem::path(folder) / source).lexically_normal().string());
  }
  spec.pipeline = program.pipeline == "compute" ? ir::PipelineType::kCompute
                                                : ir::PipelineType::kGraphicsClassic;
  spec.entries = EntriesOf(program);
  spec.manifest = program;
  spec.manifest_path = manifest_path;
  return spec;
}

// Families of materials have no entry points: they are metadata, and their modules are those of
// their programs.
bool IsCompiled(const project::ManifestProgram& program) { return !program.entry_points.empty(); }

void TakePrograms(Project& project) {
  const std::string folder =
      (std::filesystem::path(project.path).parent_path() / project.manifest.folder).string();
  project.programs.clear();
  project.programs_of.clear();
  for (const project::ManifestProgram& program : project.manifest.programs) {
    if (!IsCompiled(program)) {
      continue;
    }
    ProgramSpec spec = SpecOf(program, folder, project.path);
    for (const std::string& path : spec.paths) {
      std::vector<size_t>& of = project.programs_of[path];
      // A program that lists a source twice is entered once.
      if (of.empty() || of.back() != project.programs.size()) {
        of.push_back(project.programs.size());
      }
    }
    project.programs.push_back(std::make_shared<const ProgramSpec>(std::move(spec)));
  }
}

// What `kiln init` would make of the file alone: one program for each pair of entry points.
std::vector<ProgramSpecPtr> ProgramsOfAlone(const SourceFile& file) {
  const std::string name = std::filesystem::path(file.path).filename().string();
  // Entry points are guessed by the scaffold and not here, so a file without a manifest means in
  // the editor what it would mean after `kiln init`.
  if (IsTyped(file.path)) {
    ProgramSpec spec;
    spec.name = name;
    spec.paths = {file.path};
    return {std::make_shared<const ProgramSpec>(std::move(spec))};
  }
  const project::SourceText source{.path = name, .text = file.text};
  const project::Scaffold scaffold = project::MakeScaffold("file", {&source, 1});
  const Result<project::Manifest> manifest = project::ReadManifest(scaffold.manifest, "kiln.toml");
  std::vector<ProgramSpecPtr> specs;
  if (manifest.ok()) {
    for (const project::ManifestProgram& program : manifest->programs) {
      if (IsCompiled(program)) {
        ProgramSpec spec = SpecOf(program, {}, {});
        spec.paths = {file.path};
        specs.push_back(std::make_shared<const ProgramSpec>(std::move(spec)));
      }
    }
  }
  if (specs.empty()) {  // declarations only: metadata without entry points
    ProgramSpec spec;
    spec.name = name;
    spec.paths = {file.path};
    specs.push_back(std::make_shared<const ProgramSpec>(std::move(spec)));
  }
  return specs;
}

}  // namespace

// The nearest manifest above the file. Empty: there is none.
std::string Workspace::ManifestOf(const std::string& path) {
  if (!path.starts_with('/')) {
    return {};
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::string* const known = manifest_of_.Find(folder);
  // An empty name is remembered, too, until the next message that tells of a change
  // (ForgetFolders): files without a manifest are asked about again and again, and looking for one
  // touches every folder above. A manifest that was deleted is looked for anew.
  if (known != nullptr && (known->empty() || documents_.FileAt(*known) != nullptr)) {
    return *known;
  }
  manifest_of_.Erase(folder);
  const Result<std::string> own = project::OwnManifest(folder);
  std::string found = own.ok() ? *own : std::string();
  if (manifest_of_.size() >= Documents::kMaxKeptFiles) {
    manifest_of_.DropOldest();
  }
  manifest_of_.Add(folder, found, 1);
  return found;
}

const Project* Workspace::ProjectOf(const std::string& path) {
  const std::string manifest = ManifestOf(path);
  return manifest.empty() ? nullptr : ProjectAt(manifest);
}

// The pointer is valid until the next call about this manifest. An unchanged text costs one look at
// the file.
const Project* Workspace::ProjectAt(const std::string& manifest_path) {
  const std::shared_ptr<const SourceFile> file = documents_.FileAt(manifest_path);
  if (file == nullptr) {
    // Folders may belong to another manifest further up from now on, so all of them are looked up
    // again.
    projects_.erase(manifest_path);
    manifest_of_.Clear();
    return nullptr;
  }
  Project& project = projects_[manifest_path];
  if (project.file != nullptr && project.file->digest == file->digest) {
    return &project;
  }
  project.path = manifest_path;
  project.file = file;
  project.error.reset();
  Result<project::Manifest> manifest = project::ReadManifest(file->text, "kiln.toml");
  // The programs of the last good text stay. Otherwise every source would lose its program while a
  // line of the manifest is being typed.
  if (!manifest.ok()) {
    project.error = manifest.error();
    return &project;
  }
  project.manifest = std::move(manifest).value();
  TakePrograms(project);
  return &project;
}

// All projects that were met so far and those of the roots; folders below a root are not searched.
std::vector<const Project*> Workspace::Projects() {
  // The paths are copied before ProjectAt is called for each, because it erases projects whose
  // manifest is gone.
  for (const std::string& root : roots_) {
    (void)ProjectOf((std::filesystem::path(root) / "kiln.toml").string());
  }
  std::vector<std::string> paths;
  for (const auto& [path, project] : projects_) {
    paths.push_back(path);
  }
  std::vector<const Project*> projects;
  for (const std::string& path : paths) {
    if (const Project* project = ProjectAt(path)) {
      projects.push_back(project);
    }
  }
  return projects;
}

// What a file is included by is known when everything was read. So these are the programs of its
// project that are of HLSL, and open files without a project.
std::vector<ProgramSpecPtr> Workspace::ProgramsAround(const std::string& path) {
  std::vector<ProgramSpecPtr> specs;
  const auto is_hlsl = [](const std::string& one) {
    return LanguageOf(one) == DocumentLanguage::kHlsl;
  };
  if (const Project* project = ProjectOf(path)) {
    std::ranges::copy_if(
        project->programs, std::back_inserter(specs),
        [&](const ProgramSpecPtr& spec) { return std::ranges::any_of(spec->paths, is_hlsl); });
  }
  for (const std::string& uri : documents_.OpenUris()) {
    const std::string open = Documents::NameOf(uri);
    const std::shared_ptr<const SourceFile> file =
        is_hlsl(open) ? documents_.FileAt(open) : nullptr;
    if (file != nullptr && ProjectOf(open) == nullptr) {
      std::ranges::copy(ProgramsOfAlone(*file), std::back_inserter(specs));
    }
  }
  return specs;
}

// Shared, because a caller keeps them while the manifest may be read anew.
std::vector<ProgramSpecPtr> Workspace::ProgramsOf(const std::string& path) {
  if (LanguageOf(path) == DocumentLanguage::kHlslInclude) {
    return ProgramsAround(path);
  }
  std::vector<ProgramSpecPtr> specs;
  if (const Project* project = ProjectOf(path)) {
    const auto found = project->programs_of.find(path);
    if (found != project->programs_of.end()) {
      for (const size_t i : found->second) {
        specs.push_back(project->programs[i]);
      }
    }
  }
  if (specs.empty() && (LanguageOf(path) == DocumentLanguage::kRpl || IsTypedRoot(path))) {
    if (const std::shared_ptr<const SourceFile> file = documents_.FileAt(path)) {
      specs = ProgramsOfAlone(*file);
    }
  }
  return specs;
}

}  // namespace kiln::lsp
