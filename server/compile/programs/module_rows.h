// SPDX-License-Identifier: MIT
// Parsed sources and probe rows as rows of a store. See spec/cache 2.4.3, 2.4.4, 4.1
//
// Threads: all functions may run concurrently.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cache/store.h"
#include "compiler/base/digest.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"
#include "compiler/ir/module_files.h"
#include "compiler/source/probe.h"
#include "server/compile/programs/probe_row.h"
#include "server/compile/request.h"

namespace kiln::compile {

// One source, parsed. Without a module the diagnostics hold errors. Locations name module 0.
struct ParsedSource {
  std::shared_ptr<const ir::Module> module;
  Hash128 semantic_id;
  Hash128 image_id;  // of all of the image, places included
  std::vector<Diagnostic> diagnostics;
  std::optional<ir::ModuleFiles> files;  // where diagnostics are, of a source that may include
  std::vector<Probe> probes;             // what its includes asked for
  bool from_store = false;
  bool shares_module = false;  // with the source of another list of macros, which counts it
  bool poison = false;  // reading it ended processes; there are neither module nor diagnostics

  void SetModule(ir::Module parsed);
  uint64_t memory_bytes() const;
};

cache::Key ModuleRow(const Hash128& key);

// Null is a miss, whatever the reason.
std::shared_ptr<const ParsedSource> LoadModuleRow(cache::BlobStore& store, const Hash128& key,
                                                  ir::Language language, const cache::Call& call);
// With the text of its source, so that later requests may name that by digest alone. Best effort:
// if the store does not take it, a later request parses again.
void KeepModuleRow(cache::BlobStore& store, const Hash128& key, const Source& source,
                   const ParsedSource& parsed, const cache::Call& call);

// Nothing is a miss, whatever the reason.
std::optional<ProbeRow> LoadProbeRow(cache::BlobStore& store, const Hash128& key,
                                     const cache::Call& call);
// Best effort.
void KeepProbeRow(cache::BlobStore& store, const Hash128& key, const ProbeRow& row,
                  const cache::Call& call);

}  // namespace kiln::compile
