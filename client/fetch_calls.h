// SPDX-License-Identifier: MIT
// Calls that bring results: Fetch, as plain values. Each blob is verified before it is handed over.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "client/types.h"
#include "compiler/base/digest.h"
#include "compiler/base/result.h"

namespace kiln::v1 {
class FetchRequest;
}

namespace kiln::client {

struct Connection;
struct Context;

class FetchCalls {
 public:
  struct FetchHandlers {
    std::function<void(const Outcome&)> on_outcome;
    std::function<Result<void>(const FetchedBlob&)> on_blob;
  };
  struct FetchHow {
    std::span<const Digest> have;  // content that need not be sent
    std::string have_root;         // hex, of an earlier fetch: what it names need not be sent
    bool compile = true;           // what is not known; else its outcome has nothing
  };
  // All results of a batch.
  Result<FetchDone> FetchBatch(const std::string& id, const FetchHow& how,
                               const FetchHandlers& handlers);
  // Results of variants of one program. `project`: whose earlier requests explain this one.
  Result<FetchDone> FetchVariants(const std::string& project, const Program& program,
                                  std::span<const std::vector<Option>> variants,
                                  const FetchHow& how, const FetchHandlers& handlers);

 protected:
  explicit FetchCalls(Connection& connection) : connection_(connection) {}
  ~FetchCalls() = default;

 private:
  Connection& connection_;
};

// One call of Fetch, for other classes of this folder: its stream -> outcomes and verified blobs.
// Reads to the end; `context` may be cancelled meanwhile from any thread. Errors: those of the
// daemon; kCorrupt for a blob that is not what its digest says, and for a stream without an end;
// what a handler says.
Result<FetchDone> ReadFetch(Connection& connection, v1::FetchRequest request,
                            const FetchCalls::FetchHandlers& handlers, Context& context);

}  // namespace kiln::client
