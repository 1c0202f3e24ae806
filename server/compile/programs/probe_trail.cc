// SPDX-License-Identifier: MIT
// The way from a root to its module without reading it (spec/cache 2.4.4). The trail has asked some
// paths and has the answers of this set of files; the key of the next row is made of both, so
// another set leads another way.
#include "server/compile/programs/probe_trail.h"

#include <algorithm>
#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/driver/fingerprint.h"
#include "compiler/source/macro_path.h"

namespace kiln::compile {

// Answers grow with each row, and so does the key of the next one (spec/cache 2.4).
ProbeTrail::ProbeTrail(const Source& source, ir::Language language, const hlsl::Settings& settings,
                       const FileList& files, const Hash128& limits)
    : source_(source),
      set_{.files = files, .macros = settings.macros},
      front_end_(driver::FrontFingerprint(language)),
      limits_(limits),
      language_(hlsl::LanguageText(settings)) {
  for (const hlsl::Define& define : settings.defines) {
    defines_.push_back({.name = define.name, .value = define.value});
  }
}

cache::ModuleInputs ProbeTrail::Inputs(std::span<const cache::Dependency> dependencies) const {
  return {.language = language_,
          .source = source_.digest,
          .front_end = front_end_,
          .limits = limits_,
          .defines = defines_,
          .dependencies = dependencies,
          .path = source_.path};
}

Hash128 ProbeTrail::NextKey() const { return cache::ProbesKey(Inputs(DependenciesOf(answers_))); }

// False where the row is of no use: the trail is too long, or it asks again for what is known,
// which no reading writes.
bool ProbeTrail::Follow(const ProbeRow& row) {
  if (++rows_ > kMostRows) {
    return false;
  }
  for (Probe& answer : AnswersOf(row.paths, set_)) {
    CheckStop();
    ChargeMemory(2 * (sizeof(std::string) + answer.path.size()));
    if (!known_.insert(answer.path).second) {
      return false;
    }
    asked_.push_back(answer.path);
    answers_.push_back(std::move(answer));
  }
  return true;
}

// What a reading asked for that the trail has not asked yet; nothing of that means that the module
// is known.
ProbeRow ProbeTrail::RowTo(std::span<const Probe> probes) const {
  ProbeRow row;
  for (const Probe& probe : probes) {
    CheckStop();
    if (!known_.contains(probe.path)) {
      ChargeMemory(sizeof(std::string) + probe.path.size());
      row.paths.push_back(probe.path);
    }
  }
  if (row.is_end()) {
    row.module = ModuleKeyOf(probes);
  }
  return row;
}

Hash128 ProbeTrail::ModuleKeyOf(std::span<const Probe> probes) const {
  return cache::ModuleKey(Inputs(DependenciesOf(probes)));
}

// The empty path is none that an include could ask for. Which macros the source asks for is not
// known, so all of them count.
Hash128 ProbeTrail::ReadingKey() const {
  std::vector<std::string> paths;
  for (const hlsl::MacroChoice& macro : set_.macros) {
    paths.push_back(MacroPath(macro.name));
  }
  const std::vector<Probe> macros = AnswersOf(paths, set_);
  std::vector<cache::Dependency> all = DependenciesOf(macros);
  all.push_back({.path = {}, .digest = set_.files.digest()});
  return cache::ModuleKey(Inputs(all));
}

// Rows come from anywhere, so what a module says of itself is compared with the set and the key.
bool ProbeTrail::LeadsTo(const Hash128& key, std::span<const Probe> probes) const {
  return HoldsIn(set_, probes) && ModuleKeyOf(probes) == key;
}

}  // namespace kiln::compile
