// SPDX-License-Identifier: MIT
// Between what the driver built and what the store keeps: products by name, their content by
// digest, and the record that names them (spec/cache 4.1).
#include "server/compile/product_list.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "cache/key.h"
#include "compiler/diag/encode.h"
#include "compiler/ir/enum_names.h"
#include "server/compile/cached_build.h"

namespace kiln::compile {
namespace {

// The id of everything that a pipeline object depends on (spec/cache 4.1): names and digests of
// code, state and layout.
Hash128 StateIdOf(const driver::Products& products) {
  // The names are made first and then referred to: a vector that grows would move them.
  std::vector<std::string> names;
  std::vector<cache::NamedDigest> code;
  for (const driver::StageCode& stage : products.code) {
    names.push_back(CodeName(stage.stage));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    code.push_back({.name = names[i], .digest = products.code[i].content});
  }
  return cache::StateId(code, products.state_hash, products.layout_hash);
}

// A raw blob that owns words or text. They are as large as what they hold: the assembler's copy of
// a variant is made of exact size.
template <class Owner>
cache::Blob BlobOf(Owner made) {
  const auto owner = std::make_shared<const Owner>(std::move(made));
  const ByteView bytes = std::as_bytes(std::span(*owner));
  return {.bytes = bytes, .owner = owner, .raw_size = bytes.size()};
}

cache::Blob BlobOf(driver::StageCode stage) {
  return stage.text.empty() ? BlobOf(std::move(stage.words)) : BlobOf(std::move(stage.text));
}

// The digest of a content, where assemblers have not said it.
Digest DigestOfContent(const cache::Blob& blob, const Digest& known) {
  return known != Digest{} ? known : DigestOf(blob.bytes);
}

// `known`: the digest if it is. Content goes three ways: into the store, to the caller of this
// request, and by name into the record.
void AddProduct(ProductList& list, std::string name, cache::Blob blob, const Digest& known = {}) {
  const Digest digest = DigestOfContent(blob, known);
  const cache::Item& item = list.items.emplace_back(cache::ContentItem(digest, std::move(blob)));
  list.fresh.push_back({.digest = digest, .blob = item.value});
  list.record.products.push_back({.name = std::move(name), .digest = digest});
}

}  // namespace

std::string CodeName(const std::optional<ir::Stage>& stage) {
  return stage.has_value() ? "code." + std::string(ir::NameOf(*stage)) : std::string("code");
}

// From a record alone. Only successes have an artifact.
std::optional<Artifact> ArtifactOf(const cache::Record& record, const Hash128& signature) {
  const Digest* const metadata = record.Find("meta");
  if (record.kind != cache::RecordKind::kOk || metadata == nullptr) {
    return std::nullopt;
  }
  Artifact artifact{.target = {},
                    .metadata = *metadata,
                    .live_options = record.live_options,
                    .layout_hash = record.layout_hash.value_or(Hash128{}),
                    .state_id = record.state_id.value_or(Hash128{}),
                    .signature = signature,
                    .origin = Origin::kLocal,
                    .stored = true,
                    .cpu_us = record.cpu_us,
                    .build_id = record.build_id};
  // A record has either one combined module or one for each stage. The order of stages is fixed
  // here, because products are sorted by name.
  if (const Digest* combined = record.Find("code"); combined != nullptr) {
    artifact.code.push_back({.stage = std::nullopt, .digest = *combined});
  }
  for (const ir::Stage stage : {ir::Stage::kVertex, ir::Stage::kFragment, ir::Stage::kCompute}) {
    if (const Digest* code = record.Find(CodeName(stage)); code != nullptr) {
      artifact.code.push_back({.stage = stage, .digest = *code});
    }
  }
  return artifact;
}

// Content that is written, the record that names it, and the blobs that this request may send
// without reading them back.
ProductList ProductsOf(driver::BuildResult built, bool metadata_only) {
  ProductList list;
  cache::Record& record = list.record;
  record.kind = built.ok() ? cache::RecordKind::kOk : cache::RecordKind::kSourceError;
  // Warnings of a success are kept like errors of a failure: a hit must say what the build said.
  // See spec/cache 4.3
  if (!built.diagnostics.empty()) {
    AddProduct(list, "diag", cache::OwnedBlob(EncodeDiagnostics(built.diagnostics)));
  }
  if (built.ok()) {
    driver::Products& products = *built.products;
    record.layout_hash = products.layout_hash;
    record.state_id = StateIdOf(products);
    for (driver::StageCode& stage : products.code) {
      if (metadata_only) {
        continue;
      }
      // The assembler has written these words before and names them only. Whether the store still
      // has them is asked by ResultRecorder::IsKept before it comes to this.
      const std::string name = CodeName(stage.stage);
      const Digest content = stage.content;
      if (stage.empty()) {
        record.products.push_back({.name = name, .digest = content});
      } else {
        AddProduct(list, name, BlobOf(std::move(stage)), content);
      }
    }
    AddProduct(list, "meta", cache::OwnedBlob(std::move(products.metadata)),
               products.metadata_content);
  }
  // Sorted already: reads come by name.
  std::vector<std::string> live;
  live.reserve(built.reads.size());
  for (driver::OptionRead& read : built.reads) {
    live.push_back(std::move(read.name));
  }
  record.live_options = std::move(live);
  // The encoding of a record is canonical, so equal results are equal bytes.
  std::sort(record.products.begin(), record.products.end(),
            [](const cache::Product& a, const cache::Product& b) { return a.name < b.name; });
  return list;
}

// Checks without building, in the order of what they cost: option names, then the products that the
// entry points ask for.
bool IsResultOf(const PreparedProgram& program, const cache::Record& record) {
  if (record.kind == cache::RecordKind::kPoison) {
    return true;  // says nothing else
  }
  // A row under the right key may still be another program's: whoever put it was free to choose.
  // Names are all that can be held against it without building.
  const bool options_fit = std::ranges::all_of(record.live_options, [&](const std::string& name) {
    return program.program().FindOption(name).valid();
  });
  if (!options_fit || record.kind != cache::RecordKind::kOk) {
    return options_fit &&
           (record.kind != cache::RecordKind::kSourceError || record.Find("diag") != nullptr);
  }
  std::vector<std::string> modules;
  if (program.target.target.combined) {
    modules.push_back(CodeName(std::nullopt));
  } else if (!program.target.metadata_only) {
    for (const resolve::EntryPoint& entry : program.request.entries) {
      modules.push_back(CodeName(entry.stage));
    }
  }
  const auto is_module = [](const std::string& name) { return name.starts_with("code"); };
  const auto in_record = std::ranges::count_if(record.products, is_module, &cache::Product::name);
  // A target without code, or a program that names no entry points, may have fewer modules.
  const bool alone = program.target.metadata_only || program.request.entries.empty();
  return record.Find("meta") != nullptr &&
         (alone ? in_record <= static_cast<ptrdiff_t>(modules.size())
                : in_record == static_cast<ptrdiff_t>(modules.size())) &&
         std::ranges::all_of(record.products, [&](const cache::Product& product) {
           return !is_module(product.name) ||
                  std::ranges::find(modules, product.name) != modules.end();
         });
}

// Requires: `reads` is sorted by name, as live options are.
bool HasRead(const cache::Record& record, std::span<const driver::OptionRead> reads) {
  return record.kind == cache::RecordKind::kPoison ||
         std::ranges::equal(record.live_options, reads, {}, {}, &driver::OptionRead::name);
}

}  // namespace kiln::compile
