// SPDX-License-Identifier: MIT
// The passes and versions that handles stand for. A handle of the frame before stands for a version
// of this one if it was kept; the first use revives it as a history. See spec/graph 3.3, 4.6
// Private to runtime/graph.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/declare/frame_rows.h"

namespace kiln::graph {

// A texture's or a buffer's.
struct Handle {
  uint32_t index;
  uint32_t frame;
  bool temporal;
  ResourceKind kind;
};

inline Handle HandleOf(TextureId id) {
  return {id.index, id.frame, id.temporal != 0, ResourceKind::kTexture};
}
inline Handle HandleOf(BufferId id) {
  return {id.index, id.frame, id.temporal != 0, ResourceKind::kBuffer};
}

class HandleTable {
 public:
  explicit HandleTable(FrameRows& frame) : frame_(frame) {}

  // Requires: the frame's rows have begun.
  void Begin() { revived_.assign(frame_.previous().versions.size(), kNone); }

  // kNone for handles that stand for nothing in this frame, which is an error.
  uint32_t UsePass(PassId pass, Where where) {
    const Declarations& rows = frame_.rows();
    const bool own = pass.frame == rows.frame && pass.index < rows.passes.size();
    return own ? pass.index : FailPass(pass, where);
  }
  uint32_t UseVersion(const Handle& handle, uint32_t pass, Where where) {
    const Declarations& rows = frame_.rows();
    const bool own = handle.frame == rows.frame && handle.index < rows.versions.size() &&
                     rows.chains[rows.versions[handle.index].chain].kind == handle.kind;
    return own ? handle.index : ReviveVersion(handle, pass, where);
  }
  // The same without an error, and nothing is revived.
  uint32_t FindVersion(const Handle& handle) const;

  // By version of the frame before: its version in this one, kNone while it has none.
  uint32_t& Revived(uint32_t previous) { return revived_[previous]; }

 private:
  uint32_t FailPass(PassId pass, Where where);
  uint32_t ReviveVersion(const Handle& handle, uint32_t pass, Where where);
  uint32_t Revive(uint32_t previous);

  FrameRows& frame_;
  std::vector<uint32_t> revived_;
};

}  // namespace kiln::graph
