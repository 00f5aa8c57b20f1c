/* cli_stop.h - SIGINT and SIGTERM as a wish to stop, for commands that clean up behind them. */
#ifndef TENON_CLI_STOP_H
#define TENON_CLI_STOP_H

/* From now on the first such signal only sets what cli_stopped tells; the second kills. */
void cli_stop_by_signals(void);
int cli_stopped(void);

#endif
