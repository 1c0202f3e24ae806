// run: stage=check
// means: A string ends on its line, a comment before the end of its file.
// fix: Write the quote or '*/' that is missing.
[shader("vertex)]
float4 main() { return 0; }
