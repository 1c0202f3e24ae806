// SPDX-License-Identifier: MIT
// Frames as JSON: the description that people, tests and `kiln graph` hand to the planner, and the
// same written from a live graph. The format is in docs/RENDER_GRAPH.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/graph/graph.h"

namespace kiln::graph {

struct FileResource {
  std::string name;
  ResourceKind kind = ResourceKind::kTexture;
  TextureDesc texture;
  BufferDesc buffer;
  std::string unknown_format;  // the text, if it names none; or empty
  bool described = false;      // has a size of its own
  bool imported = false;
  Access state;          // of an import
  std::string previous;  // version of the last frame, or empty
};

struct FileAccess {
  std::string resource;
  std::string result;  // of a write
  Access access;
  ContentKind contents = ContentKind::kAllWritten;
  bool temporal = false;
  bool discard = false;
};

struct FileSemaphoreUse {
  std::string semaphore;
  uint64_t value = 0;
  Stages stages = 0;
};

struct FilePass {
  std::string name;
  PassKind kind = PassKind::kGraphics;
  bool side_effect = false;
  std::vector<FileAccess> reads;
  std::vector<FileAccess> creates;
  std::vector<FileAccess> writes;
  std::vector<FileSemaphoreUse> waits;
  std::vector<FileSemaphoreUse> signals;
};

struct FrameDescription {
  uint32_t frames = 1;
  bool lists_outputs = false;  // without a list everything is wanted: nothing should be culled
  std::vector<FileResource> resources;
  std::vector<FilePass> passes;
  std::vector<std::string> outputs;
};

// Errors: kInvalidArgument, reason MALFORMED_FILE, if the text is no such description. Broken rules
// are found when it is declared.
Result<FrameDescription> ParseFrame(std::string_view text);

// UNSUPPORTED_FORMAT for each resource whose format is no name of one, with the closest name. What
// is declared from such a description breaks the same rule, without the text.
std::vector<GraphError> UnknownFormats(const FrameDescription& description);

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

// The frame that was declared last, as a file. Names that occur twice get a number.
std::string WriteGraphFile(const Graph& graph);

}  // namespace kiln::graph
