package io.carillon.it.race;

import io.carillon.CarillonException;
import io.carillon.internal.postgres.PostgresStorage;
import io.carillon.internal.schedule.TickPlanner;
import io.carillon.internal.store.Storage;
import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.fixture.StoreFixture;
import io.carillon.it.race.RaceCase.Sender;
import io.carillon.it.race.RaceCase.Skip;
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
 * Runs two statements A and B concurrently on one row and compares the result with both serial orders from the same
 * start. The result is correct if tables and answers equal those of a serial order. If the case allows it, B may also
 * skip the contested row: then B must take effect on all other rows (the bystanders), and the result must equal a
 * serial order after B is repeated.
 */
final class Race implements AutoCloseable {
    private static final int LIMIT_SECONDS = 30;
    private static final Pattern JUDGEMENT =
            Pattern.compile(", \"(death_analyzed_at|probable_cause_run_id)\": \"[^\"]*\"");

    /** The way in which the two statements interleave. */
    enum Interleaving {
        /** B starts while A is in an open transaction, which then commits. */
        COMMIT(false),
        /** Like {@link #COMMIT}, but B also writes the bystanders. */
        COMMIT_BATCH(true),
        /** B starts while A is in an open transaction, which is then rolled back. */
        ROLLBACK(false),
        /**
         * A commits after B took its snapshot and before B reads a row. B then meets rows that are newer than its
         * snapshot: it finds them locked and skips them, or finds them unlocked again.
         */
        INSIDE(true);

        private final boolean batch;

        Interleaving(boolean batch) {
            this.batch = batch;
        }

        private List<SerialOrder> orders() {
            return this == INSIDE
                    ? List.of(SerialOrder.A_B, SerialOrder.B_A, SerialOrder.B_HALF_A_B, SerialOrder.B_DONE_A_B)
                    : List.of(SerialOrder.A_B, SerialOrder.B_A, SerialOrder.A_HALF_B_A, SerialOrder.B_HALF_A_B);
        }

        private Sender secondSender() {
            return batch ? Sender.SECOND_BATCH : Sender.SECOND;
        }
    }

    /** Two statements that can meet in the same setup. */
    record Pair(RaceCase a, RaceCase b) {
        @Override
        public String toString() {
            return "%s: %s meets %s".formatted(b.setup(), b.statement(), a.statement());
        }
    }

    private record Outcome(List<String> tables, RaceAnswer first, RaceAnswer second) {
        boolean same(Outcome serial, Repeats repeats) {
            return tables.equals(serial.tables)
                    && first.same(serial.first, repeats.first)
                    && second.same(serial.second, repeats.second);
        }
    }

    /**
     * The calls to repeat after the race. {@code first} and {@code second}: the caller repeats the call because its
     * answer asks for it. {@code later}: the engine repeats it anyway, whatever the answer.
     */
    private record Repeats(boolean first, boolean second, boolean later) {
        static final Repeats NONE = new Repeats(false, false, false);

        /** Returns the repeats for a serial order: only those that happen anyway. */
        Repeats ofSerial() {
            return new Repeats(false, false, later);
        }

        /** Returns the repeats for a serial order whose answers explicitly ask for them. */
        Repeats asked(Outcome serial) {
            return new Repeats(first && serial.first.asksForRepeat(), second && serial.second.asksForRepeat(), later);
        }
    }

    /** An order in which the calls run one after the other, without a race. */
    private enum SerialOrder {
        NONE,
        A,
        B,
        A_B,
        B_A,
        /** B runs after the statement of A committed and before A's caller sends further statements. */
        A_HALF_B_A,
        /** A runs after earlier statements of B's caller and before the statement of B is sent. */
        B_HALF_A_B,
        /** A runs after the statement of B committed and before B's caller sends further statements. */
        B_DONE_A_B
    }

    private record SerialCase(Pair pair, Sender second, boolean fails, SerialOrder serialOrder, Repeats repeats) {}

    private final PostgresStoreFixture fixture;
    private final RaceTables tables;
    private final StatementInterceptor holdA;
    private final StatementInterceptor holdB;
    private final Storage storageA;
    private final Storage storageB;
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final Map<SerialCase, Outcome> serials = new HashMap<>();

    Race(PostgresStoreFixture fixture) throws SQLException {
        this.fixture = fixture;
        tables = new RaceTables(fixture);
        holdA = new StatementInterceptor(fixture.database().pool(4));
        holdB = new StatementInterceptor(fixture.database().pool(4));
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

    /** Returns a description of the wrong outcome; null if the outcome is correct. */
    @Nullable
    String violation(Pair pair, Interleaving interleaving) throws Exception {
        serials.keySet().removeIf(serialCase -> !serialCase.pair.equals(pair));
        Outcome outcome = race(pair, interleaving, Repeats.NONE);
        if (serial(pair, interleaving, outcome, Repeats.NONE)) return null;
        String half = partialEffect(pair, interleaving, outcome);
        if (half != null) return half + report(pair, interleaving, outcome);
        List<Repeats> repeats = repeats(pair, interleaving, outcome);
        for (Repeats repeat : repeats) {
            outcome = race(pair, interleaving, repeat);
            if (serial(pair, interleaving, outcome, repeat)) return null;
        }
        return (repeats.isEmpty() ? "" : "although repeated: ") + report(pair, interleaving, outcome);
    }

    private boolean serial(Pair pair, Interleaving interleaving, Outcome outcome, Repeats repeats) throws Exception {
        for (SerialOrder spec : interleaving.orders()) {
            Outcome serial = serial(pair, interleaving, spec, repeats.ofSerial());
            if (outcome.same(serial, repeats)) return true;
            Repeats asked = repeats.asked(serial);
            if ((asked.first || asked.second) && outcome.same(serial(pair, interleaving, spec, asked), repeats))
                return true;
        }
        return false;
    }

    /**
     * Returns the repeats to try. A came first and skips no row, unless B stopped inside (B may hold row locks then) or
     * the answer of A asks for a repeat.
     */
    private static List<Repeats> repeats(Pair pair, Interleaving interleaving, Outcome outcome) {
        boolean later = pair.a.isLater() || pair.b.isLater();
        boolean first = pair.a.repeats() && (interleaving == Interleaving.INSIDE || outcome.first.asksForRepeat());
        List<Repeats> repeats = new ArrayList<>();
        if (later) repeats.add(new Repeats(false, false, true));
        if (pair.b.repeats()) repeats.add(new Repeats(false, true, later));
        if (first) repeats.add(new Repeats(true, false, later));
        if (first && pair.b.repeats()) repeats.add(new Repeats(true, true, later));
        return repeats;
    }

    /**
     * Returns a violation if the effect of B before its repeat is partial. B must have no effect on the contested row
     * and its whole effect on the others.
     */
    private @Nullable String partialEffect(Pair pair, Interleaving interleaving, Outcome outcome) throws Exception {
        Skip skip = pair.b.skip();
        if (skip == Skip.NEVER) return null;
        List<Outcome> serials = new ArrayList<>();
        for (SerialOrder spec : interleaving.orders()) serials.add(serial(pair, interleaving, spec, Repeats.NONE));
        serials.add(serial(pair, interleaving, SerialOrder.A, Repeats.NONE));
        // If B stopped inside, A may have met a lock of B and skipped the row.
        if (interleaving == Interleaving.INSIDE && pair.a.skip() != Skip.NEVER)
            serials.add(serial(pair, interleaving, SerialOrder.B, Repeats.NONE));
        // If A leaves work to a later call, the rows need not be complete yet.
        boolean whole = pair.a.isLater()
                || serials.stream().anyMatch(one -> contested(one).equals(contested(outcome)));
        if (!whole && skip == Skip.ROW) return "B took effect partially: ";
        boolean aLeavesThemAlone = bystanders(serial(pair, Interleaving.COMMIT, SerialOrder.NONE, Repeats.NONE))
                .equals(bystanders(serial(pair, Interleaving.COMMIT, SerialOrder.A, Repeats.NONE)));
        boolean served = serials.subList(0, interleaving.orders().size()).stream()
                .anyMatch(one -> bystanders(one).equals(bystanders(outcome)));
        return aLeavesThemAlone && !served && skip != Skip.ANY ? "B had no effect on bystanders: " : null;
    }

    private static List<String> bystanders(Outcome outcome) {
        return outcome.tables.stream().filter(RaceFixture::aboutBystanders).toList();
    }

    /**
     * Returns the rows about the contested run, without the cause of death that a rescue records. The rescue records it
     * in a separate transaction before the one that may skip the run, so only the final value is compared.
     */
    private static List<String> contested(Outcome outcome) {
        return outcome.tables.stream()
                .filter(line -> !RaceFixture.aboutBystanders(line))
                .map(line -> JUDGEMENT.matcher(line).replaceAll(""))
                .toList();
    }

    private RaceFixture prepareFixture(Pair pair) throws SQLException {
        tables.clear();
        fixture.clock().stopAt(StoreFixture.NOON);
        return pair.b.setup().prepare(fixture);
    }

    private Outcome serial(Pair pair, Interleaving interleaving, SerialOrder spec, Repeats repeats) throws Exception {
        SerialCase wanted =
                new SerialCase(pair, interleaving.secondSender(), interleaving == Interleaving.ROLLBACK, spec, repeats);
        Outcome known = serials.get(wanted);
        if (known != null) return known;
        RaceFixture fixture = prepareFixture(pair);
        if (spec == SerialOrder.A_HALF_B_A) holdA.holdInTransaction(pair.a.text());
        else if (wanted.fails) holdA.rollBackAndFail(pair.a.text());
        else holdA.count(pair.a.text());
        if (spec == SerialOrder.B_HALF_A_B) holdB.holdBeforeSending(pair.b.text());
        else if (spec == SerialOrder.B_DONE_A_B) holdB.holdInTransaction(pair.b.text());
        else holdB.count(pair.b.text());
        Outcome outcome = after(pair, fixture, wanted.second, inOrder(wanted, fixture), repeats);
        serials.put(wanted, outcome);
        return outcome;
    }

    private RaceAnswer[] inOrder(SerialCase wanted, RaceFixture fixture) throws Exception {
        Pair pair = wanted.pair;
        return switch (wanted.serialOrder) {
            case NONE -> new RaceAnswer[] {RaceAnswer.NONE, RaceAnswer.NONE};
            case A -> new RaceAnswer[] {first(pair, fixture, true), RaceAnswer.NONE};
            case B -> new RaceAnswer[] {RaceAnswer.NONE, second(pair, fixture, wanted.second, true)};
            case A_B -> new RaceAnswer[] {first(pair, fixture, true), second(pair, fixture, wanted.second, false)};
            case B_A -> {
                RaceAnswer before = second(pair, fixture, wanted.second, true);
                yield new RaceAnswer[] {first(pair, fixture, false), before};
            }
            case A_HALF_B_A -> aroundB(wanted, fixture);
            case B_HALF_A_B -> aroundA(wanted, fixture);
            case B_DONE_A_B -> beforeA(wanted, fixture);
        };
    }

    private RaceAnswer[] aroundB(SerialCase wanted, RaceFixture fixture) throws Exception {
        Future<RaceAnswer> first = threads.submit(() -> first(wanted.pair, fixture, true));
        until(() -> holdA.executed() || first.isDone());
        if (wanted.fails) holdA.rollBack();
        else holdA.commit();
        until(() -> holdA.ended() || first.isDone());
        RaceAnswer between = second(wanted.pair, fixture, wanted.second, false);
        holdA.release();
        return new RaceAnswer[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), between};
    }

    private RaceAnswer[] aroundA(SerialCase wanted, RaceFixture fixture) throws Exception {
        Future<RaceAnswer> second = threads.submit(() -> second(wanted.pair, fixture, wanted.second, true));
        until(() -> holdB.executed() || second.isDone());
        Future<RaceAnswer> between = threads.submit(() -> first(wanted.pair, fixture, false));
        until(() -> between.isDone() || tables.waits(holdA.backends(), holdB.backends()));
        holdB.commit();
        RaceAnswer last = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        return new RaceAnswer[] {between.get(LIMIT_SECONDS, TimeUnit.SECONDS), last};
    }

    private RaceAnswer[] beforeA(SerialCase wanted, RaceFixture fixture) throws Exception {
        Future<RaceAnswer> second = threads.submit(() -> second(wanted.pair, fixture, wanted.second, true));
        until(() -> holdB.executed() || second.isDone());
        holdB.commit();
        until(() -> holdB.ended() || second.isDone());
        RaceAnswer between = first(wanted.pair, fixture, false);
        holdB.release();
        return new RaceAnswer[] {between, second.get(LIMIT_SECONDS, TimeUnit.SECONDS)};
    }

    private RaceAnswer first(Pair pair, RaceFixture fixture, boolean must) {
        RaceAnswer answer = answer(pair.a, fixture, storageA, Sender.FIRST);
        if (must && holdA.sent() == 0) throw notSent(pair.a, answer);
        return answer;
    }

    private RaceAnswer second(Pair pair, RaceFixture fixture, Sender sender, boolean must) {
        RaceAnswer answer = answer(pair.b, fixture, storageB, sender);
        if (must && holdB.sent() == 0) throw notSent(pair.b, answer);
        return answer;
    }

    private static AssertionError notSent(RaceCase sent, RaceAnswer answer) {
        return new AssertionError("The case of %s does not send its statement in setup %s; it answers %s."
                .formatted(sent.statement(), sent.setup(), answer.text()));
    }

    private Outcome race(Pair pair, Interleaving interleaving, Repeats repeats) throws Exception {
        RaceFixture fixture = prepareFixture(pair);
        RaceAnswer[] answers =
                interleaving == Interleaving.INSIDE ? inside(pair, fixture) : race(pair, fixture, interleaving);
        return after(pair, fixture, interleaving.secondSender(), answers, repeats);
    }

    /** Repeats the given calls and returns the tables and answers. */
    private Outcome after(Pair pair, RaceFixture fixture, Sender second, RaceAnswer[] answers, Repeats repeats)
            throws SQLException {
        RaceAnswer first = answers[0];
        RaceAnswer last = answers[1];
        if (repeats.second) last = last.plus(repeat(pair.b, fixture, storageB, second));
        if (repeats.first) first = first.plus(repeat(pair.a, fixture, storageA, Sender.FIRST));
        if (repeats.later && pair.a.isLater()) repeat(pair.a, fixture, storageA, Sender.FIRST);
        if (repeats.later && pair.b.isLater()) repeat(pair.b, fixture, storageB, second);
        return new Outcome(tables.dump(fixture.names()), first, last);
    }

    private static RaceAnswer repeat(RaceCase sent, RaceFixture fixture, Storage through, Sender sender) {
        return answer(sent, sent.repeatCall(), fixture, through, sender);
    }

    private RaceAnswer[] race(Pair pair, RaceFixture fixture, Interleaving interleaving) throws Exception {
        holdA.holdInTransaction(pair.a.text());
        holdB.count(pair.b.text());
        Future<RaceAnswer> first = threads.submit(() -> answer(pair.a, fixture, storageA, Sender.FIRST));
        until(() -> holdA.executed() || first.isDone());
        if (!holdA.executed()) throw notSent(pair.a, first.get());
        Future<RaceAnswer> second =
                threads.submit(() -> answer(pair.b, fixture, storageB, interleaving.secondSender()));
        until(() -> second.isDone() || tables.waits(holdB.backends(), holdA.backends()));
        if (interleaving == Interleaving.ROLLBACK) holdA.rollBack();
        else holdA.commit();
        RaceAnswer answered = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        holdA.release();
        return new RaceAnswer[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), answered};
    }

    private RaceAnswer[] inside(Pair pair, RaceFixture fixture) throws Exception {
        holdA.count(pair.a.text());
        holdB.stopInside(pair.b.text());
        tables.stop();
        try {
            Future<RaceAnswer> second =
                    threads.submit(() -> answer(pair.b, fixture, storageB, Interleaving.INSIDE.secondSender()));
            until(() -> second.isDone() || tables.stopped(holdB.backends()));
            Future<RaceAnswer> first = threads.submit(() -> answer(pair.a, fixture, storageA, Sender.FIRST));
            until(() -> first.isDone() || tables.waits(holdA.backends(), holdB.backends()));
            tables.release();
            RaceAnswer answered = second.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            return new RaceAnswer[] {first.get(LIMIT_SECONDS, TimeUnit.SECONDS), answered};
        } finally {
            tables.release();
        }
    }

    private interface WaitCondition {
        boolean holds() throws Exception;
    }

    private static void until(WaitCondition waitCondition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!waitCondition.holds()) {
            if (System.nanoTime() > end) throw new AssertionError("The call neither waits for a lock nor ends.");
            LockSupport.parkNanos(100_000);
        }
    }

    private static RaceAnswer answer(RaceCase sent, RaceFixture fixture, Storage through, Sender sender) {
        return answer(sent, sent.call(), fixture, through, sender);
    }

    private static RaceAnswer answer(
            RaceCase sent, RaceCase.StatementCall call, RaceFixture fixture, Storage through, Sender sender) {
        try {
            return RaceAnswer.of(call.send(fixture, through, sender), fixture.names());
        } catch (CarillonException refused) {
            return RaceAnswer.plain("refused: " + refused.code() + " "
                    + RaceTables.masked(String.valueOf(refused.getMessage()), fixture.names()));
        } catch (Exception broken) {
            throw new AssertionError(sent.statement(), broken);
        }
    }

    private String report(Pair pair, Interleaving interleaving, Outcome outcome) throws Exception {
        List<String> words = new ArrayList<>();
        words.add("%s, interleaving %s".formatted(pair, interleaving));
        words.add("A answered %s, B answered %s".formatted(outcome.first.text(), outcome.second.text()));
        for (SerialOrder spec : interleaving.orders()) {
            Outcome serial = serial(pair, interleaving, spec, Repeats.NONE);
            words.add("serial order %s: A answers %s, B answers %s, difference of the tables: %s"
                    .formatted(
                            spec,
                            serial.first.text(),
                            serial.second.text(),
                            difference(serial.tables, outcome.tables)));
        }
        return String.join("\n    ", words);
    }

    /** Returns the rows that differ, each with its differing cells. */
    private static String difference(List<String> expected, List<String> actual) {
        List<String> missing =
                expected.stream().filter(line -> !actual.contains(line)).toList();
        List<String> surplus =
                actual.stream().filter(line -> !expected.contains(line)).toList();
        List<String> lines = new ArrayList<>();
        missing.forEach(line -> lines.add("- " + cellsBeside(line, surplus)));
        surplus.forEach(line -> lines.add("+ " + cellsBeside(line, missing)));
        return lines.isEmpty() ? "none" : "\n        " + String.join("\n        ", lines);
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
