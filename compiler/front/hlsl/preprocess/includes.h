// SPDX-License-Identifier: MIT
// #include: finds the file in the declared set, beside the including file and in the include roots,
// writes down what it probed, and begins to read it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/front/hlsl/preprocess/expander.h"
#include "compiler/front/hlsl/preprocess/file_stack.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/source/source_file.h"

namespace kiln::hlsl {

class Includes {
 public:
  struct Inputs {
    const SourceSet& set;
    std::span<const std::string> roots;
  };
  // All outlive this.
  Includes(const Inputs& inputs, FileTable& table, FileStack& files, PreprocessState& state);

  // Obeys the directive, of which the line expander will give the argument.
  void Include(const DirectiveLine& line);

 private:
  // What a directive names.
  struct Name {
    std::string path;
    bool quoted = false;
    uint32_t origin = 0;
  };

  std::optional<Name> ReadName(const DirectiveLine& line);
  std::optional<Name> ExpandName(const DirectiveLine& line);
  const SourceFile* Find(const Name& name);
  const SourceFile* Probe(const std::string& path, uint32_t origin);
  void Enter(const SourceFile& source, uint32_t origin);

  Inputs inputs_;
  FileTable& table_;
  FileStack& files_;
  PreprocessState& state_;
  LineSource line_;
  Expander expander_;
  FlatMap<std::string, uint32_t> probes_;  // rows of the stream's
  uint64_t probed_bytes_ = 0;              // of their paths
  uint32_t entered_ = 0;
};

}  // namespace kiln::hlsl
