// SPDX-License-Identifier: MIT
// Functions of a variant -> code objects, as long as a module has room for them. Few lines of
// source may ask for gigabytes of words, so what an entry point reaches is counted while it is
// lowered and not when all of it is there. See spec/daemon 10
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/threads/stop.h"
#include "compiler/emit/spirv/code_object_table.h"
#include "compiler/ir/specialised.h"

namespace kiln::spirv {

// `lower_decl` and `lower_region` lower and bind what is new of a declaration and a region. Gives
// the entry points whose code alone has more words than a module may have; which these are does not
// depend on what was lowered before. The words counted are in every module of the entry point:
// those of live regions, and one for each function, which has an end. A function that is known
// costs one look-up, because this is called for every variant.
template <class LowerDecl, class LowerRegion>
std::vector<uint32_t> PrepareFunctions(const ir::SpecialisedProgram& variant,
                                       CodeObjectTable& table, LowerDecl lower_decl,
                                       LowerRegion lower_region) {
  std::vector<uint32_t> oversized;
  for (uint32_t i = 0; i < variant.entries.size(); ++i) {
    uint64_t words = 0;
    for (const ir::FunctionRef* function : variant.entries[i].functions) {
      uint64_t& prepared = table.PreparedWords(*function);
      if (prepared != 0) {
        words += prepared;
      } else {
        lower_decl(*function->signature);
        uint64_t own = 1;
        for (const ir::RegionRef& ref : function->regions) {
          CheckStop();
          lower_region(*ref.specialised);
          own += table.store().PartWords(table.Find(ref.specialised));
          if (words + own > table.most_words()) {
            break;
          }
        }
        words += own;
        // Otherwise the function is looked at again: its regions are not all there.
        prepared = words > table.most_words() ? 0 : own;
      }
      if (words > table.most_words()) {
        oversized.push_back(i);
        break;
      }
    }
  }
  return oversized;
}

}  // namespace kiln::spirv
