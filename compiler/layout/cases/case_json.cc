// SPDX-License-Identifier: MIT
#include "compiler/layout/cases/case_json.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

namespace kiln::layout {
namespace {

// The files of this library nest a few levels. The limit comes before the recursion of whoever
// walks over the value.
// Sixty-four levels: far more than any case has, far less than a stack holds.
constexpr size_t kMaxDepth = 64;
// A line of a terminal; what is longer is told with its size.
constexpr size_t kMaxShown = 80;

// Builds the value from the events of the parser. Values stand in their parent's storage, which
// does not move while they are open: only the innermost one grows.
// The library's own reader takes two equal keys in silence and nests without a limit. Files are
// written by hand, and both should be an error with a line.
class Builder : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return Put(value); }
  bool string(string_t& value) override { return Put(std::move(value)); }
  // Text JSON has no binary values; the parser never calls this.
  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(size_t /*size*/) override { return Open(Json::object()); }
  bool start_array(size_t /*size*/) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& key) override {
    if (!open_.back().keys.insert(key).second) {
      return Fail(fmt::format("the key '{}' is there twice in one object", Shortened(key)));
    }
    // The value comes with the next event and fills this place: a key is always followed by one.
    open_.back().value->get_ref<Json::object_t&>().emplace_back(key, nullptr);
    return true;
  }

  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    position_ = position;
    return Fail(error.id == kNumberOverflow ? "a number is too large" : "the text is not JSON");
  }

  Json Take() { return std::move(root_); }
  const std::string& error() const { return error_; }
  size_t position() const { return position_; }  // bytes read; 0: unknown

 private:
  // The number of the library's out_of_range error for numbers.
  static constexpr int kNumberOverflow = 406;
  struct Level {
    Json* value = nullptr;
    std::unordered_set<std::string> keys;
  };

  bool Fail(std::string error) {
    error_ = std::move(error);
    return false;
  }

  // The three places where a value may go: it is the root, an item of a list, or the value of the
  // last key.
  Json* Place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back().value;
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    Json& slot = parent.get_ref<Json::object_t&>().back().second;
    slot = std::move(value);
    return &slot;
  }
  bool Put(Json value) {
    Place(std::move(value));
    return true;
  }
  // Checked at each opening bracket, so no value that is deeper is ever built.
  bool Open(Json value) {
    if (open_.size() == kMaxDepth) {
      return Fail(fmt::format("objects and lists are nested more than {} deep", kMaxDepth));
    }
    Json* place = Place(std::move(value));
    open_.push_back({.value = place, .keys = {}});
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Level> open_;
  std::string error_;
  size_t position_ = 0;
};

}  // namespace

Result<Json> ParseJson(std::string_view text) {
  Builder builder;
  if (Json::sax_parse(text.begin(), text.end(), &builder)) {
    return builder.Take();
  }
  std::string where;
  if (builder.position() != 0) {
    const std::string_view before = text.substr(0, std::min(builder.position(), text.size()));
    where = fmt::format(" (line {})", 1 + std::ranges::count(before, '\n'));
  }
  return Error{.code = ErrorCode::kInvalidArgument,
               .context = fmt::format("{}{}", builder.error(), where),
               .reason = {}};
}

std::string Shortened(std::string_view text) {
  if (text.size() <= kMaxShown) {
    return std::string(text);
  }
  size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80) {
    --end;  // not inside a character
  }
  return fmt::format("{}... ({} bytes)", text.substr(0, end), text.size());
}

}  // namespace kiln::layout
