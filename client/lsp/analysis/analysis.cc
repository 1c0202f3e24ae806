// SPDX-License-Identifier: MIT
#include "client/lsp/analysis/analysis.h"

#include <algorithm>

#include "client/lsp/analysis/option_space.h"
#include "client/lsp/documents/languages.h"

namespace kiln::lsp {
namespace {

// Drops the oldest rows of a list until the rest is within both bounds. `bytes_of` says what a row
// keeps alive; it is asked of a few rows, so nothing is added up elsewhere.
template <class Row, class BytesOf>
void DropBeyond(std::list<Row>& rows, size_t most_rows, size_t most_bytes, BytesOf bytes_of) {
  size_t bytes = 0;
  size_t count = 0;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    bytes += bytes_of(*row);
    if (++count > most_rows || (count > 1 && bytes > most_bytes)) {
      rows.erase(row, rows.end());
      return;
    }
  }
}

}  // namespace

std::shared_ptr<const Source> Analysis::SourceOf(const std::string& path) {
  if (LanguageOf(path) != DocumentLanguage::kRpl) {
    return nullptr;
  }
  const std::shared_ptr<const SourceFile> file = documents_.FileAt(path);
  return file == nullptr ? nullptr : sources_.Get(file);
}

std::optional<Analysis::ModuleView> Analysis::ModuleViewOf(const std::string& path) {
  if (!IsTyped(path)) {
    return std::nullopt;
  }
  // Roots that include a file are found by reading them, which their cache makes cheap.
  constexpr size_t kMaxRoots = 16;
  std::vector<ProgramSpecPtr> specs = workspace_.ProgramsOf(path);
  specs.resize(std::min(specs.size(), kMaxRoots));
  for (const ProgramSpecPtr& spec : specs) {
    for (const std::string& root : spec->paths) {
      const bool is_root = IsTypedRoot(path);
      if (!IsTypedRoot(root) || (is_root && root != path)) {
        continue;
      }
      std::shared_ptr<const ModuleSource> source = modules_.Get(root, *spec);
      const std::optional<uint32_t> first =
          source == nullptr ? std::nullopt : source->RowOf(path, 0);
      if (!first.has_value() || source->index() == nullptr) {
        continue;
      }
      ModuleView view{.source = std::move(source), .first = *first};
      std::erase_if(last_views_, [&](const auto& one) { return one.first == path; });
      last_views_.emplace_front(path, view);
      DropBeyond(last_views_, kMaxKept, kMaxKeptBytes,
                 [](const auto& one) { return one.second.source->bytes(); });
      return view;
    }
  }
  return std::nullopt;
}

std::optional<Analysis::ModuleView> Analysis::LastModuleViewOf(const std::string& path) {
  std::optional<ModuleView> view = ModuleViewOf(path);
  const auto known =
      std::ranges::find_if(last_views_, [&](const auto& one) { return one.first == path; });
  if (!view.has_value() && known != last_views_.end()) {
    view = known->second;
  }
  return view;
}

std::optional<ProgramSpec> Analysis::SpecOf(const std::string& path) {
  const std::vector<ProgramSpecPtr> specs = workspace_.ProgramsOf(path);
  if (specs.empty()) {
    return std::nullopt;
  }
  // A choice is kept by the name of a program only. If the manifest no longer has that name, the
  // first program of the file serves again, and the choice comes back with the name.
  const auto chosen = chosen_programs_.find(path);
  if (chosen != chosen_programs_.end()) {
    const auto found = std::ranges::find_if(
        specs, [&](const ProgramSpecPtr& spec) { return spec->name == chosen->second; });
    if (found != specs.end()) {
      return **found;
    }
  }
  return *specs.front();
}

std::optional<FileView> Analysis::ViewOf(const std::string& path) {
  std::optional<ProgramSpec> spec = SpecOf(path);
  if (!spec.has_value() || IsTyped(path)) {
    return std::nullopt;
  }
  std::shared_ptr<const LinkedSources> program = links_.Get(*spec);
  // The whole program does not link, for example because another of its files declares a name
  // twice. Then the file is looked at alone, so that its own names still have an answer. Entry
  // points are dropped with the other modules, as they may be declared there.
  if (!program->linked.has_value() || !program->OrdinalOf(path).has_value()) {
    spec->paths = {path};
    spec->entries.clear();
    program = links_.Get(*spec);
  }
  const std::optional<uint32_t> module = program->OrdinalOf(path);
  if (!program->linked.has_value() || !module.has_value()) {
    return std::nullopt;
  }
  return FileView{.program = std::move(program), .module = *module};
}

std::shared_ptr<const Names> Analysis::NamesOf(
    const std::shared_ptr<const LinkedSources>& program) {
  // Programs compare by address: LinkCache hands out one object for each state of the sources, so
  // an equal address means equal names. The lists have at most kMaxKept rows, for which a walk is
  // cheaper than a table.
  const auto known = std::ranges::find_if(
      names_, [&](const auto& one) { return &one->program() == program.get(); });
  if (known != names_.end()) {
    names_.splice(names_.begin(), names_, known);
    return names_.front();
  }
  names_.push_front(std::make_shared<const Names>(program));
  DropBeyond(names_, kMaxKept, kMaxKeptBytes,
             [](const auto& one) { return one->program().bytes() + one->bytes(); });
  return names_.front();
}

std::shared_ptr<Variant> Analysis::VariantOf(const std::shared_ptr<const LinkedSources>& program) {
  std::vector<resolve::OptionSetting> settings = InterestOf(*program);
  // A variant depends on the program and on the settings of interest, which a choice changes
  // without a change of the program. Both are compared.
  const auto known = std::ranges::find_if(variants_, [&](const KeptVariant& one) {
    return one.program == program && one.settings == settings;
  });
  if (known != variants_.end()) {
    variants_.splice(variants_.begin(), variants_, known);
    return variants_.front().variant;
  }
  auto variant = std::make_shared<Variant>(program, settings);
  variants_.push_front({.program = program, .settings = std::move(settings), .variant = variant});
  DropBeyond(variants_, kMaxKept, kMaxKeptBytes,
             [](const KeptVariant& one) { return one.program->bytes(); });
  return variant;
}

// Two manifests may have programs of one name, so the manifest is part of a program's name here. A
// file without a manifest stands for itself.
Analysis::ProgramName Analysis::NameOf(const ProgramSpec& spec) {
  return {
      spec.manifest_path.empty() && !spec.paths.empty() ? spec.paths.front() : spec.manifest_path,
      spec.name};
}

std::vector<resolve::OptionSetting> Analysis::InterestOf(const LinkedSources& program) const {
  const auto chosen = chosen_.find(NameOf(program.spec));
  return VariantOfInterest(
      program.program(), program.spec.manifest,
      chosen == chosen_.end() ? std::vector<resolve::OptionSetting>{} : chosen->second);
}

void Analysis::Choose(const ProgramSpec& spec, const resolve::OptionSetting& setting) {
  std::vector<resolve::OptionSetting>& settings = chosen_[NameOf(spec)];
  // The last choice of an option is the only one: a second row of the same option would be refused
  // by the check of options.
  std::erase_if(settings, [&](const auto& one) { return one.name == setting.name; });
  settings.push_back(setting);
}

void Analysis::ForgetChoice(const ProgramSpec& spec) { chosen_.erase(NameOf(spec)); }

void Analysis::ChooseProgram(const std::string& path, const std::string& program) {
  chosen_programs_[path] = program;
}

}  // namespace kiln::lsp
