// SPDX-License-Identifier: MIT
// Names of options that a result read. Thousands of results of one program have the same few lists,
// so a list is shared: a copy is a pointer, and lists that are one are equal at a glance.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kiln::cache {

// Never changes; any number of threads may share one.
class NameList {
 public:
  using value_type = std::string;
  using const_iterator = std::vector<std::string>::const_iterator;

  NameList() = default;
  NameList(std::vector<std::string> names)  // NOLINT(google-explicit-constructor)
      : names_(names.empty() ? nullptr
                             : std::make_shared<const std::vector<std::string>>(std::move(names))) {
  }
  NameList(std::initializer_list<std::string> names) : NameList(std::vector<std::string>(names)) {}

  const std::vector<std::string>& all() const {
    static const std::vector<std::string> none;
    return names_ == nullptr ? none : *names_;
  }
  // Also what makes it a range, and a span of names.
  const_iterator begin() const { return all().begin(); }
  const_iterator end() const { return all().end(); }
  const std::string* data() const { return all().data(); }
  size_t size() const { return all().size(); }
  bool empty() const { return names_ == nullptr; }
  const std::string& operator[](size_t i) const { return all()[i]; }

  friend bool operator==(const NameList& a, const NameList& b) {
    return a.names_ == b.names_ || a.all() == b.all();
  }

 private:
  std::shared_ptr<const std::vector<std::string>> names_;  // null: there are none
};

}  // namespace kiln::cache
