// SPDX-License-Identifier: MIT
// One compile request and what comes of it, as plain values: the compiler's face towards kilnc and
// the daemon. Nothing here knows a file system, a cache or a wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/ir/module.h"
#include "compiler/ir/specialised.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/resolve/values/options.h"
#include "compiler/target/target.h"

namespace kiln::driver {

// The code of one entry point, or of all of them if `stage` is empty (Target::combined): words of
// SPIR-V or text of WGSL, as the target says; neither if the module is known and only new ones were
// asked for.
struct StageCode {
  std::optional<ir::Stage> stage;
  std::vector<uint32_t> words;
  std::string text{};
  Digest content{};  // of the words or the text; filled in by assemblers

  bool empty() const { return words.empty() && text.empty(); }
  ByteView bytes() const { return text.empty() ? std::as_bytes(std::span(words)) : AsBytes(text); }
};

// What emission made. Equal inputs give equal bytes on any thread, in any process.
struct Products {
  std::vector<StageCode> code;      // stage order; empty without entry points
  std::vector<std::byte> metadata;  // PipelineMetadata, serialised
  Hash128 layout_hash;              // of the metadata (spec/rpl 12.1)
  Hash128 state_hash;               // artifact::StateHash of the metadata
};

// One option as a build consulted it.
struct OptionRead {
  std::string name;
  uint32_t module = 0;  // ordinal of the module that declares it
  uint32_t option = 0;  // row of that module's options
  ir::OptionKind kind = ir::OptionKind::kFlag;
  uint32_t bits = 0;  // flag 0/1, uint, sint, float bits
  std::string text;   // enum value
};

// What one variant came to. `reads` is complete for failures too: any variant that agrees on these
// options has the same result (spec/cache 3.3).
struct BuildResult {
  std::optional<Products> products;  // nothing if the sources are wrong for this variant
  std::vector<OptionRead> reads;     // sorted by name
  std::vector<Diagnostic> diagnostics;

  bool ok() const { return products.has_value(); }
};

// A parsed program that owns the images its link refers to. Immutable; share it between threads.
struct LinkedProgram {
  std::vector<std::shared_ptr<const ir::Module>> modules;
  std::vector<std::string> paths;     // logical, in link order; what diagnostics are placed in
  std::vector<Hash128> semantic_ids;  // of the modules (spec/cache 2.4.3)
  resolve::Program program;
  // Values of some options choose the modules themselves (macros), so any option may matter in some
  // of these programs.
  bool has_macros = false;
};

}  // namespace kiln::driver
