// run: stage=check
// means: The value of a return has the type of the function; a void function returns none.
// fix: Return such a value, or change the type.
void f () { return 1; }
