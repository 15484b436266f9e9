package io.carillon;

/** What a health check may find wrong, by names that stay: for alerts and tests. The text of an issue says which, and what to do. */
public enum HealthIssue {
    /** A loop of this process has ended. */
    LOOP_ENDED,
    /** The last round of a loop failed. */
    LOOP_FAILING,
    /** LISTEN shall wake this node and is not proven to work: it polls. */
    LISTEN_NOT_PROVEN,
    /** This machine's clock is off the database's. */
    CLOCK_OFF,
    /** A run that is due waits for long. */
    WORK_NOT_TAKEN,
    /** Many planned instants were missed within the hour. */
    INSTANTS_MISSED,
    /** One schedule misses its instants again and again. */
    SCHEDULE_MISSES,
    /** Runs are held by nobody alive. */
    RUNS_STALLED,
    /** The pool took long to lend a connection. */
    POOL_SLOW,
    /** PostgreSQL compiles frequent statements, which takes longer than their execution. */
    JIT_THRESHOLD_LOW,
    /** A transaction is open for long and keeps vacuum from its work. */
    OLD_TRANSACTION,
    /** A node that is not declared dead has stopped to beat. */
    NODE_SILENT,
    /** No node is alive. */
    NO_NODE,
    /** The breaker of a queue is open. */
    BREAKER_OPEN,
    /** Runs wait for a handler that no living node has. */
    HANDLER_UNKNOWN,
    /** This process cannot read or change a schedule, such as one of a newer version. */
    SCHEDULE_UNREADABLE,
    /** Migrations are missing or altered. */
    TABLES_DO_NOT_FIT,
    /** The database does not answer. */
    DATABASE_SILENT
}
