// SPDX-License-Identifier: MIT
// Lists of option settings of one program as flat rows of numbers. Neighbouring lists set the same
// options in the same order, so names and types are kept once, as a shape, and each list is a shape
// and its values: some 30 bytes instead of 80 for each setting.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/values/options.h"

namespace kiln::compile {

class OptionRows {
 public:
  void Add(std::span<const resolve::OptionSetting> settings);
  // What was added as number `row`.
  std::vector<resolve::OptionSetting> At(size_t row) const;

  size_t size() const { return rows_.size(); }
  // Roughly the memory of all.
  uint64_t bytes() const { return bytes_; }
  // No other list is added for now.
  void Shrink();

 private:
  struct Column {
    resolve::OptionSetting setting;  // without its value
    bool has_text = false;           // the value is the number of a word
  };
  // A value that is written as a text; its bits may be the number of it in a declaration.
  struct Word {
    uint32_t bits = 0;
    std::string text;
  };
  using Shape = std::vector<Column>;
  struct Row {
    uint32_t shape = 0;
    uint32_t first = 0;  // of its values
  };

  uint32_t ShapeOf(std::span<const resolve::OptionSetting> settings);
  uint32_t WordOf(const resolve::OptionSetting& setting);

  std::vector<Shape> shapes_;
  std::vector<Row> rows_;
  std::vector<uint32_t> values_;
  std::vector<Word> words_;
  InternIndex word_index_;
  uint64_t bytes_ = 0;
};

}  // namespace kiln::compile
