// SPDX-License-Identifier: MIT
// The curve -x² + y² = 1 + d x² y² with the base point of y = 4/5; its constants are computed from
// these words. Adding is the complete formula of RFC 8032 §5.1.4, which doubles as well.
#include "cache/pack/signing/ed25519.h"

#include <cstring>
#include <optional>

#include "cache/pack/signing/field25519.h"
#include "compiler/base/hash/sha512.h"

namespace kiln::pack {
namespace {

using Encoding = Field25519::Encoding;

// x = X/Z, y = Y/Z, x y = T/Z.
struct Point {
  Field25519 x, y, z, t;
};

// Constants are computed instead of written down: a typing error in one of 64 digits could hide for
// ever, one in the definition of the curve is found by the first test vector. That costs some
// powers for each verification, against the milliseconds of the two products.
struct Curve {
  Field25519 d = Field25519() - Field25519::Of(121665) * Field25519::Of(121666).Inverse();
  Field25519 root_of_minus_one = Field25519::Of(2).Power(253, 5);

  Point Sum(const Point& p, const Point& q) const {
    const Field25519 a = (p.y - p.x) * (q.y - q.x);
    const Field25519 b = (p.y + p.x) * (q.y + q.x);
    const Field25519 c = p.t * q.t * (d + d);
    const Field25519 zz = p.z * q.z;
    const Field25519 e = b - a;
    const Field25519 f = zz + zz - c;
    const Field25519 g = zz + zz + c;
    const Field25519 h = b + a;
    return {e * f, g * h, f * g, e * h};
  }

  // Nothing if there is no such point, or it has another form. See RFC 8032 §5.1.3
  std::optional<Point> Decode(const Encoding& bytes) const {
    const bool odd = bytes[31] >> 7 != 0;
    const Field25519 y = Field25519::FromBytes(bytes);
    Encoding canonical = y.Bytes();
    canonical[31] = static_cast<uint8_t>(canonical[31] | (odd ? 0x80 : 0));
    if (canonical != bytes) {
      return std::nullopt;  // y is p or more
    }
    const Field25519 one = Field25519::Of(1);
    const Field25519 u = y * y - one;
    const Field25519 v = d * y * y + one;
    const Field25519 v3 = v * v * v;
    // The square root of u/v by one power, since p is 5 modulo 8. It is a root of u/v or of -u/v;
    // in the second case the root of -1 turns it, or there is none.
    Field25519 x = u * v3 * (u * v3 * v3 * v).Power(252, 3);
    if (!(v * x * x == u)) {
      x = x * root_of_minus_one;
      if (!(v * x * x == u)) {
        return std::nullopt;
      }
    }
    // Zero has no odd twin: this encoding stands for nothing.
    if (x.IsZero() && odd) {
      return std::nullopt;
    }
    if (x.IsOdd() != odd) {
      x = Field25519() - x;
    }
    return Point{x, y, one, x * y};
  }

  static Encoding Encode(const Point& p) {
    const Field25519 inverse = p.z.Inverse();
    Encoding bytes = (p.y * inverse).Bytes();
    bytes[31] = static_cast<uint8_t>(bytes[31] | ((p.x * inverse).IsOdd() ? 0x80 : 0));
    return bytes;
  }
};

// Numbers below 2^256, lowest word first; the order of the base point is
// 2^252 + 27742317777372353535851937790883648493.
using Scalar = std::array<uint64_t, 4>;
constexpr Scalar kOrder = {0x5812631a5cf5d3edU, 0x14def9dea2f79cd6U, 0, uint64_t{1} << 60};

bool Below(const Scalar& a, const Scalar& b) {
  for (size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) {
      return a[i] < b[i];
    }
  }
  return false;
}

// The remainder of a little-endian number: bit by bit, as by hand.
Scalar ModuloOrder(const Sha512Digest& number) {
  Scalar rest{};
  for (size_t bit = number.size() * 8; bit-- > 0;) {
    uint64_t in = number[bit / 8] >> (bit % 8) & 1;
    for (uint64_t& word : rest) {
      const uint64_t out = word >> 63;
      word = word << 1 | in;
      in = out;
    }
    if (Below(rest, kOrder)) {
      continue;
    }
    uint64_t borrow = 0;
    for (size_t i = 0; i < rest.size(); ++i) {
      const uint64_t take = kOrder[i] + borrow;  // kOrder[i] is never the largest word
      borrow = rest[i] < take ? 1 : 0;
      rest[i] -= take;
    }
  }
  return rest;
}

bool BitOf(const Scalar& scalar, size_t bit) { return (scalar[bit / 64] >> (bit % 64) & 1) != 0; }

}  // namespace

bool IsEd25519Signature(const std::array<uint8_t, 32>& key, ByteView message,
                        const std::array<uint8_t, 64>& signature) {
  Encoding r{};
  Scalar s{};
  std::memcpy(r.data(), signature.data(), r.size());
  std::memcpy(s.data(), signature.data() + r.size(), sizeof(s));
  const Curve curve;
  const std::optional<Point> a = curve.Decode(key);
  Encoding base_bytes{};
  // The base point is the one with y = 4/5 and an even x (RFC 8032), so its encoding is that y
  // alone.
  base_bytes = (Field25519::Of(4) * Field25519::Of(5).Inverse()).Bytes();
  const std::optional<Point> base = curve.Decode(base_bytes);
  // An s of the order or more would be a second signature of the same message (RFC 8032 §5.1.7), so
  // a pack could be changed without becoming invalid.
  if (!a || !base || !Below(s, kOrder)) {
    return false;
  }
  const Scalar k =
      ModuloOrder(Sha512({std::as_bytes(std::span(r)), std::as_bytes(std::span(key)), message}));
  // s B - k A, bit by bit: one sum for each pair of bits that is not zero.
  const Point minus_a = {Field25519() - a->x, a->y, a->z, Field25519() - a->t};
  // Both products are made in one run over the bits, which halves the doublings. It is not constant
  // in time: nothing in a verification is secret.
  const Point both = curve.Sum(*base, minus_a);
  Point sum = {Field25519(), Field25519::Of(1), Field25519::Of(1), Field25519()};
  for (size_t bit = 256; bit-- > 0;) {
    sum = curve.Sum(sum, sum);
    const bool of_s = BitOf(s, bit);
    const bool of_k = BitOf(k, bit);
    if (of_s || of_k) {
      sum = curve.Sum(sum, of_s && of_k ? both : of_s ? *base : minus_a);
    }
  }
  // Compared as encodings, so R itself need not be decoded, and one that is not canonical fails.
  return Curve::Encode(sum) == r;
}

}  // namespace kiln::pack
