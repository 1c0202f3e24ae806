// SPDX-License-Identifier: MIT
#include "runtime/preview/image_file.h"

#include <cstring>
#include <png.h>

#include <fmt/format.h>

#include "compiler/base/check.h"

namespace kiln::preview {
namespace {

constexpr uint32_t kMaxSide = 16'384;

png_image NewImage() {
  png_image image;
  std::memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  return image;
}

}  // namespace

Result<void> WritePng(const std::string& path, const Picture& picture) {
  KILN_CHECK(picture.rgba.size() == size_t{picture.width} * picture.height * 4, "{} x {}, {} bytes",
             picture.width, picture.height, picture.rgba.size());
  png_image image = NewImage();
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGBA;
  if (png_image_write_to_file(&image, path.c_str(), 0, picture.rgba.data(), 0, nullptr) == 0) {
    return Error{ErrorCode::kUnavailable, fmt::format("cannot write {}: {}", path, image.message),
                 ""};
  }
  return {};
}

Result<Picture> ReadPng(const std::string& path) {
  png_image image = NewImage();
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    const bool absent = std::strstr(image.message, "No such file") != nullptr;
    return Error{absent ? ErrorCode::kNotFound : ErrorCode::kCorrupt,
                 fmt::format("cannot read {}: {}", path, image.message), ""};
  }
  if (image.width > kMaxSide || image.height > kMaxSide) {
    png_image_free(&image);
    return Error{
        ErrorCode::kCorrupt,
        fmt::format("{} is {} x {}, at most {} is read", path, image.width, image.height, kMaxSide),
        ""};
  }
  image.format = PNG_FORMAT_RGBA;
  Picture picture{image.width, image.height, {}};
  picture.rgba.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr) == 0) {
    return Error{ErrorCode::kCorrupt, fmt::format("cannot read {}: {}", path, image.message), ""};
  }
  return picture;
}

Picture Halve(const Picture& picture) {
  KILN_CHECK(picture.width % 2 == 0 && picture.height % 2 == 0, "{} x {}", picture.width,
             picture.height);
  Picture out{picture.width / 2, picture.height / 2, {}};
  out.rgba.reserve(size_t{out.width} * out.height * 4);
  const size_t row = size_t{picture.width} * 4;
  for (uint32_t y = 0; y < out.height; ++y) {
    for (uint32_t x = 0; x < out.width; ++x) {
      const uint8_t* const first = picture.rgba.data() + row * 2 * y + size_t{x} * 8;
      for (size_t channel = 0; channel < 4; ++channel) {
        const uint8_t* const four = first + channel;
        out.rgba.push_back(
            static_cast<uint8_t>((four[0] + four[4] + four[row] + four[row + 4] + 2) / 4));
      }
    }
  }
  return out;
}

}  // namespace kiln::preview
