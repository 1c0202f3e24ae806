// SPDX-License-Identifier: MIT
// What a build made -> content to put and the record that names it. See spec/cache 4.1
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/record.h"
#include "cache/store.h"
#include "compiler/driver/request.h"
#include "server/compile/request.h"

namespace kiln::compile {

struct PreparedProgram;

// "code.vertex", …, or "code" for a combined module.
std::string CodeName(const std::optional<ir::Stage>& stage);

struct ProductList {
  cache::Record record;            // without cost
  std::vector<cache::Item> items;  // content that was made
  std::vector<FreshBlob> fresh;    // the same, to hand out
};

// Modules without words are named only: the store has them. metadata_only: no code. What was built
// is used up: its words, texts and metadata become the contents, without a copy.
ProductList ProductsOf(driver::BuildResult built, bool metadata_only);

// What a record says, without origin and target; nothing unless it has products and metadata.
std::optional<Artifact> ArtifactOf(const cache::Record& record, const Hash128& signature);

// Whether a record may be a result of the program, as far as that can be seen: its options are
// options of the program, and it has what a result of this kind has, modules of the program's entry
// points among it. Rows come from clients and upstreams, so anything may lie under a key.
bool IsResultOf(const PreparedProgram& program, const cache::Record& record);
// Whether it is the record of a variant that read these options.
bool HasRead(const cache::Record& record, std::span<const driver::OptionRead> reads);

}  // namespace kiln::compile
