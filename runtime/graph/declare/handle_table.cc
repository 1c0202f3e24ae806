// SPDX-License-Identifier: MIT
// Handles of a frame: an index, the serial of the frame it was made in, and the identity of the
// graph. A stale or foreign handle is found here, before it reaches a table.
#include "runtime/graph/declare/handle_table.h"

#include <fmt/format.h>

namespace kiln::graph {

// A poisoned handle stands for something that has failed before; nothing more is said about it.
uint32_t HandleTable::FailPass(PassId pass, Where where) {
  if (pass.index == kPoisoned) {
    return kNone;
  }
  const bool before =
      pass.frame == frame_.previous().frame && pass.index < frame_.previous().passes.size();
  frame_.Fail(before ? "EXPIRED_HANDLE" : "UNKNOWN_HANDLE",
              before ? fmt::format("the handle of pass '{}' is of an earlier frame",
                                   frame_.previous().PassName(pass.index))
                     : fmt::format("no pass has handle {} of frame {}", pass.index,
                                   pass.frame & kSerialMask),
              kNone, kNone, where);
  return kNone;
}

// The version in this frame that stands for one that the last frame kept. Made on first use and at
// most once in a frame, so frames that read no history get no rows for it.
uint32_t HandleTable::Revive(uint32_t previous) {
  if (revived_[previous] != kNone) {
    return revived_[previous];
  }
  ChainRow chain = frame_.previous().chains[frame_.previous().versions[previous].chain];
  chain.object = Object::kHistory;
  chain.previous = previous;
  // The usage is collected anew: in this frame it is only read.
  chain.usage = 0;
  const uint32_t version = frame_.AddChain(chain, {}, frame_.previous().VersionName(previous));
  revived_[previous] = version;
  return version;
}

// Without any message: asked by callbacks, for whatever handle they have.
uint32_t HandleTable::FindVersion(const Handle& handle) const {
  if (handle.frame == frame_.rows().frame && handle.index < frame_.rows().versions.size()) {
    return handle.index;
  }
  const bool last = handle.frame == frame_.previous().frame && handle.index < revived_.size();
  return last ? revived_[handle.index] : kNone;
}

// Told apart as exactly as the handle allows, since stale handles are the most frequent mistake
// with a graph.
uint32_t HandleTable::ReviveVersion(const Handle& handle, uint32_t pass, Where where) {
  if (handle.index == kPoisoned) {
    return kNone;
  }
  const auto is_kind = [&](const Declarations& rows) {
    return handle.index < rows.versions.size() &&
           rows.chains[rows.versions[handle.index].chain].kind == handle.kind;
  };
  // Serials wrap around, so ages are differences and never comparisons.
  const uint32_t age = (frame_.rows().frame - handle.frame) & kSerialMask;
  const bool known = handle.index != kNone && (handle.frame & ~kSerialMask) == frame_.identity();
  if (known && age == 1 && is_kind(frame_.previous())) {
    if (frame_.previous().versions[handle.index].temporal != 0) {
      return Revive(handle.index);
    }
    frame_.Fail(
        "EXPIRED_HANDLE",
        fmt::format("uses '{}' of frame {}, which was not kept for the next frame",
                    frame_.previous().VersionName(handle.index), handle.frame & kSerialMask),
        pass, kNone, where);
    return kNone;
  }
  // What seems to be half the circle old was rather never given out.
  if (known && age > 1 && age < kSerialMask / 2) {
    frame_.Fail(handle.temporal ? "EXPIRED_TEMPORAL_HANDLE" : "EXPIRED_HANDLE",
                fmt::format("uses handle {} of frame {}", handle.index, handle.frame & kSerialMask),
                pass, kNone, where);
    return kNone;
  }
  frame_.Fail("UNKNOWN_HANDLE",
              handle.index == kNone
                  ? std::string("uses a null handle")
                  : fmt::format("uses handle {} of frame {}, which this graph did not give out",
                                handle.index, handle.frame & kSerialMask),
              pass, kNone, where);
  return kNone;
}

}  // namespace kiln::graph
