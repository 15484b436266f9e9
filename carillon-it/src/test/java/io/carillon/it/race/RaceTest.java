package io.carillon.it.race;

import static java.util.Collections.disjoint;
import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.it.fixture.PostgresStoreFixture;
import io.carillon.it.lostanswer.LostAnswerTest;
import io.carillon.it.statement.Statements;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every two statements that write the same table meet on one row. The result must equal that of a serial order, or B
 * skips the row, reports it, and succeeds when it is repeated. The test reads the statements from the constants of the
 * store's classes and fails for a statement without a case in {@link RaceCases}.
 */
class RaceTest {
    @RegisterExtension
    static final PostgresStoreFixture FIXTURE = new PostgresStoreFixture();

    private static final Pattern WRITTEN = Pattern.compile(
            "\\b(?:INSERT\\s+INTO|DELETE\\s+FROM|UPDATE)\\s+carillon\\.([a-z_]+)", Pattern.CASE_INSENSITIVE);
    private static final Pattern LOCKS = Pattern.compile("\\bFOR\\s+(?:NO\\s+KEY\\s+)?(?:UPDATE|SHARE)\\b");
    private static final Pattern READ = Pattern.compile("\\bFROM\\s+carillon\\.([a-z_]+)", Pattern.CASE_INSENSITIVE);

    /**
     * Statements that write another table than the one that an earlier statement of their transaction locked,
     * with that statement.
     */
    private static final Map<String, String> LOCKED_BY = Map.of(
            "BulkRunActions.CANCEL_MANY_RUNNING", "BulkRunActions.RUNNING",
            "OverlapGates.CANCEL_RUNNING", "OverlapGates.LOCK_PASSED",
            "UnstartedTicks.INSERT_GAP", "ScheduleRepository.LOCK",
            "UnstartedTicks.END_UNSTARTED", "ScheduleRepository.LOCK",
            "UnstartedTicks.DELETE_AFTER_CUTOFF", "ScheduleRepository.LOCK");

    /** Writing statements that cannot meet another statement on a row, with the reason. */
    private static final Map<String, String> MEETS_NO_ROW = Map.of(
            "RunCopy.COPY", "the runs have new ids and no unique key: no other statement looks for these rows",
            "EventCopy.COPY", "the events have new ids: no other statement writes their rows",
            "EventRepository.PUBLISH", "the events have new ids: no other statement writes their rows",
            "EventRepository.BEGIN_EPOCH", "it locks the table of events, so two calls run one after the other",
            "MaintenanceRepository.RESERVE_PAGES", "it deletes its rows itself, and they have no valid project");

    /** Statements that write a row which another statement may end, move or claim, and that do not change its fence. */
    private static final List<String> WRITES_KEEPING_FENCE = List.of(
            "RunRepository.PARK_RUNNING",
            "LaneLimits.MARK_RUNNING_AS_LIMITED",
            "ScheduleRepository.UPDATE_HEADERS",
            "LaneRepository.SET_WEIGHT",
            "NodeRepository.HEARTBEAT");

    /** Statements whose row no other statement writes, so that they race only with themselves. */
    private static final Set<String> MEETS_ONLY_ITSELF = Set.of(
            "EventRepository.TAKE_PUBLISH_IDS", // the only statement that writes the table of publish ids
            "EventRepository.ADVANCE_VERSION", // the only statement that writes the table of versions
            "LaneLimits.SAVE_BUCKET", // the others write the gates of rate keys, which are other rows of the table
            "PostgresStorage.ENSURE_PROJECT"); // the only statement of the store that writes the table of projects

    /** {@code -Dcarillon.race=CLAIMED.*DIE} races only the pairs whose name matches. */
    private static final Pattern NAME_FILTER = Pattern.compile(System.getProperty("carillon.race", ""));

    private static final List<RaceCase> CASES = new RaceCases().all();

    private static final List<Race.Pair> PAIRS = pairs();

    private static Race race;

    @BeforeAll
    static void open() throws SQLException {
        race = new Race(FIXTURE);
    }

    @AfterAll
    static void close() throws SQLException {
        race.close();
    }

    /** Each statement once as B, together with an A that changes the row and leaves its fence intact, and once as A. */
    static Stream<Race.Pair> chosen() {
        Set<Race.Pair> chosen = new LinkedHashSet<>();
        for (String statement : statements().toList()) {
            PAIRS.stream()
                    .filter(pair -> pair.b().statement().equals(statement))
                    .min(Comparator.comparing(RaceTest::partnerRank))
                    .ifPresent(chosen::add);
            List<Race.Pair> asA = PAIRS.stream()
                    .filter(pair -> pair.a().statement().equals(statement))
                    .filter(RaceTest::hasTwoStatements)
                    .toList();
            if (!asA.isEmpty()) chosen.add(asA.get(Math.floorMod(statement.hashCode(), asA.size())));
        }
        return chosen.stream()
                .filter(pair -> NAME_FILTER.matcher(pair.toString()).find());
    }

    private static Stream<String> statements() {
        return LostAnswerTest.statements().filter(name -> !MEETS_NO_ROW.containsKey(name));
    }

    private static int partnerRank(Race.Pair pair) {
        int place = WRITES_KEEPING_FENCE.indexOf(pair.a().statement());
        if (place >= 0 && !pair.a().statement().equals(pair.b().statement())) return place;
        return pair.a().statement().equals(pair.b().statement())
                ? WRITES_KEEPING_FENCE.size() + 1
                : WRITES_KEEPING_FENCE.size();
    }

    static Stream<Race.Pair> all() {
        return PAIRS.stream()
                .filter(pair -> NAME_FILTER.matcher(pair.toString()).find());
    }

    private static List<Race.Pair> pairs() {
        Map<String, Set<String>> written = new HashMap<>();
        Map<String, Set<String>> touched = new HashMap<>();
        for (RaceCase one : CASES) {
            written.computeIfAbsent(one.statement(), name -> tables(WRITTEN, Statements.text(name)));
            touched.computeIfAbsent(one.statement(), RaceTest::touched);
        }
        List<Race.Pair> pairs = new ArrayList<>();
        for (RaceCase a : CASES)
            for (RaceCase b : CASES)
                if (a.setup() == b.setup()
                        && !(disjoint(written.get(a.statement()), touched.get(b.statement()))
                                && disjoint(written.get(b.statement()), touched.get(a.statement()))))
                    pairs.add(new Race.Pair(a, b));
        return List.copyOf(pairs);
    }

    /** Returns the tables that the statement writes or locks. */
    private static Set<String> touched(String statement) {
        String text = Statements.text(statement);
        Set<String> touched = tables(WRITTEN, text);
        if (LOCKS.matcher(text).find()) touched.addAll(tables(READ, text));
        String lock = LOCKED_BY.get(statement);
        if (lock != null) touched.addAll(tables(READ, Statements.text(lock)));
        return touched;
    }

    private static Set<String> tables(Pattern pattern, String text) {
        Set<String> tables = new TreeSet<>();
        Matcher found = pattern.matcher(text);
        while (found.find()) tables.add(found.group(1));
        return tables;
    }

    @Test
    void every_writing_statement_has_a_case() {
        Set<String> raced = new TreeSet<>();
        for (RaceCase one : CASES) raced.add(one.statement());
        assertThat(statements())
                .as("statements without a case in RaceCases")
                .allSatisfy(name -> assertThat(raced).contains(name));
        assertThat(LostAnswerTest.statements()).as("writing statements").containsAll(MEETS_NO_ROW.keySet());
        assertThat(raced).doesNotContainAnyElementsOf(MEETS_NO_ROW.keySet());
        assertThat(raced)
                .as("statements of the cases")
                .allSatisfy(name -> assertThat(Statements.text(name)).isNotEmpty());
    }

    @Test
    void every_writing_statement_meets_another() {
        Set<String> met = new TreeSet<>();
        PAIRS.forEach(pair -> met.add(pair.b().statement()));
        assertThat(statements()).allSatisfy(name -> assertThat(met).contains(name));
        Set<String> asA = new TreeSet<>();
        PAIRS.stream()
                .filter(RaceTest::hasTwoStatements)
                .forEach(pair -> asA.add(pair.a().statement()));
        assertThat(statements().filter(name -> !asA.contains(name)))
                .as("statements that come first in no pair with another statement")
                .containsExactlyInAnyOrderElementsOf(MEETS_ONLY_ITSELF);
    }

    private static boolean hasTwoStatements(Race.Pair pair) {
        return !pair.a().statement().equals(pair.b().statement());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("chosen")
    void each_statement_has_the_result_of_a_serial_order(Race.Pair pair) throws Exception {
        endsAsInASerialOrder(pair, EnumSet.complementOf(EnumSet.of(Race.Interleaving.COMMIT)));
    }

    @Tag("slow")
    @ParameterizedTest(name = "{0}")
    @MethodSource("all")
    void any_two_statements_have_the_result_of_a_serial_order(Race.Pair pair) throws Exception {
        endsAsInASerialOrder(pair, EnumSet.allOf(Race.Interleaving.class));
    }

    private static void endsAsInASerialOrder(Race.Pair pair, Set<Race.Interleaving> interleavings) throws Exception {
        List<String> faults = new ArrayList<>();
        for (Race.Interleaving interleaving : interleavings) {
            String fault = race.violation(pair, interleaving);
            if (fault != null) faults.add(fault);
        }
        assertThat(faults).as(pair.toString()).isEmpty();
    }
}
