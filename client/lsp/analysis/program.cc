// SPDX-License-Identifier: MIT
// Links the sources of a program, and keeps the last kMaxPrograms results.
#include "client/lsp/analysis/program.h"

#include <algorithm>
#include <utility>

#include "client/lsp/documents/languages.h"
#include "compiler/driver/stages.h"

namespace kiln::lsp {
namespace {

// The manifest's options and axes are not compared: they choose variants of the linked program and
// do not change it.
bool IsSame(const LinkedSources& known, const LinkedSources& now) {
  const ProgramSpec& spec = now.spec;
  return known.spec.name == spec.name && known.spec.manifest_path == spec.manifest_path &&
         known.spec.paths == spec.paths && known.spec.entries == spec.entries &&
         known.spec.pipeline == spec.pipeline && known.sources == now.sources &&
         known.typed == now.typed;
}

Digest StampOf(const LinkedSources& program) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    text += part;
    text += '\0';  // which no part has
  };
  add(program.spec.manifest_path);
  add(program.spec.name);
  add(std::to_string(static_cast<int>(program.spec.pipeline)));
  for (const resolve::EntryPoint& entry : program.spec.entries) {
    add(std::to_string(static_cast<int>(entry.stage)) + " " + entry.function);
  }
  for (const std::string& path : program.spec.paths) {
    add(path);
  }
  for (const std::shared_ptr<const Source>& source : program.sources) {
    add(source->file().path);
    add(source->file().digest.id.hex());
  }
  for (const std::shared_ptr<const ModuleSource>& source : program.typed) {
    add(source->stamp().id.hex());
  }
  return DigestOf(text);
}

}  // namespace

std::vector<FileVersion> FilesOf(const LinkedSources& program) {
  std::vector<FileVersion> files;
  for (const std::shared_ptr<const Source>& source : program.sources) {
    files.push_back({.path = source->file().path, .digest = source->file().digest});
  }
  for (const std::shared_ptr<const ModuleSource>& source : program.typed) {
    for (const ModuleSource::File& file : source->files()) {
      files.push_back({.path = file.file->path, .digest = file.file->digest});
    }
  }
  return files;
}

// The tables of a link refer to the modules, and are about as large.
size_t LinkedSources::bytes() const {
  size_t bytes = sizeof(*this);
  for (const std::shared_ptr<const Source>& source : sources) {
    bytes += source->bytes() + source->module()->image().size();
  }
  for (const std::shared_ptr<const ModuleSource>& source : typed) {
    bytes += source->bytes() + (source->module() == nullptr ? 0 : source->module()->image().size());
  }
  return bytes;
}

// Linear; a program has a few sources.
std::optional<uint32_t> LinkedSources::OrdinalOf(std::string_view path) const {
  for (uint32_t i = 0; i < sources.size(); ++i) {
    if (sources[i]->file().path == path) {
      return i;
    }
  }
  return std::nullopt;
}

void LinkCache::ReadSources(LinkedSources& program) {
  for (const std::string& path : program.spec.paths) {
    const bool known_language = LanguageOf(path) == DocumentLanguage::kRpl;
    // A source that is missing leaves a gap in the list of sources. The rest is linked all the
    // same, so that names have an answer, but nothing that the link reports is shown.
    const std::shared_ptr<const SourceFile> file =
        known_language ? documents_.FileAt(path) : nullptr;
    if (file == nullptr) {
      program.missing.push_back(path);
      program.good = false;
      continue;
    }
    program.sources.push_back(sources_.Get(file));
    program.good = program.good && program.sources.back()->good();
  }
}

void LinkCache::ReadTyped(LinkedSources& program) {
  for (const std::string& path : program.spec.paths) {
    std::shared_ptr<const ModuleSource> source = modules_.Get(path, program.spec);
    if (source == nullptr) {
      program.missing.push_back(path);
      program.good = false;
      continue;
    }
    program.good = program.good && source->module() != nullptr;
    program.typed.push_back(std::move(source));
  }
}

// Equal pointers mean equal text, because SourceCache gives equal texts one source; so a program is
// found without looking into a byte of it. A source that fell out of that cache costs one more
// link, no more.
std::shared_ptr<const LinkedSources> LinkCache::Get(const ProgramSpec& spec) {
  auto program = std::make_shared<LinkedSources>();
  program->spec = spec;
  program->good = true;
  const bool typed = std::ranges::all_of(spec.paths, IsTypedRoot);
  if (typed) {
    ReadTyped(*program);
  } else {
    ReadSources(*program);
  }
  const auto known =
      std::ranges::find_if(used_, [&](const auto& one) { return IsSame(*one, *program); });
  if (known != used_.end()) {
    used_.splice(used_.begin(), used_, known);
    return used_.front();
  }
  std::vector<std::shared_ptr<const ir::Module>> modules;
  std::vector<std::string> paths;
  for (const std::shared_ptr<const Source>& source : program->sources) {
    modules.push_back(source->module());
    paths.push_back(source->file().path);
  }
  for (const std::shared_ptr<const ModuleSource>& source : program->typed) {
    modules.push_back(source->module());
    paths.push_back(source->root().path);
  }
  // A typed source with an error has no module, and nothing to mend one with.
  if (!typed || program->good) {
    Diagnosed<driver::LinkedProgram> linked =
        driver::LinkModules(std::move(modules), std::move(paths), spec.pipeline);
    program->link_diagnostics = std::move(linked.diagnostics);
    program->linked = std::move(linked.value);
  }
  program->stamp = StampOf(*program);
  used_.push_front(program);
  size_t bytes = 0;
  for (const std::shared_ptr<const LinkedSources>& one : used_) {
    bytes += one->bytes();
  }
  while ((bytes > kMaxBytes || used_.size() > kMaxPrograms) && used_.size() > 1) {
    bytes -= used_.back()->bytes();
    used_.pop_back();
  }
  return program;
}

}  // namespace kiln::lsp
