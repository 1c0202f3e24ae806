// Cells that live and die on a torus of bits.
// entries: compute=step_main
@id(0) override width = 64u;
@id(1) override height : u32 = 64u;
@group(0) @binding(0) var<storage, read> before : array<u32>;
@group(0) @binding(1) var<storage, read_write> after : array<u32>;
fn alive(x : i32, y : i32) -> u32 {
  let w = i32(width);
  let h = i32(height);
  let index = u32(((y + h) % h) * w + (x + w) % w);
  return extractBits(before[index >> 5u], index & 31u, 1u);
}
@compute @workgroup_size(32)
fn step_main(@builtin(workgroup_id) group : vec3u) {
  var word = 0u;
  for (var bit = 0u; bit < 32u; bit++) {
    let index = group.x * 32u + bit;
    let x = i32(index % width);
    let y = i32(index / width);
    var neighbours = 0u;
    for (var dy = -1; dy < 2; dy++) {
      for (var dx = -1; dx < 2; dx++) {
        if dx == 0 && dy == 0 { continue; }
        neighbours += alive(x + dx, y + dy);
      }
    }
    let lives = neighbours == 3u || (neighbours == 2u && alive(x, y) == 1u);
    word = insertBits(word, u32(lives), bit, 1u);
  }
  after[group.x] = word;
}
