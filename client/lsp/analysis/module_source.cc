// SPDX-License-Identifier: MIT
// Reads roots with their includes, through the documents, and keeps the last ones.
#include "client/lsp/analysis/module_source.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "client/lsp/documents/languages.h"
#include "compiler/front/hlsl/module/index.h"
#include "compiler/front/wgsl/module/index.h"

namespace kiln::lsp {
namespace {

// Include roots are folders of the project; a file without one has its own folder.
std::string FolderOf(const ProgramSpec& spec, const std::string& path) {
  const std::string& base = spec.manifest_path.empty() ? path : spec.manifest_path;
  return std::filesystem::path(base).parent_path().string();
}

// What the manifest says of HLSL. A setting or macro that is none is an error of the manifest,
// which whoever reads it says.
hlsl::Settings SettingsOf(const ProgramSpec& spec, const std::string& folder) {
  hlsl::Settings settings;
  for (const auto& [name, value] : spec.manifest.hlsl.settings) {
    (void)hlsl::SetSetting(name, value, settings);
  }
  for (const auto& [name, value] : spec.manifest.hlsl.defines) {
    Result<hlsl::Define> define = hlsl::ParseDefine(name + "=" + value);
    if (define.ok()) {
      settings.defines.push_back(std::move(define).value());
    }
  }
  for (const std::string& root : spec.manifest.hlsl.include_roots) {
    settings.include_roots.push_back(
        (std::filesystem::path(folder) / root).lexically_normal().string());
  }
  return settings;
}

}  // namespace

ModuleSource::ModuleSource(std::shared_ptr<const SourceFile> root, driver::SourceInputs inputs,
                           const std::vector<std::shared_ptr<const SourceFile>>& files)
    : inputs_(std::move(inputs)) {
  const ir::Language language = *driver::LanguageOf(root->path);
  driver::ParsedSource parsed = driver::ParseSource(language, *root, inputs_, 0);
  diagnostics_ = std::move(parsed.module.diagnostics);
  probes_ = std::move(parsed.probes);
  const LineTable lines(root->text);
  files_.push_back({.file = std::move(root), .first = 0, .included = {}, .lines = lines});
  // Rows of the module, in its order; one that was read and is gone has no text here.
  for (size_t i = 1; parsed.files.has_value() && i < parsed.files->files.size(); ++i) {
    const ir::ModuleFile& row = parsed.files->files[i];
    const auto found =
        std::ranges::find_if(files, [&](const auto& one) { return one->path == row.path; });
    if (found != files.end()) {
      files_.push_back({.file = *found,
                        .first = row.first,
                        .included = row.included,
                        .lines = LineTable((*found)->text)});
    }
  }
  if (parsed.module.value.has_value()) {
    module_ = std::make_shared<const ir::Module>(std::move(*parsed.module.value));
  }
  bytes_ = sizeof(*this) + (module_ == nullptr ? 0 : module_->image().size());
  for (const File& file : files_) {
    bytes_ += 4 * file.file->text.size();  // with a copy for the front end, and the index
  }
}

ModuleText ModuleSource::text() const {
  std::vector<ModuleText::File> files;
  for (const File& file : files_) {
    files.push_back({.first = file.first, .source = file.file.get(), .included = file.included});
  }
  return ModuleText(std::move(files));
}

const front::SourceIndex* ModuleSource::index() const {
  if (!indexed_) {
    indexed_ = true;
    index_ = LanguageOf(root().path) == DocumentLanguage::kWgsl
                 ? wgsl::front::MakeIndex(root())
                 : hlsl::MakeIndex(root(), inputs_.files, inputs_.hlsl);
  }
  return index_.has_value() ? &*index_ : nullptr;
}

ModuleSource::Place ModuleSource::PlaceOf(Span row) const {
  const auto behind = std::ranges::upper_bound(files_, row.begin, {}, &File::first);
  const File& file = *(behind - 1);  // the root begins at 0
  const auto size = static_cast<uint32_t>(file.file->text.size());
  const uint32_t begin = std::min(row.begin - file.first, size);
  return {.file = &file,
          .bytes = {.begin = begin, .end = std::clamp(row.end - file.first, begin, size)}};
}

std::optional<uint32_t> ModuleSource::RowOf(std::string_view path, uint32_t offset) const {
  for (const File& file : files_) {
    if (file.file->path == path && offset <= file.file->text.size()) {
      return file.first + offset;
    }
  }
  return std::nullopt;
}

// Sources may be anybody's, so an include leads to what is open, or below the folder of its
// project, with all links followed; else the file is none.
std::shared_ptr<const SourceFile> ModuleSourceCache::Included(const std::string& path,
                                                              const std::string& folder) {
  std::error_code no_folder;
  std::error_code no_file;
  const std::string root = std::filesystem::canonical(folder, no_folder).string() + "/";
  const std::string real = std::filesystem::canonical(path, no_file).string();
  const std::shared_ptr<const SourceFile> file = documents_.FileAt(path);
  if (file == nullptr || documents_.Find(documents_.UriOfPath(path)) != nullptr) {
    return file;
  }
  return !no_folder && !no_file && real.starts_with(root) ? file : nullptr;
}

// What is included is known when it was read: the front end is asked again what it looks for until
// it has everything that there is, once for each level of includes.
std::shared_ptr<const ModuleSource> ModuleSourceCache::Get(const std::string& path,
                                                           const ProgramSpec& spec) {
  std::shared_ptr<const SourceFile> root = documents_.FileAt(path);
  if (root == nullptr) {
    return nullptr;
  }
  const std::string folder = FolderOf(spec, path);
  driver::SourceInputs inputs;
  inputs.hlsl = SettingsOf(spec, folder);
  const auto is_current = [&](const std::shared_ptr<const ModuleSource>& one) {
    return one->root().path == path && one->root().digest == root->digest &&
           one->inputs().hlsl == inputs.hlsl &&
           std::ranges::all_of(one->probes(), [&](const Probe& probe) {
             const std::shared_ptr<const SourceFile> file = Included(probe.path, folder);
             return (file != nullptr) == probe.present &&
                    (file == nullptr || file->digest == probe.digest);
           });
  };
  const auto known = std::ranges::find_if(used_, is_current);
  if (known != used_.end()) {
    used_.splice(used_.begin(), used_, known);
    return used_.front();
  }
  std::vector<std::shared_ptr<const SourceFile>> files;
  std::set<std::string> asked;
  for (bool more = true; more;) {
    more = false;
    for (const Probe& probe : driver::ProbesOf(*root, inputs)) {
      if (!asked.insert(probe.path).second) {
        continue;
      }
      if (std::shared_ptr<const SourceFile> file = Included(probe.path, folder)) {
        inputs.files.Add(*file);
        files.push_back(std::move(file));
        more = true;
      }
    }
  }
  used_.push_front(std::make_shared<const ModuleSource>(std::move(root), std::move(inputs), files));
  bytes_ += used_.front()->bytes();
  // The newest stays even if it alone is above the bound.
  while ((bytes_ > kMaxBytes || used_.size() > kMaxSources) && used_.size() > 1) {
    bytes_ -= used_.back()->bytes();
    used_.pop_back();
  }
  return used_.front();
}

}  // namespace kiln::lsp
