// SPDX-License-Identifier: MIT
#include "tests/hlsl/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace kiln::hlsl {

std::vector<CorpusSource> ReadCorpus() {
  std::vector<CorpusSource> sources;
  for (const auto& entry :
       std::filesystem::directory_iterator(KILN_SOURCE_DIR "/tests/hlsl/corpus")) {
    if (entry.path().extension() != ".hlsl") {
      continue;  // the page, and the folder of renderer_test.py
    }
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    CorpusSource source{.name = entry.path().filename(), .text = text.str()};
    const size_t head = source.text.find("\n\n");
    if (source.text.substr(0, head).find("dialect of 2018") != std::string::npos) {
      source.version = Version::k2018;
    }
    sources.push_back(std::move(source));
  }
  std::ranges::sort(sources, {}, &CorpusSource::name);
  EXPECT_FALSE(sources.empty());
  return sources;
}

}  // namespace kiln::hlsl
