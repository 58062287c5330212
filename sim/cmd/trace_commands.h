/* trace_commands.h - colosim trace NAME: each takes its arguments from its own name on and returns
 * the exit code. */
#ifndef COLOSIM_TRACE_COMMANDS_H
#define COLOSIM_TRACE_COMMANDS_H

int trace_characterize(int argc, char **argv);
int trace_convert(int argc, char **argv);
int trace_info(int argc, char **argv);
int trace_sample(int argc, char **argv);
int trace_show(int argc, char **argv);
int trace_synth(int argc, char **argv);

#endif
