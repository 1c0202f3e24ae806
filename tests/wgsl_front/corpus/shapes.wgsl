// Distances of shapes, marched along rays.
// entries: vertex=vertex_main fragment=fragment_main
struct Scene { time : f32, aspect : f32, }
@group(0) @binding(0) var<uniform> scene : Scene;
@vertex fn vertex_main(@builtin(vertex_index) i : u32) -> @builtin(position) vec4f {
  const corners = array(vec2f(-1, -1), vec2f(3, -1), vec2f(-1, 3));
  return vec4f(corners[i], 0, 1);
}
fn box(p : vec3f, half : vec3f) -> f32 {
  let q = abs(p) - half;
  return length(max(q, vec3f())) + min(max(q.x, max(q.y, q.z)), 0);
}
fn torus(p : vec3f, radii : vec2f) -> f32 { return length(vec2f(length(p.xz) - radii.x, p.y)) - radii.y; }
fn blend(a : f32, b : f32, k : f32) -> f32 {
  let h = saturate(0.5 + 0.5 * (b - a) / k);
  return mix(b, a, h) - k * h * (1 - h);
}
fn turned(p : vec3f, angle : f32) -> vec3f {
  let s = sin(angle);
  let c = cos(angle);
  return vec3f(mat2x2f(c, s, -s, c) * p.xz, p.y).xzy;
}
fn field(p : vec3f) -> f32 {
  let q = turned(p, scene.time);
  return blend(box(q, vec3f(0.4)), torus(q, vec2f(0.7, 0.2)), 0.25);
}
fn normal_at(p : vec3f) -> vec3f {
  const e = vec2f(1, -1) * 0.001;
  return normalize(e.xyy * field(p + e.xyy) + e.yyx * field(p + e.yyx) + e.yxy * field(p + e.yxy) + e.xxx * field(p + e.xxx));
}
@fragment fn fragment_main(@builtin(position) at : vec4f) -> @location(0) vec4f {
  let uv = (at.xy / 512.0 * 2 - 1) * vec2f(scene.aspect, -1);
  let eye = vec3f(0, 0, 3);
  let ray = normalize(vec3f(uv, -2));
  var t = 0.0;
  for (var i = 0; i < 64; i++) {
    let d = field(eye + ray * t);
    if d < 0.001 {
      let n = normal_at(eye + ray * t);
      return vec4f(0.5 + 0.5 * n, 1);
    }
    t += d;
    if t > 10 { break; }
  }
  return vec4f(0.02, 0.02, 0.05, 1);
}
