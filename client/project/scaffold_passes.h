// SPDX-License-Identifier: MIT
// What programs that `kiln init` found draw into: [[pass]] with formats, as far as the words of
// their sources tell. See spec/pso 5.2, 5.3
//
// A pass is the source that declares the colour outputs; programs that are linked with it share it.
// A program without fragment stage has the pass of its first source. The formats are those that
// pipelines get where nobody says any, so that what is written is right until an engine knows
// better.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "client/project/scaffold.h"
#include "client/project/source_words.h"

namespace kiln::project {

class ScaffoldPasses {
 public:
  // Both outlive the object and are of the same files.
  ScaffoldPasses(std::span<const SourceText> sources, std::span<const SourceWords> words)
      : sources_(sources), words_(words) {}

  enum class Stages : uint8_t { kVertex, kVertexAndFragment };
  // The name of the pass of a program of these sources, in link order; empty if it draws into
  // nothing that words tell.
  std::string Add(std::span<const size_t> program, Stages stages);

  // [[pass]] of all that were added, in that order.
  std::string Toml() const;
  size_t size() const { return passes_.size(); }

 private:
  struct Pass {
    std::string name;
    size_t home = 0;  // source that it is named after
    std::vector<OutputWords> outputs;
    bool depth = false;
    bool stencil = false;
  };

  bool Tests(std::span<const size_t> program, std::string_view setting, bool usual) const;
  std::string FreeName(size_t home) const;

  std::span<const SourceText> sources_;
  std::span<const SourceWords> words_;
  std::vector<Pass> passes_;
};

}  // namespace kiln::project
