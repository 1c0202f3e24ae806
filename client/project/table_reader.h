// SPDX-License-Identifier: MIT
// Typed reads of TOML tables that remember the first thing that is wrong, with its place: after it
// every read gives a default, and whoever reads asks once at the end. Private to client/project.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "client/project/manifest.h"

namespace kiln::project {

ManifestPlace PlaceOf(const toml::node& node);

// Of names of programs, passes, materials and packs.
bool IsNameCharacter(char c);

class TableReader {
 public:
  explicit TableReader(std::string path) : path_(std::move(path)) {}

  // "FILE:LINE:COLUMN: text".
  void Fail(ManifestPlace place, const std::string& text) { Fail(place, text, "MANIFEST_WRONG"); }
  void Fail(const toml::node& node, const std::string& text) { Fail(PlaceOf(node), text); }
  // A limit of spec/daemon 10.
  void FailAtLimit(ManifestPlace place, std::string_view limit, uint64_t max, uint64_t actual);
  // Before `bytes` that are written once are copied into one more program. False: the copies of the
  // manifest are more than may be, which is noted, and this one is not to be made.
  bool MayInherit(ManifestPlace place, uint64_t bytes);
  const std::optional<Error>& error() const { return error_; }

  // Unknown keys are errors that name the closest known one.
  void CheckKeys(const toml::table& table, std::string_view what,
                 const std::vector<std::string_view>& known);

  std::string Text(const toml::table& table, std::string_view key, std::string_view fallback);
  // The same, without control characters: it is printed and sent.
  std::string PrintableText(const toml::table& table, std::string_view key);
  bool Flag(const toml::table& table, std::string_view key);
  // A number of [0, most]; `fallback` if there is none.
  uint64_t Number(const toml::table& table, std::string_view key, uint64_t most,
                  uint64_t fallback = 0);
  std::vector<std::string> Texts(const toml::table& table, std::string_view key);
  std::vector<ManifestExpression> Expressions(const toml::table& table, std::string_view key);
  // Logical paths of sources: relative, below the root.
  std::vector<std::string> Sources(const toml::table& table);
  std::map<std::string, std::string> TextMap(const toml::table& table, std::string_view key);
  // Stage -> function.
  std::map<std::string, std::string> EntryPoints(const toml::table& table);
  const toml::table* Table(const toml::table& table, std::string_view key);
  // The tables of an array such as [[program]]; none if there is no such key.
  std::vector<const toml::table*> Tables(const toml::table& table, std::string_view key);
  ManifestValue Value(const toml::node& node);
  ManifestOptions Options(const toml::table& table, std::string_view key);
  std::map<std::string, ManifestAxis> Axes(const toml::table& table);
  // [A-Za-z0-9_./-]{1,128}; `what` as in "a program".
  std::string Name(const toml::table& table, std::string_view what);

 private:
  void Fail(ManifestPlace place, const std::string& text, std::string_view reason);
  // Gives every text of a list, with its node; any other element is an error.
  template <class Each>
  void EachText(const toml::table& table, std::string_view key, const Each& each);

  std::string path_;
  std::optional<Error> error_;
  uint64_t inherited_ = 0;  // bytes
};

}  // namespace kiln::project
