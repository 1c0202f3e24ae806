// SPDX-License-Identifier: MIT
// Exports rows of a cache into a pack and imports them (spec/cache 9). Both sides go through the
// interface of stores and never through the database itself, so they work with a daemon's cache as
// well.
#include "cache/pack/write/cache_export.h"

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cache/pack/errors.h"
#include "cache/pack/format.h"
#include "cache/pack/unpack.h"
#include "cache/record.h"

namespace kiln::pack {
namespace {

// One transaction of the store takes so much at a time: large enough to share its fsync, small
// enough to be held in memory.
constexpr size_t kPutItems = 256;
constexpr uint64_t kPutBytes = uint64_t{4} << 20;

struct ExportContents {
  Contents contents;
  uint64_t left_out = 0;  // rows
};

// Content that no pack can hold costs its rows and what leads to them, not the export.
Result<ExportContents> Gather(cache::Maintenance& store, cache::BlobStore& content,
                              const cache::RowFilter& filter) {
  ExportContents gathered;
  Contents& contents = gathered.contents;
  contents.cache_export = true;
  // Rows come in the order of their levels, a record before the aliases that lead to it. An alias
  // that came first all the same is removed in the end.
  std::set<Hash128> too_large;  // signatures
  const auto add = [&](const cache::Key& key, ByteView value) -> Result<void> {
    KILN_TRY(const cache::RowSummary summary, cache::SummarizeRow(key.level, value));
    ExportRow row{.key = key, .value = Bytes(value.begin(), value.end()), .refs = {}};
    std::vector<cache::Key> named;
    for (const cache::Product& product : summary.products) {
      row.refs.push_back(product.digest);
      named.push_back(cache::ContentKey(product.digest));
      if (product.digest.size > kMaxBlobBytes) {
        too_large.insert(key.id);
      }
    }
    if (too_large.contains(key.id)) {
      ++gathered.left_out;
      return {};
    }
    // FindMissing keeps the content from eviction for some minutes.
    KILN_TRY(const std::vector<cache::Key> missing, content.FindMissing(named, {}));
    // A row whose content was evicted meanwhile would fail whoever imports it.
    if (missing.empty()) {
      contents.rows.push_back(std::move(row));
    }
    return {};
  };
  KILN_TRY_VOID(store.EachRow(filter, add));
  gathered.left_out += std::erase_if(contents.rows, [&](const ExportRow& row) {
    const Result<Hash128> leads_to = row.key.level == cache::Level::kAlias && !too_large.empty()
                                         ? cache::DecodeAlias(row.value)
                                         : Result<Hash128>(Hash128{});
    return leads_to.ok() && too_large.contains(*leads_to);
  });
  return gathered;
}

// The order is content, record, alias, in every put and over all of them: whatever moment the
// import is stopped at, no row leads to something that is not there.
class Import {
 public:
  Import(const Pack& pack, cache::BlobStore& store, const cache::OnBytes& on_bytes)
      : pack_(pack), store_(store), on_bytes_(on_bytes) {
    for (const auto& blob : pack.tables().blobs) {
      total_ += blob.raw_size;
    }
  }

  Result<ImportReport> Run() {
    KILN_TRY(const std::vector<ExportRow> rows, Check());
    imported_.rows = rows.size();
    for (const bool aliases : {false, true}) {  // what they lead to comes first
      for (const ExportRow& row : rows) {
        if ((row.key.level == cache::Level::kAlias) == aliases) {
          KILN_TRY_VOID(Add(row));
        }
      }
      KILN_TRY_VOID(Put());
    }
    imported_.blobs = put_.size();
    return imported_;
  }

 private:
  // Every row decodes, and every content that it names is in the file and right.
  Result<std::vector<ExportRow>> Check() {
    // A file from anywhere is checked as a whole before the first row is put, so a damaged one
    // changes nothing.
    KILN_TRY_VOID(pack_.Verify());
    KILN_TRY(Contents contents, ContentsOf(pack_));
    for (const ExportRow& row : contents.rows) {
      for (const Digest& digest : row.refs) {
        const std::optional<uint32_t> blob = pack_.FindBlob(digest.id);
        if (!blob.has_value() || pack_.tables().blobs[*blob].raw_size != digest.size) {
          return PackError(kCorrupt, fmt::format("section CROW: {} names content {}, which is not "
                                                 "in the file; export it again",
                                                 KeyText(row.key), digest.id.hex()));
        }
      }
    }
    return std::move(contents.rows);
  }

  // A row goes in the same call as its content, or after it.
  Result<void> Add(const ExportRow& row) {
    std::vector<Hash128> refs;
    for (const Digest& digest : row.refs) {
      refs.push_back(digest.id);
      // Many records share content; each blob is decompressed and put once.
      if (put_.insert(digest.id).second) {
        KILN_TRY(Bytes bytes, pack_.ReadBlob(*pack_.FindBlob(digest.id)));
        bytes_ += bytes.size();
        items_.push_back(cache::ContentItem(cache::OwnedBlob(std::move(bytes))));
      }
    }
    items_.push_back(cache::RowItem(row.key, row.value, std::move(refs)));
    return items_.size() >= kPutItems || bytes_ >= kPutBytes ? Put() : Result<void>();
  }

  Result<void> Put() {
    if (!items_.empty()) {
      KILN_TRY(const cache::PutResult stored, store_.Put(items_, cache::Durability::kDurable, {}));
      // The store itself decides about each row: one that is there stays, whatever the file says.
      imported_.added += stored.added;
      imported_.present += stored.present;
      imported_.other += stored.nondeterminism;
      items_.clear();
      done_ += std::exchange(bytes_, 0);
      on_bytes_(done_, total_);
    }
    return {};
  }

  const Pack& pack_;
  cache::BlobStore& store_;
  std::set<Hash128> put_;
  std::vector<cache::Item> items_;
  uint64_t bytes_ = 0;
  const cache::OnBytes& on_bytes_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;  // of content
  ImportReport imported_;
};

}  // namespace

// Rows are gathered in memory, about 200 bytes each; content is not.
Result<WriteReport> ExportCache(cache::Maintenance& store, cache::BlobStore& content,
                                const cache::RowFilter& filter, const WriteOptions& options,
                                const std::string& path) {
  KILN_TRY(const ExportContents gathered, Gather(store, content, filter));
  // Blobs are read when the writer comes to them and not before: an export may be larger than
  // memory.
  const BlobSource source = [&](const Digest& digest) -> Result<Bytes> {
    const Result<cache::Blob> blob = content.Get(cache::ContentKey(digest), {});
    if (!blob.ok()) {
      return Error{.code = ErrorCode::kUnavailable,
                   .context = "content " + digest.id.hex() +
                              " was removed while it was exported; export again",
                   .reason = {}};
    }
    return Bytes(blob->bytes.begin(), blob->bytes.end());
  };
  KILN_TRY(WriteReport written, WritePack(gathered.contents, source, options, path));
  written.left_out = gathered.left_out;
  return written;
}

Result<ImportReport> ImportCache(const Pack& pack, cache::BlobStore& store,
                                 const cache::OnBytes& on_bytes) {
  if ((pack.tables().header.flags & kCacheExport) == 0) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .context = "the pack is no cache export; make one with 'kiln cache export'",
                 .reason = "NOT_AN_EXPORT"};
  }
  return Import(pack, store, on_bytes).Run();
}

}  // namespace kiln::pack
