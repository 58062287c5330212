/* fit_report.h - what colosim calib fit found, as tables for people. */
#ifndef COLOSIM_FIT_REPORT_H
#define COLOSIM_FIT_REPORT_H

#include "calib/fit_file.h"

void fit_report_print(const struct fit_file *f, FILE *file);

#endif
