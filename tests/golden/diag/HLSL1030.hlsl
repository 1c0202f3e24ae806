// run: stage=preprocess
// means: Equal sources give equal results. A time or date would make them depend on when they are compiled.
// fix: Define a macro with the text that is wanted.
string built = __DATE__;
