package io.carillon.testkit;

import io.carillon.run.Retry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What happened to runs and nodes, and what was promised about it. Immutable; each method returns a copy that says more. {@link HistoryRecorder} writes the
 * events down, {@link HistoryChecker} judges.
 */
public record History(List<RunEvent> events, List<Loss> losses, Promises promises, Optional<Quiet> quiet) {
    /** A node was killed, frozen or cut off; noticed no earlier than it happened. */
    public record Loss(String node, Instant at) {}

    /** At most so many of these runs are leased at a time. */
    public record Limit(Set<String> runs, int most) {}

    /** How runs that fail are tried again, and how late that may be. */
    public record Retries(Retry retry, Duration slack) {}

    /** How soon the runs of a lost node are leased again, and how soon others start new runs where there is always something to start. */
    public record TakeOver(Duration rescued, Optional<Duration> firing) {}

    /** What the history is held to, besides what always holds. */
    public record Promises(
            List<Limit> limits, List<List<String>> orders, Optional<Retries> retries, Optional<TakeOver> takeOver) {}

    /** What was seen when the faults were over: when each living node beat last, and which runs may wait. */
    public record Quiet(Instant at, Map<String, Instant> beats, int listening, int sessionsMore, Set<String> mayWait) {}

    public History {
        events = List.copyOf(events);
        losses = List.copyOf(losses);
    }

    /** These events, in any order, without a fault. */
    public static History of(List<RunEvent> events) {
        Promises none = new Promises(List.of(), List.of(), Optional.empty(), Optional.empty());
        return new History(events, List.of(), none, Optional.empty());
    }

    public History lost(String node, Instant at) {
        return new History(events, plus(losses, new Loss(node, at)), promises, quiet);
    }

    public History limited(Set<String> runs, int most) {
        return with(new Promises(
                plus(promises.limits, new Limit(runs, most)), promises.orders, promises.retries, promises.takeOver));
    }

    /** These runs follow each other. */
    public History ordered(List<String> runs) {
        return with(new Promises(promises.limits, plus(promises.orders, runs), promises.retries, promises.takeOver));
    }

    /** What fails is tried again by this rule. Only on a database whose clock nobody moved. */
    public History retried(Retry retry, Duration slack) {
        return with(new Promises(
                promises.limits, promises.orders, Optional.of(new Retries(retry, slack)), promises.takeOver));
    }

    /** What a lost node held is leased again within this time. */
    public History rescued(Duration within) {
        return takenOver(new TakeOver(within, Optional.empty()));
    }

    /** How soon others do a lost node's work. */
    public History takenOver(TakeOver takeOver) {
        return with(new Promises(promises.limits, promises.orders, promises.retries, Optional.of(takeOver)));
    }

    /** The faults are over, and this was seen then. */
    public History quiet(Quiet seen) {
        return new History(events, losses, promises, Optional.of(seen));
    }

    private History with(Promises changed) {
        return new History(events, losses, changed, quiet);
    }

    private static <T> List<T> plus(List<T> all, T more) {
        List<T> longer = new ArrayList<>(all);
        longer.add(more);
        return List.copyOf(longer);
    }
}
