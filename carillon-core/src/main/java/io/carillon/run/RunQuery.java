package io.carillon.run;

import io.carillon.CarillonException;
import io.carillon.ErrorCode;
import io.carillon.internal.value.Names;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A query for one page of runs, newest first. Immutable; each method returns a changed copy. */
public final class RunQuery {
    private final RunFilter filter;
    private final @Nullable UUID schedule;
    private final @Nullable RunId before;
    private final Exclusions not;
    private final Period created;
    private final Contents contents;

    /**
     * A page of runs.
     *
     * @param next the run after which the next page begins; null if this is the last page
     */
    public record Page(List<Run> runs, @Nullable RunId next) {
        public Page {
            runs = List.copyOf(runs);
        }
    }

    private record Exclusions(
            @Nullable String queue,
            @Nullable String handler,
            @Nullable RunState state) {}

    private record Period(@Nullable Instant from, @Nullable Instant to) {
        Period {
            if (from != null && to != null && from.isAfter(to))
                throw new CarillonException(
                        ErrorCode.INVALID_OPTION,
                        "from must not be after to (from was %s, to was %s).".formatted(from, to));
        }
    }

    private record Contents(
            @Nullable String error, @Nullable String payload, boolean workflow) {}

    private RunQuery(
            RunFilter filter,
            @Nullable UUID schedule,
            @Nullable RunId before,
            Exclusions not,
            Period created,
            Contents contents) {
        this.filter = filter;
        this.schedule = schedule;
        this.before = before;
        this.not = not;
        this.created = created;
        this.contents = contents;
    }

    /** Returns a query for the first page. */
    public static RunQuery of(RunFilter filter) {
        return new RunQuery(
                filter,
                null,
                null,
                new Exclusions(null, null, null),
                new Period(null, null),
                new Contents(null, null, false));
    }

    /**
     * Returns a query for the first page of workflows of which an attempt failed because their code does not match
     * their records. They wait for another try by a node with the right code, or are dead.
     */
    public static RunQuery stuckWorkflows(RunFilter filter) {
        return of(filter).error("does not match its records").workflow(true);
    }

    /** Returns a copy that matches only runs of one schedule. */
    public RunQuery schedule(UUID schedule) {
        return new RunQuery(filter, schedule, before, not, created, contents);
    }

    /** Returns a query for the page that follows this run. */
    public RunQuery before(RunId last) {
        return new RunQuery(filter, schedule, last, not, created, contents);
    }

    /** Returns a copy that matches no run of this queue. */
    public RunQuery notQueue(String queue) {
        return with(new Exclusions(Names.check("queue", queue), not.handler, not.state));
    }

    /** Returns a copy that matches no run of this handler. */
    public RunQuery notHandler(String handler) {
        return with(new Exclusions(not.queue, Names.checkKey("handler name", handler), not.state));
    }

    /** Returns a copy that matches no run in this state. */
    public RunQuery notState(RunState state) {
        return with(new Exclusions(not.queue, not.handler, state));
    }

    private RunQuery with(Exclusions changed) {
        return new RunQuery(filter, schedule, before, changed, created, contents);
    }

    /** Returns a copy that matches only runs that were created at this instant or later. */
    public RunQuery from(Instant from) {
        return new RunQuery(filter, schedule, before, not, new Period(from, created.to), contents);
    }

    /** Returns a copy that matches only runs that were created at this instant or earlier. */
    public RunQuery to(Instant to) {
        return new RunQuery(filter, schedule, before, not, new Period(created.from, to), contents);
    }

    /**
     * Returns a copy that matches only runs with this text in an error, whatever its case: of an attempt of a waiting
     * or running run, or in the reason why a run ended.
     */
    public RunQuery error(String text) {
        return with(new Contents(Names.checkKey("error text", text), contents.payload, contents.workflow));
    }

    /** Returns a copy that matches only runs whose payload is kept and contains this text. */
    public RunQuery payload(String text) {
        return with(new Contents(contents.error, Names.checkKey("payload text", text), contents.workflow));
    }

    /**
     * Returns a copy that matches only workflows, if the argument is true. A workflow is a run that has recorded a step
     * or a sleep.
     */
    public RunQuery workflow(boolean workflow) {
        return with(new Contents(contents.error, contents.payload, workflow));
    }

    private RunQuery with(Contents changed) {
        return new RunQuery(filter, schedule, before, not, created, changed);
    }

    /** Returns the filter of the runs, whose limit is the size of a page. */
    public RunFilter filter() {
        return filter;
    }

    /** Returns the schedule of the runs; null for all. */
    public @Nullable UUID schedule() {
        return schedule;
    }

    /** Returns the run that all runs of the page are older than; null for the first page. */
    public @Nullable RunId before() {
        return before;
    }

    /** Returns the queue whose runs do not match; null for none. */
    public @Nullable String notQueue() {
        return not.queue;
    }

    /** Returns the handler whose runs do not match; null for none. */
    public @Nullable String notHandler() {
        return not.handler;
    }

    /** Returns the state in which runs do not match; null for none. */
    public @Nullable RunState notState() {
        return not.state;
    }

    /** Returns the earliest creation of a run, inclusive; null if unbounded. */
    public @Nullable Instant from() {
        return created.from;
    }

    /** Returns the latest creation of a run, inclusive; null if unbounded. */
    public @Nullable Instant to() {
        return created.to;
    }

    /** Returns the text of an error; null for all runs. */
    public @Nullable String error() {
        return contents.error;
    }

    /** Returns the text of a payload; null for all runs. */
    public @Nullable String payload() {
        return contents.payload;
    }

    /** Returns whether only workflows match. */
    public boolean workflow() {
        return contents.workflow;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RunQuery that && values().equals(that.values());
    }

    @Override
    public int hashCode() {
        return values().hashCode();
    }

    @Override
    public String toString() {
        return ("RunQuery[filter=%s, schedule=%s, before=%s, notQueue=%s, notHandler=%s, notState=%s, from=%s, to=%s,"
                        + " error=%s, payload=%s, workflow=%s]")
                .formatted(values().toArray());
    }

    private List<@Nullable Object> values() {
        return Arrays.asList(
                filter,
                schedule,
                before,
                not.queue,
                not.handler,
                not.state,
                created.from,
                created.to,
                contents.error,
                contents.payload,
                contents.workflow);
    }
}
