package io.carillon.it.store;

import io.carillon.it.store.RaceCase.Hand;
import io.carillon.it.store.RaceCase.Skip;
import io.carillon.postgres.PostgresStorage;
import io.carillon.schedule.TickPlanner;
import io.carillon.store.Storage;
import io.carillon.value.CarillonException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Lets two statements A and B meet on one row and compares what comes out with the two serial orders, run from the same start. Equal tables and answers are
 * right. So is a B that skips the row, gives all bystanders their due, and comes to a serial order's end when it is repeated, if its case allows that.
 */
final class Race implements AutoCloseable {
    private static final int LIMIT_SECONDS = 30;
    private static final Pattern JUDGEMENT = Pattern.compile(", \"judged_at\": \"[^\"]*\"");

    /** How the two meet. */
    enum Meeting {
        /** A is open when B comes, and commits. */
        COMMIT(false),
        /** The same, and B is for the bystanders too. */
        COMMIT_BATCH(true),
        /** A is open when B comes, and is rolled back. */
        ROLLBACK(false),
        /** A commits after B has taken its snapshot and before B reads a row: what a row lock with SKIP LOCKED, or one that is free again, finds. */
        INSIDE(true);

        private final boolean batch;

        Meeting(boolean batch) {
            this.batch = batch;
        }

        private List<Order> orders() {
            return this == INSIDE
                    ? List.of(Order.A_B, Order.B_A, Order.B_HALF_A_B, Order.B_DONE_A_B)
                    : List.of(Order.A_B, Order.B_A, Order.A_HALF_B_A);
        }

        private Hand second() {
            return batch ? Hand.SECOND_BATCH : Hand.SECOND;
        }
    }

    /** Two statements that can meet in a scene. */
    record Pair(RaceCase a, RaceCase b) {
        @Override
        public String toString() {
            return "%s: %s meets %s".formatted(b.scene(), b.statement(), a.statement());
        }
    }

    private record Outcome(List<String> tables, String first, String second) {}

    /** What is done without a race, one after the other. */
    private enum Order {
        NONE,
        A,
        B,
        A_B,
        B_A,
        /** B comes when the statement of A is committed, before whatever else A's caller sends. */
        A_HALF_B_A,
        /** A comes before the statement of B is sent, and after whatever else B's caller sent. */
        B_HALF_A_B,
        /** A comes when the statement of B is committed, before whatever else B's caller sends. */
        B_DONE_A_B
    }

    private record Serial(Pair pair, Hand second, boolean fails, Order order, String again) {}

    private final PostgresBench bench;
    private final RaceTables tables;
    private final StatementHold holdA;
    private final StatementHold holdB;
    private final Storage storageA;
    private final Storage storageB;
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final Map<Serial, Outcome> serials = new HashMap<>();

    Race(PostgresBench bench) throws SQLException {
        this.bench = bench;
        tables = new RaceTables(bench);
        holdA = new StatementHold(bench.database().pool(4));
        holdB = new StatementHold(bench.database().pool(4));
        storageA = new PostgresStorage(holdA.dataSource(), TickPlanner.defaults());
        storageB = new PostgresStorage(holdB.dataSource(), TickPlanner.defaults());
    }

    @Override
    public void close() throws SQLException {
        threads.shutdownNow();
        storageA.close();
        storageB.close();
        tables.close();
    }

    /** What is wrong with the outcome, in words; null: nothing. */
    @Nullable
    String fault(Pair pair, Meeting meeting) throws Exception {
        serials.keySet().removeIf(serial -> !serial.pair.equals(pair));
        Outcome outcome = met(pair, meeting, "");
        for (Order order : meeting.orders()) if (outcome.equals(serial(pair, meeting, order, ""))) return null;
        if (pair.b.skip() != Skip.NEVER) {
            String half = half(pair, meeting, outcome);
            if (half != null) return half + told(pair, meeting, outcome, "");
        }
        for (String again : repeats(pair, meeting)) {
            Outcome repeated = met(pair, meeting, again);
            for (Order order : meeting.orders())
                for (String before : List.of("", again))
                    if (same(again, repeated, serial(pair, meeting, order, before))) return null;
            if (again.contains("B")) outcome = repeated;
        }
        return told(pair, meeting, outcome, repeats(pair, meeting).isEmpty() ? "" : "although repeated: ");
    }

    /** Who may come again: what failed was told so. Of a caller whose statement was rolled back an earlier one may have had its effect. */
    private static List<String> repeats(Pair pair, Meeting meeting) {
        boolean a = meeting == Meeting.ROLLBACK ? pair.a.skip() == Skip.PART : pair.a.skips();
        if (a && pair.b.skips()) return List.of("A", "B", "AB");
        return a ? List.of("A") : pair.b.skips() ? List.of("B") : List.of();
    }

    /** Whoever came again had said before that there is more to do. */
    private static boolean same(String again, Outcome outcome, Outcome serial) {
        return outcome.tables.equals(serial.tables)
                && (again.contains("A") || outcome.first.equals(serial.first))
                && (again.contains("B") || outcome.second.equals(serial.second));
    }

    /** What B did before it is repeated must be whole: nothing for the contested row, everything for the others. */
    private @Nullable String half(Pair pair, Meeting meeting, Outcome outcome) throws Exception {
        Outcome alone = serial(pair, meeting, Order.A, "");
        if (pair.b.skip() == Skip.ANY || !outcome.first.equals(alone.first)) return null;
        List<Outcome> serials = new ArrayList<>();
        for (Order order : meeting.orders()) serials.add(serial(pair, meeting, order, ""));
        boolean whole = contested(outcome).equals(contested(alone))
                || (meeting == Meeting.INSIDE && aSkipped(pair, meeting, outcome))
                || serials.stream().anyMatch(one -> contested(one).equals(contested(outcome)));
        if (!whole && pair.b.skip() == Skip.ROW) return "B did a part of its work: ";
        boolean aLeavesThemAlone = bystanders(serial(pair, Meeting.COMMIT, Order.NONE, ""))
                .equals(bystanders(serial(pair, Meeting.COMMIT, Order.A, "")));
        if (aLeavesThemAlone
                && serials.stream().noneMatch(one -> bystanders(one).equals(bystanders(outcome))))
            return "bystanders miss their effect: ";
        return null;
    }

    /** Where B stopped inside, A may have met it and skipped. */
    private boolean aSkipped(Pair pair, Meeting meeting, Outcome outcome) throws Exception {
        return switch (pair.a.skip()) {
            case NEVER -> false;
            case ROW -> contested(outcome).equals(contested(serial(pair, meeting, Order.B, "")));
            case PART, ANY -> true;
        };
    }

    private static List<String> bystanders(Outcome outcome) {
        return outcome.tables.stream().filter(RaceStage::aboutBystanders).toList();
    }

    /** That a death was judged is no work on the runs. */
    private static List<String> contested(Outcome outcome) {
        return outcome.tables.stream()
                .filter(line -> !RaceStage.aboutBystanders(line))
                .map(line -> JUDGEMENT.matcher(line).replaceAll(""))
                .toList();
    }

    private RaceStage stage(Pair pair) throws SQLException {
        tables.clear();
        bench.clock().at(StoreBench.NOON);
        return pair.b.scene().prepared(bench);
    }

    private Outcome serial(Pair pair, Meeting meeting, Order order, String again) throws Exception {
        Serial wanted = new Serial(pair, meeting.second(), meeting == Meeting.ROLLBACK, order, again);
        Outcome known = serials.get(wanted);
        if (known != null) return known;
        RaceStage stage = stage(pair);
        if (order == Order.A_HALF_B_A) holdA.hold(pair.a.text());
        else if (wanted.fails) holdA.fail(pair.a.text());
        else holdA.count(pair.a.text());
        if (order == Order.B_HALF_A_B) holdB.holdBack(pair.b.text());
        else if (order == Order.B_DONE_A_B) holdB.hold(pair.b.text());
        else holdB.count(pair.b.text());
        String[] answers = inOrder(wanted, stage);
        again(pair, stage, wanted.second, again);
        Outcome outcome = new Outcome(tables.print(stage.names()), answers[0], answers[1]);
        serials.put(wanted, outcome);
        return outcome;
    }

    private String[] inOrder(Serial wanted, RaceStage stage) throws Exception {
        Pair pair = wanted.pair;
        return switch (wanted.order) {
            case NONE -> new String[] {"", ""};
            case A -> new String[] {first(pair, stage, true), ""};
            case B -> new String[] {"", second(pair, stage, wanted.second, true)};
            case A_B -> new String[] {first(pair, stage, true), second(pair, stage, wanted.second, false)};
            case B_A -> {
                String before = second(pair, stage, wanted.second, true);
                yield new String[] {first(pair, stage, false), before};
            }
            case A_HALF_B_A -> aroundB(wanted, stage);
            case B_HALF_A_B -> aroundA(wanted, stage);
            case B_DONE_A_B -> beforeA(wanted, stage);
        };
    }

    private String[] aroundB(Serial wanted, RaceStage stage) throws Exception {
        Future<String> first = threads.submit(() -> first(wanted.pair, stage, true));
        until(() -> holdA.executed() || first.isDone());
        if (wanted.fails) holdA.rollBack();
        else holdA.commit();
        until(() -> holdA.ended() || first.isDone());
        String between = second(wanted.pair, stage, wanted.second, false);
        holdA.goOn();
        return new String[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), between};
    }

    private String[] aroundA(Serial wanted, RaceStage stage) throws Exception {
        Future<String> second = threads.submit(() -> second(wanted.pair, stage, wanted.second, true));
        until(() -> holdB.executed() || second.isDone());
        Future<String> between = threads.submit(() -> first(wanted.pair, stage, false));
        until(() -> between.isDone() || tables.waits(holdA.backends(), holdB.backends()));
        holdB.commit();
        String last = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        return new String[] {between.get(LIMIT_SECONDS, TimeUnit.SECONDS), last};
    }

    private String[] beforeA(Serial wanted, RaceStage stage) throws Exception {
        Future<String> second = threads.submit(() -> second(wanted.pair, stage, wanted.second, true));
        until(() -> holdB.executed() || second.isDone());
        holdB.commit();
        until(() -> holdB.ended() || second.isDone());
        String between = first(wanted.pair, stage, false);
        holdB.goOn();
        return new String[] {between, second.get(LIMIT_SECONDS, TimeUnit.SECONDS)};
    }

    private String first(Pair pair, RaceStage stage, boolean must) {
        String answer = answer(pair.a, stage, storageA, Hand.FIRST);
        if (must && holdA.sent() == 0) throw unsent(pair.a, answer);
        return answer;
    }

    private String second(Pair pair, RaceStage stage, Hand hand, boolean must) {
        String answer = answer(pair.b, stage, storageB, hand);
        if (must && holdB.sent() == 0) throw unsent(pair.b, answer);
        return answer;
    }

    private static AssertionError unsent(RaceCase sent, String answer) {
        return new AssertionError("the case of %s does not send it in %s, it answers %s"
                .formatted(sent.statement(), sent.scene(), answer));
    }

    private void again(Pair pair, RaceStage stage, Hand second, String hands) {
        if (hands.contains("B")) answer(pair.b, stage, storageB, second);
        if (hands.contains("A")) answer(pair.a, stage, storageA, Hand.FIRST);
    }

    private Outcome met(Pair pair, Meeting meeting, String again) throws Exception {
        RaceStage stage = stage(pair);
        String[] answers = meeting == Meeting.INSIDE ? inside(pair, stage) : met(pair, stage, meeting);
        again(pair, stage, meeting.second(), again);
        return new Outcome(tables.print(stage.names()), answers[0], answers[1]);
    }

    private String[] met(Pair pair, RaceStage stage, Meeting meeting) throws Exception {
        holdA.hold(pair.a.text());
        holdB.count(pair.b.text());
        Future<String> first = threads.submit(() -> answer(pair.a, stage, storageA, Hand.FIRST));
        until(() -> holdA.executed() || first.isDone());
        if (!holdA.executed()) throw unsent(pair.a, first.get());
        Future<String> second = threads.submit(() -> answer(pair.b, stage, storageB, meeting.second()));
        until(() -> second.isDone() || tables.waits(holdB.backends(), holdA.backends()));
        if (meeting == Meeting.ROLLBACK) holdA.rollBack();
        else holdA.commit();
        String answered = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        holdA.goOn();
        return new String[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), answered};
    }

    private String[] inside(Pair pair, RaceStage stage) throws Exception {
        holdA.count(pair.a.text());
        holdB.stopInside(pair.b.text());
        tables.stop();
        try {
            Future<String> second = threads.submit(() -> answer(pair.b, stage, storageB, Meeting.INSIDE.second()));
            until(() -> second.isDone() || tables.stopped(holdB.backends()));
            Future<String> first = threads.submit(() -> answer(pair.a, stage, storageA, Hand.FIRST));
            until(() -> first.isDone() || tables.waits(holdA.backends(), holdB.backends()));
            tables.release();
            String answered = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            return new String[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), answered};
        } finally {
            tables.release();
        }
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void until(Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!condition.holds()) {
            if (System.nanoTime() > end) throw new AssertionError("neither waits nor ends");
            LockSupport.parkNanos(100_000);
        }
    }

    private static String answer(RaceCase sent, RaceStage stage, Storage through, Hand hand) {
        try {
            return RaceTables.masked(String.valueOf(sent.deed().send(stage, through, hand)), stage.names());
        } catch (CarillonException refused) {
            return "refused: " + refused.code() + " "
                    + RaceTables.masked(String.valueOf(refused.getMessage()), stage.names());
        } catch (Exception broken) {
            throw new AssertionError(sent.statement(), broken);
        }
    }

    private String told(Pair pair, Meeting meeting, Outcome outcome, String what) throws Exception {
        List<String> words = new ArrayList<>();
        words.add("%s%s in %s".formatted(what, pair, meeting));
        words.add("A answered %s, B answered %s".formatted(outcome.first, outcome.second));
        for (Order order : meeting.orders()) {
            Outcome serial = serial(pair, meeting, order, "");
            words.add("in %s A answers %s, B answers %s, and the tables differ: %s"
                    .formatted(order, serial.first, serial.second, difference(serial.tables, outcome.tables)));
        }
        return String.join("\n    ", words);
    }

    /** Rows that differ, each with the cells that do. */
    private static String difference(List<String> expected, List<String> actual) {
        List<String> missing =
                expected.stream().filter(line -> !actual.contains(line)).toList();
        List<String> surplus =
                actual.stream().filter(line -> !expected.contains(line)).toList();
        List<String> lines = new ArrayList<>();
        missing.forEach(line -> lines.add("- " + cellsBeside(line, surplus)));
        surplus.forEach(line -> lines.add("+ " + cellsBeside(line, missing)));
        return lines.isEmpty() ? "the same tables" : "\n        " + String.join("\n        ", lines);
    }

    private static String cellsBeside(String line, List<String> others) {
        List<String> cells = List.of(line.split(", (?=\")"));
        for (String other : others) {
            List<String> beside = List.of(other.split(", (?=\")"));
            boolean sameRow = beside.get(0).equals(cells.get(0)) && cells.get(0).contains("id\"");
            if (!sameRow) continue;
            return cells.get(0) + ": "
                    + cells.stream().filter(cell -> !beside.contains(cell)).toList();
        }
        return line.length() > 500 ? line.substring(0, 500) + "…" : line;
    }
}
