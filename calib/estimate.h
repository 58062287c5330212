/* estimate.h - a fitted number and how well it is known. */
#ifndef COLOSIM_CALIB_ESTIMATE_H
#define COLOSIM_CALIB_ESTIMATE_H

struct estimate {
    double value, se; /* standard error; 0 where the number was not fitted */
};

#endif
