// run: stage=preprocess
// means: The source says with #error that it cannot be compiled like this.
// fix: Do what the text asks for: it is the author's.
#ifndef QUALITY
#error QUALITY must be defined
#endif
