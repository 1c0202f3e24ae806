// SPDX-License-Identifier: MIT
// A row for each party, and never more than so many: whoever has many names makes it forget those
// that it has not seen for longest, not grow.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace kiln::ops {

// One thread at a time.
template <class Row>
class PartyTable {
 public:
  using Rows = std::list<std::pair<std::string, Row>>;

  explicit PartyTable(size_t most) : most_(most) {}
  PartyTable(const PartyTable&) = delete;
  PartyTable& operator=(const PartyTable&) = delete;

  // The row of a party, which is made if need be and is now the one seen last; `forget` is told of
  // a row that has to go for it.
  Row& At(const std::string& party,
          const std::function<void(const std::string&, Row&)>& forget = nullptr) {
    if (const auto found = by_name_.find(party); found != by_name_.end()) {
      rows_.splice(rows_.begin(), rows_, found->second);
      return found->second->second;
    }
    if (rows_.size() >= most_) {
      auto& [name, row] = rows_.back();
      if (forget != nullptr) {
        forget(name, row);
      }
      by_name_.erase(name);
      rows_.pop_back();
    }
    rows_.emplace_front(party, Row());
    by_name_.emplace(rows_.front().first, rows_.begin());
    return rows_.front().second;
  }

  // Null if there is none; does not count as being seen.
  Row* Find(std::string_view party) {
    const auto found = by_name_.find(party);
    return found == by_name_.end() ? nullptr : &found->second->second;
  }

  Rows& rows() { return rows_; }  // the one seen last first; must not be added to or taken from
  size_t size() const { return rows_.size(); }

 private:
  const size_t most_;
  Rows rows_;
  std::map<std::string_view, typename Rows::iterator, std::less<>> by_name_;  // into rows_
};

}  // namespace kiln::ops
