// SPDX-License-Identifier: MIT
// The rows of a store with their content -> a pack file of kind `cache`, and back. See spec/cache 9
#pragma once

#include <string>

#include "cache/maintenance.h"
#include "cache/pack/write/writer.h"
#include "cache/store.h"

namespace kiln::pack {

// Rows that verify and everything that they name; rows with content that a pack cannot hold are
// left out and counted. Memory: the rows, not the content. `content` hands out raw bytes. Errors:
// those of WritePack; kNotFound for an unknown pin; kUnavailable if content was removed meanwhile.
Result<WriteReport> ExportCache(cache::Maintenance& store, cache::BlobStore& content,
                                const cache::RowFilter& filter, const WriteOptions& options,
                                const std::string& path);

struct ImportReport {
  uint64_t rows = 0;     // of the file
  uint64_t blobs = 0;    // that its rows name
  uint64_t added = 0;    // rows and blobs that the store did not have
  uint64_t present = 0;  // that it had
  uint64_t other = 0;    // rows that the store has with another result: those stay (spec/cache 4.5)
};

// Checks the whole file before anything is put; overwrites nothing, so that files may be imported
// in any order and more than once. Errors: kInvalidArgument if the file is no cache export; PACK_*,
// then nothing was put; those of BlobStore::Put, then a part was put and may be put again.
// `on_bytes` is told some times how much of the content was put.
Result<ImportReport> ImportCache(
    const Pack& pack, cache::BlobStore& store,
    const cache::OnBytes& on_bytes = [](uint64_t, uint64_t) {});

}  // namespace kiln::pack
