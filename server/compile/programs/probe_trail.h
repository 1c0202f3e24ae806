// SPDX-License-Identifier: MIT
// The way from a root source and a set of files to the key of its module: which row comes next,
// given what the set answered to those before. See programs/probe_row.h, spec/cache 2.4.4
//
// Threads: one.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/digest.h"
#include "server/compile/programs/probe_row.h"
#include "server/compile/request.h"

namespace kiln::compile {

class ProbeTrail {
 public:
  // Rows on the way; as many as a root was read with differing files, at most.
  static constexpr size_t kMostRows = 64;

  // Source, settings and files must outlive the object.
  ProbeTrail(const Source& source, ir::Language language, const hlsl::Settings& settings,
             const FileList& files, const Hash128& limits);

  // Of the row that comes next.
  Hash128 NextKey() const;
  // Asks the set for the paths of a row. False: the way is too long, or leads in a circle.
  bool Follow(const ProbeRow& row);
  // The row that leads on to a module that asked for these: the paths that nobody has asked for
  // yet, or the end.
  ProbeRow RowTo(std::span<const Probe> probes) const;

  Hash128 ModuleKeyOf(std::span<const Probe> probes) const;
  // Under which it is noted that reading the source with this very set ended processes.
  Hash128 ReadingKey() const;
  // Whether a module that asked for these was made of this source and set, and is kept under `key`.
  bool LeadsTo(const Hash128& key, std::span<const Probe> probes) const;

  // What was asked for on the way.
  std::span<const std::string> asked() const { return asked_; }

 private:
  cache::ModuleInputs Inputs(std::span<const cache::Dependency> dependencies) const;

  const Source& source_;
  const ProbedSet set_;
  const Hash128 front_end_;
  const Hash128 limits_;
  const std::string language_;
  std::vector<cache::TextPair> defines_;  // views the settings
  std::vector<Probe> answers_;
  std::vector<std::string> asked_;            // paths of the answers
  std::set<std::string, std::less<>> known_;  // the same
  size_t rows_ = 0;
};

}  // namespace kiln::compile
