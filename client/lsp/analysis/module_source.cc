// SPDX-License-Identifier: MIT
// Reads roots with their includes, through the documents, and keeps the last ones.
#include "client/lsp/analysis/module_source.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "client/lsp/documents/languages.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/threads/slow_step.h"
#include "compiler/base/threads/stop.h"
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

// Bytes of all files of a module, as the front end counts them (spec/hlsl 25.2).
constexpr uint64_t kMostIncluded = uint64_t{16} * LanguageLimits{}.source_bytes;

// The front end says of itself that files are too many, at the include. But it reads depth first
// and this one level by level, so it may miss a file first that was not read, which is there.
void SayTooMany(std::vector<Diagnostic>& diagnostics) {
  const auto has = [&](Code code) {
    return std::ranges::find(diagnostics, code, &Diagnostic::code) != diagnostics.end();
  };
  const bool said = has(Code::kHlsl1007) && !has(Code::kHlsl1010);
  if (!said && HasErrors(diagnostics)) {
    diagnostics.clear();
    diagnostics.push_back(Make(Code::kHlsl1007, {.module = 0, .bytes = {.begin = 0, .end = 0}})
                              .With("what", "module")
                              .With("size", "too many files or bytes in its files")
                              .With("limit", kMostIncluded));
  }
}

Digest StampOf(const SourceFile& root, const driver::SourceInputs& inputs,
               const std::vector<Probe>& probes) {
  std::string text;
  // No part has a zero byte, so two lists of parts never make one text.
  const auto add = [&text](std::string_view part) {
    text += part;
    text += '\0';
  };
  add(root.path);
  add(root.digest.id.hex());
  add(hlsl::LanguageText(inputs.hlsl));
  for (const hlsl::Define& define : inputs.hlsl.defines) {
    add(define.name + "=" + define.value);
  }
  for (const std::string& folder : inputs.hlsl.include_roots) {
    add("root " + folder);
  }
  for (const Probe& probe : probes) {
    add(probe.path);
    add(probe.present ? probe.digest.id.hex() : std::string());
  }
  return DigestOf(text);
}

}  // namespace

ModuleSource::ModuleSource(std::shared_ptr<const SourceFile> root, driver::SourceInputs inputs,
                           const Includes& includes)
    : inputs_(std::move(inputs)) {
  const ir::Language language = *driver::LanguageOf(root->path);
  driver::ParsedSource parsed = driver::ParseSource(language, *root, inputs_, 0);
  diagnostics_ = std::move(parsed.module.diagnostics);
  probes_ = std::move(parsed.probes);
  if (includes.too_many) {
    SayTooMany(diagnostics_);
  }
  const LineTable lines(root->text);
  files_.push_back({.file = std::move(root), .first = 0, .included = {}, .lines = lines});
  // Rows of the module, in its order; one that was read and is gone has no text here.
  for (size_t i = 1; parsed.files.has_value() && i < parsed.files->files.size(); ++i) {
    const ir::ModuleFile& row = parsed.files->files[i];
    const auto found =
        std::ranges::find(includes.files, row.path, [](const auto& one) { return one->path; });
    if (found != includes.files.end()) {
      files_.push_back({.file = *found,
                        .first = row.first,
                        .included = row.included,
                        .lines = LineTable((*found)->text)});
    }
  }
  if (parsed.module.value.has_value()) {
    module_ = std::make_shared<const ir::Module>(std::move(*parsed.module.value));
  }
  stamp_ = StampOf(this->root(), inputs_, probes_);
  bytes_ = sizeof(*this) + (module_ == nullptr ? 0 : module_->image().size());
  // The texts, with the copies that the front end has; files that no row names, too.
  bytes_ += this->root().text.size() + 2 * includes.bytes;
}

size_t ModuleSource::bytes() const {
  return bytes_ + (index_.has_value() ? static_cast<size_t>(index_->bytes) : 0);
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
  CheckStopBetweenSlowSteps();
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
// it has everything that there is, once for each level of includes. Each name counts, also where
// several lead to one file. The file that is one too many is read, so that the front end sees it.
ModuleSource::Includes ModuleSourceCache::ReadIncludes(const SourceFile& root,
                                                       const std::string& folder,
                                                       driver::SourceInputs& inputs) {
  ModuleSource::Includes includes;
  std::set<std::string> asked;
  const auto probes = [&] {
    const ChargedMemory given_back;  // what a front end charges for a run that is over
    return driver::ProbesOf(root, inputs);
  };
  for (bool more = true; more;) {
    more = false;
    for (const Probe& probe : probes()) {
      if (!asked.insert(probe.path).second) {
        continue;
      }
      std::shared_ptr<const SourceFile> file = Included(probe.path, folder);
      if (file == nullptr) {
        continue;
      }
      ChargeMemory(2 * file->text.size());  // here and in the front end's set
      includes.bytes += file->text.size();
      inputs.files.Add(*file);
      includes.files.push_back(std::move(file));
      more = true;
      if (includes.files.size() >= LanguageLimits{}.include_files ||
          root.text.size() + includes.bytes > kMostIncluded) {
        includes.too_many = true;
        return includes;
      }
    }
  }
  return includes;
}

void ModuleSourceCache::DropOldest() {
  std::erase_if(dropped_, [](const auto& one) { return one.expired(); });
  dropped_.push_front(used_.back());
  used_.pop_back();
  if (dropped_.size() > kMaxSources) {
    dropped_.pop_back();
  }
}

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
  // What a program still has is not made twice.
  std::shared_ptr<const ModuleSource> source;
  for (const std::weak_ptr<const ModuleSource>& dropped : dropped_) {
    source = dropped.lock();
    if (source != nullptr && is_current(source)) {
      break;
    }
    source = nullptr;
  }
  if (source == nullptr) {
    const ModuleSource::Includes includes = ReadIncludes(*root, folder, inputs);
    source = std::make_shared<const ModuleSource>(std::move(root), std::move(inputs), includes);
  }
  used_.push_front(std::move(source));
  size_t bytes = 0;
  for (const std::shared_ptr<const ModuleSource>& one : used_) {
    bytes += one->bytes();
  }
  // The newest stays even if it alone is above the bound.
  while ((bytes > kMaxBytes || used_.size() > kMaxSources) && used_.size() > 1) {
    bytes -= used_.back()->bytes();
    DropOldest();
  }
  return used_.front();
}

}  // namespace kiln::lsp
