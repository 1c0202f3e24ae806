// SPDX-License-Identifier: MIT
// Most functions work item by item, where a scalar counts for each item of the other operands. The
// rest - sums of products, matrices, packing - is written out here over items.
#include "compiler/front/wgsl/sema/evaluate.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/front/wgsl/sema/evaluate_scalar.h"

namespace kiln::wgsl::front {
namespace {

// Words of all operands, item after item; matrices column by column. The scalar of the first
// operand says in which width things are computed. The first fault is kept, and what follows it
// is worthless: its words only keep the loops simple.
class Evaluation {
 public:
  explicit Evaluation(std::span<const Operand> operands)
      : x_(operands), scalar_(operands[0].scalar) {}

  FunctionResult Run(Function function) {
    if (!Whole(function)) {
      Items(function);
    }
    return fault_.empty() ? FunctionResult{.words = std::move(words_), .fault = {}}
                          : FunctionResult{.words = {}, .fault = fault_};
  }

 private:
  Word Take(const ScalarResult& folded) {
    if (!folded.ok() && fault_.empty()) {
      fault_ = folded.fault;
    }
    return folded.word;
  }
  Word Of(Function function, std::initializer_list<Word> operands) {
    return Take(EvaluateScalar(function, scalar_,
                               std::span<const Word>(operands.begin(), operands.size())));
  }
  // A scalar beside a vector counts for each of its items.
  static Word Item(const Operand& operand, size_t i) {
    return operand.words[operand.words.size() == 1 ? 0 : i];
  }

  void Items(Function function) {
    size_t count = 0;
    for (const Operand& operand : x_) {
      count = std::max(count, operand.words.size());
    }
    for (size_t i = 0; i < count; ++i) {
      std::vector<Word> items;
      for (const Operand& operand : x_) {
        items.push_back(Item(operand, i));
      }
      words_.push_back(Take(EvaluateScalar(function, scalar_, items)));
    }
  }

  // From the left, each product and sum rounded to the width of the operands, so that a
  // constant is what a device may compute.
  Word Dot(std::span<const Word> a, std::span<const Word> b) {
    Word sum = Of(Function::kMul, {a[0], b[0]});
    for (size_t i = 1; i < a.size(); ++i) {
      sum = Of(Function::kAdd, {sum, Of(Function::kMul, {a[i], b[i]})});
    }
    return sum;
  }
  // The length of a scalar is its absolute value: a root of its square would overflow for large
  // ones.
  Word Length(std::span<const Word> a) {
    return a.size() == 1 ? Of(Function::kAbs, {a[0]}) : Of(Function::kSqrt, {Dot(a, a)});
  }

  // Functions that look at all items at once; false for the others.
  bool Whole(Function function) {
    switch (function) {
      case Function::kMul:
        return Multiplied();
      case Function::kAll:
      case Function::kAny: {
        const auto set = [](Word word) { return word != 0; };
        const bool all = function == Function::kAll;
        words_ = {Word{all ? std::ranges::all_of(x_[0].words, set)
                           : std::ranges::any_of(x_[0].words, set)}};
        return true;
      }
      case Function::kDot:
        words_ = {Dot(x_[0].words, x_[1].words)};
        return true;
      case Function::kLength:
        words_ = {Length(x_[0].words)};
        return true;
      case Function::kDistance: {
        std::vector<Word> apart;
        for (size_t i = 0; i < x_[0].words.size(); ++i) {
          apart.push_back(Of(Function::kSub, {x_[0].words[i], x_[1].words[i]}));
        }
        words_ = {Length(apart)};
        return true;
      }
      case Function::kNormalize: {
        const Word length = Length(x_[0].words);
        for (const Word word : x_[0].words) {
          words_.push_back(Of(Function::kDiv, {word, length}));
        }
        return true;
      }
      // The part i of a cross product has the products of the two parts that follow i, in a
      // circle.
      case Function::kCross:
        for (size_t i = 0; i < 3; ++i) {
          const size_t j = (i + 1) % 3;
          const size_t k = (i + 2) % 3;
          words_.push_back(
              Of(Function::kSub, {Of(Function::kMul, {x_[0].words[j], x_[1].words[k]}),
                                  Of(Function::kMul, {x_[0].words[k], x_[1].words[j]})}));
        }
        return true;
      case Function::kReflect:
      case Function::kRefract:
      case Function::kFaceForward:
        Mirrored(function);
        return true;
      // Item (row, column) lies at column * rows + row. The result has the rows of the operand
      // as columns, so its outer loop is over these.
      case Function::kTranspose:
        for (uint32_t row = 0; row < x_[0].rows; ++row) {
          for (uint32_t column = 0; column < x_[0].columns; ++column) {
            words_.push_back(x_[0].words[column * x_[0].rows + row]);
          }
        }
        return true;
      // Laplace, along the first column. Matrices have at most four rows, so that are at most
      // 24 products.
      case Function::kDeterminant: {
        std::vector<uint32_t> rows(x_[0].rows);
        for (uint32_t i = 0; i < rows.size(); ++i) {
          rows[i] = i;
        }
        words_ = {Determinant(rows, 0)};
        return true;
      }
      case Function::kFrexp:
      case Function::kModf:
        Parts(function);
        return true;
      default:
        return Packed(function);
    }
  }

  // Matrices; false if both are scalars or vectors.
  // A product of a matrix with a matrix, or with a vector on either side. Scalars beside a
  // matrix, and vectors beside vectors, are items.
  bool Multiplied() {
    const Operand& a = x_[0];
    const Operand& b = x_[1];
    const bool both = a.words.size() > 1 && b.words.size() > 1;
    if (!both || (a.columns == 1 && b.columns == 1)) {
      return false;
    }
    // A vector on the left is one row.
    const uint32_t rows = a.columns == 1 ? 1 : a.rows;
    const uint32_t inner = a.columns == 1 ? a.rows : a.columns;
    for (uint32_t column = 0; column < b.columns; ++column) {
      for (uint32_t row = 0; row < rows; ++row) {
        std::vector<Word> left;
        for (uint32_t k = 0; k < inner; ++k) {
          left.push_back(a.words[k * rows + row]);
        }
        // Column k of the result is the left side times column k of the right one.
        words_.push_back(Dot(left, b.words.subspan(size_t{column} * inner, inner)));
      }
    }
    return true;
  }

  // Of the columns from `column` on and those rows.
  // The determinant of what is left of `x_[0]` if the columns before `column` and the rows that
  // are not in `rows` are taken out. Recursion is at most four deep.
  Word Determinant(const std::vector<uint32_t>& rows, uint32_t column) {
    const auto at = [&](uint32_t row) { return x_[0].words[column * x_[0].rows + row]; };
    if (rows.size() == 1) {
      return at(rows[0]);
    }
    Word sum = WordOf(0.0);
    for (size_t i = 0; i < rows.size(); ++i) {
      std::vector<uint32_t> others = rows;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const Word part = Of(Function::kMul, {at(rows[i]), Determinant(others, column + 1)});
      // Signs alternate along a column, beginning with plus.
      sum = Of(i % 2 == 0 ? Function::kAdd : Function::kSub, {sum, part});
    }
    return sum;
  }

  // WGSL, "Numeric Built-in Functions": faceForward, reflect and refract. The last two differ
  // in the factors of the vector and of the normal alone.
  void Mirrored(Function function) {
    const std::span<const Word> a = x_[0].words;
    const std::span<const Word> b = x_[1].words;
    // `a` if the last two point away from each other, else its opposite.
    if (function == Function::kFaceForward) {
      const bool back = FloatOf(Dot(b, x_[2].words)) < 0;
      for (const Word word : a) {
        words_.push_back(back ? word : Of(Function::kNegate, {word}));
      }
      return;
    }
    // Inner sums are doubles here and each item is rounded once: WGSL states the accuracy of a
    // formula, not its steps.
    const double dot = FloatOf(Dot(b, a));
    double eta = 1;
    double scale = 2 * dot;
    if (function == Function::kRefract) {
      eta = FloatOf(x_[2].words[0]);
      // Below zero light does not come through: the result is the zero vector.
      const double k = 1 - eta * eta * (1 - dot * dot);
      if (k < 0) {
        words_.assign(a.size(), WordOf(0.0));
        return;
      }
      scale = eta * dot + std::sqrt(k);
    }
    for (size_t i = 0; i < a.size(); ++i) {
      words_.push_back(Take(RoundTo(scalar_, eta * FloatOf(a[i]) - scale * FloatOf(b[i]))));
    }
  }

  // WGSL has two results as one struct, so first all items of the first member, then all of the
  // second.
  void Parts(Function function) {
    std::vector<Word> second;
    for (const Word word : x_[0].words) {
      const double value = FloatOf(word);
      if (function == Function::kFrexp) {
        int exponent = 0;
        words_.push_back(WordOf(std::frexp(value, &exponent)));
        second.push_back(WordOf(int64_t{exponent}));
      } else {
        // The fraction has the sign of the value: modf(-1.5) is -0.5 and -1.
        const double whole = std::trunc(value);
        words_.push_back(WordOf(value - whole));
        second.push_back(WordOf(whole));
      }
    }
    words_.insert(words_.end(), second.begin(), second.end());
  }

  // --- packing: bytes and halves of a word, the first lowest
  // Item i lies at bit i * width. `bits_of` gives more bits than `width`; the mask drops them,
  // which makes two's complement of negative numbers.
  void Pack(uint32_t width, auto bits_of) {
    uint64_t made = 0;
    for (size_t i = 0; i < x_[0].words.size(); ++i) {
      const uint64_t mask = (uint64_t{1} << width) - 1;
      made |= (static_cast<uint64_t>(bits_of(x_[0].words[i])) & mask) << (i * width);
    }
    words_ = {static_cast<uint32_t>(made)};
  }
  // The word cut into 32 / width items.
  void Unpack(uint32_t width, auto value_of) {
    const auto bits = static_cast<uint32_t>(x_[0].words[0]);
    for (uint32_t i = 0; i < 32 / width; ++i) {
      words_.push_back(value_of(bits >> (i * width) & ((1u << width) - 1)));
    }
  }
  // The sign of an item is its highest bit: moved to the top of a word and back, it fills what
  // is above.
  static int32_t Signed(uint32_t bits, uint32_t width) {
    return static_cast<int32_t>(bits << (32 - width)) >> (32 - width);
  }
  // WGSL, "Data Packing Built-in Functions": floor(0.5 + scale * x) with x cut to -1 or 0, and
  // 1.
  static int64_t Normal(Word word, double least, double scale) {
    return static_cast<int64_t>(std::floor(0.5 + scale * std::clamp(FloatOf(word), least, 1.0)));
  }

  bool Packed(Function function) {
    switch (function) {
      case Function::kPack4x8Snorm:
        Pack(8, [](Word w) { return Normal(w, -1, 127); });
        return true;
      case Function::kPack4x8Unorm:
        Pack(8, [](Word w) { return Normal(w, 0, 255); });
        return true;
      case Function::kPack2x16Snorm:
        Pack(16, [](Word w) { return Normal(w, -1, 32767); });
        return true;
      case Function::kPack2x16Unorm:
        Pack(16, [](Word w) { return Normal(w, 0, 65535); });
        return true;
      case Function::kPack2x16Float:
        Pack(16, [&](Word w) {
          return BitsOf(ScalarKind::kF16, Take(RoundTo(ScalarKind::kF16, FloatOf(w))));
        });
        return true;
      case Function::kPack4xI8:
      case Function::kPack4xU8:
        Pack(8, [](Word w) { return w; });
        return true;
      case Function::kPack4xI8Clamp:
        Pack(8, [](Word w) { return std::clamp<int64_t>(IntOf(w), -128, 127); });
        return true;
      case Function::kPack4xU8Clamp:
        Pack(8, [](Word w) { return std::min<Word>(w, 255); });
        return true;
      default:
        return Unpacked(function);
    }
  }

  bool Unpacked(Function function) {
    // Both -128 / 127 and -127 / 127 are -1. Results are f32, so what a double has more is
    // rounded away.
    const auto normal = [](int32_t value, double most) {
      return WordOf(static_cast<double>(static_cast<float>(std::max(value / most, -1.0))));
    };
    switch (function) {
      case Function::kUnpack4x8Snorm:
        Unpack(8, [&](uint32_t b) { return normal(Signed(b, 8), 127.0); });
        return true;
      case Function::kUnpack4x8Unorm:
        Unpack(8, [&](uint32_t b) { return normal(static_cast<int32_t>(b), 255.0); });
        return true;
      case Function::kUnpack2x16Snorm:
        Unpack(16, [&](uint32_t b) { return normal(Signed(b, 16), 32767.0); });
        return true;
      case Function::kUnpack2x16Unorm:
        Unpack(16, [&](uint32_t b) { return normal(static_cast<int32_t>(b), 65535.0); });
        return true;
      case Function::kUnpack2x16Float:
        Unpack(16, [&](uint32_t b) { return Take(FromBits(ScalarKind::kF16, b)); });
        return true;
      case Function::kUnpack4xI8:
        Unpack(8, [](uint32_t b) { return WordOf(int64_t{Signed(b, 8)}); });
        return true;
      case Function::kUnpack4xU8:
        Unpack(8, [](uint32_t b) { return Word{b}; });
        return true;
      // Four products of bytes. Their sum fits in 32 bits with either sign.
      case Function::kDot4U8Packed:
      case Function::kDot4I8Packed: {
        const bool is_signed = function == Function::kDot4I8Packed;
        int64_t sum = 0;
        for (uint32_t i = 0; i < 32; i += 8) {
          const auto a = static_cast<uint32_t>(x_[0].words[0] >> i & 255u);
          const auto b = static_cast<uint32_t>(x_[1].words[0] >> i & 255u);
          sum += is_signed ? int64_t{Signed(a, 8)} * Signed(b, 8) : int64_t{a} * b;
        }
        words_ = {WordOf(sum)};
        return true;
      }
      default:
        return false;
    }
  }

  const std::span<const Operand> x_;
  const ScalarKind scalar_;
  std::vector<Word> words_;
  std::string_view fault_;
};

}  // namespace

FunctionResult Evaluate(Function function, std::span<const Operand> operands) {
  return Evaluation(operands).Run(function);
}

}  // namespace kiln::wgsl::front
