package io.carillon;

import io.carillon.engine.Engine;
import io.carillon.engine.EngineStatus;
import io.carillon.store.NodeView;
import io.carillon.store.Storage;
import io.carillon.store.Vitals;
import io.carillon.store.Wakeup;
import io.carillon.value.CarillonException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Asks the loops and the database what is wrong. */
final class HealthCheck {
    private static final Duration SKEW = Duration.ofMinutes(1);
    private static final Duration SILENT = Duration.ofMinutes(1);
    private static final Duration OVERDUE = Duration.ofMinutes(5);
    private static final Duration OLD_TRANSACTION = Duration.ofMinutes(5);
    private static final Duration SLOW_POOL = Duration.ofSeconds(1);
    private static final int MISSED = 10;
    private static final int STALLED = 5;

    private final List<String> issues = new ArrayList<>();
    private final Set<HealthIssue> kinds = EnumSet.noneOf(HealthIssue.class);

    private HealthCheck() {}

    private void found(HealthIssue kind, String text) {
        kinds.add(kind);
        issues.add(text);
    }

    /** {@code schema} throws what is wrong with the tables. */
    static Health check(Storage storage, @Nullable Engine engine, Wakeup wakeup, Runnable schema) {
        HealthCheck check = new HealthCheck();
        if (engine != null) check.engine(engine.status());
        try {
            Vitals vitals = storage.vitals().read();
            check.vitals(vitals);
            // Where ticks do the work there may be no node at all.
            if (wakeup.mode() != Wakeup.Mode.HTTP) check.nodes(living(storage), vitals.now());
            check.strangers(storage);
            check.unreadable(storage);
            check.schema(schema);
        } catch (RuntimeException unreachable) {
            check.found(HealthIssue.DATABASE_SILENT, "the database does not answer: " + unreachable.getMessage());
        }
        return new Health(check.issues.isEmpty(), check.issues, check.kinds);
    }

    private void engine(EngineStatus status) {
        status.loops().forEach((name, loop) -> {
            if (!loop.alive()) found(HealthIssue.LOOP_ENDED, "the loop '" + name + "' has ended: restart this process");
            else if (loop.failing())
                found(HealthIssue.LOOP_FAILING, "the loop '" + name + "' fails again and again: see the log");
        });
        if (status.steppedDown())
            found(
                    HealthIssue.LISTEN_NOT_PROVEN,
                    "LISTEN is not proven: new work is found by polling only (is a transaction pooler between?)");
        if (status.skew().abs().compareTo(SKEW) > 0)
            found(
                    HealthIssue.CLOCK_OFF,
                    "this machine's clock is off the database's by %s: harmless to us, but logs will disagree"
                            .formatted(status.skew()));
    }

    private void vitals(Vitals vitals) {
        if (vitals.oldestDueAge().compareTo(OVERDUE) > 0)
            found(
                    HealthIssue.WORK_NOT_TAKEN,
                    "the run that waits longest could have started %d s ago: add nodes or slots, or see what holds them"
                            .formatted(vitals.oldestDueAge().toSeconds()));
        if (vitals.missed() > MISSED)
            found(
                    HealthIssue.INSTANTS_MISSED,
                    "%d planned instants were missed within the hour: the ledger of their schedules says which"
                            .formatted(vitals.missed()));
        vitals.missing()
                .forEach((schedule, count) -> found(
                        HealthIssue.SCHEDULE_MISSES,
                        "schedule '%s' misses its instants again and again, %d within the hour: add nodes, or let it run more rarely"
                                .formatted(schedule, count)));
        if (vitals.stalled() > STALLED)
            found(
                    HealthIssue.RUNS_STALLED,
                    "%d runs are held by nobody alive: a node, or a tick, must sweep them up"
                            .formatted(vitals.stalled()));
        if (vitals.borrowed().compareTo(SLOW_POOL) > 0)
            found(
                    HealthIssue.POOL_SLOW,
                    "the pool took %d ms to lend a connection: enlarge it, or give the engine its own with engineDataSource(…)"
                            .formatted(vitals.borrowed().toMillis()));
        vitals.broken()
                .forEach(lane -> found(
                        HealthIssue.BREAKER_OPEN,
                        "the breaker of queue '%s' of project '%s' is open, because most attempts failed: it lets one try now and then"
                                .formatted(lane.queue(), lane.project())));
        if (Vitals.compiles(vitals.jitAboveCost()))
            found(
                    HealthIssue.JIT_THRESHOLD_LOW,
                    "jit_above_cost is %.0f: PostgreSQL may compile frequent statements at each execution, which costs up to 300 ms. Set it to at least %.0f, or jit to off"
                            .formatted(vitals.jitAboveCost(), Vitals.JIT_FROM));
        Vitals.OldTransaction old = vitals.oldTransaction();
        if (old != null && old.age().compareTo(OLD_TRANSACTION) > 0)
            found(
                    HealthIssue.OLD_TRANSACTION,
                    "a transaction is open for %d s and keeps vacuum from its work: pid %d, user '%s', application '%s', %s, last statement '%s'. End it, or SELECT pg_terminate_backend(%d)"
                            .formatted(
                                    old.age().toSeconds(),
                                    old.pid(),
                                    old.user(),
                                    old.application(),
                                    old.state(),
                                    old.query(),
                                    old.pid()));
    }

    private static List<NodeView> living(Storage storage) {
        return storage.nodes().list().stream().filter(NodeView::alive).toList();
    }

    /** A node that died alone has nobody who declares it dead: its row says that it lives. */
    private void nodes(List<NodeView> living, Instant now) {
        List<NodeView> silent = living.stream()
                .filter(node -> node.beatAt().plus(SILENT).isBefore(now))
                .toList();
        silent.forEach(node -> found(
                HealthIssue.NODE_SILENT,
                "node '%s' on %s has not beaten for %d s: its runs are rescued as soon as another node watches it"
                        .formatted(
                                node.info().name(),
                                node.info().host(),
                                Duration.between(node.beatAt(), now).toSeconds())));
        if (silent.size() == living.size())
            found(HealthIssue.NO_NODE, "no node is alive: nothing is executed until one starts");
    }

    private void strangers(Storage storage) {
        storage.runDesk()
                .strangers()
                .forEach((handler, count) -> found(
                        HealthIssue.HANDLER_UNKNOWN,
                        "%d runs wait for a handler named '%s', which no living node has: deploy it, or cancel them"
                                .formatted(count, handler)));
    }

    private void unreadable(Storage storage) {
        storage.plans()
                .unreadable()
                .forEach((schedule, error) -> found(
                        HealthIssue.SCHEDULE_UNREADABLE,
                        "schedule '%s' cannot be planned by this process: %s. Other nodes plan it if they can; bring this one up to date, or change the schedule"
                                .formatted(schedule, error)));
    }

    private void schema(Runnable validate) {
        try {
            validate.run();
        } catch (CarillonException wrong) {
            found(HealthIssue.TABLES_DO_NOT_FIT, "the tables do not fit this version: " + wrong.getMessage());
        }
    }
}
