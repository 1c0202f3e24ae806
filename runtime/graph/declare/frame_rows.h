// SPDX-License-Identifier: MIT
// The rows of the frame that is being declared, those of the one before, and what is wrong with the
// declarations. Rows are only added; who adds one has checked it. Private to runtime/graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/types.h"

namespace kiln::graph {

// Of a handle's frame: the lower bits count frames, the others are the graph's identity.
inline constexpr uint32_t kSerialBits = 23;
inline constexpr uint32_t kSerialMask = (1U << kSerialBits) - 1;

class FrameRows {
 public:
  explicit FrameRows(uint32_t identity) : identity_(identity) { rows_.frame = identity; }

  // The rows so far are those of the frame before, and the ones before them are forgotten.
  void Begin();

  uint32_t identity() const { return identity_; }
  Declarations& rows() { return rows_; }
  const Declarations& rows() const { return rows_; }
  const Declarations& previous() const { return previous_; }
  const std::vector<GraphError>& errors() const { return errors_; }

  NameRef KeepName(std::string_view name);
  // A chain with its first version, which is returned; the versions after it; a pass, or kPoisoned
  // if there are too many.
  uint32_t AddChain(const ChainRow& chain, const ChainBinding& binding, std::string_view name);
  uint32_t AddVersion(std::string_view name, uint32_t chain, uint32_t def);
  uint32_t AddPass(const PassDesc& desc, Origin origin, Where where);

  // "CODE: version 'name' in pass 'name' detail"; kNone leaves its part out.
  void Fail(std::string_view code, std::string_view detail, uint32_t pass, uint32_t version,
            Where where);
  void AddError(GraphError error);
  // The last error is about another pass, too, which came first.
  void NameFirstPass(const std::string& pass);

 private:
  const uint32_t identity_;
  Declarations rows_;
  Declarations previous_;
  std::vector<GraphError> errors_;
};

}  // namespace kiln::graph
