// Spheres that light bounces between; no recursion, a loop of rays.
// entries: compute=trace_main
struct Sphere { centre : vec3f, radius : f32, colour : vec3f, kind : u32, }
struct Camera { eye : vec3f, frame : u32, right : vec3f, width : u32, up : vec3f, height : u32, ahead : vec3f, count : u32, }
@group(0) @binding(0) var<uniform> camera : Camera;
@group(0) @binding(1) var<storage> spheres : array<Sphere>;
@group(0) @binding(2) var image : texture_storage_2d<rgba16float, write>;
struct Ray { origin : vec3f, direction : vec3f, }
struct Hit { distance : f32, index : i32, }
var<private> seed : u32 = 1u;
fn random() -> f32 {
  seed = seed * 747796405u + 2891336453u;
  let word = ((seed >> ((seed >> 28u) + 4u)) ^ seed) * 277803737u;
  return f32((word >> 22u) ^ word) / 4294967295.0;
}
fn on_sphere() -> vec3f {
  let z = random() * 2 - 1;
  let a = random() * 6.2831853;
  return vec3f(sqrt(1 - z * z) * vec2f(cos(a), sin(a)), z);
}
fn meet(ray : Ray, sphere : Sphere) -> f32 {
  let between = ray.origin - sphere.centre;
  let b = dot(between, ray.direction);
  let d = b * b - dot(between, between) + sphere.radius * sphere.radius;
  if d < 0 { return -1; }
  let near = -b - sqrt(d);
  return select(-b + sqrt(d), near, near > 0.001);
}
fn nearest(ray : Ray) -> Hit {
  var hit = Hit(1e30, -1);
  for (var i = 0u; i < camera.count; i++) {
    let distance = meet(ray, spheres[i]);
    if distance > 0.001 && distance < hit.distance { hit = Hit(distance, i32(i)); }
  }
  return hit;
}
fn trace(first : Ray) -> vec3f {
  var ray = first;
  var through = vec3f(1);
  for (var bounce = 0; bounce < 6; bounce++) {
    let hit = nearest(ray);
    if hit.index < 0 { return through * mix(vec3f(1), vec3f(0.5, 0.7, 1), ray.direction.y * 0.5 + 0.5); }
    let sphere = spheres[hit.index];
    let place = ray.origin + ray.direction * hit.distance;
    let normal = (place - sphere.centre) / sphere.radius;
    through *= sphere.colour;
    switch sphere.kind {
      case 0: { ray = Ray(place, normalize(normal + on_sphere())); }
      case 1: { ray = Ray(place, reflect(ray.direction, normal)); }
      case 2, default: {
        let into = dot(ray.direction, normal) < 0;
        let bent = refract(ray.direction, select(-normal, normal, into), select(1.5, 1 / 1.5, into));
        if all(bent == vec3f()) { break; }
        ray = Ray(place, bent);
      }
    }
  }
  return vec3f();
}
@compute @workgroup_size(8, 8)
fn trace_main(@builtin(global_invocation_id) id : vec3u) {
  if id.x >= camera.width || id.y >= camera.height { return; }
  seed = (id.x * 1973u + id.y * 9277u + camera.frame * 26699u) | 1u;
  let uv = (vec2f(id.xy) + vec2f(random(), random())) / vec2f(f32(camera.width), f32(camera.height)) * 2 - 1;
  let ray = Ray(camera.eye, normalize(camera.ahead + camera.right * uv.x - camera.up * uv.y));
  textureStore(image, vec2i(id.xy), vec4f(trace(ray), 1));
}
