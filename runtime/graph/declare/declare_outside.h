// SPDX-License-Identifier: MIT
// What comes from outside of the frame or stays after it: imports, histories, exports, outputs. See
// spec/graph 4.5, 4.6
// Private to runtime/graph.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/graph/declare/declare_access.h"
#include "runtime/graph/declare/declare_semaphores.h"

namespace kiln::graph {

struct ImportRequest {
  std::string_view name;
  ChainRow chain;
  Access state;
  ChainBinding binding;
  const SemaphoreUse* acquire;
};

class OutsideDeclarer {
 public:
  OutsideDeclarer(FrameRows& frame, HandleTable& handles, AccessDeclarer& accesses,
                  SemaphoreDeclarer& semaphores)
      : frame_(frame),
        rows_(frame.rows()),
        handles_(handles),
        accesses_(accesses),
        semaphores_(semaphores) {}

  // The first version of the chain, or kPoisoned.
  uint32_t Import(const ImportRequest& import, Where where);
  // Requires: there can be such a resource.
  uint32_t History(std::string_view name, const ChainRow& desc, const ChainBinding& binding,
                   const Handle& previous);
  void Export(const Handle& handle, const Access& final_state, Where where);
  void Output(const Handle& handle, Where where);

 private:
  FrameRows& frame_;
  Declarations& rows_;  // of frame_
  HandleTable& handles_;
  AccessDeclarer& accesses_;
  SemaphoreDeclarer& semaphores_;
};

}  // namespace kiln::graph
