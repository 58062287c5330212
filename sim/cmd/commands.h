/* commands.h - one function per word after "colosim".
 *
 * argv[0] is the whole command ("colosim ls"), for usage lines; the rest are its arguments. Each
 * prints its own messages and returns the exit code; a usage error found by argp exits with 2. */
#ifndef COLOSIM_COMMANDS_H
#define COLOSIM_COMMANDS_H

int cmd_calib(int argc, char **argv);
int cmd_capacity(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_decide(int argc, char **argv);
int cmd_describe(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_why(int argc, char **argv);

#endif
