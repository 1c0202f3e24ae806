// SPDX-License-Identifier: MIT
// Static liveness: which options the results of a program can depend on at all, every condition
// taken as unknown. Linked program and entry points -> for every option what of a result can
// consult it, and how many declarations and code regions can; none: it is dead. Over-approximates
// what a build reads. See spec/daemon 6.5.1, spec/cli 6.8
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/resolve/program.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/source/span.h"

namespace kiln::project {

// The parts of spec/rpl 12.3 that can be told without building. Roots of code: the entry points,
// state and colour output containers; of settings: the settings and colour output containers; of
// the layout: the rest of the interface.
struct Liveness {
  // A declaration that consults an option, itself or in a region of it.
  struct Reader {
    std::string name;     // "function apply_fog"
    uint32_t module = 0;  // ordinal
    Span where;           // its name, in the text of the module
  };

  bool code = false;
  bool settings = false;
  bool layout = false;
  uint64_t dependents = 0;
  std::vector<Reader> readers;  // the first of them: link order, order of declaration
  uint64_t readers_in_all = 0;
};

// Readers that are listed, of one option.
inline constexpr size_t kMaxReaders = 64;

// By OptionId. Reached are the roots and what those mention by name. Mentioning a constant is
// mentioning what its value and condition mention. Asks CheckStop (compiler/base/threads/stop).
std::vector<Liveness> LivenessOf(const resolve::Program& program,
                                 std::span<const resolve::EntryPoint> entries);

}  // namespace kiln::project
