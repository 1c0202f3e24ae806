// SPDX-License-Identifier: MIT
// The rows of level L1: a record names image, diagnostics, files and probes by digest, and each is
// decoded from its content. A row is taken as a whole or not at all.
#include "server/compile/programs/module_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cache/record.h"
#include "compiler/diag/encode.h"
#include "compiler/driver/frontends.h"
#include "compiler/source/probe_list.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kSpace = 0;
constexpr std::string_view kProbeRow = "probes.next";  // the product of a probe row

// Reads the products of a record. Each function: false is a miss.
class RecordReader {
 public:
  RecordReader(cache::BlobStore& store, const cache::ModuleRecord& record, const cache::Call& call)
      : store_(store), record_(record), call_(call) {}

  // Content that was evicted is a miss of the whole record, so that the module is read again.
  std::optional<cache::Blob> Get(std::string_view product) const {
    const Digest* const digest = record_.Find(product);
    if (digest == nullptr) {
      return std::nullopt;
    }
    Result<cache::Blob> blob = store_.Get(cache::ContentKey(*digest), call_);
    return blob.ok() ? std::optional(std::move(blob).value()) : std::nullopt;
  }

  // A product that may be left out, decoded to where it belongs.
  template <class Value, class Decode>
  bool Optional(std::string_view product, const Decode& decode, Value& value) const {
    if (record_.Find(product) == nullptr) {
      return true;
    }
    const std::optional<cache::Blob> blob = Get(product);
    if (!blob.has_value()) {
      return false;
    }
    auto decoded = decode(blob->bytes);
    if (!decoded.ok()) {
      return false;
    }
    value = std::move(decoded).value();
    return true;
  }

 private:
  cache::BlobStore& store_;
  const cache::ModuleRecord& record_;
  const cache::Call& call_;
};

}  // namespace

void ParsedSource::SetModule(ir::Module parsed) {
  module = std::make_shared<const ir::Module>(std::move(parsed));
  semantic_id = module->semantic_id();
  image_id = HashBytes(module->image());
}

// What the memory of the pool is charged with. Diagnostics are not in it: they are bounded by their
// limits (spec/daemon 10).
uint64_t ParsedSource::memory_bytes() const {
  uint64_t bytes =
      sizeof(ParsedSource) + (module != nullptr && !shares_module ? module->image().size() : 0);
  for (const Probe& probe : probes) {
    bytes += sizeof(Probe) + probe.path.size();
  }
  if (files.has_value()) {
    bytes += files->marks.size() * sizeof(LineMark);
    for (const ir::ModuleFile& file : files->files) {
      bytes += sizeof(ir::ModuleFile) + file.path.size();
    }
  }
  return bytes;
}

cache::Key ModuleRow(const Hash128& key) {
  return {.level = cache::Level::kModule, .space = kSpace, .id = key};
}

// Everything in the row is checked before it is used, since a peer or a damaged file may have put
// it (spec/cache 7.3): a record that does not decode, a product that is missing and an image that
// does not load are each a miss. Poison says nothing but that it is.
std::shared_ptr<const ParsedSource> LoadModuleRow(cache::BlobStore& store, const Hash128& key,
                                                  ir::Language language, const cache::Call& call) {
  const Result<cache::Blob> row = store.Get(ModuleRow(key), call);
  if (!row.ok()) {
    return nullptr;
  }
  const Result<cache::ModuleRecord> record = cache::DecodeModuleRecord(row->bytes);
  if (!record.ok()) {
    return nullptr;
  }
  auto parsed = std::make_shared<ParsedSource>();
  parsed->from_store = true;
  if (record->kind == cache::RecordKind::kPoison) {
    parsed->poison = true;
    return parsed;
  }
  const RecordReader reader(store, *record, call);
  if (!reader.Optional("diag", DecodeDiagnostics, parsed->diagnostics) ||
      !reader.Optional("files", ir::DecodeFiles, parsed->files) ||
      !reader.Optional("probes", DecodeProbes, parsed->probes)) {
    return nullptr;
  }
  // Wrong sources have no image, so their diagnostics are all there is; without any the row is of
  // no use.
  if (record->kind != cache::RecordKind::kOk) {
    return parsed->diagnostics.empty() ? nullptr : parsed;
  }
  const std::optional<cache::Blob> image = reader.Get("image");
  if (!image.has_value()) {
    return nullptr;
  }
  Result<ir::Module> module = driver::LoadModule(language, image->bytes);
  if (!module.ok()) {
    return nullptr;
  }
  parsed->SetModule(std::move(module).value());
  const ir::ModuleView& view = parsed->module->view();
  // Stored diagnostics have numbers of spans (spec/cache 2.4.3); the image has the positions. Spans
  // beyond the table stay without a place.
  FillPositions(parsed->diagnostics, [&](uint32_t, uint32_t number) {
    return number < view.spans.size() ? std::optional(view.spans[number]) : std::nullopt;
  });
  return parsed;
}

// Products are named in the order of their names, because records are canonical (spec/cache 4.1).
// The source goes with them if the request brought it, so that whoever repeats the request by
// digest finds it. One Put: the record never precedes its content (spec/cache 4.4).
void KeepModuleRow(cache::BlobStore& store, const Hash128& key, const Source& source,
                   const ParsedSource& parsed, const cache::Call& call) {
  std::vector<cache::Item> items;
  cache::ModuleRecord record;
  record.kind = parsed.module != nullptr ? cache::RecordKind::kOk : cache::RecordKind::kSourceError;
  const auto add = [&](std::string_view name, ByteView bytes) {
    const Digest digest = DigestOf(bytes);
    items.push_back(cache::ContentItem(digest, cache::CopiedBlob(bytes)));
    record.products.push_back({.name = std::string(name), .digest = digest});
  };
  // By name.
  if (!parsed.diagnostics.empty()) {
    add("diag", EncodeDiagnostics(parsed.diagnostics));
  }
  if (parsed.files.has_value()) {
    add("files", ir::EncodeFiles(*parsed.files));
  }
  if (parsed.module != nullptr) {
    add("image", parsed.module->image());
    record.semantic_id = parsed.semantic_id;
  }
  if (!parsed.probes.empty()) {
    add("probes", EncodeProbes(parsed.probes));
  }
  if (source.text != nullptr) {
    items.push_back(cache::ContentItem(source.digest, cache::CopiedBlob(AsBytes(*source.text))));
  }
  items.push_back(cache::ModuleItem(kSpace, key, record));
  (void)store.Put(items, cache::Durability::kRelaxed, call);
}

// Rows of probes are module records with a single product of another name, so a module is never
// taken for one.
std::optional<ProbeRow> LoadProbeRow(cache::BlobStore& store, const Hash128& key,
                                     const cache::Call& call) {
  const Result<cache::Blob> row = store.Get(ModuleRow(key), call);
  if (!row.ok()) {
    return std::nullopt;
  }
  const Result<cache::ModuleRecord> record = cache::DecodeModuleRecord(row->bytes);
  if (!record.ok()) {
    return std::nullopt;
  }
  std::optional<ProbeRow> probes;
  const bool read = RecordReader(store, *record, call).Optional(kProbeRow, DecodeProbeRow, probes);
  return read ? probes : std::nullopt;
}

void KeepProbeRow(cache::BlobStore& store, const Hash128& key, const ProbeRow& row,
                  const cache::Call& call) {
  const Bytes bytes = EncodeProbeRow(row);
  const Digest digest = DigestOf(bytes);
  cache::ModuleRecord record;
  record.products.push_back({.name = std::string(kProbeRow), .digest = digest});
  const cache::Item items[] = {cache::ContentItem(digest, cache::CopiedBlob(bytes)),
                               cache::ModuleItem(kSpace, key, record)};
  (void)store.Put(items, cache::Durability::kRelaxed, call);
}

}  // namespace kiln::compile
