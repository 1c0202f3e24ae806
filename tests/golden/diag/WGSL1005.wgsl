// run: stage=check
// means: No attribute, type, member, feature or word of that kind has this name.
// fix: Mend the spelling.
@fragment fn f(@builtin(fragcoord) at : vec4f) {}
