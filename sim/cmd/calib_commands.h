/* calib_commands.h - colosim calib NAME: each takes its arguments from its own name on and returns
 * the exit code. */
#ifndef COLOSIM_CALIB_COMMANDS_H
#define COLOSIM_CALIB_COMMANDS_H

int calib_bench(int argc, char **argv);
int calib_fit(int argc, char **argv);
int calib_pairs(int argc, char **argv);
int calib_score(int argc, char **argv);
int calib_synth(int argc, char **argv);
int calib_times(int argc, char **argv);
int calib_train(int argc, char **argv);
int calib_validate(int argc, char **argv);

#endif
