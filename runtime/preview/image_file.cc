// SPDX-License-Identifier: MIT
#include "runtime/preview/image_file.h"

#include <cstring>
#include <png.h>

#include <fmt/format.h>

#include "compiler/base/bytes.h"
#include "compiler/base/check.h"
#include "compiler/base/files/file.h"

namespace kiln::preview {
namespace {

// The largest side of an image that common devices can take; it also limits what a hostile file can
// make this process allocate.
constexpr uint32_t kMaxSide = 16'384;

png_image NewImage() {
  png_image image;
  std::memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  return image;
}

}  // namespace

// Into memory first, so that a file is written whole or not at all.
Result<void> WritePng(const std::string& path, const Picture& picture) {
  KILN_CHECK(picture.rgba.size() == size_t{picture.width} * picture.height * 4, "{} x {}, {} bytes",
             picture.width, picture.height, picture.rgba.size());
  png_image image = NewImage();
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGBA;
  // An upper bound, which the call replaces by the real size.
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  Bytes file(size);
  if (png_image_write_to_memory(&image, file.data(), &size, 0, picture.rgba.data(), 0, nullptr) ==
      0) {
    return Error{ErrorCode::kUnavailable, fmt::format("cannot write {}: {}", path, image.message),
                 ""};
  }
  return WriteFile(path, ByteView(file).first(size));
}

Result<Picture> ReadPng(const std::string& path) {
  KILN_TRY(const std::string file, ReadFile(path));
  png_image image = NewImage();
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0) {
    return Error{ErrorCode::kCorrupt, fmt::format("cannot read {}: {}", path, image.message), ""};
  }
  // The size is checked before the memory for the pixels is taken.
  if (image.width > kMaxSide || image.height > kMaxSide) {
    png_image_free(&image);
    return Error{
        ErrorCode::kCorrupt,
        fmt::format("{} is {} x {}, at most {} is read", path, image.width, image.height, kMaxSide),
        ""};
  }
  // Whatever the file holds is converted to four channels of 8 bits.
  image.format = PNG_FORMAT_RGBA;
  Picture picture{image.width, image.height, {}};
  picture.rgba.resize(PNG_IMAGE_SIZE(image));
  // libpng frees what it holds in either case.
  if (png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr) == 0) {
    return Error{ErrorCode::kCorrupt, fmt::format("cannot read {}: {}", path, image.message), ""};
  }
  return picture;
}

// The mean of four pixels, rounded to nearest by the two that are added.
Picture Halve(const Picture& picture) {
  KILN_CHECK(picture.width % 2 == 0 && picture.height % 2 == 0, "{} x {}", picture.width,
             picture.height);
  Picture out{picture.width / 2, picture.height / 2, {}};
  out.rgba.reserve(size_t{out.width} * out.height * 4);
  const size_t row = size_t{picture.width} * 4;
  for (uint32_t y = 0; y < out.height; ++y) {
    for (uint32_t x = 0; x < out.width; ++x) {
      // The upper left of the four pixels.
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
