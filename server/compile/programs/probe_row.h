// SPDX-License-Identifier: MIT
// What leads from a root source to its module, where includes are looked for on the way: rows, each
// of which asks for more paths, or is the end and names the module. A row is found by the answers
// to all rows before it, so different answers lead to different modules. See spec/cache 2.4.4
//
//   domain "kiln.proberow.1"; 1: list of paths, or 2: module key
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/key.h"
#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"
#include "compiler/driver/frontends.h"
#include "compiler/source/file_list.h"
#include "compiler/source/probe.h"

namespace kiln::compile {

struct ProbeRow {
  std::vector<std::string> paths;  // to be asked next; none at the end
  Hash128 module;                  // at the end

  bool is_end() const { return paths.empty(); }
  friend bool operator==(const ProbeRow&, const ProbeRow&) = default;
};

Bytes EncodeProbeRow(const ProbeRow& row);
// Errors: kCorrupt for anything that EncodeProbeRow does not write.
Result<ProbeRow> DecodeProbeRow(ByteView bytes);

// What modules are made of besides their root: files by path, choices of macros by name. Both must
// outlive it.
struct ProbedSet {
  const FileList& files;
  std::span<const hlsl::MacroChoice> macros = {};

  // The digest of a file, or of the value of a macro; nothing if it is not there, or not defined.
  std::optional<Digest> Find(std::string_view path) const;
};

// What a set says about paths.
std::vector<Probe> AnswersOf(std::span<const std::string> paths, const ProbedSet& set);
// Whether it says so now.
bool HoldsIn(const ProbedSet& set, std::span<const Probe> probes);
// As keys take them; views the probes.
std::vector<cache::Dependency> DependenciesOf(std::span<const Probe> probes);

}  // namespace kiln::compile
