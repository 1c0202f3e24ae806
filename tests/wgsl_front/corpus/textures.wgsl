// Every function of textures.
// entries: fragment=main vertex=vs
@group(0) @binding(0) var tex : texture_2d<f32>;
@group(0) @binding(1) var other : texture_2d<f32>;
@group(0) @binding(2) var smp : sampler;
@group(0) @binding(3) var ms : texture_multisampled_2d<f32>;
@group(1) @binding(0) var dms : texture_depth_multisampled_2d;
@group(1) @binding(1) var cube : texture_cube_array<f32>;
@group(1) @binding(2) var ints : texture_2d<i32>;
@group(1) @binding(3) var one : texture_1d<f32>;
@group(1) @binding(4) var dc : texture_depth_cube;
@group(1) @binding(5) var cmp : sampler_comparison;
@group(1) @binding(6) var store : texture_storage_1d<r32uint, read_write>;
fn fetch_it(t : texture_2d<f32>, s : sampler, uv : vec2f) -> vec4f { return textureSampleLevel(t, s, uv, 1.0); }
struct V { @builtin(position) p : vec4f, @location(0) uv : vec2f, @location(1) @interpolate(flat) k : vec2i }
@vertex fn vs(@location(0) p : vec4f, @location(1) uv : vec2f) -> V { return V(p, uv, vec2i(uv)); }
@fragment fn main(v : V, @builtin(sample_mask) mask : u32) -> @location(0) vec4f {
  var r = fetch_it(tex, smp, v.uv) + fetch_it(other, smp, v.uv.yx);
  r += textureLoad(ms, v.k, 2) + textureLoad(dms, v.k, 0);
  r += textureSample(cube, smp, vec3f(v.uv, 1), 3) + textureSampleGrad(tex, smp, v.uv, dpdx(v.uv), dpdy(v.uv), vec2i(1, 2));
  r += vec4f(textureLoad(ints, v.k, 0)) + textureSample(one, smp, v.uv.x) + textureLoad(one, 3, 0);
  r += textureSampleCompare(dc, cmp, vec3f(v.uv, 1), 0.5) + f32(textureNumSamples(ms)) + f32(textureNumLayers(cube));
  r.x += f32(textureDimensions(cube).x + textureDimensions(one) + textureDimensions(tex, 2).y + textureDimensions(ms).x);
  r += textureGatherCompare(dc, cmp, vec3f(v.uv, 1), 0.25) + textureSampleBaseClampToEdge(tex, smp, v.uv) + vec4f(textureGather(2, ints, smp, v.uv));
  textureStore(store, 3, vec4u(textureLoad(store, 2).x + mask));
  r += fwidthFine(r) + fwidthCoarse(r.x) + textureSample(dc, smp, vec3f(1)) + textureSampleLevel(dc, smp, vec3f(1), 2);
  return r;
}
