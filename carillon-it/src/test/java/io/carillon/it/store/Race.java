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
    private static final Pattern JUDGEMENT = Pattern.compile(", \"(judged_at|sole_run)\": \"[^\"]*\"");

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
                    : List.of(Order.A_B, Order.B_A, Order.A_HALF_B_A, Order.B_HALF_A_B);
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

    private record Outcome(List<String> tables, RaceAnswer first, RaceAnswer second) {
        boolean same(Outcome serial, Again again) {
            return tables.equals(serial.tables)
                    && first.same(serial.first, again.first)
                    && second.same(serial.second, again.second);
        }
    }

    /** Who comes again after the two met: one that was told so, or what comes by itself, told or not. */
    private record Again(boolean first, boolean second, boolean later) {
        static final Again NONE = new Again(false, false, false);

        /** What comes by itself comes after a serial order too. */
        Again ofSerial() {
            return new Again(false, false, later);
        }

        /** So may one whose answer asks for it in so many words. */
        Again asked(Outcome serial) {
            return new Again(first && serial.first.asks(), second && serial.second.asks(), later);
        }
    }

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

    private record Serial(Pair pair, Hand second, boolean fails, Order order, Again again) {}

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
        Outcome outcome = met(pair, meeting, Again.NONE);
        if (serial(pair, meeting, outcome, Again.NONE)) return null;
        String half = half(pair, meeting, outcome);
        if (half != null) return half + told(pair, meeting, outcome);
        List<Again> repeats = repeats(pair, meeting, outcome);
        for (Again again : repeats) {
            outcome = met(pair, meeting, again);
            if (serial(pair, meeting, outcome, again)) return null;
        }
        return (repeats.isEmpty() ? "" : "although repeated: ") + told(pair, meeting, outcome);
    }

    private boolean serial(Pair pair, Meeting meeting, Outcome outcome, Again again) throws Exception {
        for (Order order : meeting.orders()) {
            Outcome serial = serial(pair, meeting, order, again.ofSerial());
            if (outcome.same(serial, again)) return true;
            Again asked = again.asked(serial);
            if ((asked.first || asked.second) && outcome.same(serial(pair, meeting, order, asked), again)) return true;
        }
        return false;
    }

    /** A comes first and leaves nothing out, unless B stopped inside, and may have locked rows before, or A's answer asks for it. */
    private static List<Again> repeats(Pair pair, Meeting meeting, Outcome outcome) {
        boolean later = pair.a.later() || pair.b.later();
        boolean first = pair.a.repeats() && (meeting == Meeting.INSIDE || outcome.first.asks());
        List<Again> repeats = new ArrayList<>();
        if (later) repeats.add(new Again(false, false, true));
        if (pair.b.repeats()) repeats.add(new Again(false, true, later));
        if (first) repeats.add(new Again(true, false, later));
        if (first && pair.b.repeats()) repeats.add(new Again(true, true, later));
        return repeats;
    }

    /** What B did before it is repeated must be whole: nothing for the contested row, everything for the others. */
    private @Nullable String half(Pair pair, Meeting meeting, Outcome outcome) throws Exception {
        Skip skip = pair.b.skip();
        if (skip == Skip.NEVER) return null;
        List<Outcome> serials = new ArrayList<>();
        for (Order order : meeting.orders()) serials.add(serial(pair, meeting, order, Again.NONE));
        serials.add(serial(pair, meeting, Order.A, Again.NONE));
        // Where B stopped inside, A may have met it and skipped.
        if (meeting == Meeting.INSIDE && pair.a.skip() != Skip.NEVER)
            serials.add(serial(pair, meeting, Order.B, Again.NONE));
        // What A left to something later is not there yet.
        boolean whole = pair.a.later()
                || serials.stream().anyMatch(one -> contested(one).equals(contested(outcome)));
        if (!whole && skip == Skip.ROW) return "B did a part of its work: ";
        boolean aLeavesThemAlone = bystanders(serial(pair, Meeting.COMMIT, Order.NONE, Again.NONE))
                .equals(bystanders(serial(pair, Meeting.COMMIT, Order.A, Again.NONE)));
        boolean served = serials.subList(0, meeting.orders().size()).stream()
                .anyMatch(one -> bystanders(one).equals(bystanders(outcome)));
        return aLeavesThemAlone && !served && skip != Skip.ANY ? "bystanders miss their effect: " : null;
    }

    private static List<String> bystanders(Outcome outcome) {
        return outcome.tables.stream().filter(RaceStage::aboutBystanders).toList();
    }

    /** A sweep judges a death in a transaction of its own, before the one that may skip the run: of that, only the end is compared. */
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

    private Outcome serial(Pair pair, Meeting meeting, Order order, Again again) throws Exception {
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
        Outcome outcome = after(pair, stage, wanted.second, inOrder(wanted, stage), again);
        serials.put(wanted, outcome);
        return outcome;
    }

    private RaceAnswer[] inOrder(Serial wanted, RaceStage stage) throws Exception {
        Pair pair = wanted.pair;
        return switch (wanted.order) {
            case NONE -> new RaceAnswer[] {RaceAnswer.NONE, RaceAnswer.NONE};
            case A -> new RaceAnswer[] {first(pair, stage, true), RaceAnswer.NONE};
            case B -> new RaceAnswer[] {RaceAnswer.NONE, second(pair, stage, wanted.second, true)};
            case A_B -> new RaceAnswer[] {first(pair, stage, true), second(pair, stage, wanted.second, false)};
            case B_A -> {
                RaceAnswer before = second(pair, stage, wanted.second, true);
                yield new RaceAnswer[] {first(pair, stage, false), before};
            }
            case A_HALF_B_A -> aroundB(wanted, stage);
            case B_HALF_A_B -> aroundA(wanted, stage);
            case B_DONE_A_B -> beforeA(wanted, stage);
        };
    }

    private RaceAnswer[] aroundB(Serial wanted, RaceStage stage) throws Exception {
        Future<RaceAnswer> first = threads.submit(() -> first(wanted.pair, stage, true));
        until(() -> holdA.executed() || first.isDone());
        if (wanted.fails) holdA.rollBack();
        else holdA.commit();
        until(() -> holdA.ended() || first.isDone());
        RaceAnswer between = second(wanted.pair, stage, wanted.second, false);
        holdA.goOn();
        return new RaceAnswer[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), between};
    }

    private RaceAnswer[] aroundA(Serial wanted, RaceStage stage) throws Exception {
        Future<RaceAnswer> second = threads.submit(() -> second(wanted.pair, stage, wanted.second, true));
        until(() -> holdB.executed() || second.isDone());
        Future<RaceAnswer> between = threads.submit(() -> first(wanted.pair, stage, false));
        until(() -> between.isDone() || tables.waits(holdA.backends(), holdB.backends()));
        holdB.commit();
        RaceAnswer last = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        return new RaceAnswer[] {between.get(LIMIT_SECONDS, TimeUnit.SECONDS), last};
    }

    private RaceAnswer[] beforeA(Serial wanted, RaceStage stage) throws Exception {
        Future<RaceAnswer> second = threads.submit(() -> second(wanted.pair, stage, wanted.second, true));
        until(() -> holdB.executed() || second.isDone());
        holdB.commit();
        until(() -> holdB.ended() || second.isDone());
        RaceAnswer between = first(wanted.pair, stage, false);
        holdB.goOn();
        return new RaceAnswer[] {between, second.get(LIMIT_SECONDS, TimeUnit.SECONDS)};
    }

    private RaceAnswer first(Pair pair, RaceStage stage, boolean must) {
        RaceAnswer answer = answer(pair.a, stage, storageA, Hand.FIRST);
        if (must && holdA.sent() == 0) throw unsent(pair.a, answer);
        return answer;
    }

    private RaceAnswer second(Pair pair, RaceStage stage, Hand hand, boolean must) {
        RaceAnswer answer = answer(pair.b, stage, storageB, hand);
        if (must && holdB.sent() == 0) throw unsent(pair.b, answer);
        return answer;
    }

    private static AssertionError unsent(RaceCase sent, RaceAnswer answer) {
        return new AssertionError("the case of %s does not send it in %s, it answers %s"
                .formatted(sent.statement(), sent.scene(), answer.text()));
    }

    private Outcome met(Pair pair, Meeting meeting, Again again) throws Exception {
        RaceStage stage = stage(pair);
        RaceAnswer[] answers = meeting == Meeting.INSIDE ? inside(pair, stage) : met(pair, stage, meeting);
        return after(pair, stage, meeting.second(), answers, again);
    }

    /** The tables and answers after those came again that do. */
    private Outcome after(Pair pair, RaceStage stage, Hand second, RaceAnswer[] answers, Again again)
            throws SQLException {
        RaceAnswer first = answers[0];
        RaceAnswer last = answers[1];
        if (again.second) last = last.plus(again(pair.b, stage, storageB, second));
        if (again.first) first = first.plus(again(pair.a, stage, storageA, Hand.FIRST));
        if (again.later && pair.a.later()) again(pair.a, stage, storageA, Hand.FIRST);
        if (again.later && pair.b.later()) again(pair.b, stage, storageB, second);
        return new Outcome(tables.print(stage.names()), first, last);
    }

    private static RaceAnswer again(RaceCase sent, RaceStage stage, Storage through, Hand hand) {
        return answer(sent, sent.again(), stage, through, hand);
    }

    private RaceAnswer[] met(Pair pair, RaceStage stage, Meeting meeting) throws Exception {
        holdA.hold(pair.a.text());
        holdB.count(pair.b.text());
        Future<RaceAnswer> first = threads.submit(() -> answer(pair.a, stage, storageA, Hand.FIRST));
        until(() -> holdA.executed() || first.isDone());
        if (!holdA.executed()) throw unsent(pair.a, first.get());
        Future<RaceAnswer> second = threads.submit(() -> answer(pair.b, stage, storageB, meeting.second()));
        until(() -> second.isDone() || tables.waits(holdB.backends(), holdA.backends()));
        if (meeting == Meeting.ROLLBACK) holdA.rollBack();
        else holdA.commit();
        RaceAnswer answered = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        holdA.goOn();
        return new RaceAnswer[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), answered};
    }

    private RaceAnswer[] inside(Pair pair, RaceStage stage) throws Exception {
        holdA.count(pair.a.text());
        holdB.stopInside(pair.b.text());
        tables.stop();
        try {
            Future<RaceAnswer> second = threads.submit(() -> answer(pair.b, stage, storageB, Meeting.INSIDE.second()));
            until(() -> second.isDone() || tables.stopped(holdB.backends()));
            Future<RaceAnswer> first = threads.submit(() -> answer(pair.a, stage, storageA, Hand.FIRST));
            until(() -> first.isDone() || tables.waits(holdA.backends(), holdB.backends()));
            tables.release();
            RaceAnswer answered = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            return new RaceAnswer[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), answered};
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

    private static RaceAnswer answer(RaceCase sent, RaceStage stage, Storage through, Hand hand) {
        return answer(sent, sent.deed(), stage, through, hand);
    }

    private static RaceAnswer answer(RaceCase sent, RaceCase.Deed deed, RaceStage stage, Storage through, Hand hand) {
        try {
            return RaceAnswer.of(deed.send(stage, through, hand), stage.names());
        } catch (CarillonException refused) {
            return RaceAnswer.plain("refused: " + refused.code() + " "
                    + RaceTables.masked(String.valueOf(refused.getMessage()), stage.names()));
        } catch (Exception broken) {
            throw new AssertionError(sent.statement(), broken);
        }
    }

    private String told(Pair pair, Meeting meeting, Outcome outcome) throws Exception {
        List<String> words = new ArrayList<>();
        words.add("%s in %s".formatted(pair, meeting));
        words.add("A answered %s, B answered %s".formatted(outcome.first.text(), outcome.second.text()));
        for (Order order : meeting.orders()) {
            Outcome serial = serial(pair, meeting, order, Again.NONE);
            words.add("in %s A answers %s, B answers %s, and the tables differ: %s"
                    .formatted(
                            order,
                            serial.first.text(),
                            serial.second.text(),
                            difference(serial.tables, outcome.tables)));
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
