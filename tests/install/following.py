# SPDX-License-Identifier: MIT
"""The examples live and live_c while they run: what they say, a mistake and an edit that are saved meanwhile, and
the pictures before and after."""
import queue
import threading

from pictures import GREEN, ORANGE, look_at_triangle

PATIENCE = 120


class Lines:
    """What a program prints, as it comes."""

    def __init__(self, process):
        self.lines, self.seen = queue.Queue(), []
        threading.Thread(target=self.read, args=(process.stdout,), daemon=True).start()

    def read(self, stream):
        for line in stream:
            self.lines.put(line)
        self.lines.put(None)

    def heard(self, word):
        """Now, or before."""
        return any(word in line for line in self.seen) or self.until(word)

    def until(self, word):
        while True:
            line = self.lines.get(timeout=PATIENCE)
            if line is None:
                raise AssertionError(f"it ended before it said '{word}':\n{''.join(self.seen)}")
            self.seen.append(line)
            if word in line:
                return line


def follow(test, process, project, pictures):
    """process: started with two pictures to draw, of project's kiln.toml; pictures: their path without -0.ppm."""
    test.addCleanup(process.stdout.close)
    test.addCleanup(process.wait)
    test.addCleanup(process.kill)
    shader = project / "shaders/triangle.rpl"
    text = shader.read_text()
    lines = Lines(process)
    test.assertIn("-0.ppm", lines.until("wrote"))
    test.assertTrue(any("fetched 1 of 1" in line for line in lines.seen), lines.seen)
    look_at_triangle(test, pictures.with_name(f"{pictures.name}-0.ppm"), ORANGE)
    lines.heard(" built, ")  # the watch has seen the state of the start
    # A mistake is told, and what was good draws on; then it is mended, with another colour.
    shader.write_text(text + "golbal")
    lines.until("triangle.rpl:23:")
    shader.write_text(text.replace("f4 {1.0, 0.5 + 0.1", "f4 {0.0, 0.5 + 0.1"))
    test.assertIn("-1.ppm", lines.until("wrote"))
    test.assertEqual(process.wait(timeout=PATIENCE), 0)
    look_at_triangle(test, pictures.with_name(f"{pictures.name}-1.ppm"), GREEN)
