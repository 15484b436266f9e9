package io.carillon.testkit;

import io.carillon.testkit.Complaint.Invariant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Judges a {@link History} by what must always hold, by what it was promised to hold to and, once all is quiet, by what must be over then; each
 * {@link Complaint} names the {@link Invariant} that is broken. It knows nothing of the code that made the history.
 */
public final class HistoryChecker {
    private static final Duration BEATS = Duration.ofSeconds(10);
    private static final int SESSIONS = 2;

    private final History history;
    private final Map<String, List<RunEvent>> runs = new LinkedHashMap<>();
    private final List<Complaint> complaints = new ArrayList<>();

    private HistoryChecker(History history) {
        this.history = history;
        List<RunEvent> ordered = new ArrayList<>(history.events());
        ordered.sort(Comparator.comparing(RunEvent::at)
                .thenComparing(RunEvent::attempt)
                .thenComparing(RunEvent::kind));
        for (RunEvent event : ordered)
            runs.computeIfAbsent(event.run(), run -> new ArrayList<>()).add(event);
    }

    /** Everything that is wrong with it; empty: nothing is. */
    public static List<Complaint> judge(History history) {
        HistoryChecker checker = new HistoryChecker(history);
        checker.judge();
        return List.copyOf(checker.complaints);
    }

    /** How many of these runs were leased at the same moment, at most. */
    public static int mostAtOnce(History history, Set<String> which) {
        return new HistoryChecker(history).mostAtOnce(which);
    }

    private void judge() {
        boolean startsKnown = history.events().stream().anyMatch(event -> event.kind() == RunEvent.Kind.STARTED);
        runs.values().forEach(events -> new RunJudge(history, startsKnown, complaints).judge(events));
        history.promises().limits().forEach(this::limit);
        history.promises().orders().forEach(this::order);
        uniqueKeys();
        history.promises().takeOver().ifPresent(this::takenOver);
        history.quiet().ifPresent(quiet -> {
            over(quiet);
            nodes(quiet);
        });
    }

    private void limit(History.Limit limit) {
        int most = mostAtOnce(limit.runs());
        if (most > limit.most())
            wrong(Invariant.LIMIT, "%d were leased at a time instead of %d".formatted(most, limit.most()));
    }

    private int mostAtOnce(Set<String> which) {
        TreeMap<Instant, Integer> steps = new TreeMap<>();
        leases().filter(lease -> which.contains(lease.run)).forEach(lease -> {
            steps.merge(lease.from, 1, Integer::sum);
            steps.merge(lease.to, -1, Integer::sum);
        });
        int live = 0;
        int most = 0;
        for (int step : steps.values()) {
            live += step;
            most = Math.max(most, live);
        }
        return most;
    }

    private void order(List<String> inOrder) {
        for (int i = 1; i < inOrder.size(); i++) {
            Instant ended = first(inOrder.get(i - 1), RunEvent.Kind.ENDED);
            Instant leased = first(inOrder.get(i), RunEvent.Kind.LEASED);
            if (leased.isBefore(ended)) wrong(Invariant.ORDER, inOrder.get(i) + " overtook " + inOrder.get(i - 1));
        }
    }

    private void uniqueKeys() {
        Map<String, RunEvent> last = new LinkedHashMap<>();
        history.events().stream()
                .filter(event ->
                        event.kind() == RunEvent.Kind.BORN && !event.detail().isEmpty())
                .sorted(Comparator.comparing(RunEvent::at))
                .forEach(born -> {
                    RunEvent before = last.put(born.detail(), born);
                    if (before != null && born.at().isBefore(first(before.run(), RunEvent.Kind.ENDED)))
                        wrong(
                                Invariant.UNIQUE_KEY,
                                "%s and %s lived with the key '%s'".formatted(before.run(), born.run(), born.detail()));
                });
    }

    private Instant first(String run, RunEvent.Kind kind) {
        return runs.getOrDefault(run, List.of()).stream()
                .filter(event -> event.kind() == kind)
                .map(RunEvent::at)
                .findFirst()
                .orElse(Instant.MAX);
    }

    private void takenOver(History.TakeOver promise) {
        for (History.Loss loss : history.losses()) {
            leases().filter(lease -> lease.heldBy(loss)).forEach(lease -> {
                Instant next = nextLease(lease.run, loss.at());
                if (next != null && next.isAfter(loss.at().plus(promise.rescued())))
                    wrong(
                            Invariant.TAKEN_OVER,
                            "%s was leased again only at %s after %s".formatted(lease.run, next, loss));
            });
            promise.firing()
                    .ifPresent(within -> history.events().stream()
                            .filter(event -> event.kind() == RunEvent.Kind.LEASED
                                    && !event.node().equals(loss.node())
                                    && !event.at().isBefore(loss.at()))
                            .map(RunEvent::at)
                            .min(Instant::compareTo)
                            .filter(at -> at.isAfter(loss.at().plus(within)))
                            .ifPresent(at -> wrong(
                                    Invariant.TAKEN_OVER, "nothing started before %s after %s".formatted(at, loss))));
        }
    }

    private @Nullable Instant nextLease(String run, Instant after) {
        return runs.getOrDefault(run, List.of()).stream()
                .filter(event ->
                        event.kind() == RunEvent.Kind.LEASED && event.at().isAfter(after))
                .map(RunEvent::at)
                .findFirst()
                .orElse(null);
    }

    private void over(History.Quiet quiet) {
        Set<String> lost = history.losses().stream().map(History.Loss::node).collect(Collectors.toSet());
        runs.forEach((run, events) -> {
            if (events.stream().anyMatch(event -> event.kind() == RunEvent.Kind.ENDED)) return;
            RunEvent last = null;
            for (RunEvent event : events) if (event.kind() != RunEvent.Kind.STARTED) last = event;
            if (last != null && last.kind() == RunEvent.Kind.LEASED && lost.contains(last.node()))
                wrong(Invariant.NO_DEAD_HOLDER, run + " is still held by " + last.node());
            else if (!quiet.mayWait().contains(run)) wrong(Invariant.ALL_ENDED, run + " has not ended");
        });
    }

    private void nodes(History.Quiet quiet) {
        quiet.beats().forEach((node, beat) -> {
            if (beat.plus(BEATS).isBefore(quiet.at()))
                wrong(Invariant.NODES_WELL, node + " has not beaten since " + beat);
        });
        if (quiet.listening() != quiet.beats().size())
            wrong(
                    Invariant.NODES_WELL,
                    "%d of %d nodes listen"
                            .formatted(quiet.listening(), quiet.beats().size()));
        if (quiet.sessionsMore() > SESSIONS)
            wrong(Invariant.NODES_WELL, quiet.sessionsMore() + " sessions more than before");
    }

    private record Lease(String run, String node, Instant from, Instant to) {
        boolean heldBy(History.Loss loss) {
            return node.equals(loss.node()) && !from.isAfter(loss.at()) && to.isAfter(loss.at());
        }
    }

    private Stream<Lease> leases() {
        return runs.entrySet().stream().flatMap(run -> leases(run.getKey(), run.getValue()).stream());
    }

    private static List<Lease> leases(String run, List<RunEvent> events) {
        List<Lease> leases = new ArrayList<>();
        RunEvent open = null;
        for (RunEvent event : events) {
            boolean leased = event.kind() == RunEvent.Kind.LEASED;
            boolean over = event.kind() == RunEvent.Kind.LET_GO || event.kind() == RunEvent.Kind.ENDED;
            if (open != null && (leased || over)) leases.add(new Lease(run, open.node(), open.at(), event.at()));
            if (leased) open = event;
            if (over) open = null;
        }
        if (open != null) leases.add(new Lease(run, open.node(), open.at(), Instant.MAX));
        return leases;
    }

    private void wrong(Invariant invariant, String text) {
        complaints.add(new Complaint(invariant, text));
    }
}
