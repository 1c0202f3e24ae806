// Glyphs by signed distances.
// entries: vertex=vertex_main fragment=fragment_main
struct Glyph { place : vec2f, size : vec2f, uv : vec4f, colour : u32, }
@group(0) @binding(0) var<storage, read> glyphs : array<Glyph>;
@group(0) @binding(1) var<uniform> screen : vec4f;
@group(0) @binding(2) var atlas : texture_2d<f32>;
@group(0) @binding(3) var linear : sampler;
struct Varyings { @builtin(position) place : vec4f, @location(0) uv : vec2f, @location(1) colour : vec4f }
const kQuad = array<vec2f, 6>(vec2f(0, 0), vec2f(1, 0), vec2f(0, 1), vec2f(0, 1), vec2f(1, 0), vec2f(1, 1));
@vertex fn vertex_main(@builtin(vertex_index) vertex : u32, @builtin(instance_index) instance : u32) -> Varyings {
  let glyph = glyphs[instance];
  let corner = kQuad[vertex % 6];
  let at = (glyph.place + corner * glyph.size) * screen.zw * 2.0 - 1.0;
  return Varyings(vec4f(at.x, -at.y, 0, 1), mix(glyph.uv.xy, glyph.uv.zw, corner), unpack4x8unorm(glyph.colour));
}
fn median(v : vec3f) -> f32 { return max(min(v.r, v.g), min(max(v.r, v.g), v.b)); }
@fragment fn fragment_main(in : Varyings) -> @location(0) vec4f {
  let distance = median(textureSample(atlas, linear, in.uv).rgb) - 0.5;
  let width = fwidth(distance);
  let cover = clamp(distance / max(width, 1e-4) + 0.5, 0, 1);
  if (cover <= 0) { discard; }
  return vec4f(in.colour.rgb, in.colour.a * cover);
}
