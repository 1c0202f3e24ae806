// SPDX-License-Identifier: MIT
// What the next tokens begin, without moving. C's grammar leaves casts, declarations and
// template lists open until names are looked up; all these decisions are here. Each looks at a
// bounded number of tokens, because it may be asked at every token of a source.
#include "compiler/front/hlsl/syntax/parser/lookahead.h"

#include <string>

namespace kiln::hlsl::syntax {
namespace {

// Modifiers that are keywords. `inout` is `in`, and the parser adds `out`.
std::optional<Modifier> KeywordModifier(TokenKind kind) {
  switch (kind) {
    case TokenKind::kConst:
      return Modifier::kConst;
    case TokenKind::kExtern:
      return Modifier::kExtern;
    case TokenKind::kGroupshared:
      return Modifier::kGroupShared;
    case TokenKind::kIn:
    case TokenKind::kInout:
      return Modifier::kIn;
    case TokenKind::kInline:
      return Modifier::kInline;
    case TokenKind::kOut:
      return Modifier::kOut;
    case TokenKind::kPrecise:
      return Modifier::kPrecise;
    case TokenKind::kStatic:
      return Modifier::kStatic;
    case TokenKind::kUniform:
      return Modifier::kUniform;
    case TokenKind::kVolatile:
      return Modifier::kVolatile;
    default:  // no modifier
      return std::nullopt;
  }
}

// Words that begin a type and are no names.
bool IsTypeWord(TokenKind kind) {
  return kind == TokenKind::kStruct || kind == TokenKind::kClass || kind == TokenKind::kVoid;
}

bool IsType(NameKind kind) {
  return kind == NameKind::kType || kind == NameKind::kInbuilt || kind == NameKind::kUnsigned;
}

// An identifier that cannot be a type: the answer for most of them, so it comes first.
// Everything else asks for scopes; this only asks whether the word ever had a meaning.
bool IsPlainName(const TokenCursor& at, NameScopes& names, uint32_t ahead) {
  return at.Kind(ahead) == TokenKind::kIdentifier && at.Kind(ahead + 1) != TokenKind::kScope &&
         !names.IsSpecial(at.Peek(ahead).symbol);
}

// What a contextual modifier needs behind it, or it is a name.
// `float linear;` declares a variable: a modifier has a type behind it, which begins with one
// of these.
bool MayFollowModifier(TokenKind kind) {
  return kind == TokenKind::kIdentifier || kind == TokenKind::kScope || IsTypeWord(kind) ||
         KeywordModifier(kind).has_value();
}

// Behind the name of a type and its arguments.
uint32_t BehindType(const TokenCursor& at, uint32_t ahead) {
  return at.Kind(ahead) == TokenKind::kLess ? EndOfArguments(at, ahead) : ahead;
}

// '<' type and what no comparison has behind it.
// For a type that is not declared: `unknown<float4> x` could be two comparisons. If the first
// argument is a type and the list could go on, it is a list.
bool BeginsWithType(const TokenCursor& at, NameScopes& names, uint32_t less) {
  if (at.Kind(less) != TokenKind::kLess || !AtType(at, names, less + 1)) {
    return false;
  }
  const Path path = PathAt(at, names, less + 1);
  const TokenKind next = at.Kind(BehindType(at, less + 1 + path.tokens));
  return path.tokens == 0 || next == TokenKind::kComma || next == TokenKind::kGreater ||
         next == TokenKind::kShiftRight;
}

// vk::BufferPointer and its like are inbuilt types; the space itself is declared nowhere.
std::optional<InbuiltType> SpaceType(const TokenCursor& at, uint32_t ahead) {
  const std::string_view space = at.stream().Text(at.Peek(ahead));
  if (space != "vk" || at.Kind(ahead + 1) != TokenKind::kScope ||
      at.Kind(ahead + 2) != TokenKind::kIdentifier) {
    return std::nullopt;
  }
  return FindInbuiltType("vk::" + std::string(at.stream().Text(at.Peek(ahead + 2))));
}

// What stands behind the '(' of a function: nothing, attributes, or a type and a name.
// A parameter begins with a type, declared or not, or with attributes; arguments of a call do
// not.
bool AtParameters(const TokenCursor& at, NameScopes& names, uint32_t ahead) {
  const TokenKind kind = at.Kind(ahead);
  return kind == TokenKind::kCloseParen || kind == TokenKind::kOpenBracket ||
         (kind == TokenKind::kIdentifier && at.Kind(ahead + 1) == TokenKind::kIdentifier) ||
         AtType(at, names, ahead);
}

// Most statements are told from the head of a function by their second or third token.
// Cheap, as it is asked for at the beginning of every line of a function body.
bool MayBeFunction(const TokenCursor& at) {
  if (!at.At(TokenKind::kIdentifier)) {
    return !at.At(TokenKind::kSemicolon) && !at.At(TokenKind::kCloseBrace);
  }
  const TokenKind second = at.Kind(1);
  const TokenKind third = at.Kind(2);
  return second == TokenKind::kScope || second == TokenKind::kLess ||
         KeywordModifier(second).has_value() ||
         (second == TokenKind::kIdentifier &&
          (third == TokenKind::kOpenParen || third == TokenKind::kIdentifier ||
           third == TokenKind::kScope || third == TokenKind::kLess));
}

}  // namespace

// `::A::B::c` and what it names. A name in a scope that is not known is unknown, and the path
// is read on: how long it is does not depend on what it means.
Path PathAt(const TokenCursor& at, NameScopes& names, uint32_t ahead) {
  const bool global = at.Kind(ahead) == TokenKind::kScope;
  uint32_t next = ahead + (global ? 1 : 0);
  if (at.Kind(next) != TokenKind::kIdentifier) {
    return {};
  }
  const uint32_t symbol = at.Peek(next).symbol;
  Path path{.name = global ? names.FindIn(NameScopes::kUnit, symbol) : names.Find(symbol)};
  // Asked for only where `vk` itself is declared nowhere; a name space of that name hides it.
  if (path.name.kind == NameKind::kUnknown && at.Kind(next + 1) == TokenKind::kScope) {
    if (const std::optional<InbuiltType> inbuilt = SpaceType(at, next)) {
      return {.tokens = next + 3 - ahead,
              .name = {.kind = NameKind::kInbuilt, .inbuilt = *inbuilt}};
    }
  }
  // Pairs of `::` and a name; `::` before anything else is not part of the path.
  for (++next; at.Kind(next) == TokenKind::kScope && at.Kind(next + 1) == TokenKind::kIdentifier;
       next += 2) {
    path.name = path.name.scope == kNone ? FoundName{}
                                         : names.FindIn(path.name.scope, at.Peek(next + 1).symbol);
  }
  path.tokens = next - ahead;
  return path;
}

// Angle brackets count outside of other brackets only; what no list of arguments holds ends it. A
// longer one is not looked through, because this may be asked for each token of a statement.
uint32_t EndOfArguments(const TokenCursor& at, uint32_t ahead) {
  constexpr uint32_t kLongest = 256;
  uint32_t angles = 0;
  uint32_t brackets = 0;
  for (uint32_t next = ahead; next < ahead + kLongest; ++next) {
    switch (at.Kind(next)) {
      case TokenKind::kLess:
        angles += brackets == 0 ? 1 : 0;
        break;
      // A `>>` closes two lists. The outermost may end at its first half, which the caller has
      // to know.
      case TokenKind::kGreater:
      case TokenKind::kShiftRight: {
        const uint32_t closed = at.Kind(next) == TokenKind::kGreater ? 1 : 2;
        if (brackets == 0 && angles <= closed) {
          // More closed than is open: the `>` belongs to something around.
          return angles == closed ? next + 1 : 0;
        }
        angles -= brackets == 0 ? closed : 0;
        break;
      }
      case TokenKind::kOpenParen:
      case TokenKind::kOpenBracket:
        ++brackets;
        break;
      case TokenKind::kCloseParen:
      case TokenKind::kCloseBracket:
        if (brackets-- == 0) {
          return 0;
        }
        break;
      case TokenKind::kSemicolon:
      case TokenKind::kOpenBrace:
      case TokenKind::kCloseBrace:
      case TokenKind::kEnd:
        return 0;
      default:  // part of an argument
        break;
    }
  }
  return 0;
}

// A contextual word is a modifier if no declaration hides it and something follows that can be
// modified.
std::optional<Modifier> ModifierAt(const TokenCursor& at, NameScopes& names, uint32_t ahead) {
  if (at.Kind(ahead) != TokenKind::kIdentifier) {
    return KeywordModifier(at.Kind(ahead));
  }
  if (!names.IsSpecial(at.Peek(ahead).symbol)) {
    return std::nullopt;
  }
  const FoundName found = names.Find(at.Peek(ahead).symbol);
  return found.kind == NameKind::kModifier && MayFollowModifier(at.Kind(ahead + 1))
             ? std::optional(found.modifier)
             : std::nullopt;
}

// Whether a type begins here, for certain: a name that is not declared begins none.
bool AtType(const TokenCursor& at, NameScopes& names, uint32_t ahead) {
  const TokenKind kind = at.Kind(ahead);
  if (kind != TokenKind::kIdentifier && kind != TokenKind::kScope) {
    return IsTypeWord(kind) || KeywordModifier(kind).has_value();
  }
  if (IsPlainName(at, names, ahead)) {
    return false;
  }
  return IsType(PathAt(at, names, ahead).name.kind) || ModifierAt(at, names, ahead).has_value();
}

// Declaration against expression (spec/hlsl 5.3). `a * b` and `a < b` are expressions unless
// `a` is a type.
bool AtVariables(const TokenCursor& at, NameScopes& names) {
  const TokenKind kind = at.Kind();
  if (kind != TokenKind::kIdentifier && kind != TokenKind::kScope) {
    return IsTypeWord(kind) || KeywordModifier(kind).has_value();
  }
  const TokenKind second = at.Kind(1);
  if (IsPlainName(at, names, 0) && second != TokenKind::kIdentifier && second != TokenKind::kLess) {
    return false;
  }
  const Path path = PathAt(at, names);
  switch (path.name.kind) {
    case NameKind::kModifier:
      return ModifierAt(at, names).has_value();
    case NameKind::kUnsigned:
    case NameKind::kType:
    case NameKind::kInbuilt: {
      const uint32_t next = BehindType(at, path.tokens);
      // Behind a type, a parenthesis constructs a value and `::` names something in it: both
      // are expressions.
      return at.Kind(next) != TokenKind::kOpenParen && at.Kind(next) != TokenKind::kScope;
    }
    // A name that is not declared is a type if a name follows: `unknown x;`.
    case NameKind::kUnknown: {
      const bool arguments = BeginsWithType(at, names, path.tokens);
      const uint32_t next = arguments ? EndOfArguments(at, path.tokens) : path.tokens;
      return next != 0 && at.Kind(next) == TokenKind::kIdentifier;
    }
    case NameKind::kOther:
    case NameKind::kNamespace:
      return false;
  }
  return false;
}

// The name of a type that is not declared is taken for one where no operator stands between it and
// what follows.
// `(unknown) x` is a cast, `(unknown) - x` a difference.
bool AtCast(const TokenCursor& at, NameScopes& names) {
  const TokenKind kind = at.Kind(1);
  if (kind != TokenKind::kIdentifier && kind != TokenKind::kScope) {
    return IsTypeWord(kind) || KeywordModifier(kind).has_value();
  }
  if (IsPlainName(at, names, 1) && at.Kind(2) != TokenKind::kCloseParen &&
      at.Kind(2) != TokenKind::kLess) {
    return false;
  }
  const Path path = PathAt(at, names, 1);
  if (path.name.kind == NameKind::kModifier) {
    return ModifierAt(at, names, 1).has_value();
  }
  if (path.name.kind == NameKind::kUnsigned) {
    return true;
  }
  const uint32_t next = BehindType(at, 1 + path.tokens);
  const bool closed = at.Kind(next) == TokenKind::kCloseParen;
  // A declared type in parentheses is always a cast, with extents too; `(float3(1, 2, 3))` is a
  // group.
  if (IsType(path.name.kind)) {
    return next != 0 && (closed || at.Kind(next) == TokenKind::kOpenBracket);
  }
  const TokenKind behind = at.Kind(next + 1);
  return path.name.kind == NameKind::kUnknown && next != 0 && closed &&
         (behind == TokenKind::kIdentifier || behind == TokenKind::kInteger ||
          behind == TokenKind::kFloat || behind == TokenKind::kTrue || behind == TokenKind::kFalse);
}

// `struct S { }`, `struct { }`, `struct S : Base { }` define; `struct S s` only mentions.
bool AtRecord(const TokenCursor& at) {
  if (!at.At(TokenKind::kStruct) && !at.At(TokenKind::kClass)) {
    return false;
  }
  const TokenKind next = at.Kind(at.Kind(1) == TokenKind::kIdentifier ? 2 : 1);
  return next == TokenKind::kOpenBrace || next == TokenKind::kColon;
}

// Attributes, modifiers, a type, a name and '(': no statement looks like that.
bool AtUnitDeclaration(const TokenCursor& at, NameScopes& names) {
  if (!MayBeFunction(at)) {
    return false;
  }
  constexpr uint32_t kLongest = 256;  // tokens of attributes that are looked through
  // Attributes are skipped by their brackets, blocks are known by their first word.
  uint32_t next = 0;
  for (uint32_t depth = 0; next < kLongest; ++next) {
    const TokenKind kind = at.Kind(next);
    if (kind == TokenKind::kOpenBracket) {
      ++depth;
    } else if (depth == 0) {
      break;
    } else if (kind == TokenKind::kCloseBracket) {
      --depth;
    }
  }
  const TokenKind kind = at.Kind(next);
  if (kind == TokenKind::kCbuffer || kind == TokenKind::kTbuffer || kind == TokenKind::kNamespace) {
    return true;
  }
  // As many modifiers as there are, then a type, a name and a parenthesis.
  while (next < kLongest && ModifierAt(at, names, next).has_value()) {
    ++next;
  }
  const uint32_t name =
      at.Kind(next) == TokenKind::kVoid ? next + 1 : next + PathAt(at, names, next).tokens;
  const uint32_t behind = BehindType(at, name);
  return behind > next && at.Kind(behind) == TokenKind::kIdentifier &&
         at.Kind(behind + 1) == TokenKind::kOpenParen && AtParameters(at, names, behind + 2);
}

// `f<float>(x)`: what a comparison could not be. Templates are not built and refused by name.
bool AtTemplateCall(const TokenCursor& at, NameScopes& names) {
  if (!BeginsWithType(at, names, 0)) {
    return false;
  }
  const uint32_t end = EndOfArguments(at, 0);
  return end != 0 && at.Kind(end) == TokenKind::kOpenParen;
}

}  // namespace kiln::hlsl::syntax
