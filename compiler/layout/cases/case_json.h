// SPDX-License-Identifier: MIT
// The text of a case file -> JSON, in time linear in its size and without trusting it: depth is
// bounded, keys are unique, and what is wrong is said with its line.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <nlohmann/json.hpp>

#include "compiler/base/result.h"

namespace kiln::layout {

// Keeps the order of the file. Looking a key up takes time in the number of keys of the object:
// what names many things reads them into a map first, and AddMember makes objects.
using Json = nlohmann::ordered_json;

// Errors: kInvalidArgument.
Result<Json> ParseJson(std::string_view text);

// An object that is made member by member. (Json::operator[] looks for the key first, which takes
// time in the square of their number.) Of members with one key the first stays.
class Members {
 public:
  void Add(std::string_view key, Json value) {
    if (keys_.emplace(key).second) {
      object_.emplace_back(std::string(key), std::move(value));
    }
  }
  bool empty() const { return object_.empty(); }
  Json Take() && { return std::move(object_); }

 private:
  Json::object_t object_;
  std::unordered_set<std::string> keys_;
};

// Text of a file for a message: the beginning is enough.
std::string Shortened(std::string_view text);

}  // namespace kiln::layout
