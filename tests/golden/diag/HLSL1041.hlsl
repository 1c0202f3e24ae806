// run: stage=check
// means: A bracket or brace that was opened has no partner. The place is where it is due, as far as the indentation of the source tells; a label shows where it was opened.
// fix: Write the closing bracket, or remove the opening one.
float f(float a) {
    if (a > 0) {
        a = max(a, 1;
    return a;
}
float g() { return 1; }
