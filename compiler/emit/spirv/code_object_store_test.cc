// SPDX-License-Identifier: MIT
// The canonical order of globals: whatever was added in whichever order, and however often the
// order was asked for in between.
#include "compiler/emit/spirv/code_object_store.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace kiln::spirv {
namespace {

using spv::Op;

SymbolId Int(CodeObjectStore& store) {
  CodeObjectWriter w;
  w.Op(Part::kDeclarations, Op::OpTypeInt).Use(w.NewId()).Word(32u).Word(0u);
  return store.InternGlobal(w);
}

// Number `i` of a mixed lot: constants, arrays of as many items, specialisation constants.
void AddOne(CodeObjectStore& store, uint32_t i) {
  const SymbolId type = Int(store);
  CodeObjectWriter w;
  w.Op(Part::kDeclarations, Op::OpConstant).Use(type).Use(w.NewId()).Word(i + 1);
  const SymbolId count = store.InternGlobal(w);
  if (i % 3 == 1) {
    CodeObjectWriter array;
    array.Op(Part::kDeclarations, Op::OpTypeArray).Use(array.NewId()).Use(type).Use(count);
    store.InternGlobal(array);
  } else if (i % 3 == 2) {
    CodeObjectWriter spec;
    spec.Op(Part::kDeclarations, Op::OpSpecConstant).Use(type).Use(spec.NewId()).Word(i);
    store.InternGlobal(spec, SymbolKind::kSpecConstant);
  }
}

// The declarations in canonical order, operands as their places in it.
std::vector<uint32_t> Written(const CodeObjectStore& store) {
  std::vector<uint32_t> places(store.symbol_count());
  std::vector<uint32_t> words;
  uint32_t next = 0;
  for (const CodeObjectStore::OrderedGlobal& row : store.order()) {
    places[row.symbol.value] = ++next;
    const Section& section = store[row.object].part(Part::kDeclarations);
    const auto first = static_cast<ptrdiff_t>(words.size());
    words.insert(words.end(), store.WordsOf(section).begin(), store.WordsOf(section).end());
    for (const SymbolRelocation& import : store.ImportsOf(section)) {
      EXPECT_NE(places[import.symbol.value], 0u) << "an operand behind its user";
      words[static_cast<size_t>(first) + import.position] = places[import.symbol.value];
    }
  }
  return words;
}

std::vector<uint32_t> Build(const std::vector<uint32_t>& lot, size_t ask_every) {
  CodeObjectStore store;
  for (size_t i = 0; i < lot.size(); ++i) {
    AddOne(store, lot[i]);
    if (i % ask_every == 0) {
      EXPECT_EQ(store.order().size(), store.global_count());
    }
  }
  return Written(store);
}

TEST(CodeObjectStore, GlobalsInAnyOrder_SameCanonicalOrder) {
  std::vector<uint32_t> lot(200);
  std::iota(lot.begin(), lot.end(), 0u);
  const std::vector<uint32_t> expected = Build(lot, lot.size());
  std::mt19937 random(7);
  for (const size_t ask_every : {1u, 7u, 200u}) {
    std::ranges::shuffle(lot, random);
    EXPECT_EQ(Build(lot, ask_every), expected) << ask_every;
  }
}

TEST(CodeObjectStore, NeedsOfACodeObject_HoldWhatItsOperandsNeed) {
  CodeObjectStore store;
  for (uint32_t i = 0; i < 100; ++i) {
    AddOne(store, i);
  }
  CodeObjectWriter array;  // number 1: three globals lie below its user
  CodeObjectWriter count;
  const SymbolId type = Int(store);
  count.Op(Part::kDeclarations, Op::OpConstant).Use(type).Use(count.NewId()).Word(2u);
  const SymbolId two = store.InternGlobal(count);
  array.Op(Part::kDeclarations, Op::OpTypeArray).Use(array.NewId()).Use(type).Use(two);
  const SymbolId row = store.InternGlobal(array);
  CodeObjectWriter user;
  user.Op(Part::kCode, Op::OpUndef).Use(row).Use(user.NewId());
  const CodeObjectId object = store.Add(user);

  std::vector<uint64_t> expected((store.global_count() + 63) / 64);
  for (const SymbolId symbol : {type, two, row}) {
    const uint32_t bit = store.GlobalOf(symbol).value;
    expected[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  EXPECT_TRUE(std::ranges::equal(store.Globals(store[object]), expected));
}

}  // namespace
}  // namespace kiln::spirv
