/* Of <stdlib.h>, lwIP's core names only atoi, in a function that we do not link. */
int atoi(const char *text);
