// SPDX-License-Identifier: MIT
// The files of the page (client/cli/dashboard/page), which are part of the program: nothing is read
// from disk or loaded from elsewhere.
#pragma once

#include <span>
#include <string_view>

namespace kiln::cli {

struct PageFile {
  std::string_view path;  // "/style.css"; of index.html: "/"
  std::string_view type;
  std::string_view text;
};

std::span<const PageFile> PageFiles();

}  // namespace kiln::cli
