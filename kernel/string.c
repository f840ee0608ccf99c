/*
 * memcpy and its family.
 *
 * The block operations are the CPU's string instructions, four bytes at a time: on a 386 they
 * reach the memory's speed (1500 bytes in 39 us at 40 MHz), and a C loop would be turned by the
 * compiler into a call of the very function it implements.
 */
#include "kernel/string.h"

#include <stdint.h>

enum { WORD = sizeof(uint32_t) };

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    void *d = to;
    size_t words = n / WORD, bytes = n % WORD;
    __asm__ volatile("rep movsl" : "+D"(d), "+S"(from), "+c"(words) : : "memory");
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(bytes) : : "memory");
    return to;
}

/* From the last byte down, for a destination that overlaps the source from above. */
static void copy_down(unsigned char *to, const unsigned char *from, size_t n)
{
    to += n - 1;
    from += n - 1;
    __asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(n) : : "memory", "cc");
}

void *memmove(void *to, const void *from, size_t n)
{
    if ((uintptr_t)to - (uintptr_t)from >= n) { /* below, or clear of the source */
        return memcpy(to, from, n);
    }
    copy_down(to, from, n);
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    void *d = to;
    size_t words = n / WORD, bytes = n % WORD;
    uint32_t pattern = (uint8_t)byte * UINT32_C(0x01010101);
    __asm__ volatile("rep stosl" : "+D"(d), "+c"(words) : "a"(pattern) : "memory");
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(bytes) : "a"(pattern) : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++) {
        if (x[i] != y[i]) {
            return x[i] - y[i];
        }
    }
    return 0;
}

size_t strlen(const char *s)
{
    const char *end = s;
    while (*end != '\0') {
        end++;
    }
    return (size_t)(end - s);
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y) {
            return x - y;
        }
        if (x == '\0') {
            break;
        }
    }
    return 0;
}

char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c) {
            return (char *)(uintptr_t)s;
        }
        if (*s == '\0') {
            return NULL;
        }
    }
}

char *strstr(const char *s, const char *part)
{
    size_t n = strlen(part);
    for (;; s++) {
        if (strncmp(s, part, n) == 0) {
            return (char *)(uintptr_t)s;
        }
        if (*s == '\0') {
            return NULL;
        }
    }
}

char *strncpy(char *restrict to, const char *restrict from, size_t n)
{
    size_t i = 0;
    for (; i < n && from[i] != '\0'; i++) {
        to[i] = from[i];
    }
    memset(to + i, 0, n - i);
    return to;
}
