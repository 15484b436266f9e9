package io.carillon;

import io.carillon.internal.value.Names;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How much work is waiting and how late it is, for dashboards: all queues with due runs and the first 500 schedules of
 * all projects, and how runs ended in the last hour.
 *
 * @param scheduleCount the number of all schedules
 * @param activeSchedules the number of schedules that are not paused
 * @param stalledRuns runs whose lease has ended or whose node is not alive, and that no node has released
 * @param oldestTransaction the age of the oldest open transaction that prevents vacuum from removing dead rows; zero if
 *     there is none
 * @param executions how the runs of all projects ended in the last hour
 * @param relays the first 500 relays of all projects
 */
public record Stats(
        List<QueueStats> queues,
        List<ScheduleStats> schedules,
        long scheduleCount,
        long activeSchedules,
        long stalledRuns,
        Duration oldestTransaction,
        Executions executions,
        List<RelayStats> relays) {
    public Stats {
        queues = List.copyOf(queues);
        schedules = List.copyOf(schedules);
        relays = List.copyOf(relays);
    }

    /**
     * A relay.
     *
     * @param lag how many events it has not sent, without those that are held, counted up to a limit
     * @param oldest how long the oldest of them has waited
     * @param rejected how many events its destination has rejected and no operator has decided about
     */
    public record RelayStats(String name, long lag, Duration oldest, long rejected) {}

    /** The number of due runs of a queue, counted up to a limit, and for how long the first of them has waited. */
    public record QueueStats(String queue, long due, Duration oldestDue) {}

    /**
     * A schedule.
     *
     * @param nextAt its next planned instant; null if it has none or is paused
     * @param lag how late its next tick is
     * @param lastSuccess null if no run has succeeded
     */
    public record ScheduleStats(
            String name,
            boolean paused,
            @Nullable Instant nextAt,
            Duration lag,
            @Nullable Instant lastSuccess) {}

    /**
     * The attempts and runs of the last hour. {@link Carillon#stats(RunStats.Query)} returns more for one project.
     *
     * @param perMinute the number of attempts that started, per minute
     * @param averageTime the mean duration of attempts
     * @param failureRate which part of the runs that succeeded or failed is dead or quarantined, between 0 and 1
     * @param recoveries how many runs were taken from dead nodes or quarantined
     */
    public record Executions(double perMinute, Duration averageTime, double failureRate, long recoveries) {}

    /**
     * Statistics of the runs of a project in a range of time: how many ended and how, how late they started, and how
     * long they took. They come from counts per minute that the nodes write every few seconds; a node that is killed
     * loses the counts since its last write. The ledger and the history are exact.
     *
     * @param from the begin of the range, rounded down to a minute, or to the step
     * @param to the end of the range, rounded up
     * @param step the length of a point; null if none was asked for
     * @param points one for each step, in order, also for steps without runs; empty without a step
     * @param groups the figures of each group, those with the most ended runs first; empty without a grouping
     */
    public record RunStats(
            Instant from, Instant to, @Nullable Duration step, Figures total, List<Point> points, List<Group> groups) {
        public RunStats {
            points = List.copyOf(points);
            groups = List.copyOf(groups);
        }

        /** Returns a query for the last hour of all runs of a project. */
        public static Query query() {
            return new Query(null, null, null, null, Selection.ALL, Query.DEFAULT_LIMIT);
        }

        /** What is counted. */
        public enum Count {
            /** Attempts that called their handler. */
            STARTED,
            SUCCEEDED,
            DEAD,
            CANCELLED,
            QUARANTINED,
            /** Planned instants that were skipped, such as those during a pause. */
            SKIPPED,
            /** Planned instants that were missed. */
            MISSED,
            /** Attempts that failed and are tried again. */
            RETRIED,
            /** Runs that were taken from a dead node or an expired lease. */
            RESCUED,
            /** Dead runs that were started again. */
            REDRIVEN;

            /** Returns the name in SQL, REST and the command. */
            public String text() {
                return name().toLowerCase(Locale.ROOT);
            }
        }

        /** What the runs of a project are grouped by. */
        public enum Grouping {
            QUEUE,
            /** The handler, or the endpoint that a webhook calls. */
            TARGET,
            /** How runs and planned instants ended. */
            OUTCOME;

            /** Returns the name in REST and the command. */
            public String text() {
                return name().toLowerCase(Locale.ROOT);
            }
        }

        /**
         * Counts and durations of a period.
         *
         * @param period its length; of a period that has not ended, the part that has passed
         * @param lateness of ticks: from the planned instant to the start of an attempt
         * @param waitTime of first attempts: from the due time to the start
         * @param runTime of attempts: from the start to the end
         */
        public record Figures(Duration period, Map<Count, Long> counts, Times lateness, Times waitTime, Times runTime) {
            public Figures {
                counts = Map.copyOf(counts);
            }

            /** Returns one of the counts. */
            public long count(Count what) {
                return counts.getOrDefault(what, 0L);
            }

            /** Returns the number of runs that ended: succeeded, dead, cancelled or quarantined. */
            public long ended() {
                return count(Count.SUCCEEDED) + failed() + count(Count.CANCELLED);
            }

            private long failed() {
                return count(Count.DEAD) + count(Count.QUARANTINED);
            }

            /** Returns the number of runs that ended per second. */
            public double perSecond() {
                return perSecond(ended());
            }

            /** Returns one of the counts per second. */
            public double perSecond(Count what) {
                return perSecond(count(what));
            }

            private double perSecond(long number) {
                return number == 0 ? 0 : number * 1_000.0 / Math.max(1, period.toMillis());
            }

            /**
             * Returns which part of the runs failed, between 0 and 1: the dead and quarantined runs among these and the
             * succeeded ones. Empty if there are none.
             */
            public Optional<Double> failureRate() {
                long all = failed() + count(Count.SUCCEEDED);
                return all == 0 ? Optional.empty() : Optional.of((double) failed() / all);
            }

            /** Returns the same figures with the counts only of one outcome. */
            public Figures only(Count outcome) {
                Map<Count, Long> one = new EnumMap<>(Count.class);
                one.put(outcome, count(outcome));
                return new Figures(period, one, Times.NONE, Times.NONE, Times.NONE);
            }
        }

        /**
         * The distribution of durations. Percentiles are estimates: they come from a histogram whose buckets double.
         *
         * @param count the number of durations; the others are zero if it is zero
         */
        public record Times(long count, Duration mean, Duration p50, Duration p95, Duration p99) {
            /** No durations. */
            public static final Times NONE = new Times(0, Duration.ZERO, Duration.ZERO, Duration.ZERO, Duration.ZERO);
        }

        /** The figures of one step. */
        public record Point(Instant at, Figures figures) {}

        /**
         * The figures of one queue, handler, endpoint or outcome.
         *
         * @param kind {@code queue}, {@code handler}, {@code endpoint} or {@code outcome}; {@code other} for the sum of
         *     the groups that are not listed
         * @param name the name of the queue, handler, endpoint or outcome; empty for {@code other}
         */
        public record Group(String kind, String name, Figures total, List<Point> points) {
            public Group {
                points = List.copyOf(points);
            }
        }

        private record Selection(
                @Nullable Grouping by,
                @Nullable String queue,
                @Nullable String handler) {
            static final Selection ALL = new Selection(null, null, null);
        }

        /** A query for statistics. Immutable; each method returns a changed copy. */
        public static final class Query {
            /** The length of the range if the query names none. */
            public static final Duration DEFAULT_RANGE = Duration.ofHours(1);

            private static final int DEFAULT_LIMIT = 20;
            private static final int MAX_LIMIT = 100;

            private final @Nullable Instant from;
            private final @Nullable Instant to;
            private final @Nullable Duration range;
            private final @Nullable Duration step;
            private final Selection selection;
            private final int limit;

            private Query(
                    @Nullable Instant from,
                    @Nullable Instant to,
                    @Nullable Duration range,
                    @Nullable Duration step,
                    Selection selection,
                    int limit) {
                this.from = from;
                this.to = to;
                this.range = range;
                this.step = step;
                this.selection = selection;
                this.limit = limit;
            }

            /** Selects the begin. Default: the end minus an hour. */
            public Query from(Instant begin) {
                return new Query(begin, to, null, step, selection, limit);
            }

            /** Selects the end. Default: now. */
            public Query to(Instant end) {
                return new Query(from, end, range, step, selection, limit);
            }

            /** Selects the length of the range, which ends now or at {@link #to}. */
            public Query last(Duration length) {
                if (length.isNegative() || length.isZero())
                    throw new CarillonException(
                            ErrorCode.INVALID_OPTION, "last must be longer than 0 (was %s).".formatted(length));
                return new Query(null, to, length, step, selection, limit);
            }

            /**
             * Divides the range into points. The step is a multiple of a minute, or of an hour if the range is longer
             * than six hours.
             */
            public Query step(Duration length) {
                if (length.compareTo(Duration.ofMinutes(1)) < 0
                        || !length.equals(Duration.ofMinutes(length.toMinutes())))
                    throw new CarillonException(
                            ErrorCode.INVALID_OPTION,
                            "step must be a multiple of 1 minute (was %s).".formatted(length));
                return new Query(from, to, range, length, selection, limit);
            }

            /** Adds the figures of each queue, target or outcome. */
            public Query by(Grouping grouping) {
                return new Query(
                        from, to, range, step, new Selection(grouping, selection.queue, selection.handler), limit);
            }

            /** Selects the runs of one queue. */
            public Query queue(String name) {
                return new Query(
                        from,
                        to,
                        range,
                        step,
                        new Selection(selection.by, Names.check("queue", name), selection.handler),
                        limit);
            }

            /** Selects the runs of one handler. */
            public Query handler(String name) {
                return new Query(
                        from,
                        to,
                        range,
                        step,
                        new Selection(selection.by, selection.queue, Names.check("handler", name)),
                        limit);
            }

            /** Selects how many groups are listed, 1 to 100. Default: 20. The others are summed. */
            public Query limit(int most) {
                if (most < 1 || most > MAX_LIMIT)
                    throw new CarillonException(
                            ErrorCode.INVALID_OPTION,
                            "limit must be between 1 and %d (was %d).".formatted(MAX_LIMIT, most));
                return new Query(from, to, range, step, selection, most);
            }

            /** Returns the begin of the range, which ends at this instant. */
            public Instant fromBefore(Instant end) {
                return from != null ? from : end.minus(range == null ? DEFAULT_RANGE : range);
            }

            public Optional<Instant> to() {
                return Optional.ofNullable(to);
            }

            public @Nullable Duration step() {
                return step;
            }

            public @Nullable Grouping by() {
                return selection.by;
            }

            public @Nullable String queue() {
                return selection.queue;
            }

            public @Nullable String handler() {
                return selection.handler;
            }

            public int limit() {
                return limit;
            }
        }
    }
}
