// SPDX-License-Identifier: MIT
// Pictures as PNG files: 8-bit RGBA, no time stamp, so equal pixels give equal files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace kiln::preview {

struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<uint8_t> rgba;  // width × height × 4, rows from the top
};

// Errors: kUnavailable if the file cannot be written.
Result<void> WritePng(const std::string& path, const Picture& picture);

// Errors: kNotFound if there is no such file, kCorrupt if it is no PNG or above 16384 × 16384.
Result<Picture> ReadPng(const std::string& path);

// Half the size, each pixel the mean of four. Requires: even width and height.
Picture Halve(const Picture& picture);

}  // namespace kiln::preview
