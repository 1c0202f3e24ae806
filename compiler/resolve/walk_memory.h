// SPDX-License-Identifier: MIT
// What the walk over one variant leaves for the walk over the next: versions of functions, closed
// settings, parts that are known by option values, and memory. It never changes a result. It is
// kept by the Units from which the walks get their closed units.
#pragma once

#include <map>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/resolve/answer_tree.h"
#include "compiler/resolve/option_tree.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/reach.h"

namespace kiln::resolve {

struct WalkMemory {
  WalkMemory(const Program& program, Serves serves);

  // Before another variant, where nothing is remembered: keeps memory only.
  void Forget();

  // Of what is known by option values.
  size_t bytes_used() const {
    return reach.bytes_used() + decls.bytes_used() + entries.bytes_used() +
           closed_settings.bytes_used();
  }

  Reach reach;
  OptionMemo<bool> constants;  // all of them, if they say nothing new
  OptionTree::Root constants_root;
  OptionMemo<const ir::ClosedDecl*> decls;  // null: not live, or wrong
  std::vector<OptionTree::Root> interface;  // of decls, by place in Program::interface()
  OptionMemo<ir::DeclId> entries;           // invalid: it can be none
  std::vector<OptionTree::Root> entry_roots;
  OptionMemo<const Diagnosed<std::vector<ir::ClosedSetting>>*> closed_settings;
  std::map<uint32_t, OptionTree::Root> settings_roots;                                 // by outputs
  std::map<uint32_t, AnswerTree<Diagnosed<std::vector<ir::ClosedSetting>>>> settings;  // by outputs
  Bitset interface_reads, layout_reads, settings_reads, code_reads;
  Bitset settled;                     // members of containers
  std::vector<ir::DeclId> functions;  // of the entry points
  std::vector<ir::TypeId> pending;
  // By OptionId: how it was listed last, and for which value.
  struct ListedOption {
    ir::OptionUse use;
    uint32_t bits = 0;
    bool is_enum = false;
    bool specialised = false;
    bool known = false;
  };
  std::vector<ListedOption> options;
  std::vector<ir::OptionId> specialised;  // options
  bool remembers = false;                 // more than one variant is walked
};

}  // namespace kiln::resolve
