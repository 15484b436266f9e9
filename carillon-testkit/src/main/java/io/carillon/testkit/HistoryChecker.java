package io.carillon.testkit;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Judges what happened to runs by what must always hold: leases of a run do not overlap and are numbered upwards, a run ends once and by its latest lease, a
 * handler starts only under the lease it names, no more run at a time than a limit says, and ordered runs follow each other. It knows nothing of the code
 * that made the history.
 */
public final class HistoryChecker {
    private final Map<String, List<RunEvent>> runs = new LinkedHashMap<>();

    /** A history, in any order. */
    public HistoryChecker(List<RunEvent> events) {
        List<RunEvent> ordered = new ArrayList<>(events);
        // What happened at the same instant: room is made before it is taken.
        ordered.sort(Comparator.comparing(RunEvent::at)
                .thenComparing(RunEvent::attempt)
                .thenComparing(RunEvent::kind));
        for (RunEvent event : ordered)
            runs.computeIfAbsent(event.run(), run -> new ArrayList<>()).add(event);
    }

    /** Everything that is wrong with single runs; empty: nothing is. */
    public List<String> complaints() {
        List<String> complaints = new ArrayList<>();
        runs.forEach((run, events) -> new OneRun(run, complaints).judge(events));
        return complaints;
    }

    /** What holds of every run that everybody waited for: it has ended. */
    public List<String> unended() {
        return runs.entrySet().stream()
                .filter(run -> run.getValue().stream().noneMatch(event -> event.kind() == RunEvent.Kind.ENDED))
                .map(run -> run.getKey() + " has not ended")
                .toList();
    }

    /** How many of these runs were leased at the same moment, at most. */
    public int mostAtOnce(Set<String> which) {
        TreeMap<Instant, Integer> steps = new TreeMap<>();
        for (Lease lease : leases(which)) {
            steps.merge(lease.from, 1, Integer::sum);
            steps.merge(lease.to, -1, Integer::sum);
        }
        int live = 0;
        int most = 0;
        for (int step : steps.values()) {
            live += step;
            most = Math.max(most, live);
        }
        return most;
    }

    /** Where one of these runs was leased before the one before it had ended. */
    public List<String> outOfOrder(List<String> inOrder) {
        List<String> complaints = new ArrayList<>();
        for (int i = 1; i < inOrder.size(); i++) {
            Instant ended = instant(inOrder.get(i - 1), RunEvent.Kind.ENDED, Instant.MAX);
            Instant leased = instant(inOrder.get(i), RunEvent.Kind.LEASED, Instant.MAX);
            if (leased.isBefore(ended)) complaints.add(inOrder.get(i) + " overtook " + inOrder.get(i - 1));
        }
        return complaints;
    }

    private Instant instant(String run, RunEvent.Kind kind, Instant otherwise) {
        return runs.getOrDefault(run, List.of()).stream()
                .filter(event -> event.kind() == kind)
                .map(RunEvent::at)
                .findFirst()
                .orElse(otherwise);
    }

    private record Lease(Instant from, Instant to) {}

    private List<Lease> leases(Set<String> which) {
        List<Lease> leases = new ArrayList<>();
        runs.forEach((run, events) -> {
            if (!which.contains(run)) return;
            Instant from = null;
            for (RunEvent event : events) {
                boolean leased = event.kind() == RunEvent.Kind.LEASED;
                boolean over = event.kind() == RunEvent.Kind.LET_GO || event.kind() == RunEvent.Kind.ENDED;
                if (from != null && (leased || over)) leases.add(new Lease(from, event.at()));
                if (leased) from = event.at();
                if (over) from = null;
            }
            if (from != null) leases.add(new Lease(from, Instant.MAX));
        });
        return leases;
    }

    private static final class OneRun {
        private final String run;
        private final List<String> complaints;
        private final Set<Integer> started = new HashSet<>();
        private int attempt;
        private String holder = "";
        private boolean held;
        private boolean ended;

        OneRun(String run, List<String> complaints) {
            this.run = run;
            this.complaints = complaints;
        }

        void judge(List<RunEvent> events) {
            for (RunEvent event : events) {
                switch (event.kind()) {
                    case LEASED -> leased(event);
                    case STARTED -> started(event);
                    case LET_GO -> letGo(event);
                    case ENDED -> ended(event);
                }
            }
        }

        private void leased(RunEvent event) {
            if (ended) wrong(event, "was leased after it had ended");
            if (held) wrong(event, "was leased while " + holder + " held it");
            if (event.attempt() <= attempt) wrong(event, "was leased with a number that had been used");
            attempt = event.attempt();
            holder = event.node();
            held = true;
        }

        private void started(RunEvent event) {
            boolean mine = event.attempt() <= attempt
                    && (event.attempt() < attempt || event.node().equals(holder));
            if (!mine) wrong(event, "started without a lease of its own");
            if (!started.add(event.attempt())) wrong(event, "started twice under one lease");
        }

        private void letGo(RunEvent event) {
            if (!held) wrong(event, "was let go although nobody held it");
            if (event.attempt() != attempt) wrong(event, "was let go by an old lease");
            held = false;
        }

        private void ended(RunEvent event) {
            if (ended) wrong(event, "ended twice");
            if (held && event.attempt() != attempt) wrong(event, "was ended by an old lease");
            if (!held && "succeeded".equals(event.detail())) wrong(event, "succeeded although nobody held it");
            ended = true;
            held = false;
        }

        private void wrong(RunEvent event, String what) {
            complaints.add(
                    "%s %s (attempt %d, node %s, %s)".formatted(run, what, event.attempt(), event.node(), event.at()));
        }
    }
}
