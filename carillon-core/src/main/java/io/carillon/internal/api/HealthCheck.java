package io.carillon.internal.api;

import io.carillon.CarillonException;
import io.carillon.Health;
import io.carillon.NodeStatus;
import io.carillon.Wakeup;
import io.carillon.internal.engine.Engine;
import io.carillon.internal.store.DatabaseVitals;
import io.carillon.internal.store.Storage;
import io.carillon.internal.store.event.RelayStore;
import io.carillon.internal.store.event.SourceStore;
import io.carillon.internal.store.node.NodeView;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Collects the issues of the engine and of the database. */
public final class HealthCheck {
    private static final Duration MAX_CLOCK_SKEW = Duration.ofMinutes(1);
    private static final Duration MAX_HEARTBEAT_AGE = Duration.ofMinutes(1);
    private static final Duration MAX_OVERDUE = Duration.ofMinutes(5);
    private static final Duration MAX_TRANSACTION_AGE = Duration.ofMinutes(5);
    private static final Duration MAX_POOL_WAIT = Duration.ofSeconds(1);
    private static final Duration MAX_EVENTS_HELD_BACK = Duration.ofDays(7);
    private static final int MAX_MISSED_INSTANTS = 10;
    private static final int MAX_STALLED_RUNS = 5;

    private final List<Health.Issue> issues = new ArrayList<>();

    private HealthCheck() {}

    private void addIssue(Health.Kind kind, String text) {
        issues.add(new Health.Issue(kind, text));
    }

    /**
     * What the check asks beside engine and storage.
     *
     * @param schema throws a {@link CarillonException} if the schema does not match
     * @param issues sources of further issues, such as handlers
     */
    public record Sources(Runnable schema, List<Supplier<List<Health.Issue>>> issues) {
        public Sources {
            issues = List.copyOf(issues);
        }
    }

    /** Checks all parts. */
    public static Health check(Storage storage, @Nullable Engine engine, Wakeup wakeup, Sources sources) {
        HealthCheck check = new HealthCheck();
        if (engine != null) check.checkEngine(engine.status());
        sources.issues().forEach(source -> check.issues.addAll(source.get()));
        try {
            DatabaseVitals databaseVitals = storage.vitals().read();
            check.checkVitals(databaseVitals);
            // In HTTP mode only runDue executes runs, so a cluster without a node is normal.
            if (wakeup.mode() != Wakeup.Mode.HTTP) check.checkNodes(liveNodes(storage), databaseVitals.now());
            check.checkUnknownHandlers(storage);
            check.checkUnreadableSchedules(storage);
            check.checkSubscriptions(storage);
            storage.relays().issues(MAX_OVERDUE).forEach(check::addRelayIssues);
            storage.sources().blocked().forEach(check::addBlockedSource);
            check.checkSchema(sources.schema());
        } catch (RuntimeException unreachable) {
            check.addIssue(
                    Health.Kind.DATABASE_UNREACHABLE, "the database does not respond: " + unreachable.getMessage());
        }
        return new Health(check.issues);
    }

    private void checkEngine(NodeStatus status) {
        status.loops().forEach((name, loop) -> {
            if (!loop.alive())
                addIssue(Health.Kind.LOOP_ENDED, "the loop '" + name + "' has ended: restart this process");
            else if (loop.failing())
                addIssue(Health.Kind.LOOP_FAILING, "the loop '" + name + "' fails repeatedly: see the log");
        });
        if (status.fellBackToPolling())
            addIssue(
                    Health.Kind.LISTEN_NOT_WORKING,
                    "LISTEN delivers nothing: new work is found by polling only (is a transaction pooler between this"
                            + " process and the server?)");
        if (status.skew().abs().compareTo(MAX_CLOCK_SKEW) > 0)
            addIssue(
                    Health.Kind.CLOCK_SKEW,
                    ("the clock of this machine differs from the database clock by %s: scheduling is not affected, but"
                                    + " log timestamps are wrong")
                            .formatted(status.skew()));
    }

    private void checkVitals(DatabaseVitals databaseVitals) {
        if (databaseVitals.oldestDueAge().compareTo(MAX_OVERDUE) > 0)
            addIssue(
                    Health.Kind.RUNS_OVERDUE,
                    ("the oldest due run has been waiting for %d s: add nodes or concurrency, or check what occupies"
                                    + " the nodes")
                            .formatted(databaseVitals.oldestDueAge().toSeconds()));
        if (databaseVitals.missed() > MAX_MISSED_INSTANTS)
            addIssue(
                    Health.Kind.INSTANTS_MISSED,
                    "%d planned instants were missed within the last hour: see the ledgers of the schedules"
                            .formatted(databaseVitals.missed()));
        databaseVitals
                .missedBySchedule()
                .forEach((schedule, count) -> addIssue(
                        Health.Kind.SCHEDULE_MISSING_INSTANTS,
                        ("schedule '%s' repeatedly misses its planned instants, %d within the last hour: add nodes, or"
                                        + " run it less often")
                                .formatted(schedule, count)));
        if (databaseVitals.stalled() > MAX_STALLED_RUNS)
            addIssue(
                    Health.Kind.RUNS_STALLED,
                    ("%d runs have a lease that ended or a node that is not alive, and no node has released them:"
                                    + " start a node or call runDue to rescue them")
                            .formatted(databaseVitals.stalled()));
        if (databaseVitals.connectionWait().compareTo(MAX_POOL_WAIT) > 0)
            addIssue(
                    Health.Kind.POOL_SLOW,
                    ("the pool took %d ms to provide a connection: increase its size, or give the engine its own pool"
                                    + " with engineDataSource(…)")
                            .formatted(databaseVitals.connectionWait().toMillis()));
        databaseVitals
                .openBreakers()
                .forEach(lane -> addIssue(
                        Health.Kind.BREAKER_OPEN,
                        ("the breaker of queue '%s' of project '%s' is open because most attempts failed: it allows"
                                        + " one attempt from time to time")
                                .formatted(lane.queue(), lane.project())));
        if (DatabaseVitals.mayCompileStatements(databaseVitals.jitAboveCost()))
            addIssue(
                    Health.Kind.JIT_THRESHOLD_LOW,
                    ("jit_above_cost is %.0f: PostgreSQL may compile frequent statements at each execution, which"
                                    + " takes up to 300 ms. Set it to at least %.0f, or set jit to off")
                            .formatted(databaseVitals.jitAboveCost(), DatabaseVitals.JIT_SAFE_COST));
        DatabaseVitals.OldTransaction old = databaseVitals.oldTransaction();
        if (old != null && old.age().compareTo(MAX_TRANSACTION_AGE) > 0)
            addIssue(
                    Health.Kind.LONG_TRANSACTION,
                    ("a transaction has been open for %d s and prevents vacuum from removing dead rows: pid %d, user"
                                    + " '%s', application '%s', %s, last statement '%s'. End it, or run SELECT"
                                    + " pg_terminate_backend(%d)")
                            .formatted(
                                    old.age().toSeconds(),
                                    old.pid(),
                                    old.user(),
                                    old.application(),
                                    old.state(),
                                    old.query(),
                                    old.pid()));
    }

    private static List<NodeView> liveNodes(Storage storage) {
        return storage.nodes().list().stream().filter(NodeView::alive).toList();
    }

    /**
     * Reports nodes without a heartbeat. If the last node dies, no other node declares it dead, so its row still says
     * that it is alive.
     */
    private void checkNodes(List<NodeView> living, Instant now) {
        List<NodeView> silent = living.stream()
                .filter(node -> node.lastHeartbeatAt().plus(MAX_HEARTBEAT_AGE).isBefore(now))
                .toList();
        silent.forEach(node -> addIssue(
                Health.Kind.NODE_HEARTBEAT_LOST,
                "node '%s' on %s has sent no heartbeat for %d s: its runs are rescued when another node runs"
                        .formatted(
                                node.info().name(),
                                node.info().host(),
                                Duration.between(node.lastHeartbeatAt(), now).toSeconds())));
        if (silent.size() == living.size())
            addIssue(Health.Kind.NO_LIVE_NODE, "no node is alive: runs are not executed until a node starts");
    }

    private void checkUnknownHandlers(Storage storage) {
        storage.runAdmin()
                .unknownHandlers()
                .forEach((handler, count) -> addIssue(
                        Health.Kind.HANDLER_UNKNOWN,
                        "%s for the handler '%s', which no live node has: deploy the handler, or cancel %s"
                                .formatted(
                                        count == 1 ? "1 run waits" : count + " runs wait",
                                        handler,
                                        count == 1 ? "the run" : "the runs")));
    }

    private void checkSubscriptions(Storage storage) {
        storage.events()
                .behind(false, MAX_OVERDUE)
                .forEach(behind -> addIssue(
                        Health.Kind.SUBSCRIPTION_BEHIND,
                        ("subscription '%s' of project '%s' has not delivered the events since %s: start a node, or"
                                        + " execute the runs of its handler if 10,000 of them wait, or see the log of"
                                        + " the nodes for errors of the loop 'events'")
                                .formatted(behind.name(), behind.project(), behind.oldest())));
        storage.events()
                .behind(true, MAX_EVENTS_HELD_BACK)
                .forEach(behind -> addIssue(
                        Health.Kind.EVENTS_HELD_BACK,
                        ("the paused subscription '%s' of project '%s' keeps events since %s; they are removed after"
                                        + " twice the retention: resume or remove it")
                                .formatted(behind.name(), behind.project(), behind.oldest())));
    }

    private void addRelayIssues(RelayStore.Issue issue) {
        String relay = "relay '%s' of project '%s'"
                .formatted(issue.name().name(), issue.name().project());
        if (issue.withoutNode())
            addIssue(
                    Health.Kind.RELAY_WITHOUT_NODE,
                    ("%s is without a producer on any node: events of the topic '%s' are not sent. Start a node that"
                                    + " declares it, or remove it with relays().remove(…)")
                            .formatted(relay, issue.topic()));
        if (issue.failingSince() != null)
            addIssue(
                    Health.Kind.RELAY_FAILING,
                    "%s cannot send since %s: %s. It continues when the destination accepts events again"
                            .formatted(relay, issue.failingSince(), issue.error()));
        if (issue.oldest() != null)
            addIssue(
                    Health.Kind.RELAY_BEHIND,
                    "%s has not sent the events since %s: see its error in relays().list(), or the log of its node"
                            .formatted(relay, issue.oldest()));
        if (issue.rejected())
            addIssue(
                    Health.Kind.EVENTS_REJECTED,
                    "%s has events that its destination has rejected: see relays().rejected(…), and retry or skip them"
                            .formatted(relay));
    }

    private void addBlockedSource(SourceStore.Blocked blocked) {
        addIssue(
                Health.Kind.SOURCE_BLOCKED,
                ("source '%s' of project '%s' cannot publish the record at position %d of %s: %s. Deploy code that can,"
                                + " or pass it with sources().skip(…)")
                        .formatted(
                                blocked.partition().source(),
                                blocked.partition().project(),
                                blocked.position(),
                                blocked.partition().part(),
                                blocked.reason()));
    }

    private void checkUnreadableSchedules(Storage storage) {
        storage.plans()
                .unreadable()
                .forEach((schedule, error) -> addIssue(
                        Health.Kind.SCHEDULE_UNREADABLE,
                        ("schedule '%s' cannot be planned by this process: %s. Other nodes plan it if they can read"
                                        + " it; upgrade this process, or change the schedule")
                                .formatted(schedule, error)));
    }

    private void checkSchema(Runnable validate) {
        try {
            validate.run();
        } catch (CarillonException wrong) {
            addIssue(
                    Health.Kind.SCHEMA_MISMATCH,
                    "the database schema does not match this version: " + wrong.getMessage());
        }
    }
}
