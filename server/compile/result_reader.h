// SPDX-License-Identifier: MIT
// Records -> outcomes: the products and messages of a known result, with the content they name.
//
// Threads: all functions may run concurrently; the object holds no state of its own.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cache/store.h"
#include "compiler/base/result.h"
#include "server/compile/cached_result.h"
#include "server/compile/programs/program_pool.h"
#include "server/compile/request.h"

namespace kiln::compile {

class ResultReader {
 public:
  // Both must outlive the object.
  ResultReader(cache::BlobStore& store, ProgramPool& pool) : store_(store), pool_(pool) {}

  // What a result of the program has to say. Errors: kNotFound if content that it names is gone or
  // cannot be read: it is built again; kCorrupt; as BlobStore::Get and ProgramPool::Text.
  Result<Outcome> OutcomeOf(const PreparedProgram& program, const CachedResult& found,
                            const cache::Call& call);
  // The same of a result of some program that is not at hand: no diagnostics, no options. Nothing
  // if the store lacks something that it names.
  std::optional<Outcome> BareOutcomeOf(const CachedResult& found, const std::string& target,
                                       const cache::Call& call);
  // Content that was made now, or that the store has. Errors: kNotFound; as BlobStore::Get.
  Result<cache::Blob> ContentOf(std::span<const FreshBlob> fresh, const Digest& digest,
                                const cache::Call& call);

 private:
  cache::BlobStore& store_;
  ProgramPool& pool_;
};

}  // namespace kiln::compile
