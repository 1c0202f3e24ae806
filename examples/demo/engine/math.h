// SPDX-License-Identifier: MIT
// The little linear algebra that a scene needs. World space is right-handed with y up; matrices are
// column-major and multiply column vectors; clip space has y up and depth 0 to 1.
#pragma once

#include <array>
#include <cmath>

namespace kiln::demo {

inline constexpr float kPi = 3.14159265F;

struct Vec3 {
  float x = 0;
  float y = 0;
  float z = 0;
};

inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator*(Vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline float Dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 Cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec3 Normalized(Vec3 a) { return a * (1.0F / std::sqrt(Dot(a, a))); }

// items[column * 4 + row]
struct Mat4 {
  std::array<float, 16> items = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
};

inline Mat4 operator*(const Mat4& a, const Mat4& b) {
  Mat4 out;
  for (size_t column = 0; column < 4; ++column) {
    for (size_t row = 0; row < 4; ++row) {
      float sum = 0;
      for (size_t k = 0; k < 4; ++k) {
        sum += a.items[k * 4 + row] * b.items[column * 4 + k];
      }
      out.items[column * 4 + row] = sum;
    }
  }
  return out;
}

inline Mat4 Translation(Vec3 by) {
  return {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, by.x, by.y, by.z, 1}};
}
inline Mat4 Scale(float by) { return {{by, 0, 0, 0, 0, by, 0, 0, 0, 0, by, 0, 0, 0, 0, 1}}; }

inline Mat4 RotationY(float angle) {
  const float c = std::cos(angle);
  const float s = std::sin(angle);
  return {{c, 0, -s, 0, 0, 1, 0, 0, s, 0, c, 0, 0, 0, 0, 1}};
}

inline Mat4 RotationZ(float angle) {
  const float c = std::cos(angle);
  const float s = std::sin(angle);
  return {{c, s, 0, 0, -s, c, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
}

// Axes of a viewer at `eye` who looks at `at`: it looks along −z of its own space.
struct ViewAxes {
  Vec3 right;
  Vec3 up;
  Vec3 back;
};

inline ViewAxes LookAxes(Vec3 eye, Vec3 at) {
  const Vec3 back = Normalized(eye - at);
  const Vec3 right = Normalized(Cross({0, 1, 0}, back));
  return {right, Cross(back, right), back};
}

inline Mat4 ViewFromWorld(Vec3 eye, const ViewAxes& axes) {
  const auto& [r, u, b] = axes;
  return {{r.x, u.x, b.x, 0, r.y, u.y, b.y, 0, r.z, u.z, b.z, 0, -Dot(r, eye), -Dot(u, eye),
           -Dot(b, eye), 1}};
}

inline Mat4 Perspective(float vertical_angle, float aspect, float near, float far) {
  const float f = 1.0F / std::tan(vertical_angle / 2);
  return {{f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, far / (near - far), -1, 0, 0,
           near * far / (near - far), 0}};
}

// The inverse of Perspective with the same arguments.
inline Mat4 InversePerspective(float vertical_angle, float aspect, float near, float far) {
  const float t = std::tan(vertical_angle / 2);
  return {{t * aspect, 0, 0, 0, 0, t, 0, 0, 0, 0, 0, (near - far) / (near * far), 0, 0, -1,
           1.0F / near}};
}

// A box of half size `reach` sideways, seen from −near to −far.
inline Mat4 Orthographic(float reach, float near, float far) {
  return {{1.0F / reach, 0, 0, 0, 0, 1.0F / reach, 0, 0, 0, 0, 1.0F / (near - far), 0, 0, 0,
           near / (near - far), 1}};
}

}  // namespace kiln::demo
