// SPDX-License-Identifier: MIT
// What the walk over one variant leaves for the walk over the next: versions of functions,
// specialised settings, parts that are known by option values, and memory. It never changes a
// result. It is kept by the Units from which the walks get their specialised units.
#pragma once

#include <map>
#include <vector>

#include "compiler/base/bitset.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/queries/decision_tree.h"
#include "compiler/resolve/queries/query_cache.h"
#include "compiler/resolve/reachability.h"
#include "compiler/resolve/versions/entry_interface.h"

namespace kiln::resolve {

struct SpecialiserCache {
  SpecialiserCache(const Program& program, CachePolicy serves);

  // Before another variant, where nothing is remembered: keeps memory only.
  void Forget();

  // Of what is known by option values.
  size_t bytes_used() const {
    return reach.bytes_used() + decls.bytes_used() + entries.bytes_used() +
           closed_settings.bytes_used();
  }

  Reachability reach;
  OptionCache<bool> constants;  // all of them, if they say nothing new
  DecisionTree::Root constants_root;
  OptionCache<const ir::SpecialisedDecl*> decls;  // null: not live, or wrong
  std::vector<DecisionTree::Root> interface;      // of decls, by place in Program::interface()
  OptionCache<ir::DeclId> entries;                // invalid: it can be none
  std::vector<DecisionTree::Root> entry_roots;
  OptionCache<std::vector<const EntryInterface*>> entry_interfaces;  // empty: one is wrong
  DecisionTree::Root interfaces_root;
  EntryInterfaces known_interfaces;
  OptionCache<const Diagnosed<std::vector<ir::SpecialisedSetting>>*> closed_settings;
  std::map<uint32_t, DecisionTree::Root> settings_roots;  // by outputs
  std::map<uint32_t, QueryCache<Diagnosed<std::vector<ir::SpecialisedSetting>>>>
      settings;  // by outputs
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
