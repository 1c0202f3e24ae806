// SPDX-License-Identifier: MIT
// The deterministic limits: what a source and what is made of it may be at most. Exceeding one is a
// diagnostic, the same everywhere; they decide results, so all of them are in keys. One table has
// their names, ranges and meanings. See spec/daemon 10 class D, spec/cache 2.4.5
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kiln {

struct LanguageLimits {
  uint32_t bindings = 1024;            // of a set of resources
  uint32_t call_depth = 256;           // calls in each other, below an entry point
  uint32_t enum_values = 256;          // of an option
  uint32_t function_rows = 262'144;    // instructions of a closed function
  uint32_t functions = 16'384;         // of a program
  uint32_t identifier = 1024;          // bytes
  uint32_t include_depth = 64;         // includes in each other
  uint32_t include_files = 4096;       // of a module
  uint32_t locals = 65'536;            // variables, arguments and aliases of a function
  uint32_t macro_depth = 256;          // expansions in each other
  uint32_t macro_tokens = 2'000'000;   // that macros of a module make
  uint32_t metadata_bytes = 4u << 20;  // of a variant
  uint32_t nesting = 256;              // brackets, scopes, aliases, structs in each other
  uint32_t nodes = 4'000'000;          // rows of the syntax tree and the IR of a source
  uint32_t options = 4096;             // of a program
  uint32_t parameters = 16'384;        // of a buffer or container
  uint32_t push_constant = 128;        // bytes
  uint32_t source_bytes = 4u << 20;    // of a source
  uint32_t spirv_bytes = 16u << 20;    // of a module
  uint32_t spirv_ids = 1'048'576;      // of a module
  uint32_t string = 65'536;            // bytes between the quotes
  uint32_t terms = 65'536;             // operands of a chain of operators without brackets
  uint32_t tokens = 2'000'000;         // of a source
  uint32_t uniform_buffer = 16'384;    // bytes
  uint32_t value_items = 65'536;  // scalars, vectors and matrices of a local, argument or value
  uint32_t workgroup = 128;       // invocations

  friend bool operator==(const LanguageLimits&, const LanguageLimits&) = default;
};

struct LanguageLimitRow {
  std::string_view name;  // of the configuration and of keys
  uint32_t LanguageLimits::*value;
  // The range that a configuration may choose from. Where the code is not tested beyond the
  // default (depth of the stack, memory, size of metadata), that is the most.
  uint32_t least, most;
  bool is_bytes;  // reads as a size
  std::string_view meaning;
};

// Sorted by name; every field of LanguageLimits.
std::span<const LanguageLimitRow> LanguageLimitTable();

}  // namespace kiln
