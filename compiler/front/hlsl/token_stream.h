// SPDX-License-Identifier: MIT
// A module after preprocessing: what the parser reads, and what later stages need to know about the
// files that it was made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/digest.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/front/hlsl/origins.h"
#include "compiler/front/hlsl/settings.h"
#include "compiler/front/hlsl/symbol_table.h"
#include "compiler/front/hlsl/token.h"
#include "compiler/source/module_text.h"
#include "compiler/source/probe.h"

namespace kiln::hlsl {

// One file of the module; row 0 is the root. A file that is included twice is there once. Offsets
// [first, first + size] are its own, the end of the file among them.
struct ModuleFile {
  std::string path;  // logical
  Digest digest;
  uint32_t first = 0;     // offset in the row of all files
  uint32_t size = 0;      // bytes
  uint32_t included = 0;  // origin of the path of its first include; of the root: none
};

// `order` holds from token `first_token` on (#pragma pack_matrix).
struct PackMatrix {
  uint32_t first_token = 0;
  MatrixOrder order{};
};

// A name that counted as 0 in an #if: HLSL1032 if it turns out to be an option.
struct UndefinedName {
  uint32_t symbol = 0;
  uint32_t origin = 0;
};

struct TokenStream {
  uint32_t module = 0;        // the ordinal that locations name
  std::vector<Token> tokens;  // the last one, and only it, is kEnd
  SymbolTable symbols;
  Origins origins;
  std::vector<ModuleFile> files;
  std::vector<Probe> probes;            // each path once, in the order of asking
  std::vector<PackMatrix> pack_matrix;  // ascending
  std::vector<UndefinedName> undefined_names;
  std::vector<LineMark> line_marks;  // ascending; their paths are symbols

  std::string_view Text(const Token& token) const { return symbols.Text(token.symbol); }

  // Row of `files` that an offset belongs to. O(log files)
  uint32_t FileAt(uint32_t offset) const;
  // The matrix order that holds at a token; `otherwise` before the first #pragma pack_matrix.
  MatrixOrder OrderAt(uint32_t token, MatrixOrder otherwise) const;

  // From token `first` to `last`, both origins (Origins::Cover).
  Location Where(uint32_t first, uint32_t last) const;
  Location Where(uint32_t origin) const { return Where(origin, origin); }
  // A diagnostic there; labels say through which macros (4 at most) and includes the place came to
  // be in the module.
  Diagnostic MakeAt(Code code, uint32_t first, uint32_t last) const;
  Diagnostic MakeAt(Code code, uint32_t origin) const { return MakeAt(code, origin, origin); }
  // The labels of MakeAt for what stands in a context.
  void AddChain(uint32_t context, Diagnostic& diagnostic) const;
};

}  // namespace kiln::hlsl
