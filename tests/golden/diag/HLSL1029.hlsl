// run: stage=preprocess
// means: ## makes one token of two, and these two together are none.
// fix: Write the tokens beside each other without ##.
#define GLUE(a, b) a ## b
float x = GLUE(1, +) 2;
