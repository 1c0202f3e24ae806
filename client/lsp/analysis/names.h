// SPDX-License-Identifier: MIT
// Every place of a program where a name stands, and what it stands for: read off the generic IR of
// the linked modules once, under every condition. Definition, references, rename, hover and
// semantic tokens are look-ups in it.
//
// What a name stands for is told by a key, a text that means the same in every program that links
// the same modules:
//
//   g:apply_fog           what a module declares: functions, structs, constants, blocks, options
//   m:surface_t.normal    a field or field alias, of whatever declaration has that name
//   l:/…/pbr.rpl:1042     a local name, by the place of its first declaration
//   b:clamp_f3            an inbuilt function
//   s:cull_mode           a setting
//
// Declarations of one name under different conditions are one thing: who renames one means all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/lsp/analysis/owners.h"
#include "client/lsp/analysis/program.h"

namespace kiln::lsp {

enum class NameRole : uint8_t { kDeclaration, kUse };

struct Occurrence {
  uint32_t module = 0;
  Span bytes;
  uint32_t key = 0;  // number of the key
  NameRole role = NameRole::kUse;
  ir::DeclId decl{};      // of a declaration of a module: the one declared; of a member its owner
  ir::MemberId member{};  // of a field
  ir::LocalId local{};    // of a local name, a candidate
};

class Names {
 public:
  // Requires: program->linked. The program is kept.
  explicit Names(std::shared_ptr<const LinkedSources> program);

  const LinkedSources& program() const { return *program_; }
  // Sorted by module, then by place.
  const std::vector<Occurrence>& occurrences() const { return occurrences_; }
  std::span<const Occurrence> OfModule(uint32_t module) const;
  // The one that covers the byte, or ends at it; null if none does.
  const Occurrence* At(uint32_t module, uint32_t offset) const;
  const std::string& Key(uint32_t number) const { return keys_[number]; }
  // The number of a key; nothing if the program does not have it.
  std::optional<uint32_t> FindKey(const std::string& key) const;
  std::string_view TextAt(const Occurrence& occurrence) const;
  const Owners& owners() const { return owners_; }
  size_t bytes() const {  // of the occurrences
    return occurrences_.capacity() * sizeof(Occurrence);
  }

 private:
  friend class NameCollector;

  std::shared_ptr<const LinkedSources> program_;
  Owners owners_;
  std::vector<Occurrence> occurrences_;
  std::vector<std::string> keys_;
};

}  // namespace kiln::lsp
