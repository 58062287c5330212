/* palette.h - the colours of every figure, of a drawn one and of the page alike.
 *
 * In the order of the series: colour, gnuplot dash type, gnuplot mark. Neighbours differ in
 * lightness, and each has dashes and a mark of its own, so that a print in black and white can be
 * read. */
#ifndef COLOSIM_PALETTE_H
#define COLOSIM_PALETTE_H

#define PALETTE(X)                                                                                 \
    X("#00224e", "solid", 7)                                                                       \
    X("#e07b39", "'-'", 5)                                                                         \
    X("#0f6b70", "'-.'", 9)                                                                        \
    X("#e8b84a", "'_'", 13)                                                                        \
    X("#7b4f9d", "'.'", 4)                                                                         \
    X("#7f8c8d", "'-..'", 6)                                                                       \
    X("#8fb4e0", "'_-'", 8)                                                                        \
    X("#5b3a1e", "'--.'", 12)                                                                      \
    X("#000000", "solid", 2)
enum {
#define X(colour_, dash_, mark_) +1
    N_PALETTE = 0 PALETTE(X)
#undef X
};

#endif
