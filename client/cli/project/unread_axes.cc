// SPDX-License-Identifier: MIT
// Finds axes of the manifest that no program reads (RPL7108). Such an axis multiplies the number of
// variants and changes no code, so a person wants to know. It is a warning only: the build is right
// without it, since signatures make the variants equal (spec/daemon 6.5).
#include "client/cli/project/unread_axes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "client/cli/project/mistakes.h"
#include "client/cli/project/space_mistakes.h"
#include "client/manifest_programs.h"
#include "client/project/expression_place.h"

namespace kiln::cli {
namespace {

// One axis of the file, which several programs may have.
struct AxisUse {
  std::string name;
  std::set<std::string> programs;
  bool may_be_read = false;
};

// Unknown counts as read, throughout: a warning that is wrong costs more trust than one that is
// missing.
bool MayBeRead(const std::string& name, const std::string& program,
               std::span<const DeclaredOptions> declared) {
  const auto listed = std::ranges::find(declared, program, &DeclaredOptions::first);
  // Nobody knows what a program with errors reads, so none of its axes is called unread.
  if (listed == declared.end() || client::HasErrors(listed->second)) {
    return true;
  }
  const auto option = std::ranges::find(listed->second.options, name, &client::OptionInfo::name);
  return option == listed->second.options.end() || !option->affects.empty();
}

PlacedDiagnostic DiagnosticOf(const project::Manifest& manifest, project::ManifestPlace place,
                              const std::string& name) {
  PlacedDiagnostic placed = Place(
      Make(Code::kRpl7108, Location{})
          .With("name", name)
          .Note(NoteKind::kAdvice, {{"advice", "leave it out, or fix the option in 'options'"}}),
      std::span<const ModuleText>());
  const std::optional<Span> span = project::KeyInManifest(manifest.text, place, name);
  if (span.has_value()) {
    placed.primary = PlacedAt(manifest.path, manifest.text, *span);
  }
  return placed;
}

}  // namespace

// An axis is known by the place of its key in the file, because that is what programs share by
// `use`; its name may stand there several times. The map also gives the warnings in the order of
// the file.
std::vector<UnreadAxis> UnreadAxes(const project::Manifest& manifest,
                                   std::span<const DeclaredOptions> declared) {
  // An axis that programs share by `use` stands once in the file. It is unread only if none of them
  // reads it.
  std::map<std::pair<uint32_t, uint32_t>, AxisUse> axes;  // by line and column
  for (const project::ManifestProgram& program : manifest.programs) {
    for (const auto& [name, axis] : program.axes) {
      AxisUse& written = axes[{axis.key.line, axis.key.column}];
      written.name = name;
      written.programs.insert(program.name);
      written.may_be_read =
          // A name with a leading '_' says that its author knows.
          written.may_be_read || name.starts_with('_') || MayBeRead(name, program.name, declared);
    }
  }
  std::vector<UnreadAxis> unread;
  for (const auto& [place, written] : axes) {
    if (!written.may_be_read) {
      unread.push_back({.diagnostic = DiagnosticOf(
                            manifest, {.line = place.first, .column = place.second}, written.name),
                        .programs = written.programs});
    }
  }
  return unread;
}

// One call of the daemon for each program with axes. A program that cannot be listed is left out:
// its errors are told by the build itself.
void ShowUnreadAxes(const Global& global, const project::Manifest& manifest,
                    std::span<const client::ProgramSpace> programs, client::Client& client) {
  std::vector<DeclaredOptions> declared;
  for (const client::ProgramSpace& space : programs) {
    if (space.axes.empty()) {
      continue;
    }
    Result<client::OptionList> listed = client.ListOptions(space.program);
    if (listed.ok()) {
      declared.emplace_back(space.program.name, std::move(listed).value());
    }
  }
  const std::string no_filter;
  const std::vector<client::Source> texts = SpaceMistakes(manifest, no_filter).SourcesWith({});
  Mistakes mistakes(global);
  for (const UnreadAxis& axis : UnreadAxes(manifest, declared)) {
    for (const std::string& program : axis.programs) {
      (void)mistakes.Add(program, std::span(&axis.diagnostic, 1), texts);
    }
  }
  mistakes.End();
}

}  // namespace kiln::cli
