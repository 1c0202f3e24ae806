// SPDX-License-Identifier: MIT
// A frame as its file describes it, names and all. Plain data: made by ParseFrame, or by hand in
// tests; whether it breaks a rule is found when it is declared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph/declarations.h"
#include "runtime/graph/types.h"

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

}  // namespace kiln::graph
