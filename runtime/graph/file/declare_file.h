// SPDX-License-Identifier: MIT
// FrameDescription -> declarations of a live graph, frame after frame. Broken rules are errors of
// the graph. One thread.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "runtime/graph/file/frame_description.h"
#include "runtime/graph/graph.h"

namespace kiln::graph {

// A description that is declared frame after frame.
class FrameFile {
 public:
  explicit FrameFile(FrameDescription description) : description_(std::move(description)) {}

  const FrameDescription& description() const { return description_; }

  // Begins a frame of the graph and declares it; every pass gets a callback that records nothing.
  void Declare(Graph& graph);

 private:
  struct Version {
    ResourceKind kind = ResourceKind::kTexture;
    TextureId texture;
    BufferId buffer;
  };
  using Versions = std::map<std::string, Version, std::less<>>;
  struct Declaring;

  FrameDescription description_;
  Versions last_;  // handles of the last frame
};

}  // namespace kiln::graph
