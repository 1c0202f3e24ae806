// SPDX-License-Identifier: MIT
// Graph: the passes and versions that handles stand for, those of the last frame among them.
// See spec/graph 3.3, 4.6
#include <fmt/format.h>

#include "runtime/graph/graph.h"

namespace kiln::graph {

uint32_t Graph::FailPass(PassId pass, Where where) {
  if (pass.index == kPoisoned) {
    return kNone;
  }
  const bool before = pass.frame == previous_.frame && pass.index < previous_.passes.size();
  Fail(before ? "EXPIRED_HANDLE" : "UNKNOWN_HANDLE",
       before
           ? fmt::format("the handle of pass '{}' is of an earlier frame",
                         previous_.PassName(pass.index))
           : fmt::format("no pass has handle {} of frame {}", pass.index, pass.frame & kSerialMask),
       kNone, kNone, where);
  return kNone;
}

// The version in this frame that stands for one that the last frame kept.
uint32_t Graph::Revive(uint32_t previous) {
  if (revived_[previous] != kNone) {
    return revived_[previous];
  }
  ChainRow chain = previous_.chains[previous_.versions[previous].chain];
  chain.object = Object::kHistory;
  chain.previous = previous;
  chain.usage = 0;
  const uint32_t version = AddChain(chain, {}, previous_.VersionName(previous));
  revived_[previous] = version;
  return version;
}

uint32_t Graph::FindVersion(const Handle& handle) const {
  if (handle.frame == rows_.frame && handle.index < rows_.versions.size()) {
    return handle.index;
  }
  const bool last = handle.frame == previous_.frame && handle.index < revived_.size();
  return last ? revived_[handle.index] : kNone;
}

uint32_t Graph::ReviveVersion(const Handle& handle, uint32_t pass, Where where) {
  if (handle.index == kPoisoned) {
    return kNone;
  }
  const auto is_kind = [&](const Declarations& rows) {
    return handle.index < rows.versions.size() &&
           rows.chains[rows.versions[handle.index].chain].kind == handle.kind;
  };
  const uint32_t age = (rows_.frame - handle.frame) & kSerialMask;
  const bool known = handle.index != kNone && (handle.frame & ~kSerialMask) == identity_;
  if (known && age == 1 && is_kind(previous_)) {
    if (previous_.versions[handle.index].temporal != 0) {
      return Revive(handle.index);
    }
    Fail("EXPIRED_HANDLE",
         fmt::format("uses '{}' of frame {}, which was not kept for the next frame",
                     previous_.VersionName(handle.index), handle.frame & kSerialMask),
         pass, kNone, where);
    return kNone;
  }
  if (known && age > 1 && age < kSerialMask / 2) {
    Fail(handle.temporal ? "EXPIRED_TEMPORAL_HANDLE" : "EXPIRED_HANDLE",
         fmt::format("uses handle {} of frame {}", handle.index, handle.frame & kSerialMask), pass,
         kNone, where);
    return kNone;
  }
  Fail("UNKNOWN_HANDLE",
       handle.index == kNone
           ? std::string("uses a null handle")
           : fmt::format("uses handle {} of frame {}, which this graph did not give out",
                         handle.index, handle.frame & kSerialMask),
       pass, kNone, where);
  return kNone;
}

}  // namespace kiln::graph
