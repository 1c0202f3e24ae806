# SPDX-License-Identifier: MIT
"""What the examples draw: a triangle on dark blue, or the three tiles of the game. Looks at it pixel by pixel."""
import re

BACKGROUND = (0, 0, 64)
ORANGE, BLUE, GREEN = (255, 128, 0), (0, 128, 255), (0, 128, 0)
BRICK, WET, GRASS = (204, 51, 51), (102, 26, 26), (51, 204, 51)


def read_ppm(path):
    """(width, height, function from column and row to a colour)."""
    data = path.read_bytes()
    head = re.match(rb"P6 (\d+) (\d+) 255\n", data)
    width, height = int(head[1]), int(head[2])

    def at(x, y):
        begin = head.end() + (y * width + x) * 3
        return tuple(data[begin:begin + 3])
    return width, height, at


def look_near(test, got, wanted, distance, where):
    for channel, value in zip(got, wanted):
        test.assertLessEqual(abs(channel - value), distance, f"{where}: {got}, not {wanted}")


def look_at_triangle(test, path, center):
    width, height, at = read_ppm(path)
    for corner in ((0, 0), (width - 1, 0), (0, height // 2), (width - 1, height // 2)):
        look_near(test, at(*corner), BACKGROUND, 1, corner)
    look_near(test, at(width // 2, height // 2), center, 3, "centre")
    # It stands on its base: below the centre it is wider than above.
    row = [sum(at(x, y) != at(0, 0) for x in range(width)) for y in (height // 4, 3 * height // 4)]
    test.assertLess(row[0], row[1])


def look_at_tiles(test, path, tiles):
    width, height, at = read_ppm(path)
    for column, wanted in zip((0.2, 0.5, 0.8), tiles):
        look_near(test, at(int(width * column), height // 2), wanted, 1, column)
    test.assertEqual(at(0, 0), BACKGROUND)
