// SPDX-License-Identifier: MIT
// Lists of settings in columns (spec/daemon 10 bounds how many there may be): a row is the number
// of its shape and one word for each setting. The points of a batch differ in values and hardly in
// names, so a point takes some words instead of some hundred bytes.
#include "server/compile/rows/option_rows.h"

#include <algorithm>

namespace kiln::compile {
namespace {

// Shapes that a list is held against: lists that set other options each time are no reason to look
// at all shapes for each.
constexpr size_t kRecentShapes = 4;

}  // namespace

// Lists of settings of one batch have few shapes (names, kinds and scopes in order) and many
// values, so a row is the number of its shape and one word for each option. Enum values are words
// of a table, each text once.
uint32_t OptionRows::ShapeOf(std::span<const resolve::OptionSetting> settings) {
  const auto fits = [](const Column& column, const resolve::OptionSetting& setting) {
    const resolve::OptionSetting& known = column.setting;
    return known.name == setting.name && known.kind == setting.kind &&
           known.scope == setting.scope && column.has_text == !setting.text.empty();
  };
  // The latest shapes are looked at, newest first. A shape that is older may be added twice, which
  // costs bytes and nothing else.
  const size_t oldest = shapes_.size() - std::min(shapes_.size(), kRecentShapes);
  for (size_t i = shapes_.size(); i > oldest; --i) {
    if (std::ranges::equal(shapes_[i - 1], settings, fits)) {
      return static_cast<uint32_t>(i - 1);
    }
  }
  Shape shape;
  shape.reserve(settings.size());
  for (const resolve::OptionSetting& setting : settings) {
    Column& column =
        shape.emplace_back(Column{.setting = setting, .has_text = !setting.text.empty()});
    column.setting.text.clear();
    column.setting.bits = 0;
    bytes_ += sizeof(Column) + setting.name.size();
  }
  bytes_ += sizeof(Shape);
  shapes_.push_back(std::move(shape));
  return static_cast<uint32_t>(shapes_.size() - 1);
}

// Found by hash; text and bits together, since the number of an enum's value counts in its own
// enum.
uint32_t OptionRows::WordOf(const resolve::OptionSetting& setting) {
  const std::string& text = setting.text;
  return word_index_.FindOrAdd(
      FlatHash{}(text),
      [&](uint32_t number) {
        return words_[number].text == text && words_[number].bits == setting.bits;
      },
      [&] {
        bytes_ += 2 * sizeof(Word) + text.size();
        words_.push_back({.bits = setting.bits, .text = text});
        return static_cast<uint32_t>(words_.size() - 1);
      });
}

// `first` has 32 bits: kMaxPointBytes bounds the values long before.
void OptionRows::Add(std::span<const resolve::OptionSetting> settings) {
  const uint32_t shape = ShapeOf(settings);
  rows_.push_back({.shape = shape, .first = static_cast<uint32_t>(values_.size())});
  for (const resolve::OptionSetting& setting : settings) {
    values_.push_back(setting.text.empty() ? setting.bits : WordOf(setting));
  }
  bytes_ += sizeof(Row) + settings.size() * sizeof(uint32_t);
}

std::vector<resolve::OptionSetting> OptionRows::At(size_t row) const {
  const Shape& shape = shapes_[rows_[row].shape];
  std::vector<resolve::OptionSetting> settings;
  settings.reserve(shape.size());
  const uint32_t* value = values_.data() + rows_[row].first;
  for (const Column& column : shape) {
    resolve::OptionSetting& setting = settings.emplace_back(column.setting);
    if (column.has_text) {
      const Word& word = words_[*value++];
      setting.text = word.text;
      setting.bits = word.bits;
    } else {
      setting.bits = *value++;
    }
  }
  return settings;
}

void OptionRows::Shrink() {
  rows_.shrink_to_fit();
  values_.shrink_to_fit();
}

}  // namespace kiln::compile
