// SPDX-License-Identifier: MIT
// Where the engine will be: services are made and answer before the store is open, the engine comes
// after it. See spec/daemon 14.1
//
// Threads: Make by the owner, once; calls see the engine after ServiceState::Ready, whose mutex
// orders them behind it.
#pragma once

#include <memory>
#include <utility>

#include "compiler/base/check.h"
#include "server/rpc/calls/compile_calls.h"

namespace kiln::rpc {

class DeferredEngine {
 public:
  DeferredEngine() = default;
  ~DeferredEngine() {
    if (made_) {
      std::destroy_at(&place_.engine);
    }
  }
  DeferredEngine(const DeferredEngine&) = delete;
  DeferredEngine& operator=(const DeferredEngine&) = delete;

  // To be bound at any time, and used once it was made.
  Engine& engine() { return place_.engine; }

  Engine& Make(Engine engine) {
    KILN_CHECK(!made_);
    made_ = true;
    return *std::construct_at(&place_.engine, std::move(engine));
  }

 private:
  union Place {
    Place() : nothing(0) {}
    ~Place() {}  // NOLINT(modernize-use-equals-default): a union with such a member has no other
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    char nothing;
    Engine engine;
  };
  Place place_;
  bool made_ = false;
};

}  // namespace kiln::rpc
