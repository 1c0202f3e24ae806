// SPDX-License-Identifier: MIT
// Literals as sets of points. First one literal, then the literals that all failing points have
// (a conjunction), then those that no other point has (a disjunction); in general, terms that cover
// the failing points, each made as short as it stays true to them.
#include "compiler/driver/failure_condition.h"

#include <algorithm>
#include <optional>

#include "compiler/base/check.h"

namespace kiln::driver {
namespace {

using Points = std::vector<bool>;

struct Literal {
  std::string text;
  Points holds;
};

bool Contains(const Points& whole, const Points& part) {
  for (size_t i = 0; i < whole.size(); ++i) {
    if (part[i] && !whole[i]) {
      return false;
    }
  }
  return true;
}

Points Both(const Points& a, const Points& b) {
  Points both(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    both[i] = a[i] && b[i];
  }
  return both;
}

Points Either(const Points& a, const Points& b) {
  Points either(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    either[i] = a[i] || b[i];
  }
  return either;
}

std::string Joined(const std::vector<const Literal*>& literals, std::string_view with) {
  std::string text;
  for (const Literal* literal : literals) {
    text += (text.empty() ? "" : " " + std::string(with) + " ") + literal->text;
  }
  return text;
}

class Search {
 public:
  Search(const std::vector<Axis>& axes, const Points& failing) : failing_(failing) {
    size_t stride = failing.size();
    for (const Axis& axis : axes) {
      stride /= axis.values.size();
      AddLiterals(axis, stride);
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
  void AddLiterals(const Axis& axis, size_t stride) {
    const size_t count = axis.values.size();
    const auto holds = [&](auto fits) {
      Points points(failing_.size());
      for (size_t i = 0; i < points.size(); ++i) {
        points[i] = fits(i / stride % count);
      }
      return points;
    };
    if (count < 2) {
      return;
    }
    if (axis.is_flag) {
      literals_.push_back({axis.name, holds([](size_t v) { return v == 1; })});
      literals_.push_back({"!" + axis.name, holds([](size_t v) { return v == 0; })});
      return;
    }
    for (size_t value = 0; value < count; ++value) {
      literals_.push_back({axis.name + " == " + axis.values[value],
                           holds([value](size_t v) { return v == value; })});
      if (count > 2) {
        literals_.push_back({axis.name + " != " + axis.values[value],
                             holds([value](size_t v) { return v != value; })});
      }
    }
  }

  // Leaves out every literal that the others make superfluous.
  template <class Still>
  static void Shorten(std::vector<const Literal*>& literals, Still still) {
    for (size_t i = literals.size(); i > 0; --i) {
      std::vector<const Literal*> fewer = literals;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i - 1));
      if (still(fewer)) {
        literals = std::move(fewer);
      }
    }
  }

  Points AllOf(const std::vector<const Literal*>& literals) const {
    Points points(failing_.size(), true);
    for (const Literal* literal : literals) {
      points = Both(points, literal->holds);
    }
    return points;
  }

  std::optional<std::string> FindConjunction() const {
    std::vector<const Literal*> common;
    for (const Literal& literal : literals_) {
      if (Contains(literal.holds, failing_)) {
        common.push_back(&literal);
      }
    }
    const auto exact = [&](const std::vector<const Literal*>& some) {
      return AllOf(some) == failing_;
    };
    if (!exact(common)) {
      return std::nullopt;
    }
    Shorten(common, exact);
    return Joined(common, "&&");
  }

  std::optional<std::string> FindDisjunction() const {
    std::vector<const Literal*> inside;
    for (const Literal& literal : literals_) {
      if (Contains(failing_, literal.holds)) {
        inside.push_back(&literal);
      }
    }
    const auto exact = [&](const std::vector<const Literal*>& some) {
      Points points(failing_.size());
      for (const Literal* literal : some) {
        points = Either(points, literal->holds);
      }
      return points == failing_;
    };
    if (!exact(inside)) {
      return std::nullopt;
    }
    Shorten(inside, exact);
    return Joined(inside, "||");
  }

  // A term that holds at `point` and nowhere but at failing points.
  std::vector<const Literal*> TermAt(size_t point) const {
    std::vector<const Literal*> term;
    for (const Literal& literal : literals_) {
      if (literal.holds[point]) {
        term.push_back(&literal);
      }
    }
    Shorten(term, [&](const std::vector<const Literal*>& some) {
      return Contains(failing_, AllOf(some));
    });
    return term;
  }

  std::string CoverWithTerms() const {
    Points left = failing_;
    std::string text;
    for (size_t point = 0; point < left.size(); ++point) {
      if (!left[point]) {
        continue;
      }
      const std::vector<const Literal*> term = TermAt(point);
      const Points covered = AllOf(term);
      for (size_t i = 0; i < left.size(); ++i) {
        left[i] = left[i] && !covered[i];
      }
      text += (text.empty() ? "" : " || ") + Joined(term, "&&");
    }
    return text;
  }

  const Points& failing_;
  std::vector<Literal> literals_;
};

}  // namespace

std::string ShortestCondition(const std::vector<Axis>& axes, const std::vector<bool>& failing) {
  size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
  }
  KILN_CHECK(count == failing.size(), "{} variants, {} outcomes", count, failing.size());
  const auto failed = std::ranges::count(failing, true);
  if (failed == 0 || static_cast<size_t>(failed) == failing.size()) {
    return {};
  }
  return Search(axes, failing).Run();
}

}  // namespace kiln::driver
