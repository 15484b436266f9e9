package io.carillon;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The result of {@link Carillon#health()}: the issues that were found. */
public record Health(List<Issue> issues) {
    public Health {
        issues = List.copyOf(issues);
    }

    /** Returns whether no issue was found. */
    public boolean healthy() {
        return issues.isEmpty();
    }

    /** Returns the kinds of the issues, each once, for alerts and tests. */
    public Set<Kind> kinds() {
        return issues.stream().map(Issue::kind).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * An issue.
     *
     * @param text what is wrong, with the details and the recommended action
     */
    public record Issue(Kind kind, String text) {}

    /** The kinds of issues. The names are stable, for alerts and tests. */
    public enum Kind {
        /** A background loop of this process has ended. */
        LOOP_ENDED,
        /** A background loop of this process failed in its last round. */
        LOOP_FAILING,
        /** LISTEN is configured but delivers no notifications; the node polls instead. */
        LISTEN_NOT_WORKING,
        /** The clock of this machine differs from the database clock. */
        CLOCK_SKEW,
        /** A due run has been waiting for too long. */
        RUNS_OVERDUE,
        /** Many planned instants were missed within the last hour. */
        INSTANTS_MISSED,
        /** A schedule repeatedly misses its planned instants. */
        SCHEDULE_MISSING_INSTANTS,
        /** Runs whose lease has ended or whose node is not alive, and that no node has released. */
        RUNS_STALLED,
        /** The pool took too long to provide a connection. */
        POOL_SLOW,
        /** PostgreSQL compiles frequent statements (JIT), which takes longer than their execution. */
        JIT_THRESHOLD_LOW,
        /** A long open transaction prevents vacuum from removing dead rows. */
        LONG_TRANSACTION,
        /** A node that is not declared dead has stopped sending heartbeats. */
        NODE_HEARTBEAT_LOST,
        /** No node is alive. */
        NO_LIVE_NODE,
        /** The breaker of a queue is open. */
        BREAKER_OPEN,
        /** Runs wait for a handler that no live node has. */
        HANDLER_UNKNOWN,
        /** A subscription that is not paused has had events without a run for too long. */
        SUBSCRIPTION_BEHIND,
        /** A paused subscription has kept events from being removed for long. */
        EVENTS_HELD_BACK,
        /** No node has the relay of a topic, so its events are not sent. */
        RELAY_WITHOUT_NODE,
        /** The destination of a relay has not accepted events for a while. */
        RELAY_FAILING,
        /** A relay has had events to send for too long. */
        RELAY_BEHIND,
        /** The destination of a relay has rejected events, about which an operator must decide. */
        EVENTS_REJECTED,
        /** A record that cannot be published blocks a partition of a source. */
        SOURCE_BLOCKED,
        /** This process cannot read or plan a schedule, for example because a newer version stored it. */
        SCHEDULE_UNREADABLE,
        /** The database schema does not match this version: migrations are missing or altered. */
        SCHEMA_MISMATCH,
        /** The database does not respond. */
        DATABASE_UNREACHABLE
    }
}
