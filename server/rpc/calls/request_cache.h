// SPDX-License-Identifier: MIT
// Requests of Compile that were answered from memory lately, by their bytes: what they ask for is
// read, linked, checked and keyed once, and the answer is written once. What they ask for is all
// that is taken for granted here; whether it is still there is asked of the builder and the store
// each time.
//
// Threads: safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "cache/explain/explain.h"
#include "compiler/base/bounded_cache.h"
#include "server/compile/cached_build.h"
#include "server/rpc/messages/compile_message.h"

namespace kiln::rpc {

struct CachedRequest {
  compile::RecentResult recalled;
  CompileMessage reply;
  bool inline_data = false;
  std::vector<Digest> code;  // those that travel inline
  Digest metadata;
  std::shared_ptr<const cache::ExplainRecord> explained;  // what the next record is like

  uint64_t bytes() const;  // that it takes, about
};

class RequestCache {
 public:
  static constexpr size_t kMaxRequestBytes = size_t{16} << 10;
  static constexpr uint64_t kMaxBytes = uint64_t{32} << 20;  // of all

  // Null: nothing is known. It is the latest now, if the call may write.
  std::shared_ptr<const CachedRequest> Find(std::string_view request, const cache::Call& call);
  // Requests used least lately make room; one above kMaxRequestBytes is not kept.
  void Keep(std::string_view request, std::shared_ptr<const CachedRequest> known);

  CountedCache& cache() { return requests_; }

 private:
  using Requests = BoundedCache<std::string, std::shared_ptr<const CachedRequest>>;
  Requests requests_{"parsed requests", {.bytes = kMaxBytes}};
};

}  // namespace kiln::rpc
