// SPDX-License-Identifier: MIT
// One step of a probe trail as bytes, and what a set of files answers to the paths in it
// (spec/cache 2.4.4).
#include "server/compile/programs/probe_row.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "compiler/base/hash/canonical.h"
#include "compiler/base/threads/stop.h"
#include "compiler/source/macro_path.h"
#include "compiler/source/probe_list.h"

namespace kiln::compile {
namespace {

// Private to the store: field 1 lists the paths to ask for next, field 2 is the key of the module
// where the trail ends. A row has one of the two.
constexpr std::string_view kRowDomain = "kiln.proberow.1";

Error Corrupt(const char* what) {
  return {.code = ErrorCode::kCorrupt, .context = what, .reason = {}};
}

}  // namespace

Bytes EncodeProbeRow(const ProbeRow& row) {
  CanonicalWriter writer(kRowDomain);
  if (row.is_end()) {
    writer.Hash(2, row.module);
    return std::move(writer).bytes();
  }
  CanonicalList paths;
  for (const std::string& path : row.paths) {
    CheckStop();
    paths.Raw(AsBytes(path));  // the source's choice, and so no text of the canonical form
  }
  writer.List(1, paths);
  return std::move(writer).bytes();
}

// Rows come from anywhere. Paths must be distinct, or a trail could go in a circle.
Result<ProbeRow> DecodeProbeRow(ByteView bytes) {
  KILN_TRY(CanonicalReader reader, CanonicalReader::Open(bytes, kRowDomain));
  ProbeRow row;
  if (reader.Has(2)) {
    KILN_TRY(row.module, reader.Hash(2));
    KILN_TRY_VOID(reader.Finish());
    return row;
  }
  KILN_TRY(const std::vector<ByteView> items, reader.List(1));
  KILN_TRY_VOID(reader.Finish());
  std::vector<std::string_view> paths;
  for (const ByteView item : items) {
    CheckStop();
    row.paths.emplace_back(AsText(item));
    paths.push_back(AsText(item));
  }
  return !row.paths.empty() && ArePathsOfAModule(std::move(paths))
             ? Result<ProbeRow>(std::move(row))
             : Corrupt("a probe row without paths, with one twice, or with too many");
}

std::optional<Digest> ProbedSet::Find(std::string_view path) const {
  if (IsMacroPath(path)) {
    const hlsl::MacroChoice* const macro = hlsl::FindMacro(macros, MacroOfPath(path));
    return macro != nullptr && macro->value.has_value()
               ? std::optional(DigestOf(std::string_view(*macro->value)))
               : std::nullopt;
  }
  const ListedFile* const file = files.Find(std::string(path));
  return file != nullptr ? std::optional(file->digest) : std::nullopt;
}

// What the declared set says to each path: its digest, or that there is none (spec/cache 2.4.4).
std::vector<Probe> AnswersOf(std::span<const std::string> paths, const ProbedSet& set) {
  std::vector<Probe> answers;
  answers.reserve(paths.size());
  for (const std::string& path : paths) {
    CheckStop();
    ChargeMemory(sizeof(Probe) + path.size());
    const std::optional<Digest> found = set.Find(path);
    answers.push_back(
        {.path = path, .present = found.has_value(), .digest = found.value_or(Digest{})});
  }
  return answers;
}

// A path that was found must be there with the same bytes, and one that was not must still be
// absent: a new file that shadows an old one is a change, too.
bool HoldsIn(const ProbedSet& set, std::span<const Probe> probes) {
  return std::ranges::all_of(probes, [&](const Probe& probe) {
    CheckStop();
    const std::optional<Digest> found = set.Find(probe.path);
    return found.has_value() == probe.present && (!probe.present || *found == probe.digest);
  });
}

std::vector<cache::Dependency> DependenciesOf(std::span<const Probe> probes) {
  std::vector<cache::Dependency> dependencies;
  dependencies.reserve(probes.size());
  for (const Probe& probe : probes) {
    CheckStop();
    ChargeMemory(sizeof(cache::Dependency) + probe.path.size());
    dependencies.push_back(
        {.path = probe.path, .digest = probe.present ? std::optional(probe.digest) : std::nullopt});
  }
  return dependencies;
}

}  // namespace kiln::compile
