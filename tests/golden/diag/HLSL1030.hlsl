// run: stage=check
// means: The same sources give the same result on any day, so the macros of date and time are not there.
// fix: Give the value as a define of the request, where it is part of the key.
static const string a = __DATE__;
