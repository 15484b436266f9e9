package io.carillon;

import io.carillon.run.Enqueue;
import io.carillon.run.EnqueueResult;
import io.carillon.run.HandlerType;
import io.carillon.run.NewRun;
import io.carillon.run.Payload;
import io.carillon.run.Target;
import io.carillon.schedule.ScheduleListener;
import io.carillon.store.Desks;
import java.sql.Connection;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One project's door: its schedules, runs and queues. The engine of a process executes the runs of all projects; what is asked for here stays inside one. */
public final class Project implements Enqueuing {
    /** Where runs are stored: some that share a lane, a due time and a gate. */
    @FunctionalInterface
    interface Inbox {
        List<EnqueueResult> store(List<NewRun> runs);
    }

    /** What is told when something changed. */
    record Hints(Runnable woken, ScheduleListener told) {}

    /** Makes the same door inside a caller's transaction. */
    @FunctionalInterface
    interface Joining {
        Project in(Connection connection, @Nullable Consumer<Runnable> afterCommit);
    }

    private final Payloads payloads;
    private final Desks desks;
    private final Inbox inbox;
    private final Hints hints;
    private final Joining joining;

    Project(Payloads payloads, Desks desks, Inbox inbox, Hints hints, Joining joining) {
        this.payloads = payloads;
        this.desks = desks;
        this.inbox = inbox;
        this.hints = hints;
        this.joining = joining;
    }

    public String name() {
        return payloads.project();
    }

    public Schedules schedules() {
        return new Schedules(desks.schedules(), payloads, hints.woken(), hints.told());
    }

    public Runs runs() {
        return new Runs(desks.runs(), name(), hints.woken());
    }

    public Queues queues() {
        return new Queues(desks.lanes(), name(), hints.woken());
    }

    @Override
    public <T> EnqueueResult enqueue(HandlerType<T> type, T payload, Enqueue options) {
        return inbox.store(List.of(payloads.run(type, payload, options))).get(0);
    }

    @Override
    public <T> List<EnqueueResult> enqueueAll(HandlerType<T> type, Collection<T> values, Enqueue options) {
        return inbox.store(
                values.stream().map(value -> payloads.run(type, value, options)).toList());
    }

    /** Stores runs whose payloads are encoded already, for those who know targets by name only; all or nothing, one answer each, in order. */
    public List<EnqueueResult> enqueueAll(Target target, Collection<Payload> encoded, Enqueue options) {
        return inbox.store(encoded.stream()
                .map(payload -> payloads.run(target, payload, options))
                .toList());
    }

    /** The same door in the caller's transaction: nothing is visible before it commits, and nothing remains if it rolls back. */
    public Project in(Connection connection) {
        return joining.in(connection, null);
    }

    /** The same; nodes and listeners are told by what is handed to {@code afterCommit}, instead of by a NOTIFY of the transaction. */
    public Project in(Connection connection, Consumer<Runnable> afterCommit) {
        return joining.in(connection, afterCommit);
    }
}
