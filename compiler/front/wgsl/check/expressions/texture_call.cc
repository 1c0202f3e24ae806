// SPDX-License-Identifier: MIT
// A row fits if each of its letters takes the argument at its place; then the arguments are
// converted to what the letters say. Numbers that a row takes as i32 or u32 become i32 if they are
// abstract.
#include "compiler/front/wgsl/check/expressions/texture_call.h"

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/front/wgsl/check/expressions/operation.h"
#include "compiler/front/wgsl/check/expressions/value.h"
#include "compiler/front/wgsl/sema/texture.h"

namespace kiln::wgsl::front {
namespace {

// The letters of parameters and results are those that textures.def explains. The row that fits
// decides what each argument becomes, so a call is looked at twice: once to find the row, once
// to convert.
class TextureCall {
 public:
  TextureCall(CheckContext& context, Function function, std::span<const ExprId> arguments,
              TokenRange at)
      : context_(context),
        function_(function),
        arguments_(arguments.begin(), arguments.end()),
        at_(at) {}

  // Textures and samplers are no places; what is one is a value in a variable.
  ExprId Check() {
    for (ExprId& id : arguments_) {
      const bool place = !context_.IsFailed(id) && context_.Get(id).Is(Expr::kPlace);
      id = place ? ValueOf(context_, id) : id;
      if (context_.IsFailed(id)) {
        return context_.Failed(at_);
      }
    }
    // Rows in the order of the table; no call fits two of them.
    const std::span<const TextureOverload> rows = TextureOverloads();
    for (uint32_t i = 0; i < rows.size(); ++i) {
      if (rows[i].function == function_ && Fits(rows[i])) {
        return Made(rows[i], i);
      }
    }
    context_.Say(context_.At(Code::kWgsl2001, at_)
                     .With("name", FactsOf(function_).name)
                     .With("found", TypesText(context_, arguments_)));
    return context_.Failed(at_);
  }

 private:
  // Letters that this texture has arguments for: the layer only if it has layers.
  // The letters of one call, so that letter and argument have the same number.
  static std::string Letters(const TextureOverload& row, const Type& texture) {
    std::string letters;
    for (const char letter : row.parameters) {
      if (letter != 'y' || IsArrayed(texture.dim)) {
        letters += letter;
        letters += letter == 'g' ? "g" : "";  // two of them
      }
    }
    return letters;
  }

  // Remembers what it found: Made asks for the letters and the texture of the row that fits.
  bool Fits(const TextureOverload& row) {
    const size_t at = row.parameters.find('t');
    if (at >= arguments_.size() || context_.TypeRowOf(arguments_[at]).kind != TypeKind::kTexture ||
        !Takes(row, context_.TypeRowOf(arguments_[at]))) {
      return false;
    }
    texture_ = context_.TypeRowOf(arguments_[at]);
    letters_ = Letters(row, texture_);
    // The offset is always last and may be left out.
    if (letters_.ends_with('o') && arguments_.size() + 1 == letters_.size()) {
      letters_.pop_back();
    }
    if (letters_.size() != arguments_.size() || !Accesses()) {
      return false;
    }
    for (size_t i = 0; i < letters_.size(); ++i) {
      if (!FitsLetter(letters_[i], arguments_[i])) {
        return false;
      }
    }
    return true;
  }

  // Storage textures only load if they can be read and only store if they can be written.
  bool Accesses() const {
    return texture_.texture != TextureClass::kStorage ||
           (function_ == Function::kTextureLoad    ? texture_.access != AccessMode::kWrite
            : function_ == Function::kTextureStore ? texture_.access != AccessMode::kRead
                                                   : true);
  }

  TypeId Floats(uint32_t rows) { return context_.types().Vector(ScalarKind::kF32, rows); }

  // What an argument becomes; invalid if it fits no such letter.
  TypeId TypeFor(char letter, ExprId id) {
    const TypeId type = context_.TypeOf(id);
    const uint32_t rows = CoordinatesOf(texture_.dim);
    // Words keep their type if they are u32, and are i32 else, abstract ones among them.
    const auto words = [&](uint32_t count) {
      const TypeId whole = context_.types().Vector(ScalarKind::kI32, count);
      const TypeId counts = context_.types().Vector(ScalarKind::kU32, count);
      return type == counts ? counts : whole;
    };
    switch (letter) {
      case 't':
        return type;
      case 's':
      case 'x':
        return context_.types().Intern(
            {.kind = TypeKind::kSampler, .count = letter == 'x' ? 1u : 0u});
      case 'c':
      case 'g':
        return Floats(rows);
      case 'i':
        return words(rows);
      case 'n':
      case 'y':
      case 'L':
      case 'm':
        return words(1);
      case 'd':
      case 'l':
      case 'b':
        return Floats(1);
      case 'v':
        return context_.types().Vector(texture_.scalar, 4);
      default:
        return context_.types().Vector(ScalarKind::kI32, rows);
    }
    // A letter says what an argument must convert to by itself.
  }

  bool FitsLetter(char letter, ExprId id) {
    return context_.Get(id).kind >= ExprKind::kConstant &&
           Converts(context_, context_.TypeOf(id), TypeFor(letter, id));
  }

  // Arguments become what the letters say. The number of the row is kept: lowering reads the
  // letters again.
  ExprId Made(const TextureOverload& row, uint32_t number) {
    std::vector<uint32_t> list;
    for (size_t i = 0; i < letters_.size(); ++i) {
      const char letter = letters_[i];
      const bool handle = letter == 't' || letter == 's' || letter == 'x';
      const ExprId id = handle ? arguments_[i]
                               : Converted(context_, arguments_[i], TypeFor(letter, arguments_[i]));
      if (context_.IsFailed(id) || !IsInRange(letter, id)) {
        return context_.Failed(at_);
      }
      list.push_back(id.value);
    }
    return context_.Add({.kind = ExprKind::kOperation,
                         .op = static_cast<uint8_t>(function_),
                         .rate = Rate::kRun,
                         .type = ResultOf(row.result[0]),
                         .b = context_.unit.AddList(list).value,
                         .c = number,
                         .at = at_});
  }

  // Components and offsets are constants in a range.
  // WGSL, "Texture Built-in Functions": -8 to 7 for offsets, 0 to 3 for components.
  bool IsInRange(char letter, ExprId id) {
    if (letter != 'n' && letter != 'o') {
      return true;
    }
    const Expr& expr = context_.Get(id);
    if (expr.kind != ExprKind::kConstant) {
      context_.Say(context_.At(Code::kWgsl3003, expr.at).With("stage", "constant"));
      return false;
    }
    const int64_t least = letter == 'n' ? 0 : -8;
    const int64_t most = letter == 'n' ? 3 : 7;
    for (const Word word : context_.unit.WordsOf(expr)) {
      if (IntOf(word) < least || IntOf(word) > most) {
        context_.Forbid(expr.at,
                        "it is not from " + std::to_string(least) + " to " + std::to_string(most));
        return false;
      }
    }
    return true;
  }

  // By the letter of the row: four texels or one, one float, sizes, a number, nothing.
  TypeId ResultOf(char letter) {
    Types& types = context_.types();
    switch (letter) {
      case '4':
        // Samples of a depth texture are one number.
        return types.Vector(texture_.scalar,
                            texture_.texture == TextureClass::kDepthMultisampled ? 1 : 4);
      case '1':
        return Floats(1);
      case 'F':
        return Floats(4);
      // A cube has the size of its faces, in two dimensions.
      case 'D': {
        const bool flat =
            texture_.dim == TextureDim::kCube || texture_.dim == TextureDim::kCubeArray;
        return types.Vector(ScalarKind::kU32, flat ? 2 : CoordinatesOf(texture_.dim));
      }
      case 'u':
        return types.Scalar(ScalarKind::kU32);
      default:
        return types.Void();
    }
  }

  CheckContext& context_;
  const Function function_;
  std::vector<ExprId> arguments_;
  const TokenRange at_;
  Type texture_;
  std::string letters_;
};

}  // namespace

ExprId CheckTextureCall(CheckContext& context, Function function, std::span<const ExprId> arguments,
                        TokenRange at) {
  return TextureCall(context, function, arguments, at).Check();
}

}  // namespace kiln::wgsl::front
