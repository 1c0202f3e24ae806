// SPDX-License-Identifier: MIT
// Literals as sets of variants. First one literal, then the literals that all failing variants have
// (a conjunction), then those that no other variant has (a disjunction); in general, terms that
// cover the failing variants, each made as short as it stays true to them.
#include "compiler/driver/failure_condition.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/base/check.h"

namespace kiln::driver {
namespace {

constexpr size_t kMaxTerms = 8;  // a longer condition tells nobody anything

// A set of variants as a bit set: a space that is checked has at most some thousands, and
// everything below is intersections and comparisons of such sets.
class Points {
 public:
  explicit Points(size_t size, bool all = false)
      : size_(size), words_((size + 63) / 64, all ? ~uint64_t{0} : 0) {
    // Bits behind the last variant stay zero, so that sets can be compared word by word.
    if (all && size % 64 != 0) {
      words_.back() = (uint64_t{1} << size % 64) - 1;
    }
  }
  explicit Points(const std::vector<bool>& members) : Points(members.size()) {
    for (size_t i = 0; i < members.size(); ++i) {
      if (members[i]) {
        Add(i);
      }
    }
  }

  void Add(size_t point) { words_[point / 64] |= uint64_t{1} << point % 64; }
  bool Has(size_t point) const { return (words_[point / 64] >> point % 64 & 1) != 0; }
  // The first member from `point` on, or size().
  size_t Next(size_t point) const {
    while (point < size_ && !Has(point)) {
      ++point;
    }
    return point;
  }
  size_t size() const { return size_; }

  bool Within(const Points& whole) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      if ((words_[i] & ~whole.words_[i]) != 0) {
        return false;
      }
    }
    return true;
  }
  Points& operator&=(const Points& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= other.words_[i];
    }
    return *this;
  }
  Points& operator|=(const Points& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
    return *this;
  }
  Points& operator-=(const Points& other) {
    for (size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= ~other.words_[i];
    }
    return *this;
  }
  bool operator==(const Points&) const = default;

 private:
  size_t size_ = 0;
  std::vector<uint64_t> words_;
};

struct Literal {
  std::string text;
  Points holds;
};

using Literals = std::vector<const Literal*>;

std::string Joined(const Literals& literals, std::string_view with) {
  std::string text;
  for (const Literal* literal : literals) {
    text += (text.empty() ? "" : " " + std::string(with) + " ") + literal->text;
  }
  return text;
}

// Leaves out every literal, from the last on, that the others make superfluous. `join` adds a
// literal's points to `none`, the points of no literal; `still` tells whether a join will do. Joins
// of all prefixes are kept, so that each literal is tested with one join instead of n. The result
// cannot be shortened further, though another choice might have been shorter: the shortest of all
// is the set cover problem, and nobody would see the difference.
template <class Join, class Still>
Literals Shortened(const Literals& literals, const Points& none, Join join, Still still) {
  std::vector<Points> before{none};  // the join of the first literals, by their number
  for (const Literal* literal : literals) {
    before.push_back(before.back());
    join(before.back(), literal->holds);
  }
  Literals kept;
  Points after = none;
  for (size_t i = literals.size(); i > 0; --i) {
    Points others = before[i - 1];
    join(others, after);
    if (!still(others)) {
      join(after, literals[i - 1]->holds);
      kept.push_back(literals[i - 1]);
    }
  }
  std::ranges::reverse(kept);
  return kept;
}

// The forms are tried in the order in which people understand them: `a`, `a && b`, `a || b`, then
// sums of products. A conjunction is right if the literals that all failing variants share have no
// other variant in common; dually a disjunction. O(literals * variants / 64) for these, times terms
// for the last.
class Search {
 public:
  Search(const TriedVariants& tried, const std::vector<bool>& failing)
      : failing_(failing), all_(failing.size(), true), none_(failing.size()) {
    for (size_t axis = 0; axis < tried.axes.size(); ++axis) {
      AddLiterals(tried, axis);
    }
  }

  std::string Run() const {
    for (const Literal& literal : literals_) {
      if (literal.holds == failing_) {
        return literal.text;
      }
    }
    if (const std::optional<std::string> term = FindConjunction()) {
      return *term;
    }
    if (const std::optional<std::string> term = FindDisjunction()) {
      return *term;
    }
    return CoverWithTerms();
  }

 private:
  // A literal for each value of an axis, and its negation where that is not another value. Literals
  // that hold for all variants or for none say nothing and are left out.
  void AddLiterals(const TriedVariants& tried, size_t axis) {
    const Axis& of = tried.axes[axis];
    const auto add = [&](std::string text, auto fits) {
      Points points(failing_.size());
      for (size_t i = 0; i < points.size(); ++i) {
        const uint32_t value = tried.values[i * tried.axes.size() + axis];
        if (value != kNoValue && fits(value)) {
          points.Add(i);
        }
      }
      if (points != none_ && points != all_) {
        literals_.push_back({std::move(text), std::move(points)});
      }
    };
    if (of.is_flag) {
      add(of.name, [](uint32_t v) { return v == 1; });
      add("!" + of.name, [](uint32_t v) { return v == 0; });
      return;
    }
    // A negation would be a second spelling of the same set, and the first one that fits is shown.
    // With two values `!=` one is `==` the other.
    for (uint32_t value = 0; value < of.values.size(); ++value) {
      add(of.name + " == " + of.values[value], [value](uint32_t v) { return v == value; });
      if (of.values.size() > 2) {
        add(of.name + " != " + of.values[value], [value](uint32_t v) { return v != value; });
      }
    }
  }

  static void And(Points& points, const Points& with) { points &= with; }
  static void Or(Points& points, const Points& with) { points |= with; }

  std::optional<std::string> FindConjunction() const {
    Literals common;
    Points held = all_;
    for (const Literal& literal : literals_) {
      if (failing_.Within(literal.holds)) {
        common.push_back(&literal);
        held &= literal.holds;
      }
    }
    if (held != failing_) {
      return std::nullopt;
    }
    const auto exact = [&](const Points& points) { return points == failing_; };
    return Joined(Shortened(common, all_, And, exact), "&&");
  }

  std::optional<std::string> FindDisjunction() const {
    Literals inside;
    Points held = none_;
    for (const Literal& literal : literals_) {
      if (literal.holds.Within(failing_)) {
        inside.push_back(&literal);
        held |= literal.holds;
      }
    }
    if (held != failing_) {
      return std::nullopt;
    }
    const auto exact = [&](const Points& points) { return points == failing_; };
    return Joined(Shortened(inside, none_, Or, exact), "||");
  }

  // A term that holds at `point` and nowhere but at failing points, if literals can say that.
  // Everything that is true of this variant at once is the narrowest term there is; then as much is
  // left out as can be.
  Literals TermAt(size_t point) const {
    Literals term;
    for (const Literal& literal : literals_) {
      if (literal.holds.Has(point)) {
        term.push_back(&literal);
      }
    }
    return Shortened(term, all_, And,
                     [&](const Points& points) { return points.Within(failing_); });
  }

  // Takes the first failing variant that no term covers and makes the shortest term around it,
  // until all are covered. Gives up when the answer would be longer than anybody reads; the
  // diagnostic then has the numbers without a condition.
  std::string CoverWithTerms() const {
    Points left = failing_;
    std::string text;
    size_t terms = 0;
    for (size_t point = left.Next(0); point < left.size(); point = left.Next(point)) {
      const Literals term = TermAt(point);
      Points covered = all_;
      for (const Literal* literal : term) {
        covered &= literal->holds;
      }
      // Even the narrowest term also holds for a variant that does not fail, so literals cannot say
      // what is asked; or there are too many terms to read.
      if (!covered.Within(failing_) || ++terms > kMaxTerms) {
        return {};
      }
      left -= covered;
      text += (text.empty() ? "" : " || ") + Joined(term, "&&");
    }
    return text;
  }

  const Points failing_;
  const Points all_;
  const Points none_;
  std::vector<Literal> literals_;
};

}  // namespace

TriedVariants EveryCombination(std::vector<Axis> axes) {
  TriedVariants tried{.axes = std::move(axes), .values = {}};
  size_t count = 1;
  for (const Axis& axis : tried.axes) {
    count *= axis.values.size();
  }
  tried.values.reserve(count * tried.axes.size());
  for (size_t i = 0; i < count; ++i) {
    // The last axis varies fastest.
    size_t stride = count;
    for (const Axis& axis : tried.axes) {
      stride /= axis.values.size();
      tried.values.push_back(static_cast<uint32_t>(i / stride % axis.values.size()));
    }
  }
  return tried;
}

std::string ShortestCondition(const TriedVariants& tried, const std::vector<bool>& failing) {
  KILN_CHECK(tried.size() == failing.size(), "{} variants, {} outcomes", tried.size(),
             failing.size());
  const auto failed = std::ranges::count(failing, true);
  if (failed == 0 || static_cast<size_t>(failed) == failing.size()) {
    return {};
  }
  return Search(tried, failing).Run();
}

}  // namespace kiln::driver
