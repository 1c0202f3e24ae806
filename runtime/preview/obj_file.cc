// SPDX-License-Identifier: MIT
// Reads the part of Wavefront OBJ that previews need: v, vt, vn and f. Materials, groups and curves
// are skipped; a line that is read and wrong is an error with its number.
#include "runtime/preview/obj_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

namespace kiln::preview {
namespace {

constexpr float kRadius = 0.8F;
// A corner becomes a vertex of some 50 bytes, thus a file cannot take more than about 600 MB.
constexpr size_t kMaxCorners = 12'000'000;

using Vec3 = std::array<float, 3>;

Vec3 Minus(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vec3 Cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
float Dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
// Degenerate faces have no direction, and files have such faces; something valid takes its place.
Vec3 Normalised(const Vec3& a, const Vec3& otherwise) {
  const float length = std::sqrt(Dot(a, a));
  return length > 0 && std::isfinite(length) ? Vec3{a[0] / length, a[1] / length, a[2] / length}
                                             : otherwise;
}

// Words of a line, one after the other; empty at its end.
std::string_view NextWord(std::string_view& line) {
  const size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(begin);
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

// The whole text must be the number: `1x` is a fault of the file and not a one.
template <class T>
bool ReadNumber(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// A corner of a face: indexes from 0; the last two -1 for none.
struct Corner {
  int64_t position = -1;
  int64_t uv = -1;
  int64_t normal = -1;
};

class ObjReader {
 public:
  Result<Shape> Read(std::string_view text) {
    for (size_t line = 1; !text.empty(); ++line) {
      const std::string_view row = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), row.size() + 1));
      if (const char* const wrong = ReadLine(row)) {
        return Error{ErrorCode::kInvalidArgument, fmt::format("line {}: {}", line, wrong), "USAGE"};
      }
    }
    // A shape without faces would draw nothing, which is never meant.
    if (shape_.indices.empty()) {
      return Error{ErrorCode::kInvalidArgument, "there is no face in it", "USAGE"};
    }
    Fit();
    return std::move(shape_);
  }

 private:
  // What is wrong with it, or nullptr.
  const char* ReadLine(std::string_view line) {
    const std::string_view kind = NextWord(line);
    if (kind == "v") {
      return ReadNumbers(line, positions_.emplace_back());
    }
    if (kind == "vn") {
      return ReadNumbers(line, normals_.emplace_back());
    }
    if (kind == "vt") {
      return ReadNumbers(line, uvs_.emplace_back());
    }
    // Lines of other kinds (materials, groups, comments) change nothing about the shape.
    return kind == "f" ? ReadFace(line) : nullptr;
  }

  template <size_t N>
  static const char* ReadNumbers(std::string_view line, std::array<float, N>& out) {
    for (float& number : out) {
      if (!ReadNumber(NextWord(line), number) || !std::isfinite(number)) {
        return "a number is missing or wrong";
      }
    }
    return nullptr;
  }

  // "7", "7/2", "7//3", "7/2/3"; negative ones count from the end. Indexes count from one in the
  // file, forwards or backwards; zero is not allowed in either direction.
  bool ReadCorner(std::string_view word, Corner& corner) const {
    const std::tuple<int64_t*, size_t> parts[] = {{&corner.position, positions_.size()},
                                                  {&corner.uv, uvs_.size()},
                                                  {&corner.normal, normals_.size()}};
    size_t part = 0;
    for (; part < 3; ++part) {
      const std::string_view text = word.substr(0, word.find('/'));
      const bool last = text.size() == word.size();
      word.remove_prefix(std::min(word.size(), text.size() + 1));
      const auto& [index, count] = parts[part];
      int64_t number = 0;
      // The position is always there; the others may be left out between slashes.
      if (!text.empty() || part == 0) {
        if (!ReadNumber(text, number) || number == 0) {
          return false;
        }
        // Files count from 1, and negative numbers from the end of what was read so far.
        *index = number > 0 ? number - 1 : static_cast<int64_t>(count) + number;
        if (*index < 0 || *index >= static_cast<int64_t>(count)) {
          return false;
        }
      }
      if (last) {
        return true;
      }
    }
    return false;
  }

  // Polygons become a fan around their first corner, which is right for the convex faces that
  // modelling tools write.
  const char* ReadFace(std::string_view line) {
    std::vector<Corner> corners;
    for (std::string_view word = NextWord(line); !word.empty(); word = NextWord(line)) {
      if (!ReadCorner(word, corners.emplace_back())) {
        return "a corner of the face names what is not there";
      }
    }
    if (corners.size() < 3) {
      return "a face has three corners or more";
    }
    if (shape_.vertices.size() + corners.size() > kMaxCorners) {
      return "the file has too many corners";
    }
    AddFace(corners);
    return nullptr;
  }

  // A fan of triangles with vertices of its own.
  // Vertices are not shared between faces, because normals and tangents of neighbours differ unless
  // the file says otherwise.
  void AddFace(const std::vector<Corner>& corners) {
    const auto first = static_cast<uint32_t>(shape_.vertices.size());
    const auto position = [&](size_t i) {
      return positions_[static_cast<size_t>(corners[i].position)];
    };
    // The first side and the normal of the first three corners stand in for what the file does not
    // say.
    const Vec3 along = Minus(position(1), position(0));
    const Vec3 face = Normalised(Cross(along, Minus(position(2), position(0))), {0, 0, 1});
    for (size_t i = 0; i < corners.size(); ++i) {
      Vertex vertex{.position = position(i), .normal = face};
      if (corners[i].normal >= 0) {
        vertex.normal = Normalised(normals_[static_cast<size_t>(corners[i].normal)], face);
      }
      if (corners[i].uv >= 0) {
        const std::array<float, 2>& uv = uvs_[static_cast<size_t>(corners[i].uv)];
        vertex.uv = {uv[0], 1 - uv[1]};  // from the upper left
      }
      shape_.vertices.push_back(vertex);
    }
    SetTangents(first, Normalised(along, {1, 0, 0}));
    for (uint32_t i = 2; i < corners.size(); ++i) {
      for (const uint32_t corner : {0U, i - 1, i}) {
        shape_.indices.push_back(first + corner);
      }
    }
  }

  // Along +u of the first triangle, or along its first side without texture coordinates.
  void SetTangents(uint32_t first, const Vec3& otherwise) {
    const Vertex& a = shape_.vertices[first];
    const Vertex& b = shape_.vertices[first + 1];
    const Vertex& c = shape_.vertices[first + 2];
    const Vec3 ab = Minus(b.position, a.position);
    const Vec3 ac = Minus(c.position, a.position);
    const float u1 = b.uv[0] - a.uv[0];
    const float v1 = b.uv[1] - a.uv[1];
    const float u2 = c.uv[0] - a.uv[0];
    const float v2 = c.uv[1] - a.uv[1];
    const float area = u1 * v2 - u2 * v1;
    Vec3 u = otherwise;
    float sign = 1;
    // Without an area in the texture the equations have no solution.
    if (area != 0) {
      for (size_t i = 0; i < 3; ++i) {
        u[i] = (ab[i] * v2 - ac[i] * v1) / area;
      }
      sign = area < 0 ? 1.0F : -1.0F;  // v goes down: an area that is not mirrored is negative
    }
    for (size_t i = first; i < shape_.vertices.size(); ++i) {
      Vertex& vertex = shape_.vertices[i];
      // The tangent is made perpendicular to the normal, which may be another one at each corner.
      const float off = Dot(u, vertex.normal);
      const Vec3 flat = {u[0] - vertex.normal[0] * off, u[1] - vertex.normal[1] * off,
                         u[2] - vertex.normal[2] * off};
      const Vec3 tangent = Normalised(flat, otherwise);
      vertex.tangent = {tangent[0], tangent[1], tangent[2], sign};
    }
  }

  // Files come in all units, so the shape is moved to the middle and scaled to the size of the
  // built-in ones.
  void Fit() {
    Vec3 low, high;
    low.fill(std::numeric_limits<float>::max());
    high.fill(std::numeric_limits<float>::lowest());
    for (const Vertex& vertex : shape_.vertices) {
      for (size_t i = 0; i < 3; ++i) {
        low[i] = std::min(low[i], vertex.position[i]);
        high[i] = std::max(high[i], vertex.position[i]);
      }
    }
    float radius = 0;
    // Halves are added, since the sum of two large numbers could overflow.
    const Vec3 middle = {low[0] / 2 + high[0] / 2, low[1] / 2 + high[1] / 2,
                         low[2] / 2 + high[2] / 2};
    for (Vertex& vertex : shape_.vertices) {
      vertex.position = Minus(vertex.position, middle);
      radius =
          std::max(radius, std::hypot(vertex.position[0], vertex.position[1], vertex.position[2]));
    }
    for (Vertex& vertex : shape_.vertices) {
      for (float& value : vertex.position) {
        // A file with one point has no size to scale with.
        value = radius > 0 ? value / radius * kRadius : 0;
      }
    }
  }

  std::vector<Vec3> positions_;
  std::vector<Vec3> normals_;
  std::vector<std::array<float, 2>> uvs_;
  Shape shape_;
};

}  // namespace

Result<Shape> ReadObj(std::string_view text) { return ObjReader().Read(text); }

}  // namespace kiln::preview
