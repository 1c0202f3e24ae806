// SPDX-License-Identifier: MIT
#include "client/lsp/features/mentions.h"

#include <algorithm>

#include "compiler/base/threads/stop.h"

namespace kiln::lsp {

std::optional<NameHere> NameAt(Analysis& analysis, const std::string& path, uint32_t offset) {
  std::optional<FileView> file = analysis.ViewOf(path);
  if (!file.has_value()) {
    return std::nullopt;
  }
  std::shared_ptr<const Names> names = analysis.NamesOf(file->program);
  const Occurrence* at = names->At(file->module, offset);
  if (at == nullptr) {
    return std::nullopt;
  }
  // Copied, since `names` is moved into the result below.
  const Occurrence found = *at;
  std::string key = names->Key(found.key);
  std::string text(names->TextAt(found));
  return NameHere{.file = std::move(*file),
                  .names = std::move(names),
                  .at = found,
                  .key = std::move(key),
                  .text = std::move(text)};
}

// A name of one program is known in others through the files that both link; those may be linked
// elsewhere again. So programs are looked through until no new file mentions the name.
Mentions FindMentions(Analysis& analysis, const std::string& path, const std::string& key) {
  Mentions mentions;
  std::vector<std::string> files{path};
  std::set<std::pair<std::string, std::string>> seen;
  for (size_t next = 0; next < files.size(); ++next) {
    std::vector<ProgramSpecPtr> specs = analysis.workspace().ProgramsOf(files[next]);
    // The program that the file is looked at through comes along, even if it is the file alone: a
    // local name may only be known there.
    if (const std::optional<FileView> view = next == 0 ? analysis.ViewOf(path) : std::nullopt) {
      specs.push_back(std::make_shared<const ProgramSpec>(view->program->spec));
    }
    for (const ProgramSpecPtr& spec : specs) {
      // One program may take a link and a walk over all of its names, and there may be
      // kMaxProgramsLookedThrough of them.
      CheckStop();
      // Programs of one name and the same sources have the same names; they are looked through
      // once.
      std::string joined;
      for (const std::string& one : spec->paths) {
        joined += one + "\n";
      }
      if (mentions.programs.size() >= kMaxProgramsLookedThrough ||
          !seen.emplace(spec->name, joined).second) {
        continue;
      }
      const std::shared_ptr<const LinkedSources> program = analysis.Link(*spec);
      if (!program->linked.has_value()) {
        continue;
      }
      mentions.programs.push_back(program);
      const std::shared_ptr<const Names> names = analysis.NamesOf(program);
      const std::optional<uint32_t> number = names->FindKey(key);
      for (const Occurrence& one : names->occurrences()) {
        CheckStop();
        if (!number.has_value() || one.key != *number) {
          continue;
        }
        const std::string& of = program->source(one.module).file().path;
        mentions.by_path[of].push_back({.bytes = one.bytes, .role = one.role});
        mentions.sources[of] = program->sources[one.module];
        // A file that mentions the name may be part of further programs. `files` grows while it is
        // walked over, until no program adds one.
        if (std::ranges::find(files, of) == files.end()) {
          files.push_back(of);
        }
      }
    }
  }
  for (auto& [of, places] : mentions.by_path) {
    std::ranges::sort(places, [](const Mention& a, const Mention& b) {
      return std::tuple(a.bytes.begin, a.bytes.end, a.role) <
             std::tuple(b.bytes.begin, b.bytes.end, b.role);
    });
    const auto same = std::ranges::unique(
        places, {}, [](const Mention& one) { return std::pair(one.bytes.begin, one.bytes.end); });
    places.erase(same.begin(), same.end());
  }
  return mentions;
}

}  // namespace kiln::lsp
