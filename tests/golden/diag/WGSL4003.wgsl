// run: stage=check
// means: What an entry point takes or gives has a location or is a built-in value of its stage, of the type that it has there.
// fix: Add or mend the attribute.
@vertex fn f() -> @location(0) vec4f { return vec4f(); }
